package outbox

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func TestRelaysShareTheBucketsFairly(t *testing.T) {
	t.Parallel()
	g := setup(t)
	var frozen atomic.Bool
	a, b, c := g.relay("a"), g.relay("b"), g.relay("c", freezing(&frozen))
	share := func(of map[*Relay]int) {
		t.Helper()
		require.Eventually(t, func() bool {
			sum := 0
			for r, most := range of {
				n := r.Owned()
				if n > most || n < most-2 {
					return false
				}
				sum += n
			}
			return sum == Buckets
		}, eventually, 5*time.Millisecond)
	}
	stopA := g.run(a)
	share(map[*Relay]int{a: 256})
	g.run(b)
	share(map[*Relay]int{a: 128, b: 128})
	g.run(c)
	share(map[*Relay]int{a: 86, b: 86, c: 86})
	stopA()
	require.Zero(t, a.Owned())
	share(map[*Relay]int{b: 128, c: 128})
	frozen.Store(true)
	share(map[*Relay]int{b: 256, c: 0})
	frozen.Store(false)
	share(map[*Relay]int{b: 128, c: 128})
}

// freezing keeps a relay from renewing its leases while it is frozen.
func freezing(frozen *atomic.Bool) func(*Relay) {
	return func(r *Relay) { r.cfg.inject = failpoint.On(points{beforeRenew: unless(frozen)}) }
}

// A bucket never has two owners in the database, and the owner stops before its lease expires.
func TestOwnershipEndsBeforeTheLease(t *testing.T) {
	t.Parallel()
	g := setup(t)
	var frozen atomic.Bool
	r := g.relay("a", freezing(&frozen))
	g.run(r)
	require.Eventually(t, func() bool { return r.Owned() == Buckets }, eventually, time.Millisecond)
	frozen.Store(true)
	require.Eventually(t, func() bool { return r.Owned() == 0 }, eventually, time.Millisecond)
	var left int
	require.NoError(t, g.db.QueryRow(t.Context(), "SELECT count(*) FROM outbox_leases WHERE expires_at > now()").Scan(&left))
	require.Equal(t, Buckets, left, "the relay stopped while its leases still held")
}

func TestStoppedRelayLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	g := setup(t)
	r := g.relay("a")
	stop := g.run(r)
	require.Eventually(t, func() bool { return r.Owned() == Buckets }, eventually, time.Millisecond)
	_, err := g.db.Exec(t.Context(), `INSERT INTO relay_members (node, expires_at) VALUES ('killed/12345678', now())`)
	require.NoError(t, err)
	running, err := Members(t.Context(), g.db)
	require.NoError(t, err)
	require.Equal(t, []string{r.owner}, running)
	_, err = g.db.Exec(t.Context(), `DELETE FROM relay_members WHERE node = 'killed/12345678'`)
	require.NoError(t, err)
	stop()
	require.Zero(t, g.count("relay_members"))
	require.Zero(t, g.count("outbox_leases WHERE owner <> '' OR expires_at > now()"))
}

func TestConfigNamesTheFlags(t *testing.T) {
	t.Parallel()
	for flag, cfg := range map[string]Settings{
		"--relay-renew":        {Renew: 4 * time.Second},
		"--relay-lease-margin": {LeaseMargin: 6 * time.Second},
		"--relay-tick-max":     {TickMax: -time.Second},
		"--relay-batch-size":   {BatchSize: 5000},
		"--relay-parallel":     {Parallel: 1000},
		"--relay-lookback":     {Lookback: -1},
		"--relay-full-sweep":   {FullSweep: -1},
		"--event-retention":    {},
	} {
		_, err := NewRelay(nil, nil, RelayConfig{Settings: cfg})
		require.ErrorContains(t, err, flag)
	}
	require.NoError(t, config.Defaults[Settings]().Check())
}

func TestCleanupDeletesOnlyWhatHasExpired(t *testing.T) {
	t.Parallel()
	dbtest.Only(t, db.PostgreSQL, "CockroachDB deletes by row-level TTL, which package migrate's overlays set up")
	g := setup(t)
	ctx := t.Context()
	old, fresh := time.Now().Add(-40*day), time.Now().Add(day)
	c := company()
	for i := range 1500 {
		_, err := g.db.Exec(ctx, "INSERT INTO tx_markers (id, expires_at) VALUES ($1, $2)", uuid.New(), old.Add(time.Duration(i)*time.Second))
		require.NoError(t, err)
	}
	for i, expires := range []time.Time{old, fresh} {
		_, err := g.db.Exec(ctx, "INSERT INTO tx_markers (id, expires_at) VALUES ($1, $2)", uuid.New(), expires)
		require.NoError(t, err)
		_, err = g.db.Exec(ctx, "INSERT INTO events (company_id, seq, id, event, agg_type, agg_id, agg_version, body, occurred_at, expires_at) VALUES ($1, $2, $3, 'x', 'x', $3, 1, '', $4, $4)", c, i+1, uuid.New(), expires)
		require.NoError(t, err)
	}
	g.run(g.relay("a", func(r *Relay) {
		r.cfg.cleanup, r.cfg.CleanupJobs = 20*time.Millisecond, append(CleanupJobs(), cleanup.TxMarkers)
	}))
	for table, left := range map[string]int{"tx_markers": 1, "events": 1} {
		require.Eventually(t, func() bool { return g.count(table+" WHERE true") <= left }, eventually, 10*time.Millisecond, table)
		require.Equal(t, left, g.count(table), table)
	}
}

// Between two renewals a relay looks once for buckets that others have left, so these wait for half the interval at most.
func TestFreeBucketsAreTakenBetweenRenewals(t *testing.T) {
	t.Parallel()
	g := setup(t)
	r := g.relay("a", func(r *Relay) {
		r.cfg.LeaseTTL, r.cfg.LeaseMargin, r.cfg.Renew = time.Minute, time.Second, 20*time.Second
	})
	ctx := t.Context()
	require.NoError(t, r.leasePass(ctx, true, false))
	require.Equal(t, Buckets, r.Owned())
	until := func() (first time.Time) {
		require.NoError(t, g.db.QueryRow(ctx, "SELECT min(expires_at) FROM outbox_leases").Scan(&first))
		return first
	}
	renewed := until()
	require.NoError(t, r.leasePass(ctx, false, false))
	require.Equal(t, renewed, until(), "a look renews nothing")

	const left = 7
	_, err := g.db.Exec(ctx, "UPDATE outbox_leases SET owner = '', expires_at = now() WHERE bucket < $1", left)
	require.NoError(t, err)
	r.mu.Lock()
	for b := range left {
		r.parts[b].held = false
	}
	r.mu.Unlock()
	require.NoError(t, r.leasePass(ctx, false, true))
	require.Equal(t, Buckets-left, r.Owned(), "a relay that stops takes nothing")
	require.NoError(t, r.leasePass(ctx, false, false))
	require.Equal(t, Buckets, r.Owned())

	_, err = g.db.Exec(ctx, "INSERT INTO relay_members (node, expires_at) VALUES ('b', now() + INTERVAL '1 hour')")
	require.NoError(t, err)
	require.NoError(t, r.leasePass(ctx, false, false))
	require.Equal(t, Buckets/2, r.Owned(), "a look also leaves what is another relay's share")
}

// Owned returns the number of buckets that this relay currently owns.
func (r *Relay) Owned() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	now := time.Now()
	for _, p := range r.parts {
		if p.usable(now) {
			n++
		}
	}
	return n
}
