package company

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/kafka"
	"github.com/tradegrid/tradegrid/topics"
)

// ConsumeInvalidations forgets companies and tokens as their changes arrive, until ctx ends.
// Every node reads all of them, outside any consumer group. It starts a little in the past, so that
// a change between the first look-ups and the start is not missed.
func (s *Service) ConsumeInvalidations(ctx context.Context, cfg kafka.Config) error {
	start := s.clock().Add(-2 * knownFor)
	client, err := kafka.NewClient(cfg,
		kgo.ConsumeTopics(topics.AuthInvalidations),
		kgo.ConsumeResetOffset(kgo.NewOffset().AfterMilli(start.UnixMilli())),
	)
	if err != nil {
		return fmt.Errorf("consume invalidations: %w", err)
	}
	defer client.Close()
	for {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil || fetches.IsClientClosed() {
			return nil
		}
		fetches.EachError(func(topic string, partition int32, err error) {
			if !errors.Is(err, context.Canceled) {
				s.log.WarnContext(ctx, "invalidations not read", "topic", topic, "partition", partition, "error", err)
			}
		})
		fetches.EachRecord(func(r *kgo.Record) { s.invalidate(ctx, r.Value) })
	}
}

func (s *Service) invalidate(ctx context.Context, value []byte) {
	var m invalidation
	if err := json.Unmarshal(value, &m); err != nil || m.CompanyID.IsZero() {
		s.log.ErrorContext(ctx, "invalidation not understood, all tokens are read again", "error", err)
		s.cache.dropAll()
		return
	}
	if m.TokenID != nil {
		s.cache.dropToken(m.CompanyID, *m.TokenID)
		return
	}
	s.cache.dropCompany(m.CompanyID)
}
