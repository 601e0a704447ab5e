package webhooks_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
	"github.com/tradegrid/tradegrid/topics"
)

func TestDisable(t *testing.T) {
	t.Parallel()
	r := setup(t)
	s := webhooks.New(webhooks.Config{DB: r.db, Registry: registry(), Policy: policy(), Owners: apitest.Owners})
	since := time.Now().Add(-24 * time.Hour)
	made := func(column string, at time.Time) uuid.UUID {
		id := uuid.MustParse(r.Do(t, "POST", subscriptions, map[string]any{"url": hook + "/" + uuid.NewString(), "events": []string{"*"}}).OK(201)["id"].(string))
		_, err := r.db.Exec(t.Context(), `UPDATE webhook_subscriptions SET created_at = $3 WHERE company_id = $1 AND id = $2`, r.company(), id, since.Add(-time.Hour))
		require.NoError(t, err)
		if column != "" {
			_, err = r.db.Exec(t.Context(), `UPDATE webhook_subscriptions SET `+column+` = $3 WHERE company_id = $1 AND id = $2`, r.company(), id, at)
			require.NoError(t, err)
		}
		return id
	}
	failing := made("", time.Time{})
	for name, id := range map[string]uuid.UUID{
		"succeeded since": made("last_success_at", time.Now()),
		"enabled since":   made("enabled_at", time.Now()),
		"made since":      made("created_at", time.Now()),
		"gone":            uuid.New(),
	} {
		disabled, err := s.Disable(t.Context(), r.company(), id, "it fails", since)
		require.NoError(t, err)
		require.False(t, disabled, name)
	}
	before := len(r.published(topics.Subscriptions))
	for _, want := range []bool{true, false} { // once
		disabled, err := s.Disable(t.Context(), r.company(), failing, "it fails", since)
		require.NoError(t, err)
		require.Equal(t, want, disabled)
	}
	got := r.Do(t, "GET", subscriptions+"/"+failing.String(), nil).OK(200)
	require.Equal(t, "disabled", got["status"])
	require.Equal(t, "it fails", got["disabledReason"])
	require.EqualValues(t, 2, got["version"])
	published := r.published(topics.Subscriptions)
	require.Len(t, published, before+1)
	require.Equal(t, "webhook.subscription.disabled", published[before].Name)
}
