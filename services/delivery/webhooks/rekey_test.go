package webhooks_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

const sqlPlant = `INSERT INTO webhook_subscriptions (company_id, id, url, events, is_active, status, exclude_own_events, read_scopes, secret, previous_secret, previous_until, headers, client_key,
created_by_id, version, ev_pos, created_at, updated_at) VALUES ($1, $2, 'https://example.com', ARRAY['*'], true, 'active', false, ARRAY['*:read'], $3, $4, $5, $7, $8, $2, 1, 1, $6, $6)`

// vault is a database of its own with subscriptions whose secrets are known.
type vault struct {
	t       *testing.T
	db      *db.DB
	secrets map[uuid.UUID][2]string // current and previous
	company map[uuid.UUID]tenant.ID
}

func ring(t *testing.T, lines ...string) *secret.Keys {
	t.Helper()
	k, err := secret.ParseKeys(strings.Join(lines, "\n"))
	require.NoError(t, err)
	return k
}

// plant adds a subscription.
func (v *vault) plant(keys *secret.Keys, overlap time.Duration) uuid.UUID {
	v.t.Helper()
	id, company, now := uuid.New(), tenant.NewID(), time.Now().UTC()
	texts := [2]string{webhook.NewSecret()}
	stored := func(text string) *webhook.StoredSecret {
		sealed, err := webhook.SealSecret(keys, company, id, text)
		require.NoError(v.t, err)
		return &sealed
	}
	var previous *webhook.StoredSecret
	var until *time.Time
	if overlap != 0 {
		texts[1] = webhook.NewSecret()
		at := now.Add(overlap)
		previous, until = stored(texts[1]), &at
	}
	headers, err := webhook.SealHeaders(keys, company, id, map[string]string{"X-Of": texts[0]})
	require.NoError(v.t, err)
	clientKey, err := webhook.SealKey(keys, company, id, "key "+texts[0])
	require.NoError(v.t, err)
	_, err = v.db.Exec(v.t.Context(), sqlPlant, company, id, stored(texts[0]), previous, until, now, headers, clientKey)
	require.NoError(v.t, err)
	v.secrets[id], v.company[id] = texts, company
	return id
}

// readable requires that the keys open every secret that is still valid.
func (v *vault) readable(keys *secret.Keys, except ...uuid.UUID) {
	v.t.Helper()
	for id, texts := range v.secrets {
		if len(except) > 0 && id == except[0] {
			continue
		}
		var current webhook.StoredSecret
		var previous *webhook.StoredSecret
		var headers webhook.StoredHeaders
		var clientKey webhook.StoredKey
		require.NoError(v.t, v.db.QueryRow(v.t.Context(), `SELECT secret, previous_secret, headers, client_key FROM webhook_subscriptions WHERE company_id = $1 AND id = $2`,
			v.company[id], id).Scan(&current, &previous, &headers, &clientKey))
		got, err := current.Open(keys, v.company[id], id)
		require.NoError(v.t, err)
		require.Equal(v.t, texts[0], got)
		opened, err := headers.Open(keys, v.company[id], id)
		require.NoError(v.t, err)
		require.Equal(v.t, map[string]string{"X-Of": texts[0]}, opened)
		key, err := clientKey.Open(keys, v.company[id], id)
		require.NoError(v.t, err)
		require.Equal(v.t, "key "+texts[0], key)
		if previous != nil {
			got, err := previous.Open(keys, v.company[id], id)
			require.NoError(v.t, err)
			require.Equal(v.t, texts[1], got)
		}
	}
}

func (v *vault) rekey(ctx context.Context, keys *secret.Keys) (webhooks.Rekeyed, string, error) {
	var log bytes.Buffer
	s := webhooks.New(webhooks.Config{DB: v.db, Registry: registry(), Policy: policy(), Keys: keys})
	got, err := s.Rekey(ctx, 3, slog.New(slog.NewTextHandler(&log, nil)))
	return got, log.String(), err
}

func TestRekey(t *testing.T) {
	t.Parallel()
	v := &vault{t: t, db: dbtest.OpenNew(t), secrets: map[uuid.UUID][2]string{}, company: map[uuid.UUID]tenant.ID{}}
	one, two, lost := secret.NewKey("one"), secret.NewKey("two"), secret.NewKey("lost")
	for i := range 10 {
		v.plant(ring(t, one), time.Duration(i%2)*time.Hour)
	}
	v.plant(ring(t, two), 0)
	past := v.plant(ring(t, one), -time.Hour)

	// A run that is cut off leaves everything readable, and the next one goes on.
	cut, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := v.rekey(cut, ring(t, two, one))
	require.Error(t, err)
	got, said, err := v.rekey(t.Context(), ring(t, two, one))
	require.NoError(t, err)
	require.Equal(t, webhooks.Rekeyed{Key: "two", Subscriptions: 12, Moved: 11, Current: 1}, got)
	v.readable(ring(t, two))
	for _, texts := range v.secrets {
		require.NotContains(t, said, texts[0])
	}
	var previous *string
	require.NoError(t, v.db.QueryRow(t.Context(), `SELECT previous_secret FROM webhook_subscriptions WHERE company_id = $1 AND id = $2`, v.company[past], past).Scan(&previous))
	require.Nil(t, previous, "its time is over")

	got, _, err = v.rekey(t.Context(), ring(t, two))
	require.NoError(t, err)
	require.Equal(t, webhooks.Rekeyed{Key: "two", Subscriptions: 12, Current: 12}, got, "a second run has nothing to do")

	unopened := v.plant(ring(t, lost), 0)
	got, said, err = v.rekey(t.Context(), ring(t, one, two))
	require.NoError(t, err)
	require.Equal(t, webhooks.Rekeyed{Key: "one", Subscriptions: 13, Moved: 12, Failed: 1}, got)
	require.Contains(t, said, `\"lost\"`)
	require.Contains(t, said, unopened.String())
	v.readable(ring(t, one), unopened)
	_, _, err = v.rekey(t.Context(), nil)
	require.ErrorContains(t, err, "--secret-keys-file")
}
