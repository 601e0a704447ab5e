package secret_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/secret"
)

const flag = "--secret-keys-file"

func ring(t *testing.T, lines ...string) *secret.Keys {
	t.Helper()
	k, err := secret.ParseKeys(strings.Join(lines, "\n"))
	require.NoError(t, err)
	return k
}

func TestSealAndOpen(t *testing.T) {
	t.Parallel()
	one, two := secret.NewKey("one"), secret.NewKey("two")
	k := ring(t, one, two)
	text, err := k.Seal([]byte("whsec_x"), "a/1")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(text, "enc1:one:"), "the key is named: %s", text)
	require.NotContains(t, text, "whsec_x")
	again, err := k.Seal([]byte("whsec_x"), "a/1")
	require.NoError(t, err)
	require.NotEqual(t, text, again, "equal values do not look equal")

	got, err := k.Open(text, "a/1")
	require.NoError(t, err)
	require.Equal(t, "whsec_x", string(got))
	for name, row := range map[string]struct {
		keys          *secret.Keys
		text, context string
	}{
		"another record":       {k, text, "a/2"},
		"another key, same id": {ring(t, secret.NewKey("one")), text, "a/1"},
		"changed":              {k, text[:len(text)-2] + "AA", "a/1"},
		"cut off":              {k, text[:strings.LastIndex(text, ":")], "a/1"},
		"in clear":             {k, "whsec_x", "a/1"},
		"no ring":              {nil, text, "a/1"},
	} {
		_, err := row.keys.Open(row.text, row.context)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "whsec_x", name)
	}
	_, err = ring(t, two).Open(text, "a/1")
	require.ErrorAs(t, err, &secret.UnknownKeyError{})
	require.ErrorContains(t, err, `"one"`)
	_, err = (*secret.Keys)(nil).Seal([]byte("x"), "")
	require.ErrorContains(t, err, flag)
}

func TestRewrap(t *testing.T) {
	t.Parallel()
	old, next := secret.NewKey("old"), secret.NewKey("next")
	text, err := ring(t, old).Seal([]byte("value"), "c")
	require.NoError(t, err)
	both := ring(t, next, old)
	moved, changed, err := both.Rewrap(text, "c")
	require.NoError(t, err)
	require.True(t, changed)
	same, changed, err := both.Rewrap(moved, "c")
	require.NoError(t, err)
	require.False(t, changed)
	require.Equal(t, moved, same)
	got, err := ring(t, next).Open(moved, "c")
	require.NoError(t, err, "the old key is not needed any more")
	require.Equal(t, "value", string(got))
	_, _, err = ring(t, next).Rewrap(text, "c")
	require.ErrorAs(t, err, &secret.UnknownKeyError{})
}

func TestFileOfKeys(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	_, err := secret.ReadKeys(flag, path, nil)
	require.ErrorContains(t, err, flag+": open "+path)
	for text, want := range map[string]string{
		"":                                "has no key",
		"# none\n\n":                      "has no key",
		"\n" + secret.NewKey("a") + "=\n": "line 2: must be id:key",
		"hidden-words":                    "line 1: must be id:key",
		"a:c2hvcnQ=":                      "line 1: must be id:key",
		secret.NewKey("a b"):              "line 1: must be id:key",
		secret.NewKey("a") + "\na:" + secret.NewKey("")[1:]: `line 2: the id "a" is there twice`,
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := secret.ReadKeys(flag, path, nil)
		require.ErrorContains(t, err, flag+": "+path+" "+want)
		require.NotContains(t, err.Error(), "hidden", "what stands in the file is not shown")
	}
}

func TestFollowsItsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	old, next := secret.NewKey("old"), secret.NewKey("next")
	write := func(lines ...string) {
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\r\n")), 0o600))
	}
	write("# the first key seals", old)
	var log bytes.Buffer
	k, err := secret.ReadKeys(flag, path, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	first, err := k.Seal([]byte("v"), "")
	require.NoError(t, err)
	primary := func(want string) func() bool {
		return func() bool { got, err := k.Primary(); return err == nil && got == want }
	}
	write(next, old)
	require.Eventually(t, primary("next"), 10*time.Second, 50*time.Millisecond)
	_, err = k.Open(first, "")
	require.NoError(t, err)
	write("broken")
	require.Eventually(t, func() bool {
		got, err := k.Primary() // reads the file again when what it knows is old
		return err == nil && got == "next" && strings.Contains(log.String(), "key ring not read")
	}, 10*time.Second, 50*time.Millisecond, "a broken file changes nothing, and the log says so")
	require.True(t, primary("next")())
	for _, line := range []string{old, next} {
		require.NotContains(t, log.String(), strings.SplitN(line, ":", 2)[1])
	}
}

// A signature is of one text for one purpose, by one key of the ring. Keys that are no longer the first still verify.
func TestSignatures(t *testing.T) {
	t.Parallel()
	old, next := secret.NewKey("old.1"), secret.NewKey("next")
	was, err := secret.ParseKeys(old)
	require.NoError(t, err)
	signature, err := was.Sign("url", "text")
	require.NoError(t, err)
	now, err := secret.ParseKeys(next + "\n" + old)
	require.NoError(t, err)
	gone, err := secret.ParseKeys(next)
	require.NoError(t, err)
	other, err := secret.ParseKeys(secret.NewKey("old.1"))
	require.NoError(t, err)
	verify := func(k *secret.Keys, context, text, signature string) bool {
		ok, err := k.Verify(context, text, signature)
		require.NoError(t, err)
		return ok
	}
	require.True(t, verify(was, "url", "text", signature))
	require.True(t, verify(now, "url", "text", signature))
	require.False(t, verify(gone, "url", "text", signature))
	require.False(t, verify(other, "url", "text", signature))
	require.False(t, verify(was, "ur", "ltext", signature))
	require.False(t, verify(was, "url", "texts", signature))
	for _, wrong := range []string{"", ".", "old.1", "old.1.", signature[:len(signature)-1], signature + "A", "next" + signature[5:]} {
		require.False(t, verify(now, "url", "text", wrong), wrong)
	}
	fresh, err := now.Sign("url", "text")
	require.NoError(t, err)
	require.NotEqual(t, signature, fresh)
	_, err = (*secret.Keys)(nil).Sign("url", "text")
	require.Error(t, err)
}
