package company

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const (
	useEvery   = time.Minute     // precision of lastUsedAt of a token
	flushEvery = 5 * time.Second // how often the times are stored
	flushBatch = 1000
)

// The last condition keeps nodes that see the same token from overwriting each other in turns.
var sqlUpdateUsed = tokens.Update(`SET last_used_at = u.used_at
FROM unnest($1::UUID[], $2::UUID[], $3::TIMESTAMPTZ[], $4::TIMESTAMPTZ[]) AS u(company_id, id, used_at, stale)
WHERE tokens.company_id = u.company_id AND tokens.id = u.id AND (tokens.last_used_at IS NULL OR tokens.last_used_at <= u.stale)`)

// lastUse is the last time of use that is stored or queued.
type lastUse struct{ at atomic.Int64 }

func newLastUse(at *time.Time) *lastUse {
	u := &lastUse{}
	if at != nil {
		u.at.Store(at.UnixMicro())
	}
	return u
}

// usage collects times of use, so that requests do not wait until they are stored.
type usage struct {
	mu      sync.Mutex
	pending map[useKey]time.Time
}

type useKey struct {
	company tenant.ID
	token   uuid.UUID
}

func newUsage() *usage { return &usage{pending: map[useKey]time.Time{}} }

// touch records a use at most once a minute; otherwise it costs one atomic load.
func (u *usage) touch(k *known, now time.Time) {
	last, at := k.use.at.Load(), now.UnixMicro()
	if at-last < useEvery.Microseconds() || !k.use.at.CompareAndSwap(last, at) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.pending[useKey{k.Company, k.TokenID}] = now.UTC()
}

func (u *usage) take() map[useKey]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := u.pending
	u.pending = map[useKey]time.Time{}
	return taken
}

// Run stores the last use of tokens periodically until ctx ends, and once more at the end.
func (s *Service) Run(ctx context.Context) error {
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushEvery)
			defer cancel()
			s.flushUsage(ctx)
			return nil
		case <-ticker.C:
			s.flushUsage(ctx)
		}
	}
}

// flushUsage drops times that cannot be stored: the next use of the token, a minute later, is stored instead.
func (s *Service) flushUsage(ctx context.Context) {
	taken := s.used.take()
	var companies, tokens []uuid.UUID
	var at, stale []time.Time
	write := func() {
		if len(tokens) == 0 {
			return
		}
		if err := s.writeUsage(ctx, companies, tokens, at, stale); err != nil {
			s.cfg.Log.WarnContext(ctx, "last use of tokens not stored", "error", err, "tokens", len(tokens))
		}
		companies, tokens, at, stale = nil, nil, nil, nil
	}
	for k, t := range taken {
		companies, tokens = append(companies, uuid.UUID(k.company)), append(tokens, k.token)
		at, stale = append(at, t), append(stale, t.Add(-useEvery))
		if len(tokens) == flushBatch {
			write()
		}
	}
	write()
}

func (s *Service) writeUsage(ctx context.Context, companies, tokens []uuid.UUID, at, stale []time.Time) error {
	err := s.cfg.DB.RunTx(ctx, "company.token.used", func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlUpdateUsed, companies, tokens, at, stale)
		return nil
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil {
		return fmt.Errorf("write times of last use: %w", err)
	}
	return nil
}
