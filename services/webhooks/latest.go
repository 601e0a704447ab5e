package webhooks

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/outbox"
)

// LatestQuery selects events of the log from its end.
type LatestQuery struct {
	Before   uuid.UUID // uuid.Nil = from the end
	Events   []string  // names and wildcards
	EntityID uuid.UUID // the record that they are about; uuid.Nil = any
	IDs      []uuid.UUID
	Limit    int
}

// Logged is an event of the log with what it is about.
type Logged struct {
	ID         uuid.UUID
	Event      string
	EntityType string
	EntityID   uuid.UUID
	Version    int64
	OccurredAt time.Time
	Body       []byte // the envelope
}

// maxLatestBytes is how many bytes of events a page has.
const maxLatestBytes = 1 << 20

// Latest returns the last events that the caller may see, newest first, and the id behind which the next page begins; uuid.Nil =
// there are no more. Of one record, at most the last 200 are looked at.
func (s *Service) Latest(ctx context.Context, by access.Caller, q LatestQuery) (found []Logged, next uuid.UUID, err error) {
	names, all, err := s.readable(by, q.Events)
	if err != nil || (!all && len(names) == 0) {
		return nil, uuid.Nil, err
	}
	if q.Before == uuid.Nil {
		q.Before = uuid.Max
	}
	if q.EntityID != uuid.Nil {
		if q.IDs, err = outbox.LatestOf(ctx, s.cfg.DB, by.Company, q.EntityID, maxEntityEvents); err != nil {
			return nil, uuid.Nil, err
		}
	}
	if q.EntityID != uuid.Nil || q.IDs != nil {
		return s.latestAmong(ctx, by, q, names, all)
	}
	entries, more, err := outbox.Latest(ctx, s.cfg.DB, by.Company, q.Before, names, q.Limit, maxLatestBytes)
	if err != nil {
		return nil, uuid.Nil, err
	}
	for _, e := range entries {
		found = append(found, logged(e))
	}
	if more && len(entries) > 0 {
		next = entries[len(entries)-1].ID
	}
	return found, next, nil
}

// latestAmong is [Service.Latest] among events that are known by their ids.
func (s *Service) latestAmong(ctx context.Context, by access.Caller, q LatestQuery, names []string, all bool) (found []Logged, next uuid.UUID, err error) {
	ids := slices.DeleteFunc(slices.Clone(q.IDs), func(id uuid.UUID) bool { return bytes.Compare(id[:], q.Before[:]) >= 0 })
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return bytes.Compare(b[:], a[:]) })
	if len(ids) > q.Limit {
		ids = ids[:q.Limit]
		next = ids[q.Limit-1]
	}
	entries, err := outbox.LogEvents(ctx, s.cfg.DB, by.Company, ids)
	if err != nil {
		return nil, uuid.Nil, err
	}
	for _, id := range ids {
		if e, ok := entries[id]; ok && (all || slices.Contains(names, e.Event)) {
			found = append(found, logged(e))
		}
	}
	return found, next, nil
}

func logged(e outbox.LogEntry) Logged {
	return Logged{ID: e.ID, Event: e.Event, EntityType: e.AggType, EntityID: e.AggID, Version: e.AggVersion, OccurredAt: e.OccurredAt, Body: e.Body}
}
