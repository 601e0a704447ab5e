package reconcile

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/compress"
	"github.com/tradegrid/tradegrid/services/delivery/match"
	"github.com/tradegrid/tradegrid/services/delivery/store"
)

// compareCompanies looks for missing deliveries of some companies.
func (r *Reconciler) compareCompanies(ctx context.Context, companies []uuid.UUID) error {
	logged, err := r.in.First(ctx, r.db, companies, maxEvents)
	if err != nil {
		return err
	}
	open(ctx, logged, r.cfg.Log)
	pairs, err := r.expected(ctx, companies, logged)
	if err != nil {
		return err
	}
	absent, err := r.absent(ctx, pairs)
	if err != nil {
		return err
	}
	reconcilerChecked.Add(float64(len(pairs)))
	for _, p := range absent {
		if !r.note(p) {
			continue
		}
		r.cfg.Log.ErrorContext(ctx, "delivery missing", "company_id", p.company, "subscription_id", p.subscription, "event_id", p.eventID, "delivery_id", p.delivery().ID)
	}
	reconcilerDifference.Set(float64(len(r.missing)))
	return nil
}

// open expands the bodies. One that is damaged or of a later release must not hold up the others: what is to be delivered of
// it is not checked, and the log says so.
func open(ctx context.Context, events []outbox.CompanyEntry, log *slog.Logger) {
	for i := range events {
		e := &events[i]
		body, err := compress.Open(e.Body)
		if err != nil {
			log.ErrorContext(ctx, "body in the event log not read, deliveries of the event are not checked", "company_id", e.Company, "event_id", e.ID, "error", err)
		}
		e.Body = body
	}
}

// note remembers a missing delivery; it reports whether it is a new one.
func (r *Reconciler) note(p pair) bool {
	if _, known := r.missing[p]; known || len(r.missing) >= maxMissing {
		return false
	}
	r.missing[p] = r.now()
	return true
}

// match lists the deliveries that the routers make of the events, by the subscriptions as they are now, and counts the pairs of
// an event and a subscription.
func (r *Reconciler) match(ctx context.Context, companies []uuid.UUID, events []outbox.CompanyEntry) (made []match.Delivery, pairs int, err error) {
	subs, err := match.Read(ctx, r.db, companies, r.cfg.Log)
	if err != nil {
		return nil, 0, err
	}
	components, err := r.cfg.Components.Of(ctx, slices.Collect(maps.Keys(subs)))
	if err != nil {
		return nil, 0, fmt.Errorf("read components of companies: %w", err)
	}
	for i := range events {
		if e := r.decode(&events[i]); e != nil {
			pairs += len(subs[e.Company])
			made = match.Match(e, subs[e.Company], components[e.Company], made)
		}
	}
	return made, pairs, nil
}

// required tells which of the deliveries the routers must have made. Of subscriptions and companies that were changed since shortly
// before an event the router may have seen either state.
func (r *Reconciler) required(ctx context.Context, companies []uuid.UUID, made []match.Delivery) (map[pair]bool, error) {
	// Read after the subscriptions themselves, so that a change in between shows.
	ofSubs, err := store.SelectSubscriptionAges(ctx, r.db, companies)
	if err != nil {
		return nil, err
	}
	ofCompanies, err := r.cfg.CompaniesChanged(ctx, r.db, companies)
	if err != nil {
		return nil, err
	}
	must := make(map[pair]bool, len(made))
	for _, d := range made {
		since := d.CommittedAt.Add(-settled)
		changed, exists := ofSubs[d.Subscription]
		must[pair{d.Company, d.Subscription, d.ID}] = exists && changed.Before(since) && !ofCompanies[uuid.UUID(d.Company)].After(since)
	}
	return must, nil
}

// expected lists the deliveries that the routers must have made of the events.
func (r *Reconciler) expected(ctx context.Context, companies []uuid.UUID, events []outbox.CompanyEntry) ([]pair, error) {
	made, _, err := r.match(ctx, companies, events)
	if err != nil {
		return nil, err
	}
	must, err := r.required(ctx, companies, made)
	if err != nil {
		return nil, err
	}
	pairs := make([]pair, 0, len(made))
	for _, d := range made {
		if p := (pair{d.Company, d.Subscription, d.ID}); must[p] {
			pairs = append(pairs, p)
		}
	}
	return pairs, nil
}

// decode returns nil for an entry that the router wrote to the dead letter topic.
func (r *Reconciler) decode(l *outbox.CompanyEntry) *match.Event {
	e, err := match.FromLog(match.Event{Company: l.Company, ID: l.ID, Body: l.Body, CommittedAt: l.OccurredAt}, l.Event, r.cfg.Events)
	if err != nil {
		return nil
	}
	return e
}

// maxRows limits the rows of one statement.
const maxRows = 1000

// absent lists the pairs without a delivery in any state.
func (r *Reconciler) absent(ctx context.Context, pairs []pair) ([]pair, error) {
	var absent []pair
	for some := range slices.Chunk(pairs, maxRows) {
		keys := make([]store.DeliveryKey, len(some))
		for i, p := range some {
			keys[i] = p.delivery()
		}
		found, err := store.SelectProgress(ctx, r.db, keys)
		if err != nil {
			return nil, err
		}
		for i, p := range some {
			if _, ok := found[keys[i].ID]; !ok {
				absent = append(absent, p)
			}
		}
	}
	return absent, nil
}
