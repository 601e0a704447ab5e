package webhooks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// EventTimeline is how an event came from the request to the receivers; see docs/reference/events.md#timeline.
type EventTimeline struct {
	RequestID   *string            `json:"requestId" nullable:"true" doc:"of the request that caused the event; null when the platform itself did"`
	RequestedAt *jsontype.Time     `json:"requestedAt" nullable:"true" doc:"when the request arrived; null when its id came from the client"`
	TraceID     *string            `json:"traceId" nullable:"true" doc:"of the request's trace, if it was sampled"`
	CommittedAt jsontype.Time      `json:"committedAt" doc:"of the transaction with the change"`
	PublishedAt *jsontype.Time     `json:"publishedAt" nullable:"true" doc:"when the relay had the acknowledgement of Kafka; the router may have read the event a moment before"`
	Deliveries  []TimelineDelivery `json:"deliveries" doc:"of the subscriptions that exist, in the order of their beginning"`
}

// TimelineDelivery is the part from the router to one receiver.
type TimelineDelivery struct {
	DeliveryRecord
	RoutedAt jsontype.Time     `json:"routedAt" doc:"when the delivery was made"`
	Attempts []DeliveryAttempt `json:"attempts" doc:"oldest first; of the unsuccessful ones, those among the last 100 of the subscription"`
}

// sqlSelectTimeline reads the deliveries of an event, of each subscription the original and the last redeliveries.
const sqlSelectTimeline = `SELECT ` + deliveryColumns + ` FROM (SELECT id AS s FROM webhook_subscriptions WHERE company_id = $1) AS w CROSS JOIN LATERAL (
 SELECT ` + deliveryColumns + ` FROM deliveries WHERE company_id = $1 AND subscription_id = w.s AND id BETWEEN $2 AND $3 AND event_id = $4
 ORDER BY redelivery_no = 0 DESC, redelivery_no DESC LIMIT 10) AS d`

const sqlSelectTimelineAttempts = `SELECT a.delivery_id, a.attempt, a.started_at, a.http_code, a.error, a.duration_ms FROM unnest($2::UUID[]) AS u(s)
JOIN delivery_attempts AS a ON a.company_id = $1 AND a.subscription_id = u.s WHERE a.delivery_id = ANY($3::UUID[]) ORDER BY a.subscription_id, a.seq`

// EventWithTimeline gives the bytes of one event with its timeline at the end. It shows deliveries, so the caller needs webhooks:read, too.
func (s *Service) EventWithTimeline(ctx context.Context, by access.Caller, id uuid.UUID) ([]byte, error) {
	if err := refuseWithout(by, "include=way shows deliveries: ask", []string{group.Scope + ":read"}); err != nil {
		return nil, err
	}
	entry, err := s.readableEvent(ctx, by, id)
	if err != nil {
		return nil, err
	}
	timeline, err := s.timeline(ctx, by.Company, entry)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(timeline)
	if err != nil {
		return nil, fmt.Errorf("encode timeline of event %s: %w", id, err)
	}
	body := append(slices.Clone(entry.Body[:len(entry.Body)-1]), `,"way":`...)
	return append(append(body, text...), '}'), nil
}

func (s *Service) timeline(ctx context.Context, company tenant.ID, e outbox.LogEntry) (*EventTimeline, error) {
	origin, err := outbox.OriginOf(ctx, s.cfg.DB, company, e.ID)
	if err != nil {
		return nil, err
	}
	timeline := &EventTimeline{CommittedAt: jsontype.At(e.OccurredAt), Deliveries: []TimelineDelivery{}}
	if origin.RequestID != nil && *origin.RequestID != "" {
		timeline.RequestID = origin.RequestID
		// The platform's own ids hold their time; one that a client sent may be anything.
		if own, err := uuid.Parse(*origin.RequestID); err == nil && own.Version() == 7 {
			if at := record.TimeOf(own); !at.After(e.OccurredAt) {
				began := jsontype.At(at)
				timeline.RequestedAt = &began
			}
		}
	}
	if parts := strings.Split(record.OrZero(origin.Traceparent), "-"); len(parts) == 4 && strings.HasSuffix(parts[3], "1") {
		timeline.TraceID = &parts[1]
	}
	if origin.PublishedAt != nil {
		at := jsontype.At(*origin.PublishedAt)
		timeline.PublishedAt = &at
	}
	from, to := idsOf(e.ID)
	all, err := s.collectDeliveries(ctx, s.cfg.DB, company, sqlSelectTimeline, company, from, to, e.ID)
	if err != nil {
		return nil, err
	}
	attempts, err := s.timelineAttempts(ctx, company, all)
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		timeline.Deliveries = append(timeline.Deliveries, TimelineDelivery{DeliveryRecord: d, RoutedAt: d.CreatedAt, Attempts: d.withSuccess(attempts[d.ID])})
	}
	slices.SortFunc(timeline.Deliveries, func(a, b TimelineDelivery) int {
		return cmp.Or(a.CreatedAt.Std().Compare(b.CreatedAt.Std()), slices.Compare(a.ID[:], b.ID[:]))
	})
	return timeline, nil
}

// timelineAttempts reads the unsuccessful attempts of deliveries.
func (s *Service) timelineAttempts(ctx context.Context, company tenant.ID, all []DeliveryRecord) (map[uuid.UUID][]DeliveryAttempt, error) {
	found := map[uuid.UUID][]DeliveryAttempt{}
	var subs, ids []uuid.UUID
	for _, d := range all {
		ids = append(ids, d.ID)
		if !slices.Contains(subs, d.SubscriptionID) {
			subs = append(subs, d.SubscriptionID)
		}
	}
	if len(ids) == 0 {
		return found, nil
	}
	rows, err := s.cfg.DB.Query(ctx, sqlSelectTimelineAttempts, company, subs, ids)
	if err != nil {
		return nil, fmt.Errorf("select attempts: %w", err)
	}
	var id uuid.UUID
	var a DeliveryAttempt
	_, err = pgx.ForEachRow(rows, []any{&id, &a.Attempt, &a.StartedAt, &a.HTTPCode, &a.ErrorMessage, &a.DurationMs}, func() error {
		found[id] = append(found[id], a)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read attempts: %w", err)
	}
	return found, nil
}
