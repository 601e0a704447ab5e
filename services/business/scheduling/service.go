// Package scheduling manages the resources of a company that can be booked, such as staff and rooms, their slots and
// bookings. Nothing is booked twice: whoever takes a resource, a booking or a deal, locks it first.
package scheduling

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	_ "time/tzdata" // the time zones of resources, on machines that have none

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/fileuse"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Calendar shows bookings.
type Calendar interface {
	// Sync follows a change of a booking; nil = the calendar shows nothing of it.
	Sync(ctx context.Context, tx *db.Tx, by access.Caller, before, now *trade.CalendarEntry) error
}

// Clients reads the customers of bookings.
type Clients interface {
	// DocumentClient reads a client; lock locks it until the transaction ends.
	DocumentClient(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, lock bool) (c trade.Client, found bool, err error)
	// MatchClient returns the oldest active client with the phone number, otherwise with the e-mail address.
	MatchClient(ctx context.Context, q db.Querier, company tenant.ID, countryPrefix string, phone, email *string) (id uuid.UUID, found bool, err error)
}

// Config holds the dependencies of the service.
type Config struct {
	DB       *db.DB
	Calendar Calendar
	Clients  Clients
	// Service reads the service of a booking.
	Service  func(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (s trade.BookedService, found bool, err error)
	Services reference.Known
	Users    reference.Known
	Branches reference.Known
	Keys     *secret.Keys // sign the links of bookings; nil = there are none
	// Customer returns a company as its customers call it; 404 for one that is closed.
	Customer func(ctx context.Context, q db.Querier, company tenant.ID) (access.Caller, error)
	// Letter writes the mail of a kind to a customer; nil = there are no mails.
	Letter func(kind string, l Letter) (subject, text string)
	Log    *slog.Logger
}

// Service manages the resources and bookings of all companies.
type Service struct{ cfg Config }

// New returns a service.
func New(cfg Config) *Service {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{cfg: cfg}
}

// Resources returns a page of resources.
func (s *Service) Resources(ctx context.Context, by access.Caller, f ResourceFilter) (*list.Page[Resource], error) {
	return resourceItems.Page(ctx, s.cfg.DB, by.Company, f)
}

// CreateResource creates a resource. An unknown branch, user or service is 404.
func (s *Service) CreateResource(ctx context.Context, tx *db.Tx, by access.Caller, in ResourceFields) (Resource, error) {
	r := Resource{ResourceFields: in}
	r.TimeZone = cmp.Or(r.TimeZone, by.Settings.TimeZone, "UTC")
	r.ParallelBookings, r.SlotStepMinutes = cmp.Or(r.ParallelBookings, 1), cmp.Or(r.SlotStepMinutes, 30)
	if err := r.check(); err != nil {
		return Resource{}, err
	}
	if err := s.checkReferences(ctx, tx, by.Company, Resource{}, r); err != nil {
		return Resource{}, err
	}
	r.ID = tx.NewID()
	fileuse.Record(tx, by.Company, usedByResource, "photoFileId", r.ID, nil, fileuse.One(r.PhotoFileID))
	return resources.Create(ctx, tx, by, r)
}

// usedByResource is the entity of references to files.
const usedByResource = "resource"

// UpdateResource changes a resource. Bookings stay as they are: fewer parallelBookings than overlap already are 409
// BOOKING_SLOT_TAKEN.
func (s *Service) UpdateResource(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[ResourceFields]) (Resource, error) {
	if v := in.Value; v.BranchID != nil || v.UserID != nil || v.ServiceIDs != nil || v.PhotoFileID != nil || v.ParallelBookings > 0 {
		tx.ReadsMore()
	}
	return resources.Change(ctx, tx, by, id, func(before Resource, r *Resource) error {
		in.Apply(&r.ResourceFields)
		if err := r.check(); err != nil {
			return err
		}
		if err := s.checkReferences(ctx, tx, by.Company, before, *r); err != nil {
			return err
		}
		fileuse.Record(tx, by.Company, usedByResource, "photoFileId", id, fileuse.One(before.PhotoFileID), fileuse.One(r.PhotoFileID))
		if r.ParallelBookings < before.ParallelBookings {
			return r.checkFewerPlaces(ctx, tx, tx.Now())
		}
		return nil
	})
}

func (s *Service) checkReferences(ctx context.Context, q db.Querier, company tenant.ID, before, r Resource) error {
	var refs reference.Set
	refs.Add("BRANCH", "branchId", before.BranchID, r.BranchID, s.cfg.Branches)
	refs.Add("USER", "userId", before.UserID, r.UserID, s.cfg.Users)
	fileuse.CheckImage(&refs, "photoFileId", before.PhotoFileID, r.PhotoFileID)
	for i, id := range r.ServiceIDs {
		if !before.has(id) {
			refs.Add("SERVICE", fmt.Sprintf("serviceIds[%d]", i), nil, &id, s.cfg.Services)
		}
	}
	return refs.Check(ctx, q, company)
}

// Bookings returns a page of bookings. The search also matches numbers and the digits of phone numbers.
func (s *Service) Bookings(ctx context.Context, by access.Caller, f BookingFilter) (*list.Page[Booking], error) {
	q, err := bookingItems.Query(by.Company, f)
	if err != nil {
		return nil, err
	}
	if err := q.Phone(ctx, s.cfg.DB, "bookings", "customer_phone", by.CountryPrefix, f.CustomerPhone); err != nil {
		return nil, err
	}
	page, err := bookingItems.Fetch(ctx, s.cfg.DB, q)
	if err != nil {
		return nil, err
	}
	for i := range page.Items {
		if page.Items[i], err = s.linked(by, page.Items[i], nil); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// Booking reads one booking.
func (s *Service) Booking(ctx context.Context, by access.Caller, id uuid.UUID) (Booking, error) {
	b, err := bookings.Get(ctx, s.cfg.DB, by.Company, id)
	return s.linked(by, b, err)
}

var (
	resourcePlan    = record.PlanOf[Resource]()
	sqlLockResource = "SELECT " + resourcePlan.SelectList("") + " FROM scheduling_resources WHERE company_id = $1 AND id = $2 FOR UPDATE"
)

// lockResource locks a resource for a change of its uses until the transaction ends; field is the reference to it.
func lockResource(ctx context.Context, tx *db.Tx, company tenant.ID, id uuid.UUID, field string) (r Resource, err error) {
	err = tx.Lock(ctx, sqlLockResource, company, id).Scan(resourcePlan.Targets(&r)...)
	if db.IsNoRows(err) {
		return r, apierr.ReferenceNotFound("RESOURCE", field, id.String())
	}
	if err != nil {
		return r, fmt.Errorf("lock resource: %w", err)
	}
	return r, nil
}

var sqlTouchResource = schedulingResources.Update(`SET uses_changed = uses_changed + 1 WHERE company_id = $1 AND id = $2`)

// touchResource queues the change of a locked resource that belongs to every new or moved use. A transaction at
// SERIALIZABLE that waits for the lock is refused then, instead of going on with what it saw before.
func touchResource(tx *db.Tx, company tenant.ID, id uuid.UUID) {
	tx.Queue(sqlTouchResource, company, id).Expect(1, db.ErrStale)
}
