package dispatch

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/kafka"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/webhook"
)

// compareCompanies finds what is missing of some companies.
func (r *reconciler) compareCompanies(ctx context.Context, companies []uuid.UUID) error {
	logged, err := selectLogged(ctx, r.db, companies, &r.in, reconcileEach)
	if err != nil {
		return err
	}
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
		if _, known := r.missing[p]; known || len(r.missing) >= reconcileMissing {
			continue
		}
		r.missing[p] = r.now()
		r.log.ErrorContext(ctx, "delivery missing", "company_id", p.company, "subscription_id", p.subscription, "event_id", p.eventID, "delivery_id", p.delivery())
	}
	reconcilerDifference.Set(float64(len(r.missing)))
	return nil
}

// expected are the deliveries that the routers have made of the events, as far as that is sure: where the subscription
// or the company was changed since shortly before the event, nobody knows what the router saw.
func (r *reconciler) expected(ctx context.Context, companies []uuid.UUID, events []logged) ([]pair, error) {
	reader := subscriptionCache{q: r.db, log: r.log}
	subs, err := reader.read(ctx, companies)
	if err != nil {
		return nil, err
	}
	var made []*delivery
	for i := range events {
		if e := r.decode(&events[i]); e != nil {
			if made, err = matchEvent(ctx, r.modules, e, subs[e.company], made); err != nil {
				return nil, err
			}
		}
	}
	// Read after what they tell the age of: a change meanwhile shows.
	ofSubs, err := selectAges(ctx, r.db, sqlSelectSubscriptionAges, companies)
	if err != nil {
		return nil, err
	}
	ofCompanies, err := selectAges(ctx, r.db, sqlSelectCompanyAges, companies)
	if err != nil {
		return nil, err
	}
	pairs := make([]pair, 0, len(made))
	for _, d := range made {
		since := d.event.committedAt.Add(-reconcileUnchanged)
		if changed, exists := ofSubs[d.sub.id]; exists && changed.Before(since) && !ofCompanies[uuid.UUID(d.event.company)].After(since) {
			pairs = append(pairs, pair{d.event.company, d.sub.id, d.event.id})
		}
	}
	return pairs, nil
}

// decode makes of a log entry what the router made of its record; nil where that is a dead letter.
func (r *reconciler) decode(l *logged) *incoming {
	e := &incoming{rec: &kafka.Record{Record: &kgo.Record{Value: l.body}}, company: l.company, id: l.id, committedAt: l.occurred}
	if e.check(l.event, "1", r.registry) != nil {
		return nil
	}
	e.doc = webhook.NewDoc(l.body)
	return e
}

// absent are the pairs that have no delivery, whatever its state.
func (r *reconciler) absent(ctx context.Context, pairs []pair) ([]pair, error) {
	var absent []pair
	for some := range slices.Chunk(pairs, insertChunk) {
		companies, subs, ids := make([]tenant.ID, len(some)), make([]uuid.UUID, len(some)), make([]uuid.UUID, len(some))
		for i, p := range some {
			companies[i], subs[i], ids[i] = p.company, p.subscription, p.delivery()
		}
		found, err := selectProgress(ctx, r.db, companies, subs, ids)
		if err != nil {
			return nil, err
		}
		for i, p := range some {
			if _, ok := found[ids[i]]; !ok {
				absent = append(absent, p)
			}
		}
	}
	return absent, nil
}
