package deadletter

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// Letter is a dead letter. Ids that its record does not have, or not as an id, are zero.
type Letter struct {
	At           time.Time
	Reason       string // such as [Attempts]
	Error        string
	Place        string // topic/partition/offset
	From         string // place of the record that could not be processed; empty for a delivery
	Company      tenant.ID
	Subscription uuid.UUID // of a delivery
	Delivery     uuid.UUID // of a delivery
	Event        string
	EventID      uuid.UUID
	Bytes        int // of the value
}

func letterOf(r *kgo.Record) Letter {
	h := make(map[string]string, len(r.Headers))
	for _, header := range r.Headers {
		h[header.Key] = string(header.Value)
	}
	id := func(key string) uuid.UUID {
		v, err := uuid.Parse(h[key])
		if err != nil {
			return uuid.Nil
		}
		return v
	}
	l := Letter{
		At: r.Timestamp, Reason: h[headerReason], Error: h[headerError], From: h[headerFrom], Place: fmt.Sprintf("%s/%d/%d", r.Topic, r.Partition, r.Offset),
		Company: tenant.ID(id("companyid")), Subscription: id("subscription_id"), Delivery: id("delivery_id"), Event: h["event"], EventID: id("event_id"), Bytes: len(r.Value),
	}
	if ms, err := strconv.ParseInt(h[headerAt], 10, 64); err == nil {
		l.At = time.UnixMilli(ms)
	}
	if l.Delivery == uuid.Nil { // an event
		l.Event, l.EventID = h["ce_type"], id("ce_id")
	}
	return l
}

// Read reads the dead letters that a topic has now: the newest of each partition, or all of them if newest is 0. The client
// must consume nothing else.
func Read(ctx context.Context, client *kgo.Client, topic string, newest int64, each func(Letter) error) error {
	starts, ends, err := offsets(ctx, kadm.NewClient(client), topic, (*kadm.Client).ListEndOffsets)
	if err != nil {
		return err
	}
	from, left := map[int32]kgo.Offset{}, map[int32]int64{}
	for id, end := range ends {
		start := starts[id]
		if newest > 0 {
			start = max(start, end-newest)
		}
		if start < end {
			from[id], left[id] = kgo.NewOffset().At(start), end
		}
	}
	client.AddConsumePartitions(map[string]map[int32]kgo.Offset{topic: from})
	defer client.PurgeTopicsFromConsuming(topic)
	for len(left) > 0 {
		fetches := poll(ctx, client)
		if err := fetches.Err(); err != nil {
			return fmt.Errorf("read dead letters of topic %s: %w", topic, err)
		}
		for it := fetches.RecordIter(); !it.Done(); {
			r := it.Next()
			end := left[r.Partition]
			if r.Offset >= end-1 {
				delete(left, r.Partition)
			}
			if r.Offset >= end {
				continue // written since
			}
			if err := each(letterOf(r)); err != nil {
				return err
			}
		}
	}
	return nil
}

// pollTimeout bounds the wait for records that the brokers have listed, and may have deleted since.
const pollTimeout = 30 * time.Second

func poll(ctx context.Context, client *kgo.Client) kgo.Fetches {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	return client.PollFetches(ctx)
}

// Purge deletes the dead letters that a topic has until the time given, and returns how many these are. With dry, it only counts.
func Purge(ctx context.Context, admin *kadm.Client, topic string, before time.Time, dry bool) (n int64, err error) {
	starts, ends, err := offsets(ctx, admin, topic, func(c *kadm.Client, ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
		return c.ListOffsetsAfterMilli(ctx, before.UnixMilli()+1, topics...)
	})
	if err != nil {
		return 0, err
	}
	until := kadm.Offsets{}
	for id, end := range ends {
		if end > starts[id] {
			until.AddOffset(topic, id, end, -1)
			n += end - starts[id]
		}
	}
	if n == 0 || dry {
		return n, nil
	}
	deleted, err := admin.DeleteRecords(ctx, until)
	if err = errors.Join(err, deleted.Error()); err != nil {
		return 0, fmt.Errorf("purge dead letters of topic %s: %w", topic, err)
	}
	return n, nil
}

// offsets lists by partition where a topic begins, and the offsets that upTo finds.
func offsets(
	ctx context.Context, admin *kadm.Client, topic string, upTo func(*kadm.Client, context.Context, ...string) (kadm.ListedOffsets, error),
) (starts, ends map[int32]int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	first, err := admin.ListStartOffsets(ctx, topic)
	if err = errors.Join(err, first.Error()); err != nil {
		return nil, nil, fmt.Errorf("read starts of topic %s: %w", topic, err)
	}
	last, err := upTo(admin, ctx, topic)
	if err = errors.Join(err, last.Error()); err != nil {
		return nil, nil, fmt.Errorf("read ends of topic %s: %w", topic, err)
	}
	starts, ends = map[int32]int64{}, map[int32]int64{}
	first.Each(func(o kadm.ListedOffset) { starts[o.Partition] = o.Offset })
	last.Each(func(o kadm.ListedOffset) { ends[o.Partition] = o.Offset })
	return starts, ends, nil
}
