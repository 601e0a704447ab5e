package outbox

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// One row for each free bucket; if none is free, one row without a bucket.
const sqlSelectFree = `SELECT now(), (SELECT count(*) FROM relay_members WHERE expires_at > now()), l.bucket, l.owner
FROM (SELECT 1) AS one LEFT JOIN outbox_leases AS l ON l.expires_at <= now()`

// Lease times come from the database, because now() is the only clock that all relays share.
var (
	sqlUpsertMember = relayMembers.Insert(`(node, expires_at) VALUES ($1, now() + $2::INTERVAL)
ON CONFLICT (node) DO UPDATE SET expires_at = excluded.expires_at`)
	sqlDeleteMember = relayMembers.Delete(`WHERE node = $1`)
	sqlRenewLeases  = outboxLeases.Update(`SET expires_at = now() + $3::INTERVAL
WHERE owner = $1 AND bucket = ANY($2::INT4[]) AND expires_at > now() RETURNING bucket, epoch, COALESCE(partitions, 0)`)
	sqlAcquireLeases = outboxLeases.Update(`SET owner = $1, epoch = epoch + 1, expires_at = now() + $3::INTERVAL
WHERE bucket = ANY($2::INT4[]) AND expires_at <= now() RETURNING bucket, epoch, COALESCE(partitions, 0)`)
	sqlReleaseLeases = outboxLeases.Update(`SET owner = '', expires_at = now() WHERE owner = $1 AND bucket = ANY($2::INT4[])`)
)

const sqlSelectMembers = `SELECT node FROM relay_members WHERE expires_at > now() ORDER BY node`

// Members lists the relays that run, as the owners of their leases: the name of the process, a slash and a suffix.
func Members(ctx context.Context, q db.Querier) ([]string, error) {
	rows, err := q.Query(ctx, sqlSelectMembers)
	if err != nil {
		return nil, fmt.Errorf("read running relays: %w", err)
	}
	members, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("read running relays: %w", err)
	}
	return members, nil
}

// lease is a lease that the database confirmed.
type lease struct {
	Bucket     int32
	Epoch      int64
	Partitions int32 // 0 = not known
}

// freeLease is a bucket without an owner; Owner is empty if the last owner released it.
type freeLease struct {
	Bucket int32
	Owner  string
}

// keepLeases renews the leases until ctx is done. Between two renewals it looks once for free buckets, with a single read,
// so that those of a relay that stopped do not wait. Once stopping is closed, it acquires no more buckets.
func (r *Relay) keepLeases(ctx context.Context, stopping <-chan struct{}) {
	t := time.NewTimer(0)
	defer t.Stop()
	for renew := true; ; {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		next := r.cfg.Renew / 2
		err := r.leasePass(ctx, renew, stopped(stopping))
		if err != nil && ctx.Err() == nil {
			r.log.WarnContext(ctx, "lease renewal failed", "error", err)
			next = min(next, 100*time.Millisecond+rand.N(100*time.Millisecond))
		}
		renew = !renew || err != nil
		r.dropExpired()
		t.Reset(next)
	}
}

