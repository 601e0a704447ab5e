package kafka

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Tail reads every new record of the topics, in every process and without a group, from the moment of the
// call until ctx is done: for invalidations, which matter only to what is cached already. A caller that must
// miss nothing bounds the age of what it caches; ready, if not nil, is called before the first poll.
func Tail(ctx context.Context, cfg Config, ready func(), handle func(r *kgo.Record), topics ...string) error {
	return TailFrom(ctx, cfg, kgo.NewOffset().AtEnd(), ready, handle, topics...)
}

// TailFrom is [Tail] from another place than the end. A topic that is deleted and made anew is read from there, too.
func TailFrom(ctx context.Context, cfg Config, from kgo.Offset, ready func(), handle func(r *kgo.Record), topics ...string) error {
	client, err := NewClient(cfg, kgo.ConsumeTopics(topics...), kgo.ConsumeResetOffset(from))
	if err != nil {
		return fmt.Errorf("tail %v: %w", topics, err)
	}
	defer client.Close()
	if ready != nil {
		ready()
	}
	log := cfg.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	trouble := newTrouble(log)
	for ctx.Err() == nil {
		fetches := client.PollFetches(ctx)
		anew := trouble.look(ctx, fetches, func(string) {})
		fetches.EachPartition(func(p kgo.FetchTopicPartition) { polled(p.Topic, "", len(p.Records)) })
		fetches.EachRecord(handle)
		if len(anew) > 0 {
			client.PurgeTopicsFromConsuming(anew...)
			client.AddConsumeTopics(anew...)
		}
		trouble.pause(ctx, fetches)
	}
	return nil
}
