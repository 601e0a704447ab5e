package kafka

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Tail reads every new record of the topics, in every process and without a group, from the moment of the
// call until ctx is done: for invalidations, which matter only to what is cached already. A caller that must
// miss nothing bounds the age of what it caches; ready, if not nil, is called before the first poll.
func Tail(ctx context.Context, cfg Config, ready func(), handle func(r *kgo.Record), topics ...string) error {
	client, err := NewClient(cfg, kgo.ConsumeTopics(topics...), kgo.ConsumeResetOffset(kgo.NewOffset().AtEnd()))
	if err != nil {
		return fmt.Errorf("tail %v: %w", topics, err)
	}
	defer client.Close()
	if ready != nil {
		ready()
	}
	for ctx.Err() == nil {
		fetches := client.PollFetches(ctx)
		fetches.EachError(func(topic string, id int32, err error) {
			if ctx.Err() == nil && cfg.Log != nil {
				cfg.Log.WarnContext(ctx, "fetch failed", "topic", topic, "partition", id, "error", err)
			}
		})
		fetches.EachRecord(handle)
	}
	return nil
}
