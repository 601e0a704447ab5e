package scheduling

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Why whoever has a link cannot do what they ask for; see docs/reference/rules.md#public-links.
var (
	ErrNoLink    = errors.New("the link leads to no booking")
	ErrLinkOver  = errors.New("the booking of the link is over")
	ErrLinkLate  = errors.New("it is too late to change the booking")
	ErrLinkStale = errors.New("the booking has changed since the page was shown")
	ErrLinkTaken = errors.New("the time is not free any more")
)

// VisitDays is how many days the free times of a visit span.
const VisitDays = 7

// visitAhead is how far ahead a booking can be moved by its link.
const visitAhead = 366 * oneDay

// Visit is a booking as whoever has its link sees it.
type Visit struct {
	Booking     Booking
	Company     string // its name
	Locale      string
	Zone        *time.Location // of the resource
	Today       jsontype.Date  // there
	CanConfirm  bool
	CanChange   bool      // move and cancel
	ChangeUntil time.Time // when that ends

	by access.Caller
}

// CheckLink reports, without the database, whether the platform has signed the token of a link, and returns what it names, by which
// visits are limited.
func (s *Service) CheckLink(token string) (booking string, ok bool, err error) {
	l, ok, err := s.parseLink(token)
	return l.company.String() + "/" + l.booking.String(), ok, err
}

// Visit reads the booking of a link. Opening a link changes nothing. With [ErrLinkOver], the visit has the company.
func (s *Service) Visit(ctx context.Context, token string) (Visit, error) {
	l, ok, err := s.parseLink(token)
	if err != nil || !ok {
		return Visit{}, noLink(err)
	}
	by, err := s.cfg.Customer(ctx, s.cfg.DB, l.company)
	if err != nil || by.Settings.Bookings.URL == "" || !by.Has(group.Component) {
		return Visit{}, noLink(err)
	}
	b, err := bookings.Get(ctx, s.cfg.DB, l.company, l.booking)
	if err != nil || b.LinkNumber != l.number {
		return Visit{}, noLink(err)
	}
	r, err := resources.Get(ctx, s.cfg.DB, l.company, b.ResourceID)
	if err != nil {
		return Visit{}, err
	}
	v := Visit{Booking: b, Company: by.CompanyName, Locale: by.Settings.Locale, Zone: r.zone(), by: by}
	now, start := s.cfg.DB.Now(), b.StartAt.Std()
	if !b.EndAt.Std().After(now) || b.Status == statusCompleted || b.Status == statusNoShow {
		return v, ErrLinkOver
	}
	v.Today = dateOf(now.In(v.Zone))
	v.ChangeUntil = start.Add(-time.Duration(by.Settings.Bookings.ChangeMinutes) * time.Minute)
	v.CanConfirm = b.Status == statusPending && now.Before(start)
	v.CanChange = b.isOpen() && now.Before(start) && !now.After(v.ChangeUntil)
	return v, nil
}

// Open reports whether the booking is still to take place.
func (v Visit) Open() bool { return v.Booking.isOpen() }

func dateOf(local time.Time) jsontype.Date {
	year, month, day := local.Date()
	return jsontype.Date(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
}

// noLink is [ErrNoLink] for what does not exist, and any other error as it is.
func noLink(err error) error {
	if known, ok := apierr.As(err); err == nil || ok && known.Status == http.StatusNotFound {
		return ErrNoLink
	}
	return err
}

// FreeTimes returns the times to which the booking of a visit can be moved, on [VisitDays] days from one on; with nothing free on a
// day, the day has no times.
func (s *Service) FreeTimes(ctx context.Context, v Visit, first jsontype.Date) ([]DayAvailability, error) {
	return s.freeTimes(ctx, v, first, VisitDays)
}

func (s *Service) freeTimes(ctx context.Context, v Visit, first jsontype.Date, days int) ([]DayAvailability, error) {
	if time.Time(first).After(time.Time(v.Today).Add(visitAhead)) || time.Time(first).Before(time.Time(v.Today)) {
		return nil, nil
	}
	b, last := v.Booking, jsontype.Date(time.Time(first).AddDate(0, 0, days-1))
	found, err := s.Availability(ctx, v.by, Search{
		ServiceID: b.ServiceID, ResourceIDs: []uuid.UUID{b.ResourceID}, DateFrom: first, DateTo: last, DurationMinutes: &b.DurationMinutes, Headcount: b.Headcount, FreeOnly: true,
	})
	if err != nil {
		return nil, err
	}
	return found.Resources[0].Days, nil
}

// VisitChange is what somebody asks for who has a link.
type VisitChange struct {
	Do      string // one of [VisitConfirm], [VisitCancel] and [VisitMove]
	Version int64  // of the booking as it was shown
	StartAt time.Time
}

// What can be done by a link.
const (
	VisitConfirm = "confirm"
	VisitCancel  = "cancel"
	VisitMove    = "move"
)

// ChangeByLink carries out what somebody asks for who has a link, with the rules and events of the same change over the API. It changes
// the version of the booking that was shown, and no other.
func (s *Service) ChangeByLink(ctx context.Context, token string, in VisitChange) error {
	v, err := s.Visit(ctx, token)
	if err != nil {
		return err
	}
	if in.Version != v.Booking.Version {
		return ErrLinkStale
	}
	id, by := v.Booking.ID, v.by.Expecting(in.Version)
	var change func(ctx context.Context, tx *db.Tx) (Booking, error)
	switch {
	case in.Do == VisitConfirm && v.CanConfirm:
		change = func(ctx context.Context, tx *db.Tx) (Booking, error) { return s.Confirm(ctx, tx, by, id) }
	case in.Do == VisitCancel && v.CanChange:
		change = func(ctx context.Context, tx *db.Tx) (Booking, error) {
			return s.Cancel(ctx, tx, by, id, Cancellation{})
		}
	case in.Do == VisitMove && v.CanChange:
		if err := s.checkFree(ctx, v, in.StartAt); err != nil {
			return err
		}
		patch := record.PatchOf(BookingFields{StartAt: jsontype.At(in.StartAt)}, "startAt")
		change = func(ctx context.Context, tx *db.Tx) (Booking, error) { return s.UpdateBooking(ctx, tx, by, id, patch) }
	default:
		return ErrLinkLate
	}
	err = s.cfg.DB.RunTx(ctx, "scheduling.link", func(ctx context.Context, tx *db.Tx) error {
		_, err := change(ctx, tx)
		return err
	}, db.ReadCommitted())
	if known, ok := apierr.As(err); ok {
		switch known.Status {
		case http.StatusPreconditionFailed:
			return ErrLinkStale
		case http.StatusConflict:
			return ErrLinkTaken
		}
	}
	return err
}

// checkFree refuses a time that is not one of those that a visit is shown.
func (s *Service) checkFree(ctx context.Context, v Visit, at time.Time) error {
	days, err := s.freeTimes(ctx, v, dateOf(at.In(v.Zone)), 1)
	if err != nil {
		return err
	}
	if len(days) == 0 || !slices.ContainsFunc(days[0].Slots, func(slot Slot) bool { return slot.StartAt.Std().Equal(at) }) {
		return ErrLinkTaken
	}
	return nil
}
