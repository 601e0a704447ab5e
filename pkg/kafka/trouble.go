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
	// sayEvery is how often the same trouble of a topic is logged.
	sayEvery = 10 * time.Second
	// troublePause is the wait after a poll that brought errors only: some of them come back at once.
	troublePause = 250 * time.Millisecond
	// renewEvery is the least time between two attempts to find a topic anew.
	renewEvery = time.Second
)

// trouble looks after the errors of a consumer's polls. It belongs to one goroutine.
type trouble struct {
	log  *slog.Logger
	said map[string]time.Time // by topic and error
}

func newTrouble(log *slog.Logger) *trouble { return &trouble{log: log, said: map[string]time.Time{}} }

// look logs the errors of a poll, each one now and then, and has them counted. It names the topics that were deleted and made
// anew: the client goes on with neither, until it is told to.
func (t *trouble) look(ctx context.Context, fetches kgo.Fetches, count func(topic string)) (anew []string) {
	fetches.EachError(func(topic string, id int32, err error) {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return
		}
		count(topic)
		if errors.Is(err, kerr.UnknownTopicID) {
			anew = append(anew, topic)
		}
		key, now := topic+" "+err.Error(), time.Now()
		if now.Sub(t.said[key]) < sayEvery {
			return
		}
		maps.DeleteFunc(t.said, func(_ string, at time.Time) bool { return now.Sub(at) >= sayEvery }) // texts may hold ports
		t.said[key] = now
		t.log.WarnContext(ctx, "fetch failed", "topic", topic, "partition", id, "error", err)
	})
	return anew
}

// pause waits after a poll that brought nothing but errors.
func (t *trouble) pause(ctx context.Context, fetches kgo.Fetches) {
	if fetches.NumRecords() == 0 && fetches.Err() != nil {
		sleep(ctx, troublePause)
	}
}

// sleep waits, but not longer than ctx lasts.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// renewal lets a producer go on with a topic that was deleted and made anew. The client keeps to the topic that it knew and
// fails every record; what was acknowledged is lost with the old topic, and what comes now belongs into the new one.
type renewal struct {
	log    *slog.Logger
	mu     sync.Mutex
	client *kgo.Client // nil until it is made
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
	go func() { // the client must not wait for itself
		client.PurgeTopicsFromProducing(topic)
		n.log.Warn("topic was deleted; if it is there again, records go to the new one", "topic", topic)
	}()
}

func (n *renewal) of(client *kgo.Client) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.client = client
}
