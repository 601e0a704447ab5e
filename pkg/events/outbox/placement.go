package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/topics"
)

// The companies of a bucket are spread over a number of partitions that is stored with its lease. If it followed the topic by
// itself, the events of a company could go to an added partition while a router is still busy with earlier ones in the old
// partition. A relay therefore pauses a bucket, waits until the routers have committed what the topic had at that moment, and
// then changes the number.

var (
	sqlPlaceBuckets = outboxLeases.Update(`SET partitions = COALESCE(partitions, $3) FROM unnest($2::INT4[], $4::BIGINT[]) AS u(b, e)
WHERE bucket = u.b AND bucket = ANY($2::INT4[]) AND epoch = u.e AND owner = $1 AND expires_at > now() RETURNING bucket, epoch, partitions`)
	// A lease of another epoch was another relay's meanwhile, which published without waiting.
	sqlMoveBuckets = outboxLeases.Update(`SET partitions = $3 FROM unnest($2::INT4[], $4::BIGINT[]) AS u(b, e)
WHERE bucket = u.b AND bucket = ANY($2::INT4[]) AND epoch = u.e AND owner = $1 AND expires_at > now() RETURNING bucket, epoch, partitions`)
)

const (
	movedTogether = 32                    // buckets that are paused at the same time
	moveTimeout   = 5 * time.Second       // how long they are paused at most
	placeRetry    = time.Second           // interval between attempts
	placeTold     = time.Minute           // interval between log lines that say why they fail
	routersEvery  = 20 * time.Millisecond // interval between readings of what the routers have committed
	placeTimeout  = 5 * time.Second       // for what needs no routers
	quietEvery    = 5 * time.Millisecond  // interval between looks at the batches in flight
)

var (
	errUnplaced = errors.New("the number of partitions of topic " + topics.Events + " is not known yet")
	errBehind   = errors.New("the routers have not processed earlier events")
)

// keepPlacement gives each bucket its number of partitions, and follows the topic when it grows, until ctx is done.
func (r *Relay) keepPlacement(ctx context.Context) {
	ctx = telemetry.Untraced(ctx)
	t := time.NewTimer(r.cfg.placement)
	defer t.Stop()
	var told time.Time
	var last error
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.taken:
		case <-t.C:
		}
		err := r.placementPass(ctx)
		if err == nil {
			told, last = time.Time{}, nil
			t.Reset(r.cfg.placement)
			continue
		}
		if again := errors.Is(err, errBehind) == errors.Is(last, errBehind); ctx.Err() == nil && (!again || time.Since(told) > placeTold) {
			told, last = time.Now(), err
			if waiting := len(r.unplaced()); waiting > 0 {
				r.log.WarnContext(ctx, "events are not published: the partitions of their topic could not be read or stored", "topic", topics.Events, "buckets", waiting, "error", err)
			} else {
				r.log.WarnContext(ctx, "events do not use all partitions yet", "topic", topics.Events, "error", err)
			}
		}
		t.Reset(min(placeRetry, r.cfg.placement))
	}
}

// placementPass compares the owned buckets with the topic.
func (r *Relay) placementPass(ctx context.Context) error {
	unplaced := r.unplaced()
	defer r.resume(unplaced) // without a number, they publish everything but events
	n, err := r.partitions(ctx)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.seen = n
	r.mu.Unlock()
	if err := r.place(ctx, sqlPlaceBuckets, unplaced, n); err != nil {
		return err
	}
	var grown, recreated []lease
	for _, l := range r.leases() {
		switch {
		case l.Partitions > n:
			recreated = append(recreated, l)
		case l.Partitions < n:
			grown = append(grown, l)
		}
	}
	unmovedBuckets.Set(float64(len(grown)))
	if len(recreated) > 0 { // in a topic that was created again with fewer partitions is nothing to wait for
		if err := r.place(ctx, sqlMoveBuckets, recreated, n); err != nil {
			return err
		}
	}
	if len(grown) == 0 {
		return nil
	}
	return r.grow(ctx, grown, n)
}

// partitions is how many partitions the topic of events has.
func (r *Relay) partitions(ctx context.Context) (int32, error) {
	ctx, cancel := context.WithTimeout(ctx, placeTimeout)
	defer cancel()
	// A request for authorized operations bypasses the client's metadata cache, which does not know a recreated topic.
	found, err := r.admin.ListTopics(kadm.WithAuthorizedOps(ctx), topics.Events)
	if err != nil {
		return 0, fmt.Errorf("read metadata of topic %s: %w", topics.Events, err)
	}
	topic := found[topics.Events]
	if topic.Err != nil {
		return 0, fmt.Errorf("read metadata of topic %s: %w", topics.Events, topic.Err)
	}
	return int32(len(topic.Partitions)), nil
}

// partitionsOf is how many partitions the companies of a bucket are spread over.
func (r *Relay) partitionsOf(p *part) int32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return p.partitions
}

// leases lists the buckets that this relay believes it owns.
func (r *Relay) leases() (mine []lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.parts {
		if p.held {
			mine = append(mine, lease{p.bucket, p.epoch, p.partitions})
		}
	}
	return mine
}

// unplaced lists those whose number of partitions is not known.
func (r *Relay) unplaced() []lease {
	return slices.DeleteFunc(r.leases(), func(l lease) bool { return l.Partitions > 0 })
}

