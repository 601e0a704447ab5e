package router

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/store"
)

const (
	// rowsFollow is the shortest time after which rows follow their records; the longest is twice that. Most receivers have
	// answered by then, and the sender has stored the answer. What takes longer is shown as pending or delivering.
	rowsFollow = 250 * time.Millisecond
	// maxFollowing is how many rows may be missing before the router waits for the database.
	maxFollowing = 10_000
	// recently is how long deliveries are remembered that are not read twice from the topic: relays publish an event again
	// sooner than that only if they have not died, and later than that the age of the event tells.
	recently = 2 * time.Second
)

// following writes the rows of deliveries that were sent, unless their results have written them. The event of a delivery is
// done once its row is there.
type following struct {
	db      *db.DB
	log     *slog.Logger
	backoff time.Duration

	mu     sync.Mutex
	events []*sent // since the last turn
	rows   int     // of those and of the turns under way
	wake   chan struct{}
	recent [2]map[uuid.UUID]struct{}
	turned time.Time // when recent got a new map
}

// sent is an event whose deliveries were sent.
type sent struct {
	rec  *kafka.Record
	rows []*store.FollowingRow
}

func newFollowing(d *db.DB, log *slog.Logger, backoff time.Duration) *following {
	return &following{
		db: d, log: log, backoff: backoff, wake: make(chan struct{}, 1),
		recent: [2]map[uuid.UUID]struct{}{{}, {}},
	}
}

// add has the rows of an event written.
func (f *following) add(s *sent, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, s)
	f.rows += len(s.rows)
	if now.Sub(f.turned) > recently {
		f.recent, f.turned = [2]map[uuid.UUID]struct{}{{}, f.recent[0]}, now
	}
	for _, row := range s.rows {
		f.recent[0][row.ID] = struct{}{}
	}
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// has reports whether a delivery was sent lately.
func (f *following) has(id uuid.UUID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, now := f.recent[0][id]
	_, before := f.recent[1][id]
	return now || before
}

// room returns an error while too many rows are missing.
func (f *following) room() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rows < maxFollowing {
		return nil
	}
	return fmt.Errorf("the rows of %d deliveries that were sent are not written yet", f.rows)
}

// run writes until work is done. Once ctx is done, rows follow at once.
func (f *following) run(ctx, work context.Context) {
	for {
		select {
		case <-f.wake:
		case <-work.Done():
			return
		}
		for due := f.take(); ; {
			select {
			case <-time.After(rowsFollow):
			case <-ctx.Done():
			}
			next := f.take()
			f.write(work, due)
			if due = next; len(due) == 0 {
				break
			}
		}
	}
}

func (f *following) take() []*sent {
	f.mu.Lock()
	defer f.mu.Unlock()
	events := f.events
	f.events = nil
	return events
}

// write retries until the rows are written. Events whose partition stops are dropped then: their next owner finds the rows that
// results have written, and writes the others.
func (f *following) write(ctx context.Context, events []*sent) {
	for n := 0; len(events) > 0; n++ {
		rows := rowsOf(events)
		err := store.InsertFollowing(ctx, f.db, rows)
		if err == nil {
			for _, s := range events {
				s.rec.Done()
			}
			f.written(len(rows))
			return
		}
		routerRetries.WithLabelValues("rows").Inc()
		f.log.WarnContext(ctx, "routing step failed", "step", "rows", "records", len(events), "error", err)
		pause(ctx, f.backoff<<min(n, 6))
		events = f.dropStopped(ctx, events)
	}
}

func rowsOf(events []*sent) (rows []*store.FollowingRow) {
	for _, s := range events {
		rows = append(rows, s.rows...)
	}
	return rows
}

// dropStopped returns the events that still need their rows.
func (f *following) dropStopped(ctx context.Context, events []*sent) (rest []*sent) {
	dropped := 0
	for _, s := range events {
		if stopped(ctx, s.rec) {
			s.rec.Drop()
			dropped += len(s.rows)
		} else {
			rest = append(rest, s)
		}
	}
	f.written(dropped)
	return rest
}

// written notes that so many rows are no longer missing here.
func (f *following) written(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rows -= n
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
