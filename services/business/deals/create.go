package deals

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/numbering"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

const counterKind = "deal"

// LockNumbers makes transactions of this process that create deals of the company run one after the other: they would abort
// each other at the counter of the numbers. It is the first call of the transaction.
func (s *Service) LockNumbers(ctx context.Context, tx *db.Tx, company tenant.ID) error {
	return tx.LockInProcess(ctx, "deal numbers", company)
}

// Create creates a deal in the initial stage of its type, with the next number.
func (s *Service) Create(ctx context.Context, tx *db.Tx, by access.Caller, in Input) (Deal, error) {
	if err := lineitem.Check(in.Items); err != nil {
		return Deal{}, err
	}
	var faults apierr.Fields
	d := Deal{Header: Header{Details: in.Details}, Intake: (*jsontype.Object)(checkIntake(in.Intake, &faults))}
	d.checkVenueTimes(&faults)
	if err := faults.Err(); err != nil {
		return Deal{}, err
	}
	if err := s.LockNumbers(ctx, tx, by.Company); err != nil {
		return Deal{}, err
	}
	return s.create(ctx, tx, by, &in.TypeID, d, in.Items)
}

// CreateFromLead creates the deal that a lead is converted to. The transaction has called [Service.LockNumbers].
func (s *Service) CreateFromLead(ctx context.Context, tx *db.Tx, by access.Caller, in trade.DealFromLead) (uuid.UUID, error) {
	d := Deal{Header: Header{Details: Details{
		ClientID: &in.ClientID, CustomerName: in.Name, CustomerPhone: in.Phone, CustomerEmail: in.Email,
		External: record.External{Source: &in.Source}, Note: in.Note, AssignedToID: in.AssignedToID,
	}}}
	var err error
	if d.SourceID, err = sourceByAlias(ctx, tx, by.Company, in.Source); err != nil {
		return uuid.Nil, err
	}
	if d.BranchID, err = s.cfg.Branches.DefaultBranch(ctx, tx, by.Company); err != nil {
		return uuid.Nil, err
	}
	d, err = s.create(ctx, tx, by, in.TypeID, d, nil)
	return d.ID, err
}

// create completes and stores a deal of a type; nil = the type for leads.
func (s *Service) create(ctx context.Context, tx *db.Tx, by access.Caller, typeID *uuid.UUID, d Deal, items []LineInput) (Deal, error) {
	t, err := s.typeForNew(ctx, tx, by, typeID)
	if err != nil {
		return Deal{}, err
	}
	stage, ok := t.initial()
	if !ok {
		return Deal{}, checkStages(t.Stages)
	}
	if items, err = lineitem.Identify(ctx, tx, s.cfg.Catalog, by.Company, items); err != nil {
		return Deal{}, err
	}
	d.Key = record.Key{ID: tx.NewID(), CompanyID: by.Company}
	d.TypeID, d.StageID, d.CreatedByID = t.ID, stage.ID, by.Actor
	d.Taxation = lineitem.TaxationOf(by.Settings)
	plan.Normalise(&d)
	if d.Channel == nil {
		d.Channel = new("manual")
	}
	found, err := s.resolve(ctx, tx, &Deal{}, &d, items)
	if err != nil {
		return Deal{}, err
	}
	if d.Lines, err = build(&found, nil, items, false); err != nil {
		return Deal{}, err
	}
	if err := found.CheckClient(); err != nil {
		return Deal{}, err
	}
	d.AddressLabel = found.AddressLabel
	found.CopyContact(document.Unless(d.CustomerName != nil, &d.CustomerName), document.Unless(d.CustomerPhone != nil, &d.CustomerPhone),
		document.Unless(d.CustomerEmail != nil, &d.CustomerEmail))
	if err := d.settle(jsontype.At(s.cfg.DB.Now())); err != nil {
		return Deal{}, err
	}
	if err := s.useVenue(ctx, tx, by, nil, d.venue()); err != nil {
		return Deal{}, err
	}
	// From here on the transaction only queues writes, so that it keeps the counter for a short time.
	if d.Number, err = numbering.Take(ctx, tx, by.Company, counterKind, 1); err != nil {
		return Deal{}, err
	}
	now := jsontype.At(tx.Now())
	if d.StageEnteredAt = &now; d.BudgetExceededAt != nil {
		d.BudgetExceededAt = &now
	}
	if d, err = table.Create(ctx, tx, by, d, created); err != nil {
		return Deal{}, err
	}
	return d, s.cfg.Calendar.Sync(ctx, tx, by, nil, d.entry())
}

// ended reports whether the deal does not take place, so that it keeps neither venue nor calendar entry.
func (d *Deal) ended() bool {
	return d.Outcome != nil && (*d.Outcome == Lost || *d.Outcome == Cancelled)
}

// venue is the deal's use of its venue; nil = none.
func (d *Deal) venue() *trade.VenueUse {
	if d.VenueResourceID == nil || d.ended() {
		return nil
	}
	use := &trade.VenueUse{DealID: d.ID, ResourceID: *d.VenueResourceID, Headcount: d.Headcount}
	if d.ScheduledAt != nil && d.DueAt != nil {
		use.StartAt, use.EndAt = new(d.ScheduledAt.Std()), new(d.DueAt.Std())
	}
	return use
}

// useVenue follows a change of what the deal uses.
func (s *Service) useVenue(ctx context.Context, tx *db.Tx, by access.Caller, before, now *trade.VenueUse) error {
	if before.Same(now) {
		return nil
	}
	return s.cfg.Venues.UseVenue(ctx, tx, by.Unconditional(), before, now)
}

// checkVenueTimes checks that a deal with a venue does not end before it begins.
func (d *Deal) checkVenueTimes(faults *apierr.Fields) {
	if d.VenueResourceID != nil && d.ScheduledAt != nil && d.DueAt != nil && !d.DueAt.Std().After(d.ScheduledAt.Std()) {
		faults.Add("dueAt", apierr.Conflict, "must be after scheduledAt, because the deal takes its venue from then on")
	}
}

// entry is what the calendar shows of the deal; nil = nothing.
func (d *Deal) entry() *trade.CalendarEntry {
	if d.ScheduledAt == nil || d.ended() {
		return nil
	}
	e := &trade.CalendarEntry{
		Kind: trade.CalendarDeal, OwnerID: d.ID, Title: d.title(), StartAt: d.ScheduledAt.Std(), EndAt: d.ScheduledAt.Std(),
		ResourceID: d.VenueResourceID, ClientID: d.ClientID, Status: d.Outcome,
	}
	if d.DueAt != nil && d.DueAt.Std().After(e.StartAt) {
		e.EndAt = d.DueAt.Std()
	}
	return e
}

// title is the title of the deal's calendar entry.
func (d *Deal) title() string {
	title := "Deal " + strconv.FormatInt(d.Number, 10)
	if d.CustomerName != nil {
		title += ": " + *d.CustomerName
	}
	return title
}
