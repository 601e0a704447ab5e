package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// SkippedQuery selects events that a subscription did not get; see docs/reference/events.md#skipped.
type SkippedQuery struct {
	Cursor string `query:"cursor" maxLength:"100" doc:"nextCursor of the page before"`
	list.PageLimit
	Outcome string `query:"outcome" enum:"filtered,not_subscribed,skipped"`
}

// SkippedPage is a part of them, newest event first.
type SkippedPage struct {
	Items      []Explanation `json:"items"`
	NextCursor *string       `json:"nextCursor" doc:"where to go on; null at the end"`
	HasMore    bool          `json:"hasMore" doc:"also with few items, or none: a page ends after it has looked at some hundred events"`
}

const (
	maxSkippedLooked = 500 // events that a page looks at
	skippedStep      = 100 // of these, at once
)

// Skipped lists the events since a subscription was made that it did not get, each with the reason: those of the log that the caller
// may read and of which there is no delivery.
func (s *Service) Skipped(ctx context.Context, by access.Caller, id uuid.UUID, in SkippedQuery) (SkippedPage, error) {
	tail := TailQuery{Limit: skippedStep}
	if in.Cursor != "" {
		var err error
		if tail.Before, err = uuid.Parse(in.Cursor); err != nil {
			return SkippedPage{}, apierr.InvalidField("cursor", apierr.Format, "is not one that this list gave out; start again without it")
		}
	}
	sub, err := table.Get(ctx, s.cfg.DB, by.Company, id)
	if err != nil {
		return SkippedPage{}, err
	}
	versions, err := selectVersions(ctx, s.cfg.DB, by.Company, id)
	if err != nil {
		return SkippedPage{}, err
	}
	tail.From = sub.CreatedAt.Std()
	page := SkippedPage{Items: []Explanation{}}
	for looked := 0; looked < maxSkippedLooked; {
		found, next, err := s.Tail(ctx, by, tail)
		if err != nil {
			return page, err
		}
		missed, err := s.missing(ctx, by, sub, versions, found)
		if err != nil {
			return page, err
		}
		for i, e := range missed {
			if in.Outcome != "" && e.Outcome != in.Outcome {
				continue
			}
			page.Items = append(page.Items, e)
			if len(page.Items) == in.Records() && (i+1 < len(missed) || next != uuid.Nil) {
				return page.goOn(e.EventID), nil
			}
		}
		if next == uuid.Nil {
			return page, nil
		}
		looked += len(found)
		tail.Before = next
	}
	return page.goOn(tail.Before), nil
}

// goOn is the page with more behind an event.
func (p SkippedPage) goOn(behind uuid.UUID) SkippedPage {
	next := behind.String()
	p.NextCursor, p.HasMore = &next, true
	return p
}

// The deliveries of some events lie together: their ids begin with the times of these.
const sqlSelectWithDelivery = `SELECT DISTINCT event_id FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 AND id BETWEEN $3 AND $4 AND event_id = ANY($5::UUID[])`

// missing explains the events of which a subscription has no delivery and gets none, in the order given, newest first.
func (s *Service) missing(ctx context.Context, by access.Caller, sub Subscription, versions []datedVersion, found []Logged) ([]Explanation, error) {
	if len(found) == 0 {
		return nil, nil
	}
	ids := make([]uuid.UUID, len(found))
	for i, e := range found {
		ids[i] = e.ID
	}
	_, high := idsOf(found[0].ID)
	low, _ := idsOf(found[len(found)-1].ID)
	with, err := db.Collect(ctx, s.cfg.DB, "select events with deliveries", pgx.RowTo[uuid.UUID], sqlSelectWithDelivery, by.Company, sub.ID, low, high, ids)
	if err != nil {
		return nil, err
	}
	sent := make(map[uuid.UUID]bool, len(with))
	for _, id := range with {
		sent[id] = true
	}
	var missed []Explanation
	for _, e := range found {
		if sent[e.ID] {
			continue
		}
		q := s.questionOf(by, outbox.LogEntry{ID: e.ID, Event: e.Event, OccurredAt: e.OccurredAt, Body: e.Body})
		why, err := q.explain(sub, versionAt(versions, e.OccurredAt), nil)
		if err != nil {
			return nil, err
		}
		if why.Outcome == outcomeFiltered || why.Outcome == outcomeNotSubscribed || why.Outcome == outcomeSkipped {
			missed = append(missed, why)
		}
	}
	return missed, nil
}

// datedVersion is a version of a subscription with its beginning.
type datedVersion struct {
	subscriptionVersion
	ValidFrom time.Time
}

const sqlSelectVersions = `SELECT v.subscription_id, w.created_by_id, v.version, v.status, v.events, v.filter::TEXT, v.exclude_own_events, v.read_scopes, v.valid_from
FROM webhook_subscription_versions AS v JOIN webhook_subscriptions AS w ON w.company_id = v.company_id AND w.id = v.subscription_id
WHERE v.company_id = $1 AND v.subscription_id = $2 ORDER BY v.version DESC`

// selectVersions reads what a subscription has been, the latest first.
func selectVersions(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) ([]datedVersion, error) {
	all, err := db.Collect(ctx, q, "select versions of subscription", func(row pgx.CollectableRow) (v datedVersion, err error) {
		return v, row.Scan(&v.SubscriptionID, &v.CreatedByID, &v.Version, &v.Status, &v.Events, &v.Filter, &v.ExcludeOwn, &v.ReadScopes, &v.ValidFrom)
	}, sqlSelectVersions, company, id)
	if err != nil {
		return nil, fmt.Errorf("subscription %s: %w", id, err)
	}
	return all, nil
}

// versionAt is the version at a time; nil = not recorded.
func versionAt(versions []datedVersion, at time.Time) *subscriptionVersion {
	for i := range versions {
		if !versions[i].ValidFrom.After(at) {
			return &versions[i].subscriptionVersion
		}
	}
	return nil
}