func stopped(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// leasePass releases or acquires buckets to reach the fair share, and renews the leases held before if renew is set.
func (r *Relay) leasePass(ctx context.Context, renew, stopping bool) error {
	// After a renewal that hangs, there is time for another one.
	patience := min(r.cfg.LeaseTTL/2, (r.cfg.LeaseTTL-r.cfg.LeaseMargin-r.cfg.Renew)*3/4)
	ctx, cancel := context.WithTimeout(telemetry.Untraced(ctx), patience)
	defer cancel()
	if err := r.cfg.inject.At(ctx, beforeRenew); err != nil {
		return err
	}
	seen, err := r.readLeases(ctx, renew)
	if err != nil {
		return err
	}
	share := (Buckets + seen.alive - 1) / seen.alive
	if err := r.releaseExcess(ctx, share); err != nil {
		return err
	}
	if want := share - len(r.held()); want > 0 && !stopping {
		return r.acquire(ctx, seen.free, want)
	}
	return nil
}

// leases is what the database says of relays and buckets.
type leases struct {
	now   time.Time
	alive int // relays, at least 1
	free  []freeLease
}

// readLeases reads who is alive and what is free. With renew, it renews this relay's registration and leases before.
func (r *Relay) readLeases(ctx context.Context, renew bool) (seen leases, err error) {
	start := time.Now() // taken before the database reads its clock, so that a lease never expires later here than in the database
	if !renew {
		rows, err := r.db.Query(ctx, sqlSelectFree)
		if err != nil {
			return leases{}, fmt.Errorf("select free buckets: %w", err)
		}
		if seen, err = collectLeases(rows); err != nil {
			return leases{}, fmt.Errorf("select free buckets: %w", err)
		}
		leasesOwned.Set(float64(Buckets - len(seen.free)))
		return seen, nil
	}
	mine := r.held()
	var renewed []lease
	// All statements and COMMIT go in one round trip: a relay that freezes leaves no transaction with locks behind.
	err = r.db.RunTx(ctx, "outbox.renew", func(_ context.Context, tx *db.Tx) error {
		renewed = nil
		tx.Queue(sqlUpsertMember, r.owner, r.cfg.LeaseTTL)
		if len(mine) > 0 {
			tx.Queue(sqlRenewLeases, r.owner, mine, r.cfg.LeaseTTL).Rows(func(rows pgx.Rows) (err error) {
				renewed, err = pgx.CollectRows(rows, pgx.RowToStructByPos[lease])
				return err
			})
		}
		tx.QueueRead(sqlSelectFree).Rows(func(rows pgx.Rows) (err error) {
			seen, err = collectLeases(rows)
			return err
		})
		return nil
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil {
		return leases{}, fmt.Errorf("renew leases: %w", err)
	}
	leasesOwned.Set(float64(Buckets - len(seen.free)))
	r.confirm(start, seen.now, mine, renewed)
	return seen, nil
}

func collectLeases(rows pgx.Rows) (seen leases, err error) {
	var bucket *int32
	var owner *string
	_, err = pgx.ForEachRow(rows, []any{&seen.now, &seen.alive, &bucket, &owner}, func() error {
		if bucket != nil {
			seen.free = append(seen.free, freeLease{*bucket, *owner})
		}
		return nil
	})
	seen.alive = max(seen.alive, 1)
	return seen, err
}

// confirm extends the renewed leases and drops buckets that another relay has acquired.
func (r *Relay) confirm(start, dbNow time.Time, asked []int32, renewed []lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dbTime, r.dbSeen = dbNow, start
	ok := make(map[int32]int64, len(renewed))
	for _, l := range renewed {
		ok[l.Bucket] = l.Epoch
	}
	for _, b := range asked {
		p := r.parts[b]
		if epoch, is := ok[b]; is && epoch == p.epoch {
			p.until = start.Add(r.cfg.LeaseTTL - r.cfg.LeaseMargin)
		} else if p.held {
			p.held = false
			r.log.Warn("lease lost", "bucket", b)
		}
	}
	r.countLeases()
}

func (r *Relay) acquire(ctx context.Context, free []freeLease, want int) error {
	rand.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	free = free[:min(want, len(free))]
	if len(free) == 0 {
		return nil
	}
	buckets := make([]int32, len(free))
	dead := make(map[int32]bool)
	for i, f := range free {
		buckets[i] = f.Bucket
		dead[f.Bucket] = f.Owner != "" && f.Owner != r.owner
	}
	start := time.Now()
	var got []lease
	err := r.db.RunTx(ctx, "outbox.acquire", func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlAcquireLeases, r.owner, buckets, r.cfg.LeaseTTL).Rows(func(rows pgx.Rows) (err error) {
			got, err = pgx.CollectRows(rows, pgx.RowToStructByPos[lease])
			return err
		})
		return nil
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil {
		return fmt.Errorf("acquire leases: %w", err)
	}
	r.take(start, got, dead)
	return nil
}

// take adds newly acquired buckets; each starts with a full sweep.
func (r *Relay) take(start time.Time, got []lease, dead map[int32]bool) {
	r.mu.Lock()
	takeovers, differ := 0, false
	for _, l := range got {
		p := r.parts[l.Bucket]
		p.held, p.leaving, p.epoch = true, false, l.Epoch
		p.until = start.Add(r.cfg.LeaseTTL - r.cfg.LeaseMargin)
		p.partitions, p.paused = l.Partitions, l.Partitions == 0
		differ = differ || p.paused || l.Partitions != r.seen
		p.low, p.nextSweep, p.failures, p.notBefore = 0, time.Time{}, 0, time.Time{}
		if dead[l.Bucket] {
			takeovers++
		}
	}
	r.countLeases()
	r.mu.Unlock()
	relayTakeovers.Add(float64(takeovers))
	if len(got) > 0 {
		r.log.Info("leases acquired", "buckets", len(got), "from_dead_relays", takeovers)
	}
	if differ {
		wake(r.taken)
	}
	r.signal()
}

// releaseExcess releases the buckets above the fair share once their workers are done and what they published is settled.
func (r *Relay) releaseExcess(ctx context.Context, share int) error {
	excess := r.excess(share)
	r.settleNow(ctx, excess)
	r.mu.Lock()
	var leaving []int32
	for _, p := range excess {
		if p.held && p.leaving && !p.busy && p.settled() {
			p.held = false
			leaving = append(leaving, p.bucket)
		}
	}
	r.countLeases()
	r.mu.Unlock()
	return r.release(ctx, leaving)
}

// excess lists the buckets above the fair share, which take no new work.
func (r *Relay) excess(share int) (parts []*part) {
	r.mu.Lock()
	defer r.mu.Unlock()
	keep := 0
	for _, p := range r.parts {
		if !p.held {
			continue
		}
		if keep++; keep <= share {
			p.leaving = false
			continue
		}
		p.leaving = true
		parts = append(parts, p)
	}
	return parts
}

func (r *Relay) release(ctx context.Context, buckets []int32) error {
	if len(buckets) == 0 {
		return nil
	}
	err := r.db.RunTx(ctx, "outbox.release", func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlReleaseLeases, r.owner, buckets)
		return nil
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil {
		return fmt.Errorf("release leases: %w", err)
	}
	r.log.InfoContext(ctx, "leases released", "buckets", len(buckets))
	return nil
}

// releaseAll releases all leases, so that other relays can take over immediately.
func (r *Relay) releaseAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(telemetry.Untraced(ctx), 2*time.Second)
	defer cancel()
	mine := r.held()
	r.mu.Lock()
	for _, p := range r.parts {
		p.held = false
	}
	r.countLeases()
	r.mu.Unlock()
	err := r.release(ctx, mine)
	if err == nil {
		err = r.db.RunTx(ctx, "outbox.leave", func(_ context.Context, tx *db.Tx) error {
			tx.Queue(sqlDeleteMember, r.owner)
			return nil
		}, db.ReadCommitted(), db.Repeatable())
	}
	if err != nil {
		r.log.WarnContext(ctx, "releasing leases failed; they will expire", "error", err)
	}
}

// held lists the buckets that this relay believes it owns.
func (r *Relay) held() []int32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	var mine []int32
	for _, p := range r.parts {
		if p.held {
			mine = append(mine, p.bucket)
		}
	}
	return mine
}

// dropExpired drops buckets whose renewal was not confirmed in time.
func (r *Relay) dropExpired() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, lapsed := time.Now(), 0
	for _, p := range r.parts {
		if p.held && !now.Before(p.until) {
			p.held = false
			lapsed++
		}
	}
	if lapsed > 0 {
		r.countLeases()
		r.log.Warn("leases expired without a confirmed renewal", "buckets", lapsed)
	}
}

func (r *Relay) countLeases() {
	n := 0
	for _, p := range r.parts {
		if p.held {
			n++
		}
	}
	relayLeases.WithLabelValues(r.cfg.Node).Set(float64(n))
}
