package reconcile

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// Interval is which events [Reconciler.Check] looks at.
type Interval struct {
	From, To time.Time  // of the commit, both inclusive
	Company  *tenant.ID // nil = all that ever had a subscription
}

// Balance is what became of the events of an interval. An event and a subscription are a pair; each pair counts in one of the
// fields from Delivered on. The balance is even when Unpublished and Missing are 0.
type Balance struct {
	Companies   int64 `json:"companies"`
	Events      int64 `json:"events"`
	Unpublished int64 `json:"unpublished"` // events in the outbox, or given up by the relay
	Delivered   int64 `json:"delivered"`
	Open        int64 `json:"open"` // on their way, or waiting
	Failed      int64 `json:"failed"`
	NotWanted   int64 `json:"notWanted"` // the subscription, as it is now, is not for the event
	Changed     int64 `json:"changed"`   // no delivery, and the subscription or the company was changed since the event: it may not have been for it then
	Missing     int64 `json:"missing"`   // no delivery, and nothing explains that
}

// Even reports whether everything is accounted for.
func (b *Balance) Even() bool { return b.Unpublished == 0 && b.Missing == 0 }

// Missing is a delivery that must exist.
type Missing struct {
	CompanyID      tenant.ID     `json:"companyId"`
	SubscriptionID uuid.UUID     `json:"subscriptionId"`
	EventID        uuid.UUID     `json:"eventId"`
	Event          string        `json:"event"`
	OccurredAt     jsontype.Time `json:"occurredAt"`
}

const checkPage = 200 // events

// Check compares all events of an interval with their deliveries, by the function that the routers ask, and hands over what is
// missing. Events whose deliveries have expired count as missing: From must not be longer ago than these are kept.
func (r *Reconciler) Check(ctx context.Context, in Interval, missing func(Missing) error) (b Balance, err error) {
	if b.Unpublished, err = outbox.CountUnpublished(ctx, r.db, topics.Events, in.From, in.To, in.Company); err != nil {
		return b, err
	}
	if in.Company != nil {
		return b, r.checkCompany(ctx, *in.Company, in, &b, missing)
	}
	for after := uuid.Nil; ; {
		companies, err := r.companies(ctx, after)
		if err != nil || len(companies) == 0 {
			return b, err
		}
		for _, company := range companies {
			if err := r.checkCompany(ctx, tenant.ID(company), in, &b, missing); err != nil {
				return b, err
			}
		}
		after = companies[len(companies)-1]
	}
}

func (r *Reconciler) checkCompany(ctx context.Context, company tenant.ID, in Interval, b *Balance, missing func(Missing) error) error {
	b.Companies++
	companies := []uuid.UUID{uuid.UUID(company)}
	for after := int64(0); ; {
		page, more, err := outbox.ReadLog(ctx, r.db, company, after, checkPage, outbox.LogFilter{From: in.From, To: in.To})
		if err != nil {
			return err
		}
		events := make([]outbox.CompanyEntry, len(page))
		named := make(map[uuid.UUID]*outbox.LogEntry, len(page))
		for i := range page {
			e := &page[i]
			events[i], named[e.ID], after = outbox.CompanyEntry{Company: company, LogEntry: *e}, e, e.Seq
		}
		if len(page) > 0 {
			if err := r.checkEvents(ctx, companies, events, b, func(p pair) error {
				e := named[p.eventID]
				return missing(Missing{company, p.subscription, p.eventID, e.Event, jsontype.At(e.OccurredAt)})
			}); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
	}
}

func (r *Reconciler) checkEvents(ctx context.Context, companies []uuid.UUID, events []outbox.CompanyEntry, b *Balance, missing func(pair) error) error {
	made, pairs, err := r.match(ctx, companies, events)
	if err != nil {
		return err
	}
	b.Events, b.NotWanted = b.Events+int64(len(events)), b.NotWanted+int64(pairs-len(made))
	must, err := r.required(ctx, companies, made)
	if err != nil {
		return err
	}
	keys := make([]store.DeliveryKey, len(made))
	for i, d := range made {
		keys[i] = pair{d.Company, d.Subscription, d.ID}.delivery()
	}
	found, err := store.SelectProgress(ctx, r.db, keys)
	if err != nil {
		return err
	}
	for i, d := range made {
		p := pair{d.Company, d.Subscription, d.ID}
		progress, ok := found[keys[i].ID]
		switch {
		case ok && progress.State == webhook.StateSuccess:
			b.Delivered++
		case ok && progress.State.Open():
			b.Open++
		case ok:
			b.Failed++
		case !must[p]:
			b.Changed++
		default:
			b.Missing++
			if err := missing(p); err != nil {
				return err
			}
		}
	}
	return nil
}
