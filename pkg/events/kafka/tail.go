package kafka

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Tail reads every new record of the topics without a consumer group, from the time of the call until ctx is done. It is
// meant for cache invalidations, which every process must see. It may miss records, so callers must also limit the age
// of what they cache. ready, if not nil, is called before the first poll.
func Tail(ctx context.Context, cfg Config, ready func(), handle func(r *kgo.Record), topics ...string) error {
	return TailFrom(ctx, cfg, kgo.NewOffset().AtEnd(), ready, handle, topics...)
}

// TailFrom is like [Tail] but starts at the offset from. A topic that is deleted and recreated is read from that offset, too.
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
	errs := newPollErrors(log)
	for ctx.Err() == nil {
		fetches := client.PollFetches(ctx)
		recreated := errs.look(ctx, fetches, func(string) {})
		fetches.EachPartition(func(p kgo.FetchTopicPartition) { polled(p.Topic, "", len(p.Records)) })
		fetches.EachRecord(handle)
		if len(recreated) > 0 {
			client.PurgeTopicsFromConsuming(recreated...)
			client.AddConsumeTopics(recreated...)
		}
		errs.pause(ctx, fetches)
	}
	return nil
}
