package outbox

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/topics"
)

// world is a set of companies whose records change while relays freeze and fail.
type world struct {
	*testKit
	plan   plan
	things []chaosRecord

	mu        sync.Mutex
	committed map[uuid.UUID]int // record -> last committed version
}

type chaosRecord struct {
	company tenant.ID
	id      uuid.UUID
}

// plan configures a run; probabilities are per thousand.
type plan struct {
	writers, companies, perCompany, changes int
	skew                                    time.Duration // maximum clock skew of the writers, in both directions
	rollbacks, late                         int
	frozenBefore, frozenAfter, failedAfter  int
	batch                                   int
	dbFaults                                float64
}

func drawPlan(t *rapid.T) plan {
	return plan{
		writers:      rapid.IntRange(4, 12).Draw(t, "writers"),
		companies:    rapid.IntRange(1, 8).Draw(t, "companies"),
		perCompany:   rapid.IntRange(1, 10).Draw(t, "records"),
		changes:      rapid.IntRange(500, 2500).Draw(t, "changes"),
		skew:         time.Duration(rapid.IntRange(0, 5000).Draw(t, "skew_ms")) * time.Millisecond,
		rollbacks:    rapid.IntRange(0, 50).Draw(t, "rollbacks"),
		late:         rapid.IntRange(0, 10).Draw(t, "late"),
		frozenBefore: rapid.IntRange(0, 30).Draw(t, "frozen_before"),
		frozenAfter:  rapid.IntRange(0, 30).Draw(t, "frozen_after"),
		failedAfter:  rapid.IntRange(0, 50).Draw(t, "failed_after"),
		batch:        rapid.IntRange(1, 50).Draw(t, "batch"),
		dbFaults:     float64(rapid.IntRange(0, 50).Draw(t, "db_faults")) / 1000,
	}
}

// TestChaos checks the guarantees of the outbox: whatever fails, nothing is lost, the first publications of each record
// are in commit order, and the log has each event once, in that order, without a position that a reader could skip.
func TestChaos(t *testing.T) {
	t.Parallel()
	runs := 3
	if testing.Short() {
		runs = 1
	}
	for range runs {
		// Plans are drawn by rapid, but a run is too long for its usual number of checks and cannot be shrunk.
		p := rapid.Custom(drawPlan).Example(rand.Int())
		t.Run("", func(t *testing.T) {
			t.Parallel()
			t.Logf("plan %+v", p)
			runChaos(t, p)
		})
	}
}

func runChaos(t *testing.T, p plan) {
	w := &world{testKit: setup(t), plan: p, committed: make(map[uuid.UUID]int)}
	w.makeRecords()
	stopped := make(chan struct{})
	var relays sync.WaitGroup
	for i := range 3 {
		relays.Go(func() { w.relayUntil(stopped, "relay"+strconv.Itoa(i)) })
	}
	read, stopRead := context.WithCancel(t.Context())
	polled := make([][]LogEntry, p.companies)
	var pollers sync.WaitGroup
	for i := range p.companies {
		pollers.Go(func() { polled[i] = w.poll(read, w.things[i*p.perCompany].company) })
	}
	var writers sync.WaitGroup
	for range p.writers {
		writers.Go(w.write)
	}
	writers.Wait()
	w.drains()
	close(stopped)
	relays.Wait()
	stopRead()
	pollers.Wait()
	w.check(polled)
}

// drains waits until the outbox is empty. How long that takes depends on the plan, so all that counts is that it goes on.
func (w *world) drains() {
	w.t.Helper()
	for left := w.count("outbox"); left > 0; {
		before := left
		require.Eventually(w.t, func() bool { left = w.count("outbox"); return left < before }, eventually, 10*time.Millisecond, "%d rows are left", before)
	}
}

func (w *world) makeRecords() {
	_, err := w.db.Exec(w.t.Context(), "CREATE TABLE chaos_records (id UUID PRIMARY KEY, version BIGINT NOT NULL, ev_pos BIGINT NOT NULL)")
	require.NoError(w.t, err)
	for range w.plan.companies {
		c := company()
		for range w.plan.perCompany {
			r := chaosRecord{c, uuid.New()}
			w.things = append(w.things, r)
			_, err := w.db.Exec(w.t.Context(), "INSERT INTO chaos_records VALUES ($1, 0, 0)", r.id)
			require.NoError(w.t, err)
		}
	}
}

func chance(perThousand int) bool { return rand.IntN(1000) < perThousand }

