package operations

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/delivery/deadletter"
	"github.com/tradegrid/tradegrid/topics"
)

// Where the platform puts what it gives up.
const (
	DeadInOutbox   = "outbox"     // events that Kafka does not take; they are in the table outbox_dead
	DeadEvents     = "events"     // records that no dispatcher can process: events.dlq
	DeadDeliveries = "deliveries" // deliveries that failed for good: webhook.dlq
)

// Sources are all of these places.
func Sources() []string { return []string{DeadInOutbox, DeadEvents, DeadDeliveries} }

var deadTopics = map[string]string{DeadEvents: topics.EventsDead, DeadDeliveries: topics.DeliveriesDead}

// DeadLetter is something that the platform gave up.
type DeadLetter struct {
	Source         string     `json:"source"`
	At             time.Time  `json:"at"`
	CompanyID      *tenant.ID `json:"companyId"`
	SubscriptionID *uuid.UUID `json:"subscriptionId"`
	DeliveryID     *uuid.UUID `json:"deliveryId"`
	EventID        *uuid.UUID `json:"eventId"`
	Event          string     `json:"event"`
	Reason         string     `json:"reason"`
	Error          string     `json:"error"`
	Bytes          int        `json:"bytes"`
	Place          string     `json:"place"`
	From           string     `json:"from,omitempty"`
}

// known is nil for an id that is not known.
func known[T ~[16]byte](id T) *T {
	if id == (T{}) {
		return nil
	}
	return &id
}

func ofLetter(source string, l deadletter.Letter) DeadLetter {
	return DeadLetter{
		source, l.At.UTC(), known(l.Company), known(l.Subscription), known(l.Delivery), known(l.EventID), l.Event, l.Reason, l.Error, l.Bytes, l.Place, l.From,
	}
}

func ofDeadRow(r outbox.DeadRow) DeadLetter {
	return DeadLetter{
		Source: DeadInOutbox, At: r.FailedAt.UTC(), CompanyID: known(r.Company), EventID: known(r.ID), Event: r.Event, Reason: deadletter.Refused, Error: r.Error,
		Bytes: int(r.Bytes), Place: fmt.Sprintf("outbox_dead/%d/%d", r.Bucket, r.Pos), From: r.Topic,
	}
}

// deadRowsPage is how many rows of the outbox are changed in one transaction.
const deadRowsPage = 100

// eachDeadRow calls do for the rows that Kafka does not take, page by page.
func (p *Platform) eachDeadRow(ctx context.Context, in outbox.DeadFilter, do func([]outbox.DeadRow) error) error {
	for after := (outbox.DeadRow{Bucket: -1}); ; {
		rows, err := outbox.DeadRows(ctx, p.cfg.DB, in, after, deadRowsPage)
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := do(rows); err != nil {
			return err
		}
		after = rows[len(rows)-1]
	}
}

// DeadFilter selects dead letters.
type DeadFilter struct {
	Source  string     // "" = all
	Company *tenant.ID // nil = all
	Limit   int        // how many to return at most
	Newest  int64      // look only at so many of each partition of a topic; 0 = at all
}

func (f DeadFilter) wants(source string) bool { return f.Source == "" || f.Source == source }

// of reports whether something of a company is asked for.
func (f DeadFilter) of(company tenant.ID) bool { return f.Company == nil || *f.Company == company }

// DeadLetters returns the newest. Those of the outbox are there even if the brokers do not answer: then brokers says why, as it does
// for [Platform.Pipeline].
func (p *Platform) DeadLetters(ctx context.Context, f DeadFilter) (found []DeadLetter, brokers, err error) {
	found = []DeadLetter{}
	add := func(l DeadLetter) {
		if found = append(found, l); len(found) > 2*f.Limit {
			found = newest(found, f.Limit)
		}
	}
	if f.wants(DeadInOutbox) {
		if err := p.eachDeadRow(ctx, outbox.DeadFilter{Company: f.Company, Before: time.Now()}, func(rows []outbox.DeadRow) error {
			for _, r := range rows {
				add(ofDeadRow(r))
			}
			return nil
		}); err != nil {
			return nil, nil, err
		}
	}
	brokers = p.deadInTopics(ctx, f, add)
	return newest(found, f.Limit), brokers, nil
}

func (p *Platform) deadInTopics(ctx context.Context, f DeadFilter, add func(DeadLetter)) error {
	if f.Source == DeadInOutbox {
		return nil
	}
	client, err := p.client()
	if err != nil {
		return err
	}
	defer client.Close()
	for _, source := range []string{DeadEvents, DeadDeliveries} {
		if !f.wants(source) {
			continue
		}
		if err := deadletter.Read(ctx, client, deadTopics[source], f.Newest, func(l deadletter.Letter) error {
			if f.of(l.Company) {
				add(ofLetter(source, l))
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

func newest(all []DeadLetter, limit int) []DeadLetter {
	slices.SortFunc(all, func(x, y DeadLetter) int { return y.At.Compare(x.At) })
	return all[:min(len(all), limit)]
}
