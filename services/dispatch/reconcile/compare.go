package reconcile

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/services/dispatch/match"
	"github.com/tradegrid/tradegrid/services/dispatch/store"
)

// compareCompanies finds what is missing of some companies.
func (r *Reconciler) compareCompanies(ctx context.Context, companies []uuid.UUID) error {
	logged, err := selectLogged(ctx, r.db, companies, &r.in, maxEvents)
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
		if _, known := r.missing[p]; known || len(r.missing) >= maxMissing {
			continue
		}
		r.missing[p] = r.now()
		r.cfg.Log.ErrorContext(ctx, "delivery missing", "company_id", p.company, "subscription_id", p.subscription, "event_id", p.eventID, "delivery_id", p.delivery().ID)
	}
	reconcilerDifference.Set(float64(len(r.missing)))
	return nil
}

// expected are the deliveries that the routers have made of the events, as far as that is sure: where the subscription
// or the company was changed since shortly before the event, nobody knows what the router saw.
func (r *Reconciler) expected(ctx context.Context, companies []uuid.UUID, events []logged) ([]pair, error) {
	subs, err := match.Read(ctx, r.db, companies, r.cfg.Log)
	if err != nil {
		return nil, err
	}
	var made []match.Delivery
	for i := range events {
		if e := r.decode(&events[i]); e != nil {
			if made, err = match.Match(ctx, r.cfg.Modules, e, subs[e.Company], made); err != nil {
				return nil, err
			}
		}
	}
	// Read after what they tell the age of: a change meanwhile shows.
	ofSubs, err := store.SelectSubscriptionAges(ctx, r.db, companies)
	if err != nil {
		return nil, err
	}
	ofCompanies, err := selectCompanyAges(ctx, r.db, companies)
	if err != nil {
		return nil, err
	}
	pairs := make([]pair, 0, len(made))
	for _, d := range made {
		since := d.CommittedAt.Add(-settled)
		if changed, exists := ofSubs[d.Subscription]; exists && changed.Before(since) && !ofCompanies[uuid.UUID(d.Company)].After(since) {
			pairs = append(pairs, pair{d.Company, d.Subscription, d.ID})
		}
	}
	return pairs, nil
}

// decode makes of a log entry what the router made of its record; nil where that is a dead letter.
func (r *Reconciler) decode(l *logged) *match.Event {
	e, err := match.FromLog(match.Event{Company: l.company, ID: l.id, Body: l.body, CommittedAt: l.occurred}, l.event, r.cfg.Events)
	if err != nil {
		return nil
	}
	return e
}

// maxRows bounds the rows of one statement.
const maxRows = 1000

// absent are the pairs that have no delivery, whatever its state.
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
