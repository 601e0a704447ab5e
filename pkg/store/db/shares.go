package db

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// shares keeps one company from taking all connections of the pool: a company takes another connection only while it holds fewer
// than are free. Alone it gets half of the pool, beside one other busy company a third, and a company that holds none finds one
// as long as any is free. Work of a company that has to wait does so here, outside of the pool, where it is in nobody's way.
//
// The company is that of the context; see [tenant.With]. Work of the platform itself does not wait here, but counts.
type shares struct {
	mu      sync.Mutex
	free    int // below 0 while work of the platform waits for the pool
	waiting int
	of      map[tenant.ID]*share // of companies that hold connections, or wait for some
}

type share struct {
	held    int
	waiting []chan struct{} // in order; closing one gives its owner a connection
}

func newShares(conns int32) *shares { return &shares{free: int(conns), of: map[tenant.ID]*share{}} }

// enter waits until the company may take a connection. The caller then calls leave exactly once.
func (s *shares) enter(ctx context.Context, company tenant.ID) error {
	s.mu.Lock()
	if company.IsZero() {
		s.free--
		s.mu.Unlock()
		return nil
	}
	own := s.of[company]
	if own == nil {
		own = &share{}
		s.of[company] = own
	}
	if len(own.waiting) == 0 && own.held < s.free {
		own.held, s.free = own.held+1, s.free-1
		s.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	own.waiting, s.waiting = append(own.waiting, turn), s.waiting+1
	s.mu.Unlock()
	defer cputime.Wait()()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		s.giveUp(company, own, turn)
		return fmt.Errorf("wait for a connection of the company's share: %w", ctx.Err())
	}
}

// giveUp ends a wait, and returns the connection of one that got it at the last moment.
func (s *shares) giveUp(company tenant.ID, own *share, turn chan struct{}) {
	s.mu.Lock()
	i := slices.Index(own.waiting, turn)
	if i >= 0 {
		own.waiting, s.waiting = slices.Delete(own.waiting, i, i+1), s.waiting-1
		s.forget(company, own)
	}
	s.mu.Unlock()
	if i < 0 {
		s.leave(company)
	}
}

// leave returns a connection.
func (s *shares) leave(company tenant.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free++
	if own := s.of[company]; own != nil {
		own.held--
		s.forget(company, own)
	}
	s.grant()
}

// forget needs the lock.
func (s *shares) forget(company tenant.ID, own *share) {
	if own.held == 0 && len(own.waiting) == 0 {
		delete(s.of, company)
	}
}

// grant gives free connections to those who wait, first to the companies that hold the fewest. It needs the lock.
func (s *shares) grant() {
	for s.waiting > 0 {
		var next *share
		for _, own := range s.of {
			if len(own.waiting) > 0 && (next == nil || own.held < next.held) {
				next = own
			}
		}
		if next.held >= s.free {
			return
		}
		close(next.waiting[0])
		next.waiting, s.waiting = slices.Delete(next.waiting, 0, 1), s.waiting-1
		next.held, s.free = next.held+1, s.free-1
	}
}

// pending is how many acquisitions wait.
func (s *shares) pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting
}
