package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// TailQuery selects events of the log from its end.
type TailQuery struct {
	Before   uuid.UUID // uuid.Nil = from the end
	Events   []string  // names and wildcards
	EntityID uuid.UUID // the record that they are about; uuid.Nil = any
	IDs      []uuid.UUID
	Actor    string    // who caused them, as in actorId of the envelope, such as the id of a token; "" = anyone
	From, To time.Time // by the time of their ids, to the millisecond; zero = open
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

// maxTailBytes is how many bytes of events a page has.
const maxTailBytes = 1 << 20

// Tail returns the last events that the caller may see, newest first, and the id behind which the next page begins; uuid.Nil =
// there are no more. Of one record, at most the last 200 are looked at.
func (s *Service) Tail(ctx context.Context, by access.Caller, q TailQuery) (found []Logged, next uuid.UUID, err error) {
	names, all, err := s.readable(by, q.Events)
	if err != nil || (!all && len(names) == 0) {
		return nil, uuid.Nil, err
	}
	if q.Before == uuid.Nil {
		_, q.Before = q.bounds()
	}
	if q.EntityID != uuid.Nil {
		if q.IDs, err = outbox.LatestOf(ctx, s.cfg.DB, by.Company, q.EntityID, maxEntityEvents); err != nil {
			return nil, uuid.Nil, err
		}
	}
	if q.EntityID != uuid.Nil || q.IDs != nil {
		return s.tailAmong(ctx, by, q, names, all)
	}
	return s.tailOfAll(ctx, by, q, names)
}

// maxLookedAt is how many events are looked at for a page of those of an actor.
const maxLookedAt = 1000

// tailOfAll is [Service.Tail] over the whole log.
func (s *Service) tailOfAll(ctx context.Context, by access.Caller, q TailQuery, names []string) (found []Logged, next uuid.UUID, err error) {
	first, _ := q.bounds()
	limit := q.Limit
	if q.Actor != "" {
		limit = max(limit, 200) // most are not the actor's
	}
	for looked := 0; looked < maxLookedAt; {
		entries, more, err := outbox.Latest(ctx, s.cfg.DB, by.Company, q.Before, names, limit, maxTailBytes)
		if err != nil {
			return nil, uuid.Nil, err
		}
		looked += len(entries)
		for i, e := range entries {
			if bytes.Compare(e.ID[:], first[:]) < 0 {
				return found, uuid.Nil, nil
			}
			q.Before = e.ID
			if one := logged(e); q.causedBy(one) {
				found = append(found, one)
			}
			if len(found) == q.Limit && (more || i+1 < len(entries)) {
				return found, e.ID, nil
			}
		}
		if !more || len(entries) == 0 {
			return found, uuid.Nil, nil
		}
	}
	return found, q.Before, nil
}

// bounds are those of the ids of events in the time of the query.
func (q *TailQuery) bounds() (first, last uuid.UUID) {
	last = uuid.Max
	if !q.From.IsZero() {
		first, _ = record.IDsBetween(q.From, q.From)
	}
	if !q.To.IsZero() {
		_, last = record.IDsBetween(q.To, q.To)
	}
	return first, last
}

// causedBy reports whether the actor of the query caused an event.
func (q *TailQuery) causedBy(e Logged) bool {
	if q.Actor == "" {
		return true
	}
	return actorOf(e.Body) == q.Actor
}

// actorOf returns who caused an event; "" for a body that is none.
func actorOf(body []byte) string {
	var envelope struct {
		ActorID string `json:"actorId"`
	}
	if json.Unmarshal(body, &envelope) != nil {
		return ""
	}
	return envelope.ActorID
}

// tailAmong is [Service.Tail] among events that are known by their ids.
func (s *Service) tailAmong(ctx context.Context, by access.Caller, q TailQuery, names []string, all bool) (found []Logged, next uuid.UUID, err error) {
	first, _ := q.bounds()
	ids := slices.DeleteFunc(slices.Clone(q.IDs), func(id uuid.UUID) bool {
		return bytes.Compare(id[:], q.Before[:]) >= 0 || bytes.Compare(id[:], first[:]) < 0
	})
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
		if e, ok := entries[id]; ok && (all || slices.Contains(names, e.Event)) && q.causedBy(logged(e)) {
			found = append(found, logged(e))
		}
	}
	return found, next, nil
}

func logged(e outbox.LogEntry) Logged {
	return Logged{ID: e.ID, Event: e.Event, EntityType: e.AggType, EntityID: e.AggID, Version: e.AggVersion, OccurredAt: e.OccurredAt, Body: e.Body}
}
