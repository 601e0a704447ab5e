package webhooks

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
)

// EventShares are the names among the last events of the log, the most frequent first.
type EventShares struct {
	Names  []EventShare
	Events int       // that were looked at
	Since  time.Time // of the oldest of them; zero = there are none
}

// EventShare is how often an event happened, and how many of these a subscription gets.
type EventShare struct {
	Event    string
	Happened int
	Wanted   int
	Why      string // outcome of the latest that it does not get, as of [Explanation]; "" = it gets all
}

// Shares asks which of the last events that the caller may read a subscription gets as it is now, whether or not it is active.
func (s *Service) Shares(ctx context.Context, by access.Caller, id uuid.UUID, limit int) (EventShares, error) {
	sub, err := table.Get(ctx, s.cfg.DB, by.Company, id)
	if err != nil {
		return EventShares{}, err
	}
	found, _, err := s.Tail(ctx, by, TailQuery{Limit: limit})
	if err != nil {
		return EventShares{}, err
	}
	sub.Status = statusActive
	all := EventShares{Events: len(found)}
	for _, e := range found {
		q := s.questionOf(by, outbox.LogEntry{ID: e.ID, Event: e.Event, OccurredAt: e.OccurredAt, Body: e.Body})
		a, err := q.decide(sub.version())
		if err != nil {
			return EventShares{}, err
		}
		all.count(e, a.outcome)
	}
	slices.SortFunc(all.Names, func(x, y EventShare) int {
		return cmp.Or(cmp.Compare(y.Happened, x.Happened), strings.Compare(x.Event, y.Event))
	})
	return all, nil
}

// count adds an event that is older than those before.
func (all *EventShares) count(e Logged, outcome string) {
	i := slices.IndexFunc(all.Names, func(n EventShare) bool { return n.Event == e.Event })
	if i < 0 {
		i = len(all.Names)
		all.Names = append(all.Names, EventShare{Event: e.Event})
	}
	n := &all.Names[i]
	n.Happened++
	all.Since = e.OccurredAt
	if outcome == outcomeDelivered {
		n.Wanted++
		return
	}
	n.Why = cmp.Or(n.Why, outcome)
}