// write changes random records with a skewed clock; a few changes are rolled back or stay open for long.
func (w *world) write() {
	skew := time.Duration(rand.Int64N(int64(2*w.plan.skew+1))) - w.plan.skew
	rolledBack := errors.New("rolled back")
	for range w.plan.changes / w.plan.writers {
		r := w.things[rand.IntN(len(w.things))]
		id, now := uuid.New(), time.Now().Add(skew).UTC().Truncate(time.Microsecond)
		late, rollback := chance(w.plan.late), chance(w.plan.rollbacks)
		var version int64
		// Read committed: serializable writers of few records would only wait for each other.
		err := w.db.RunTx(w.t.Context(), "chaos.write", func(ctx context.Context, tx *db.Tx) error {
			var pos int64
			err := tx.ReturningRow(ctx, db.Table("chaos_records").Update(`SET version = version + 1, ev_pos = GREATEST(ev_pos + 1, $2::BIGINT) WHERE id = $1
				RETURNING version, ev_pos`), r.id, now.UnixMicro()).Scan(&version, &pos)
			if err != nil {
				return err
			}
			m := message(r.id, version, pos)
			m.ID, m.CreatedAt = id, now
			if err := errors.Join(Append(ctx, tx, r.company, m), tx.Flush(ctx)); err != nil {
				return err
			}
			if late {
				<-time.After(300*time.Millisecond + rand.N(900*time.Millisecond))
			}
			if rollback {
				return rolledBack
			}
			return nil
		}, db.ReadCommitted())
		if rollback {
			continue
		}
		require.NoError(w.t, err)
		w.mu.Lock()
		w.committed[r.id] = max(w.committed[r.id], int(version))
		w.mu.Unlock()
	}
}

// relayUntil runs relays one after the other, like a pod that is restarted from time to time.
func (w *world) relayUntil(stopped <-chan struct{}, node string) {
	for {
		life := time.NewTimer(time.Second + rand.N(3*time.Second))
		r := w.chaoticRelay(node)
		stop := w.run(r)
		select {
		case <-stopped:
			stop()
			return
		case <-life.C:
			stop()
		}
	}
}

// chaoticRelay sometimes freezes for longer than its leases last, and sometimes loses its database after the acknowledgement.
func (w *world) chaoticRelay(node string) *Relay {
	var frozen atomic.Bool
	freeze := func(perThousand int) {
		if chance(perThousand) && frozen.CompareAndSwap(false, true) {
			<-time.After(600*time.Millisecond + rand.N(300*time.Millisecond))
			frozen.Store(false)
		}
	}
	faulty := *w.testKit
	faulty.db = w.openFaulty()
	return faulty.relay(node, func(r *Relay) {
		r.cfg.LeaseTTL, r.cfg.LeaseMargin, r.cfg.Renew = 400*time.Millisecond, 100*time.Millisecond, 50*time.Millisecond
		r.cfg.BatchSize = w.plan.batch
		for _, p := range r.parts {
			p.limit = w.plan.batch
		}
		r.cfg.inject = failpoint.On(points{
			beforeRenew:   unless(&frozen),
			beforeProduce: func(context.Context) error { freeze(w.plan.frozenBefore); return nil },
			afterAck: func(context.Context) error {
				freeze(w.plan.frozenAfter)
				if chance(w.plan.failedAfter) {
					return errors.New("killed")
				}
				return nil
			},
		})
	})
}

func (w *world) openFaulty() *db.DB {
	d, err := db.Open(w.t.Context(), db.Config{URL: w.db.Pool().Config().ConnString(), MaxConns: 8, Inject: db.Chaos(w.plan.dbFaults, 0)})
	require.NoError(w.t, err)
	w.t.Cleanup(d.Close)
	return d
}

// poll reads the log of a company like an integrator, until ctx is done and there are no more events.
func (w *world) poll(ctx context.Context, c tenant.ID) (all []LogEntry) {
	var cursor Cursor
	for {
		ended := ctx.Err() != nil
		page, more, err := ReadLog(context.WithoutCancel(ctx), w.db, c, cursor.After, 7, LogFilter{})
		require.NoError(w.t, err)
		all = append(all, page...)
		cursor = cursor.Next(page, more, time.Now())
		if len(page) > 0 {
			continue
		}
		if ended {
			return all
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (w *world) check(polled [][]LogEntry) {
	all := w.records(topics.Events)
	for i, r := range w.things {
		var want []string
		for v := 1; v <= w.committed[r.id]; v++ {
			want = append(want, strconv.Itoa(v))
		}
		first, _ := versions(all, r.id)
		require.Equal(w.t, want, first, "first publications of a record are complete and in commit order")
		var inLog []string
		for _, e := range polled[i/w.plan.perCompany] {
			if e.AggID == r.id {
				inLog = append(inLog, strconv.FormatInt(e.AggVersion, 10))
			}
		}
		require.Equal(w.t, want, inLog, "a reader of the log sees each event once and in commit order")
	}
	total := 0
	for _, n := range w.committed {
		total += n
	}
	require.Equal(w.t, total, w.count("events"), "nothing that was rolled back is in the log")
	require.Zero(w.t, w.count("outbox_dead"))
	w.t.Logf("%d events, %d repeated publications", total, len(all)-total)
}
