package company

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/topics"
)

// ConsumeInvalidations drops companies and tokens from the cache as their changes arrive, until ctx ends. Every node reads
// all of them, outside any consumer group. It starts a little in the past, so that no change between the first look-ups and
// the start is missed.
func (s *Service) ConsumeInvalidations(ctx context.Context, cfg kafka.Config) error {
	start := s.cfg.DB.Now().Add(-2 * knownFor)
	from := kgo.NewOffset().AfterMilli(start.UnixMilli())
	cfg.Log = s.cfg.Log
	if err := kafka.TailFrom(ctx, cfg, from, nil, func(r *kgo.Record) { s.invalidate(ctx, r.Value) }, topics.AuthInvalidations); err != nil {
		return fmt.Errorf("consume invalidations: %w", err)
	}
	return nil
}

func (s *Service) invalidate(ctx context.Context, value []byte) {
	var m invalidation
	if err := json.Unmarshal(value, &m); err != nil || m.CompanyID.IsZero() {
		s.cfg.Log.ErrorContext(ctx, "invalidation decode failed, all cached tokens dropped", "error", err)
		s.cache.dropAll()
		return
	}
	if m.TokenID != nil {
		s.cache.dropToken(m.CompanyID, *m.TokenID)
		return
	}
	s.cache.dropCompany(m.CompanyID)
}
