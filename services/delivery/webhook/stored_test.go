package webhook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

func TestStoredSecret(t *testing.T) {
	t.Parallel()
	one, two := secret.NewKey("one"), secret.NewKey("two.b")
	ring := func(lines ...string) *secret.Keys {
		k, err := secret.ParseKeys(strings.Join(lines, "\n"))
		require.NoError(t, err)
		return k
	}
	company, id, text := tenant.NewID(), uuid.New(), webhook.NewSecret()
	sealed, err := webhook.SealSecret(ring(one), company, id, text)
	require.NoError(t, err)
	require.NotContains(t, string(sealed), text[6:30])

	moved, err := sealed.Reseal(ring(two, one), company, id)
	require.NoError(t, err)
	require.NotEqual(t, sealed, moved)
	same, err := moved.Reseal(ring(two), company, id)
	require.NoError(t, err)
	require.Equal(t, moved, same)
	for name, row := range map[string]struct {
		stored webhook.StoredSecret
		keys   *secret.Keys
	}{
		"sealed": {sealed, ring(two, one)}, "under another key": {moved, ring(two)},
	} {
		got, err := row.stored.Open(row.keys, company, id)
		require.NoError(t, err, name)
		require.Equal(t, text, got, name)
		shown, err := json.Marshal(row.stored)
		require.NoError(t, err)
		require.Equal(t, `"`+webhook.SecretHint(text)+`"`, string(shown), name)
	}
	for name, foreign := range map[string]webhook.StoredSecret{"in clear": webhook.StoredSecret(text), "empty": ""} {
		_, err = foreign.Open(ring(one), company, id)
		require.ErrorContains(t, err, "not sealed", name)
		_, err = foreign.Reseal(ring(one), company, id)
		require.ErrorContains(t, err, "not sealed", name)
		shown, err := json.Marshal(foreign)
		require.NoError(t, err)
		require.Equal(t, `""`, string(shown), name)
	}
	_, err = sealed.Open(ring(one), company, uuid.New())
	require.Error(t, err, "the secret of another subscription")
	_, err = sealed.Open(ring(one), tenant.NewID(), id)
	require.Error(t, err, "the secret of another company")
	_, err = sealed.Open(ring(two), company, id)
	require.ErrorAs(t, err, &secret.UnknownKeyError{})
}

func TestStoredHeaders(t *testing.T) {
	t.Parallel()
	one, two := secret.NewKey("one"), secret.NewKey("two.b")
	ring := func(lines ...string) *secret.Keys {
		k, err := secret.ParseKeys(strings.Join(lines, "\n"))
		require.NoError(t, err)
		return k
	}
	company, id, headers := tenant.NewID(), uuid.New(), map[string]string{"X-Key": "a, b c", "Authorization": "Bearer s3cr3t"}
	stored, err := webhook.SealHeaders(ring(one), company, id, headers)
	require.NoError(t, err)
	require.NotContains(t, string(stored), "s3cr3t")
	moved, err := stored.Reseal(ring(two, one), company, id)
	require.NoError(t, err)
	require.NotEqual(t, stored, moved)
	same, err := moved.Reseal(ring(two), company, id)
	require.NoError(t, err)
	require.Equal(t, moved, same)
	for _, row := range []struct {
		stored webhook.StoredHeaders
		keys   *secret.Keys
	}{{stored, ring(two, one)}, {moved, ring(two)}} {
		got, err := row.stored.Open(row.keys, company, id)
		require.NoError(t, err)
		require.Equal(t, headers, got)
		shown, err := json.Marshal(row.stored)
		require.NoError(t, err)
		require.JSONEq(t, `{"Authorization":"[redacted]","X-Key":"[redacted]"}`, string(shown))
	}
	_, err = stored.Open(ring(one), company, uuid.New())
	require.Error(t, err, "the headers of another subscription")
	key, err := webhook.SealKey(ring(one), company, id, "s3cr3t")
	require.NoError(t, err)
	_, err = key.Open(ring(one), company, uuid.New())
	require.Error(t, err, "the key of another subscription")
	_, err = stored.Open(ring(two), company, id)
	require.ErrorAs(t, err, &secret.UnknownKeyError{})

	none, err := webhook.SealHeaders(nil, company, id, nil)
	require.NoError(t, err)
	require.Empty(t, none)
	shown, err := json.Marshal(none)
	require.NoError(t, err)
	require.Equal(t, "{}", string(shown))
	got, err := none.Open(nil, company, id)
	require.NoError(t, err)
	require.Empty(t, got)
}
