package sweeper

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// redeliverer has failed deliveries, of which each call looks at one.
type redeliverer struct {
	disabler
	failed map[uuid.UUID][]uuid.UUID // by subscription
	since  []time.Time
}

// RedeliverFailed implements [Subscriptions].
func (d *redeliverer) RedeliverFailed(_ context.Context, _ tenant.ID, id uuid.UUID, since time.Time, _ uuid.UUID, _ int) (uuid.UUID, int, error) {
	d.since = append(d.since, since)
	if len(d.failed[id]) == 0 {
		return uuid.Max, 0, nil
	}
	next := d.failed[id][0]
	d.failed[id] = d.failed[id][1:]
	return next, 1, nil
}

func TestSweeperSendsWhatWaitedForAReceiverThatIsBack(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.OpenNew(t))
	back, manual, still, unused := k.Subscription(), k.Subscription(), k.Subscription(), k.Subscription()
	downSince := time.Now().UTC().Add(-time.Hour).Truncate(time.Microsecond)
	k.Set(back, "recovered_from = $3", downSince)
	k.Set(manual, "recovered_from = $3, auto_redeliver = false", downSince.Add(-48*time.Hour))
	k.Set(still, "recovered_from = $3, breaker_opens = 1", downSince)
	owner := &redeliverer{failed: map[uuid.UUID][]uuid.UUID{back: {uuid.New()}, manual: {uuid.New()}, still: {uuid.New()}, unused: {uuid.New()}}}
	s := newSweeper(k, "a", func(c *Config) { c.Subscriptions = owner })
	records := k.Collect(topics.Deliveries)
	later := row{attempt: 6, due: -20 * time.Hour}
	kept, keptManual, keptStill := later, later, later
	kept.sub, keptManual.sub, keptStill.sub = back, manual, still
	ids := []uuid.UUID{insert(k, kept), insert(k, keptManual), insert(k, keptStill)}
	young := insert(k, row{sub: back, attempt: 3, due: -time.Hour})

	open := func() int {
		return k.Query(`SELECT count(*) FROM webhook_subscriptions WHERE company_id = $1 AND recovered_from IS NOT NULL`, k.Company)
	}
	pass := func() {
		_, err := s.pass(t.Context())
		require.NoError(t, err)
	}
	pass()
	require.GreaterOrEqual(t, open(), 2, "there may be more to redeliver, and one receiver fails again")
	for i, held := range []bool{true, true, false} {
		require.Equal(t, held, k.Row(ids[i]).Next == nil)
	}
	require.NotNil(t, k.Row(young).Next, "it goes on as planned")
	for range 2 {
		pass()
	}
	require.Equal(t, 1, open(), "done, but for the receiver that fails again")
	require.Empty(t, owner.failed[back])
	require.Len(t, owner.failed[manual], 1)
	require.Len(t, owner.failed[still], 1)
	require.Len(t, owner.failed[unused], 1)
	require.WithinDuration(t, downSince, owner.since[0], 0)

	k.Exec(`UPDATE deliveries SET updated_at = updated_at - INTERVAL '1 minute' WHERE company_id = $1`, k.Company)
	pass()
	for _, r := range k.Await(records, 2)[:2] {
		m := k.Decode(r)
		require.Contains(t, ids[:2], m.DeliveryID)
		require.Equal(t, 7, m.Attempt)
	}
	require.Equal(t, 1, k.InState(still, webhook.StatePending))

	// What failed long ago is the company's to replay.
	owner.since = nil
	k.Set(back, "recovered_from = $3", downSince.Add(-72*time.Hour))
	pass()
	require.WithinDuration(t, time.Now().Add(-22*time.Hour), owner.since[0], time.Minute)
}
