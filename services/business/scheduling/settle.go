package scheduling

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// found holds what a booking depends on, as far as its change needs it.
type found struct {
	service *trade.BookedService
	client  *trade.Client
	matched *uuid.UUID // client with the phone number
	uses    []use      // of the resource, at the time that the booking takes

	exceptions []Exception // of the resource, on its days
}

// settle computes a new or changed booking and checks all rules; before is the zero Booking for a new one. The resource
// is locked. hasDuration says that the client of the API set the duration.
func (s *Service) settle(ctx context.Context, tx *db.Tx, by access.Caller, r Resource, before Booking, b *Booking, hasDuration bool) error {
	found, err := s.look(ctx, tx, by, before, *b, hasDuration)
	if err != nil {
		return err
	}
	if b.ServiceID == nil && len(r.ServiceIDs) > 0 && (before.ServiceID != nil || b.ResourceID != before.ResourceID) {
		return apierr.InvalidField("serviceId", apierr.Required, "is required, because the resource is for certain services; choose one of its serviceIds")
	}
	if before.ID == uuid.Nil && b.ClientID == nil {
		b.ClientID = found.matched
	}
	if !hasDuration && (before.ID == uuid.Nil || !record.Same(before.ServiceID, b.ServiceID)) {
		b.DurationMinutes = defaultDuration(r, before, found.service)
	}
	b.Normalise()
	if b.ResourceID != before.ResourceID {
		b.ResourceName = r.Name
	}
	if b.isRescheduled(before) && (b.ServiceID == nil || found.service != nil) {
		buffer := r.buffer(found.service)
		b.BufferBeforeMinutes, b.BufferAfterMinutes = buffer.before, buffer.after
	}
	if err := b.charge(before, found.service); err != nil {
		return err
	}
	return b.checkRules(r, before, found, s.cfg.DB.Now())
}

func defaultDuration(r Resource, before Booking, s *trade.BookedService) int32 {
	switch {
	case s != nil && s.DurationMinutes != nil:
		return *s.DurationMinutes
	case before.ID != uuid.Nil:
		return before.DurationMinutes
	default:
		return r.SlotStepMinutes
	}
}

// charge sets name and price of the service if the service or the duration changed.
func (b *Booking) charge(before Booking, s *trade.BookedService) error {
	if b.ServiceID == nil {
		b.ServiceName, b.Price = nil, nil
		return nil
	}
	if s == nil {
		return nil
	}
	if !record.Same(before.ServiceID, b.ServiceID) {
		b.ServiceName = &s.Name
	} else if b.DurationMinutes == before.DurationMinutes {
		return nil
	}
	price, err := priceOf(*s, int64(b.DurationMinutes))
	b.Price = &price
	return err
}

// look reads what the change depends on, in one round trip. A reference to nothing is 404.
func (s *Service) look(ctx context.Context, tx *db.Tx, by access.Caller, before, b Booking, hasDuration bool) (found, error) {
	var out found
	var reads []batchloader.Read
	add := func(wanted bool, read batchloader.Read) {
		if wanted {
			reads = append(reads, read)
		}
	}
	isNew := before.ID == uuid.Nil
	newService := b.ServiceID != nil && !record.Same(before.ServiceID, b.ServiceID)
	add(newService || b.ServiceID != nil && (b.takesOther(before) || b.DurationMinutes != before.DurationMinutes), func(ctx context.Context, q db.Querier) error {
		service, ok, err := s.cfg.Service(ctx, q, by.Company, *b.ServiceID)
		out.service = &service
		return reference.Missing(err, ok, "SERVICE", "serviceId", *b.ServiceID)
	})
	add(b.ClientID != nil && !record.Same(before.ClientID, b.ClientID), func(ctx context.Context, q db.Querier) error {
		client, ok, err := s.cfg.Clients.DocumentClient(ctx, q, by.Company, *b.ClientID, false)
		out.client = &client
		return reference.Missing(err, ok, "CLIENT", "clientId", *b.ClientID)
	})
	add(isNew && b.ClientID == nil && b.CustomerPhone != "", func(ctx context.Context, q db.Querier) error {
		id, ok, err := s.cfg.Clients.MatchClient(ctx, q, by.Company, by.CountryPrefix, &b.CustomerPhone, nil)
		if ok {
			out.matched = &id
		}
		return err
	})
	record.PlanOf[Booking]().Normalise(&b)
	add(b.Source != defaultSource, bookings.NotTaken(&before, &b))
	during := b.interval() // the buffers are known when the service is
	if !hasDuration && (isNew || newService) {
		during.end = during.start.Add(maxDuration) // the service or the resource decides
	}
	add(isNew || newService || b.takesOther(before), func(ctx context.Context, q db.Querier) (err error) {
		out.uses, err = selectUses(ctx, q, by.Company, b.ResourceID, interval{during.start.Add(-maxBuffer), during.end.Add(maxBuffer)}, b.ID, tx.Now())
		return err
	})
	add(isNew || b.takesOther(before) || newService, readExceptions(by.Company, []uuid.UUID{b.ResourceID}, during, &out.exceptions))
	return out, batchloader.Load(ctx, tx, reads...)
}

const minutesPerDay = 24 * 60

// priceOf returns the price of a booking of some minutes; see docs/reference/rules.md#bookings.
func priceOf(s trade.BookedService, minutes int64) (money.Amount, error) {
	switch s.PriceModel {
	case "per_hour":
		return money.MulDiv(s.Price, minutes, 60)
	case "per_minute":
		return money.MulDiv(s.Price, minutes, 1)
	case "per_day":
		return money.MulDiv(s.Price, (minutes+minutesPerDay-1)/minutesPerDay, 1)
	default: // fixed, and one item
		return s.Price, nil
	}
}

// OfClient gives the bookings of a client to the one that it is merged into.
func OfClient() document.Follow { return document.FollowIn("bookings", "client_id") }
