package webhooks

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// DeliveryQuery selects deliveries of a company; see docs/reference/events.md#deliveries.
type DeliveryQuery struct {
	Cursor string `query:"cursor" maxLength:"100" doc:"nextCursor of the page before"`
	list.PageLimit
	SubscriptionID *uuid.UUID `query:"subscriptionId" format:"uuid" doc:"also one that was deleted"`
	Status         string     `query:"status" enum:"pending,delivering,success,failed"`
	Answer         string     `query:"answer" enum:"2xx,3xx,4xx,5xx,none" doc:"HTTP status of the last attempt; none = no answer, or no attempt yet"`
	Events         []string   `query:"events" maxItems:"100" maxLength:"100" pattern:"^(\\*|[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)*\\.\\*|[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)+)$" patternDescription:"an event name such as order.created, a prefix such as order.*, or *" doc:"comma list of names and prefixes such as order.*"`
	EventID        *uuid.UUID `query:"eventId" format:"uuid"`
	EntityID       *uuid.UUID `query:"entityId" format:"uuid" doc:"the record that the events are about; its last 200 events"`
	DateFrom       *list.From `query:"dateFrom" doc:"earliest time of the event"`
	DateTo         *list.To   `query:"dateTo" doc:"latest time of the event"`
}

// DeliveryPage is a part of a company's deliveries, newest event first.
type DeliveryPage struct {
	Items      []DeliveryRecord `json:"items"`
	NextCursor *string          `json:"nextCursor" doc:"where to go on; null at the end"`
	HasMore    bool             `json:"hasMore" doc:"also with few items, or none: a page ends after it has looked at some thousand deliveries"`
}

const (
	// maxLooked is how many deliveries a page of the company's looks at, over all subscriptions.
	maxLooked = 5000
	// maxEntityEvents is how many events of a record are looked at.
	maxEntityEvents = 200
)

// CompanyDeliveries lists the deliveries of all subscriptions that exist, or of one, by the time of their events.
func (s *Service) CompanyDeliveries(ctx context.Context, by access.Caller, in DeliveryQuery) (DeliveryPage, error) {
	var faults apierr.Fields
	patterns := s.checkPatterns(&faults, in.Events)
	behind := uuid.Max
	if in.Cursor != "" {
		var err error
		if behind, err = uuid.Parse(in.Cursor); err != nil {
			faults.Add("cursor", apierr.Format, "is not one that this list gave out; start again without it")
		}
	}
	first, last := uuid.Nil, uuid.Max
	if in.DateFrom != nil {
		first, _ = record.IDsBetween(time.Time(*in.DateFrom), time.Time{})
	}
	if in.DateTo != nil {
		_, last = record.IDsBetween(time.Time{}, time.Time(*in.DateTo))
	}
	if in.DateFrom != nil && in.DateTo != nil && bytes.Compare(first[:], last[:]) > 0 {
		faults.Add("dateFrom", apierr.Conflict, "must not be after dateTo")
	}
	if err := faults.Err(); err != nil {
		return DeliveryPage{}, err
	}
	subs, err := s.subscriptionIDs(ctx, by.Company, in.SubscriptionID)
	if err != nil {
		return DeliveryPage{}, err
	}
	found, looked, err := s.look(ctx, by.Company, subs, in, first, last, behind)
	if err != nil {
		return DeliveryPage{}, err
	}
	found = slices.DeleteFunc(found, func(d glance) bool {
		return bytes.Compare(d.ID[:], looked[:]) < 0 || bytes.Compare(d.ID[:], behind[:]) >= 0 ||
			bytes.Compare(d.ID[:], first[:]) < 0 || bytes.Compare(d.ID[:], last[:]) > 0 ||
			(in.Status != "" && d.State.String() != in.Status) || (in.Answer != "" && d.answer() != in.Answer) ||
			(len(patterns) > 0 && !webhook.MatchAny(patterns, d.Event))
	})
	slices.SortFunc(found, func(a, b glance) int { return bytes.Compare(b.ID[:], a.ID[:]) })
	page := DeliveryPage{}
	if page.HasMore = len(found) > in.Records() || looked != uuid.Nil; page.HasMore {
		next := looked.String()
		if len(found) > in.Records() {
			next = found[in.Records()-1].ID.String()
		}
		page.NextCursor = &next
	}
	page.Items, err = s.selectDeliveries(ctx, by.Company, found[:min(len(found), in.Records())])
	return page, err
}

