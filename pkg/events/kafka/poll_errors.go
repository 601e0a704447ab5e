package kafka

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// logEvery is the interval at which the same error of a topic is logged again.
	logEvery = 10 * time.Second
	// errorPause is the wait after a poll that returned only errors, because some errors return immediately.
	errorPause = 250 * time.Millisecond
	// renewEvery is the minimum time between two attempts to find a recreated topic.
	renewEvery = time.Second
)

// pollErrors handles the errors of a consumer's polls. It is not safe for concurrent use.
type pollErrors struct {
	log    *slog.Logger
	logged map[string]time.Time // last time, by topic and error
}

func newPollErrors(log *slog.Logger) *pollErrors {
	return &pollErrors{log: log, logged: map[string]time.Time{}}
}

// look logs the errors of a poll, each at most once per logEvery, and calls count for them. It returns the topics that were
// deleted or recreated; the client does not consume those again until it is told to.
func (t *pollErrors) look(ctx context.Context, fetches kgo.Fetches, count func(topic string)) (recreated []string) {
	fetches.EachError(func(topic string, id int32, err error) {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return
		}
		count(topic)
		if errors.Is(err, kerr.UnknownTopicID) {
			recreated = append(recreated, topic)
		}
		key, now := topic+" "+err.Error(), time.Now()
		if now.Sub(t.logged[key]) < logEvery {
			return
		}
		maps.DeleteFunc(t.logged, func(_ string, at time.Time) bool { return now.Sub(at) >= logEvery }) // error texts may contain ports, so the map would grow
		t.logged[key] = now
		t.log.WarnContext(ctx, "fetch failed", "topic", topic, "partition", id, "error", err)
	})
	return recreated
}

// pause waits after a poll that returned only errors.
func (t *pollErrors) pause(ctx context.Context, fetches kgo.Fetches) {
	if fetches.NumRecords() == 0 && fetches.Err() != nil {
		sleep(ctx, errorPause)
	}
}

// sleep waits for d or until ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// renewal lets a producer continue with a topic that was deleted and recreated. The client keeps the id of the old topic and
// would fail every record. Acknowledged records are lost with the old topic; later ones go to the new one.
type renewal struct {
	log    *slog.Logger
	mu     sync.Mutex
	client *kgo.Client // nil until it is created
	last   map[string]time.Time
}

// OnProduceRecordUnbuffered implements [kgo.HookProduceRecordUnbuffered].
func (n *renewal) OnProduceRecordUnbuffered(r *kgo.Record, err error) {
	if !errors.Is(err, kerr.UnknownTopicID) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	if n.client == nil || now.Sub(n.last[r.Topic]) < renewEvery {
		return
	}
	n.last[r.Topic] = now
	topic, client := r.Topic, n.client
	go func() { // purging in the hook would deadlock the client
		client.PurgeTopicsFromProducing(topic)
		n.log.Warn("topic was deleted; if it is recreated, records go to the new topic", "topic", topic)
	}()
}

func (n *renewal) of(client *kgo.Client) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.client = client
}
