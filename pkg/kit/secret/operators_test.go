package secret_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/secret"
)

func TestOperatorsAreFoundByTheirTokens(t *testing.T) {
	t.Parallel()
	ann, rob := secret.OperatorLine("ann", secret.RoleWrite, "token-a"), secret.OperatorLine("rob", secret.RoleRead, "token-r")
	o, err := secret.ParseOperators("# people\n\n " + ann + "\n" + rob + "\n" + secret.OperatorLine("ann", secret.RoleRead, "token-b"))
	require.NoError(t, err)
	for token, want := range map[string]struct {
		name   string
		writes bool
	}{"token-a": {"ann", true}, "token-r": {"rob", false}, "token-b": {"ann", false}} {
		got, ok := o.Find(token)
		require.True(t, ok, token)
		require.Equal(t, want.name, got.Name)
		require.Equal(t, want.writes, got.Writes())
	}
	for _, token := range []string{"", "token-c", "token-a ", strings.Split(ann, ":")[2], ann} {
		_, ok := o.Find(token)
		require.False(t, ok, token)
	}
}

func TestFilesOfOperatorsThatAreRefused(t *testing.T) {
	t.Parallel()
	good := secret.OperatorLine("ann", secret.RoleWrite, "token")
	hash := strings.Split(good, ":")[2]
	for text, says := range map[string]string{
		"":                         "has no operator",
		"# nobody":                 "has no operator",
		good + "\n" + good:         "line 2: the hash is there twice",
		"ann:admin:" + hash:        "line 1: must be name:role:hash",
		"ann:" + hash:              "line 1: must be name:role:hash",
		"a b:write:" + hash:        "line 1: must be name:role:hash",
		"ann:write:" + hash[:62]:   "line 1: the hash must be the SHA-256",
		"ann:write:token":          "line 1: the hash must be the SHA-256",
		good + "\nann:write:" + "": "line 2: the hash must be",
	} {
		_, err := secret.ParseOperators(text)
		require.ErrorContains(t, err, says, text)
		require.NotContains(t, err.Error(), hash)
	}
}

func TestOperatorsFollowTheirFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "operators")
	write := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	_, err := secret.ReadOperators("--admin-tokens-file", path, nil)
	require.ErrorContains(t, err, "--admin-tokens-file: ")
	write(secret.OperatorLine("ann", secret.RoleWrite, "old"))
	o, err := secret.ReadOperators("--admin-tokens-file", path, nil)
	require.NoError(t, err)
	known := func(token string) bool { _, ok := o.Find(token); return ok }
	require.True(t, known("old"))
	write("broken")
	require.Never(t, func() bool { return !known("old") }, 1500*time.Millisecond, 100*time.Millisecond, "a broken file changes nothing")
	write(secret.OperatorLine("ann", secret.RoleWrite, "new"))
	require.Eventually(t, func() bool { return known("new") && !known("old") }, 5*time.Second, 50*time.Millisecond)
}
