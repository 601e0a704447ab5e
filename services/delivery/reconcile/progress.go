package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/topics"
)

// progress is how far the routers have processed the events: everything that the log has up to and including heads. It is
// stored in the database, because a cluster that loses a topic loses the offsets of the consumer group with it.
type progress struct {
	topicID uuid.UUID       // generation of the topic that offsets refer to
	offsets []int64         // next offset to process, by partition
	heads   outbox.LogHeads // by bucket
	lostAt  *time.Time      // when a loss was found whose events are still being published again
	updated time.Time
}

const routerProgress = db.Table("router_progress")

const sqlSelectProgress = `SELECT topic_id, offsets, heads, lost_at, updated_at FROM router_progress WHERE consumer_group = $1`

var sqlUpsertProgress = routerProgress.Insert(`(consumer_group, topic_id, offsets, heads, lost_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (consumer_group) DO UPDATE SET topic_id = excluded.topic_id, offsets = excluded.offsets, heads = excluded.heads,
 lost_at = excluded.lost_at, updated_at = excluded.updated_at`)

// selectProgress returns nil if none is stored.
func selectProgress(ctx context.Context, q db.Querier, group string) (*progress, error) {
	var p progress
	var stored []int64
	err := q.QueryRow(ctx, sqlSelectProgress, group).Scan(&p.topicID, &p.offsets, &stored, &p.lostAt, &p.updated)
	if db.IsNoRows(err) {
		return nil, nil
	}
	if err == nil && len(stored) != outbox.Buckets {
		err = fmt.Errorf("%d heads are stored, not %d", len(stored), outbox.Buckets)
	}
	if err != nil {
		return nil, fmt.Errorf("read progress of group %s: %w", group, err)
	}
	copy(p.heads[:], stored)
	return &p, nil
}

// store makes p the progress, unless it is the same.
func (r *Reconciler) store(ctx context.Context, p progress) error {
	if old := r.progress; old != nil && old.topicID == p.topicID && slices.Equal(old.offsets, p.offsets) && old.heads == p.heads && old.lostAt == p.lostAt {
		return nil
	}
	p.updated = r.now().UTC().Truncate(time.Microsecond)
	if _, err := r.db.Write(ctx, sqlUpsertProgress, r.cfg.Group, p.topicID, p.offsets, p.heads[:], p.lostAt, p.updated); err != nil {
		return fmt.Errorf("store progress of group %s: %w", r.cfg.Group, err)
	}
	r.progress = &p
	return nil
}

// topicState is the topic of events as the brokers have it, and what the routers have committed. The slices are by partition.
type topicState struct {
	id           uuid.UUID
	starts, ends []int64
	next         []int64 // offset that the routers process next
}

// readTopic reads the commits before the ends, so that a valid commit is never beyond the end.
func (r *Reconciler) readTopic(ctx context.Context) (s topicState, err error) {
	// A request for authorized operations bypasses the client's metadata cache, which does not know a recreated topic.
	found, err := r.admin.ListTopics(kadm.WithAuthorizedOps(ctx), topics.Events)
	if err != nil {
		return s, fmt.Errorf("read metadata of topic %s: %w", topics.Events, err)
	}
	topic := found[topics.Events]
	if topic.Err != nil {
		return s, fmt.Errorf("read metadata of topic %s: %w", topics.Events, topic.Err)
	}
	committed, err := r.admin.FetchOffsets(ctx, r.cfg.Group)
	if errors.Is(err, kerr.GroupIDNotFound) {
		err = nil // no router has run yet
	}
	if err = errors.Join(err, committed.Error()); err != nil && !errors.Is(err, kerr.UnknownTopicOrPartition) {
		return s, fmt.Errorf("read offsets of group %s: %w", r.cfg.Group, err)
	}
	starts, err := r.admin.ListStartOffsets(ctx, topics.Events)
	if err = errors.Join(err, starts.Error()); err != nil {
		return s, fmt.Errorf("read starts of topic %s: %w", topics.Events, err)
	}
	ends, err := r.admin.ListEndOffsets(ctx, topics.Events)
	if err = errors.Join(err, ends.Error()); err != nil {
		return s, fmt.Errorf("read ends of topic %s: %w", topics.Events, err)
	}
	s.id = uuid.UUID(topic.ID)
	for id := range int32(len(topic.Partitions)) {
		start, okStart := starts.Lookup(topics.Events, id)
		end, okEnd := ends.Lookup(topics.Events, id)
		if !okStart || !okEnd {
			return s, fmt.Errorf("read ends of topic %s: partition %d is missing", topics.Events, id)
		}
		next := start.Offset
		// A commit beyond the end is one of a topic that was deleted; the routers start over.
		if c, ok := committed.Lookup(topics.Events, id); ok && c.Err == nil && c.At <= end.Offset {
			next = max(next, c.At)
		}
		s.starts, s.ends, s.next = append(s.starts, start.Offset), append(s.ends, end.Offset), append(s.next, next)
	}
	return s, nil
}

// loss says what the topic has lost that the routers had not processed by this progress; it is empty if there is nothing.
func (p *progress) loss(s topicState) string {
	if p.topicID != s.id {
		return "the topic was deleted and created again"
	}
	for id, next := range p.offsets {
		switch {
		case id >= len(s.ends):
			return fmt.Sprintf("partition %d is missing", id)
		case s.starts[id] > next:
			return fmt.Sprintf("partition %d starts at offset %d, and the routers had processed it up to %d", id, s.starts[id], next)
		case s.ends[id] < next:
			return fmt.Sprintf("partition %d ends at offset %d, and the routers had processed it up to %d", id, s.ends[id], next)
		}
	}
	return ""
}