// place stores the number of partitions of buckets. After an error it is not known which number the database has.
func (r *Relay) place(ctx context.Context, w db.Write, of []lease, n int32) error {
	if len(of) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, placeTimeout)
	defer cancel()
	buckets, epochs := make([]int32, len(of)), make([]int64, len(of))
	for i, l := range of {
		buckets[i], epochs[i] = l.Bucket, l.Epoch
	}
	var stored []lease
	err := r.db.RunTx(ctx, "outbox.place", func(_ context.Context, tx *db.Tx) error {
		tx.Queue(w, r.owner, buckets, n, epochs).Rows(func(rows pgx.Rows) (err error) {
			stored, err = pgx.CollectRows(rows, pgx.RowToStructByPos[lease])
			return err
		})
		return nil
	}, db.ReadCommitted(), db.Repeatable())
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		for _, l := range of {
			r.parts[l.Bucket].partitions = 0
		}
		return fmt.Errorf("store partitions of buckets: %w", err)
	}
	for _, l := range stored {
		if p := r.parts[l.Bucket]; p.held && p.epoch == l.Epoch {
			p.partitions = l.Partitions
		}
	}
	return nil
}

// grow moves buckets to the partitions that were added, some at a time.
func (r *Relay) grow(ctx context.Context, buckets []lease, n int32) error {
	if err := r.routersReady(ctx, n); err != nil {
		return fmt.Errorf("%d buckets wait for %d partitions: %w", len(buckets), n, err)
	}
	start := time.Now()
	for some := range slices.Chunk(buckets, movedTogether) {
		if err := r.move(ctx, some, n); err != nil {
			return fmt.Errorf("move %d buckets to %d partitions: %w", len(some), n, err)
		}
		unmovedBuckets.Sub(float64(len(some)))
	}
	r.log.InfoContext(ctx, "events use the added partitions", "topic", topics.Events, "partitions", n, "buckets", len(buckets), "took", time.Since(start).String())
	return nil
}

// routersReady sees that the added partitions have owners and that the routers keep up, before anything waits for them.
func (r *Relay) routersReady(ctx context.Context, n int32) error {
	ctx, cancel := context.WithTimeout(ctx, moveTimeout)
	defer cancel()
	groups, err := r.admin.DescribeGroups(ctx, topics.Routers)
	if err = errors.Join(err, groups.Error()); err != nil {
		return fmt.Errorf("read members of group %s: %w", topics.Routers, err)
	}
	group := groups[topics.Routers]
	if owned := len(group.AssignedPartitions()[topics.Events]); owned < int(n) {
		return fmt.Errorf("members of group %s own %d of the partitions", topics.Routers, owned)
	}
	for r.client.ForceMetadataRefresh(); !r.knows(n); {
		if !sleep(ctx, routersEvery) {
			return errors.New("the brokers do not tell this process of all partitions")
		}
	}
	return r.routed(ctx)
}

// knows reports whether the client can produce to that many partitions.
func (r *Relay) knows(n int32) bool {
	first, _, _ := r.client.PartitionLeader(topics.Events, 0)
	last, _, _ := r.client.PartitionLeader(topics.Events, n-1)
	return first < 0 || last >= 0 // before the first record it knows none, and asks for all
}

// move pauses buckets until the routers have processed what was published, and then lets them use n partitions.
func (r *Relay) move(ctx context.Context, buckets []lease, n int32) error {
	ctx, cancel := context.WithTimeout(ctx, moveTimeout)
	defer cancel()
	r.pause(buckets)
	defer r.resume(buckets)
	if err := r.quiet(ctx, buckets); err != nil {
		return err
	}
	if err := r.routed(ctx); err != nil {
		return err
	}
	return r.place(ctx, sqlMoveBuckets, buckets, n)
}

// pause keeps buckets from being published.
func (r *Relay) pause(buckets []lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range buckets {
		r.parts[l.Bucket].paused = true
	}
}

// resume ends a pause and looks for what was written meanwhile.
func (r *Relay) resume(buckets []lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range buckets {
		if p := r.parts[l.Bucket]; p.paused {
			p.paused = false
			r.enqueue(p)
		}
	}
	r.signal()
}

// quiet waits for the batches of buckets that are paused.
func (r *Relay) quiet(ctx context.Context, buckets []lease) error {
	for r.anyBusy(buckets) {
		if !sleep(ctx, quietEvery) {
			return errors.New("a batch is still in flight")
		}
	}
	return nil
}

func (r *Relay) anyBusy(buckets []lease) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(buckets, func(l lease) bool { return r.parts[l.Bucket].busy })
}

// routed waits until the routers have committed everything that the topic has now.
func (r *Relay) routed(ctx context.Context) error {
	starts, err := r.admin.ListStartOffsets(ctx, topics.Events)
	if err = errors.Join(err, starts.Error()); err != nil {
		return fmt.Errorf("read starts of topic %s: %w", topics.Events, err)
	}
	ends, err := r.admin.ListEndOffsets(ctx, topics.Events)
	if err = errors.Join(err, ends.Error()); err != nil {
		return fmt.Errorf("read ends of topic %s: %w", topics.Events, err)
	}
	for {
		committed, err := r.admin.FetchOffsets(ctx, topics.Routers)
		if err = errors.Join(err, committed.Error()); err != nil {
			return fmt.Errorf("read offsets of group %s: %w", topics.Routers, err)
		}
		var behind error
		ends.Each(func(end kadm.ListedOffset) {
			next, _ := starts.Lookup(end.Topic, end.Partition)
			if at, ok := committed.Lookup(end.Topic, end.Partition); ok {
				next.Offset = max(next.Offset, at.At)
			}
			if next.Offset < end.Offset {
				behind = fmt.Errorf("%w: partition %d to offset %d, not %d", errBehind, end.Partition, next.Offset, end.Offset)
			}
		})
		if behind == nil || !sleep(ctx, routersEvery) {
			return behind
		}
	}
}

// sleep reports whether the time has passed before ctx was done.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