// subscriptionIDs are the ids of the company's subscriptions, or the one that is asked for.
func (s *Service) subscriptionIDs(ctx context.Context, company tenant.ID, only *uuid.UUID) ([]uuid.UUID, error) {
	if only != nil {
		return []uuid.UUID{*only}, nil
	}
	return db.Collect(ctx, s.cfg.DB, "select subscriptions of company", pgx.RowTo[uuid.UUID], `SELECT id FROM webhook_subscriptions WHERE company_id = $1`, company)
}

const sqlSelectSubscribed = `SELECT DISTINCT company_id FROM webhook_subscriptions WHERE company_id > $1 ORDER BY company_id LIMIT 1000`

// Subscribed lists companies that have subscriptions, by their ids, from behind one; at most 1000.
func (s *Service) Subscribed(ctx context.Context, after tenant.ID) ([]tenant.ID, error) {
	return db.Collect(ctx, s.cfg.DB, "select companies with subscriptions", pgx.RowTo[tenant.ID], sqlSelectSubscribed, after)
}

const sqlSelectNames = `SELECT s.id, s.name, s.url FROM unnest($1::UUID[], $2::UUID[]) AS u(c, i) JOIN webhook_subscriptions AS s ON s.company_id = u.c AND s.id = u.i`

// SubscriptionsOf reads subscriptions of any companies by their ids: their ids, names and URLs alone.
func (s *Service) SubscriptionsOf(ctx context.Context, keys []webhook.SubscriptionKey) (map[uuid.UUID]Subscription, error) {
	companies, ids := make([]tenant.ID, len(keys)), make([]uuid.UUID, len(keys))
	for i, k := range keys {
		companies[i], ids[i] = k.Company, k.ID
	}
	rows, err := s.cfg.DB.Query(ctx, sqlSelectNames, companies, ids)
	if err != nil {
		return nil, fmt.Errorf("select names of subscriptions: %w", err)
	}
	found := make(map[uuid.UUID]Subscription, len(keys))
	var sub Subscription
	_, err = pgx.ForEachRow(rows, []any{&sub.ID, &sub.Name, &sub.URL}, func() error {
		found[sub.ID] = sub
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read names of subscriptions: %w", err)
	}
	return found, nil
}

// glance is what of a delivery says whether it is listed.
type glance struct {
	SubscriptionID, ID uuid.UUID
	Event              string
	State              webhook.State
	HTTPCode           *int
}

func (d *glance) answer() string {
	if d.HTTPCode == nil {
		return "none"
	}
	return fmt.Sprintf("%dxx", *d.HTTPCode/100)
}

// The ids of a subscription's deliveries sort by the time of their events. Open and failed ones have an index of their own.
const (
	sqlGlanceAll    = `SELECT ` + glanceColumns + glanceRange + glanceEnd
	sqlGlanceOpen   = `SELECT ` + glanceColumns + glanceRange + ` AND state < 2` + glanceEnd
	sqlGlanceFailed = `SELECT ` + glanceColumns + glanceRange + ` AND state = 3` + glanceEnd
	glanceColumns   = `subscription_id, id, event, state, http_code`
	glanceRange     = ` FROM unnest($2::UUID[]) AS u(s) CROSS JOIN LATERAL (
 SELECT ` + glanceColumns + ` FROM deliveries WHERE company_id = $1 AND subscription_id = u.s AND id < $3 AND id BETWEEN $4 AND $5`
	glanceEnd       = ` ORDER BY company_id DESC, subscription_id DESC, id DESC LIMIT $6) AS d`
	sqlGlanceEvents = `SELECT d.subscription_id, d.id, d.event, d.state, d.http_code
FROM unnest($2::UUID[]) AS u(s) CROSS JOIN unnest($3::UUID[], $4::UUID[], $5::UUID[]) AS e(low, high, id) CROSS JOIN LATERAL (
 SELECT ` + glanceColumns + ` FROM deliveries WHERE company_id = $1 AND subscription_id = u.s AND id BETWEEN e.low AND e.high AND event_id = e.id
 ORDER BY redelivery_no DESC LIMIT $6) AS d`
)

// look finds deliveries that may be listed. All down to the id looked were found; uuid.Nil = all that there are.
func (s *Service) look(
	ctx context.Context, company tenant.ID, subs []uuid.UUID, in DeliveryQuery, first, last, behind uuid.UUID,
) (found []glance, looked uuid.UUID, err error) {
	if in.EventID != nil || in.EntityID != nil {
		found, err = s.lookForEvents(ctx, company, subs, in)
		return found, uuid.Nil, err
	}
	sql := sqlGlanceAll
	switch in.Status {
	case webhook.StatePending.String(), webhook.StateDelivering.String():
		sql = sqlGlanceOpen
	case webhook.StateFailed.String():
		sql = sqlGlanceFailed
	}
	each := max(in.Records()+1, maxLooked/max(len(subs), 1))
	found, err = glances(ctx, s.cfg.DB, sql, company, subs, behind, first, last, each)
	count := map[uuid.UUID]int{}
	for _, d := range found { // newest first within a subscription
		if count[d.SubscriptionID]++; count[d.SubscriptionID] == each && bytes.Compare(d.ID[:], looked[:]) > 0 {
			looked = d.ID
		}
	}
	return found, looked, err
}

func (s *Service) lookForEvents(ctx context.Context, company tenant.ID, subs []uuid.UUID, in DeliveryQuery) ([]glance, error) {
	var events []uuid.UUID
	if in.EntityID != nil {
		var err error
		if events, err = outbox.LatestOf(ctx, s.cfg.DB, company, *in.EntityID, maxEntityEvents); err != nil {
			return nil, err
		}
	}
	if in.EventID != nil {
		if in.EntityID != nil && !slices.Contains(events, *in.EventID) {
			return nil, nil
		}
		events = []uuid.UUID{*in.EventID}
	}
	low, high := make([]uuid.UUID, len(events)), make([]uuid.UUID, len(events))
	for i, id := range events {
		low[i], high[i] = idsOf(id)
	}
	// An event may have been redelivered any number of times.
	each := max(maxLooked/max(len(subs)*len(events), 1), 10)
	return glances(ctx, s.cfg.DB, sqlGlanceEvents, company, subs, low, high, events, each)
}

func glances(ctx context.Context, q db.Querier, sql string, args ...any) ([]glance, error) {
	return db.Collect(ctx, q, "look for deliveries", pgx.RowToStructByPos[glance], sql, args...)
}

const sqlSelectDeliveries = `SELECT ` + deliveryColumns + ` FROM unnest($2::UUID[], $3::UUID[]) AS u(s, i)
JOIN deliveries ON company_id = $1 AND subscription_id = u.s AND id = u.i`

// selectDeliveries reads the deliveries in the order given.
func (s *Service) selectDeliveries(ctx context.Context, company tenant.ID, wanted []glance) ([]DeliveryRecord, error) {
	if len(wanted) == 0 {
		return []DeliveryRecord{}, nil
	}
	subs, ids := make([]uuid.UUID, len(wanted)), make([]uuid.UUID, len(wanted))
	for i, d := range wanted {
		subs[i], ids[i] = d.SubscriptionID, d.ID
	}
	all, err := s.collectDeliveries(ctx, s.cfg.DB, company, sqlSelectDeliveries, company, subs, ids)
	slices.SortFunc(all, func(a, b DeliveryRecord) int { return bytes.Compare(b.ID[:], a.ID[:]) })
	return all, err
}
