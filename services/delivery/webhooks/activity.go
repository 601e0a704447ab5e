package webhooks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Activity is what a subscription was sent in the last 24 hours, by the time of the events, and what waits for it now.
type Activity struct {
	Hours  []Hour // oldest first; the last one is not over
	Failed int    // of the deliveries of the hours, those that were given up
	// Waiting are the open deliveries, Oldest is the creation of the oldest of them, and Expires when the first of them is given
	// up. WaitingMore says that there are more than were looked at.
	Waiting     int
	WaitingMore bool
	Retrying    int // of the open deliveries of the hours, those with an attempt that failed
	Oldest      *time.Time
	Expires     *time.Time
}

// Hour counts deliveries of events of one hour.
type Hour struct {
	From   time.Time
	Total  int
	About  bool // Total is estimated from the first deliveries of the hour, because there were more than are counted
	Failed int
	Open   int
}

// Total is the number of deliveries in all hours.
func (a *Activity) Total() (n int, about bool) {
	for _, h := range a.Hours {
		n, about = n+h.Total, about || h.About
	}
	return n, about
}

const (
	activityHours = 24
	// maxActivity is how many deliveries of all subscriptions are counted, and how many open and failed ones of each are read.
	maxActivity = 24_000
	maxPerState = 2_000
)

// These read by the primary key and by the partial indexes of failed and open deliveries.
const (
	sqlCountHours = `SELECT u.s, h.low, t.n, t.last FROM unnest($2::UUID[]) AS u(s) CROSS JOIN unnest($3::UUID[], $4::UUID[]) AS h(low, high) CROSS JOIN LATERAL (
 SELECT count(*) AS n, COALESCE(max(d.id::TEXT), '') AS last FROM (SELECT id FROM deliveries WHERE company_id = $1 AND subscription_id = u.s AND id BETWEEN h.low AND h.high
  ORDER BY company_id, subscription_id, id LIMIT $5) AS d) AS t`
	sqlActivityFailed = `SELECT u.s, d.id FROM unnest($2::UUID[]) AS u(s) CROSS JOIN LATERAL (
 SELECT id FROM deliveries WHERE company_id = $1 AND subscription_id = u.s AND state = 3 AND id >= $3 ORDER BY company_id DESC, subscription_id DESC, id DESC LIMIT $4) AS d`
	sqlActivityOpen = `SELECT u.s, d.id, d.attempt, d.created_at, d.expires_at FROM unnest($2::UUID[]) AS u(s) CROSS JOIN LATERAL (
 SELECT id, attempt, created_at, expires_at FROM deliveries WHERE company_id = $1 AND subscription_id = u.s AND state < 2 ORDER BY company_id, subscription_id, id LIMIT $3) AS d`
)

// Activity counts what subscriptions of the caller's company were sent in the last 24 hours. An hour of more deliveries than a
// page may look at is estimated by the time that the first of them took.
func (s *Service) Activity(ctx context.Context, by access.Caller, subs []uuid.UUID) (map[uuid.UUID]*Activity, error) {
	first := s.cfg.DB.Now().UTC().Truncate(time.Hour).Add(-(activityHours - 1) * time.Hour)
	all := make(map[uuid.UUID]*Activity, len(subs))
	for _, id := range subs {
		all[id] = &Activity{Hours: make([]Hour, activityHours)}
		for i := range all[id].Hours {
			all[id].Hours[i].From = first.Add(time.Duration(i) * time.Hour)
		}
	}
	if len(subs) == 0 {
		return all, nil
	}
	return all, batchloader.Load(ctx, s.cfg.DB,
		func(ctx context.Context, q db.Querier) error {
			return countHours(ctx, q, by, subs, first, s.cfg.DB.Now(), all)
		},
		func(ctx context.Context, q db.Querier) error { return countFailed(ctx, q, by, subs, first, all) },
		func(ctx context.Context, q db.Querier) error { return countOpen(ctx, q, by, subs, all) },
	)
}

func countHours(ctx context.Context, q db.Querier, by access.Caller, subs []uuid.UUID, first, now time.Time, all map[uuid.UUID]*Activity) error {
	low, high := make([]uuid.UUID, activityHours), make([]uuid.UUID, activityHours)
	for i := range low {
		from := first.Add(time.Duration(i) * time.Hour)
		low[i], high[i] = record.IDsBetween(from, from.Add(time.Hour-time.Millisecond))
	}
	limit := maxActivity / activityHours / len(subs)
	rows, err := q.Query(ctx, sqlCountHours, by.Company, subs, low, high, limit)
	if err != nil {
		return fmt.Errorf("count deliveries by hour: %w", err)
	}
	var sub, hour uuid.UUID
	var n int
	var last string
	_, err = pgx.ForEachRow(rows, []any{&sub, &hour, &n, &last}, func() error {
		h := &all[sub].Hours[slices.Index(low, hour)]
		if h.Total = n; n < limit {
			return nil
		}
		id, err := uuid.Parse(last)
		if err != nil {
			return err
		}
		if took := record.TimeOf(id).Sub(h.From); took > 0 {
			h.Total, h.About = int(float64(n)*float64(min(time.Hour, now.Sub(h.From)))/float64(took)), true
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("count deliveries by hour: %w", err)
	}
	return nil
}

// hour is the hour of an id; nil if it is none of these.
func (a *Activity) hour(id uuid.UUID) *Hour {
	i := int(record.TimeOf(id).Sub(a.Hours[0].From) / time.Hour)
	if i < 0 || i >= len(a.Hours) || record.TimeOf(id).Before(a.Hours[0].From) {
		return nil
	}
	return &a.Hours[i]
}

func countFailed(ctx context.Context, q db.Querier, by access.Caller, subs []uuid.UUID, first time.Time, all map[uuid.UUID]*Activity) error {
	low, _ := record.IDsBetween(first, first)
	rows, err := q.Query(ctx, sqlActivityFailed, by.Company, subs, low, maxPerState)
	if err != nil {
		return fmt.Errorf("count failed deliveries: %w", err)
	}
	var sub, id uuid.UUID
	_, err = pgx.ForEachRow(rows, []any{&sub, &id}, func() error {
		if h := all[sub].hour(id); h != nil {
			h.Failed++
			all[sub].Failed++
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("count failed deliveries: %w", err)
	}
	return nil
}

func countOpen(ctx context.Context, q db.Querier, by access.Caller, subs []uuid.UUID, all map[uuid.UUID]*Activity) error {
	rows, err := q.Query(ctx, sqlActivityOpen, by.Company, subs, maxPerState)
	if err != nil {
		return fmt.Errorf("count open deliveries: %w", err)
	}
	var sub, id uuid.UUID
	var attempt int
	var at, expires time.Time
	_, err = pgx.ForEachRow(rows, []any{&sub, &id, &attempt, &at, &expires}, func() error {
		a := all[sub]
		a.Waiting++
		a.WaitingMore = a.Waiting == maxPerState
		a.Oldest, a.Expires = earlier(a.Oldest, at), earlier(a.Expires, expires)
		if h := a.hour(id); h != nil {
			h.Open++
			a.Retrying += min(attempt, 1)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("count open deliveries: %w", err)
	}
	return nil
}

func earlier(a *time.Time, b time.Time) *time.Time {
	if a != nil && a.Before(b) {
		return a
	}
	return &b
}
