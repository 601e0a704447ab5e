// Package requests keeps the last requests of each company's tokens and shows them; see docs/reference/requests.md.
package requests

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const (
	// Kept is how long a request stays in the log.
	Kept = 7 * 24 * time.Hour
	// maxLooked is how many requests a page looks at.
	maxLooked = 5000
	// maxEvents is how many events of a record or of a request are looked at.
	maxEvents = 200
)

// Config holds the dependencies of the service.
type Config struct{ DB *db.DB }

// Service shows the request log.
type Service struct{ cfg Config }

// New returns a service.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

// List returns a page of the requests of the company's tokens, newest first.
func (s *Service) List(ctx context.Context, by access.Caller, q Query) (Page, error) {
	first, behind, err := q.bounds(s.cfg.DB.Now())
	if err != nil {
		return Page{}, err
	}
	found, looked, err := s.look(ctx, by.Company, q, first, behind)
	if err != nil {
		return Page{}, err
	}
	found = slices.DeleteFunc(found, func(r Request) bool {
		return bytes.Compare(r.ID[:], first[:]) < 0 || bytes.Compare(r.ID[:], behind[:]) >= 0 || !q.selects(r)
	})
	page := Page{HasMore: len(found) > q.Records() || looked != uuid.Nil, Items: found[:min(len(found), q.Records())]}
	if page.HasMore {
		next := looked.String()
		if len(found) > q.Records() {
			next = found[q.Records()-1].ID.String()
		}
		page.NextCursor = &next
	}
	for i := range page.Items {
		page.Items[i].visible(by)
	}
	return page, nil
}

// bounds are the first id that may be listed, and the one behind the last.
func (q Query) bounds(now time.Time) (first, behind uuid.UUID, err error) {
	var faults apierr.Fields
	from := now.Add(-Kept) // rows are deleted some time after they expire
	if q.DateFrom != nil && time.Time(*q.DateFrom).After(from) {
		from = time.Time(*q.DateFrom)
	}
	first, _ = record.IDsBetween(from, time.Time{})
	behind = uuid.Max
	if q.DateTo != nil {
		_, behind = record.IDsBetween(time.Time{}, time.Time(*q.DateTo))
		if q.DateFrom != nil && time.Time(*q.DateFrom).After(time.Time(*q.DateTo)) {
			faults.Add("dateFrom", apierr.Conflict, "must not be after dateTo")
		}
	}
	if q.Cursor != "" {
		id, err := uuid.Parse(q.Cursor)
		if err != nil {
			faults.Add("cursor", apierr.Format, "is not one that this list gave out; start again without it")
		}
		if bytes.Compare(id[:], behind[:]) < 0 {
			behind = id
		}
	}
	return first, behind, faults.Err()
}

// look finds requests that may be listed, newest first. All down to the id looked were found; uuid.Nil = all that there are.
func (s *Service) look(ctx context.Context, company tenant.ID, q Query, first, behind uuid.UUID) (found []Request, looked uuid.UUID, err error) {
	if q.RequestID != "" || q.EntityID != nil {
		found, err = s.lookUp(ctx, company, q)
		return found, uuid.Nil, err
	}
	sql := sqlSelectRequests
	if q.refusedOnly() {
		sql = sqlSelectRefused
	}
	found, err = collect(ctx, s.cfg.DB, sql, company, first, behind, maxLooked)
	if len(found) == maxLooked {
		looked = found[maxLooked-1].ID
	}
	return found, looked, err
}

// lookUp finds requests by their own ids, or those that had to do with a record.
func (s *Service) lookUp(ctx context.Context, company tenant.ID, q Query) ([]Request, error) {
	var names []string
	var about *uuid.UUID
	if q.EntityID != nil {
		var err error
		if names, err = outbox.RequestsOf(ctx, s.cfg.DB, company, *q.EntityID, maxEvents); err != nil {
			return nil, err
		}
		about = q.EntityID
	}
	if q.RequestID != "" {
		if about == nil || slices.Contains(names, q.RequestID) {
			about = nil
		}
		names = []string{q.RequestID}
	}
	ids := make([]uuid.UUID, 0, len(names))
	for _, name := range names {
		if id, err := uuid.Parse(name); err == nil {
			ids = append(ids, id)
		}
	}
	found, err := collect(ctx, s.cfg.DB, sqlSelectNamed, company, ids, names, maxLooked)
	if err != nil || about == nil {
		return found, err
	}
	refused, err := collect(ctx, s.cfg.DB, sqlSelectRefusedOf, company, *about, maxLooked)
	if q.RequestID != "" {
		return slices.DeleteFunc(refused, func(r Request) bool { return r.RequestID != q.RequestID }), err
	}
	found = append(found, refused...)
	slices.SortFunc(found, func(a, b Request) int { return bytes.Compare(b.ID[:], a.ID[:]) })
	return slices.CompactFunc(found, func(a, b Request) bool { return a.ID == b.ID }), err
}

// Get reads a request.
func (s *Service) Get(ctx context.Context, by access.Caller, id uuid.UUID) (RequestDetail, error) {
	r, err := s.selectDetail(ctx, by.Company, id)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && r.CreatedAt.Std().Before(s.cfg.DB.Now().Add(-Kept)) {
		return r, apierr.NotFound("REQUEST", id.String())
	}
	if err != nil {
		return r, err
	}
	took := time.Duration(r.DurationMs) * time.Millisecond
	r.EventIDs, err = outbox.CausedBy(ctx, s.cfg.DB, by.Company, r.RequestID, r.CreatedAt.Std(), r.CreatedAt.Std().Add(took), maxEvents)
	r.visible(by)
	return r, err
}
