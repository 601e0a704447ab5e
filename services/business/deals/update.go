package deals

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// Update changes a deal. If nothing differs, there is no new version and no event.
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[Fields]) (Deal, error) {
	if err := lineitem.Check(in.Value.Items); err != nil {
		return Deal{}, err
	}
	if err := in.Value.Check(len(in.Value.Items)); err != nil {
		return Deal{}, err
	}
	var faults apierr.Fields
	in.Value.Intake = checkIntake(in.Value.Intake, &faults)
	if err := faults.Err(); err != nil {
		return Deal{}, err
	}
	var before Deal
	d, err := table.Change(ctx, tx, by, id, func(was Deal, d *Deal) (err error) {
		before = was
		if in.Value.Items, err = lineitem.Identify(ctx, tx, s.cfg.Catalog, by.Company, in.Value.Items); err != nil {
			return err
		}
		if err := s.apply(ctx, tx, &before, d, &in); err != nil {
			return err
		}
		return s.useVenue(ctx, tx, by, before.venue(), d.venue())
	}, updated)
	if err != nil || d.Version == before.Version {
		return d, err
	}
	return d, s.cfg.Calendar.Sync(ctx, tx, by, before.entry(), d.entry())
}

// apply applies the body to the deal and computes the dependent fields.
func (s *Service) apply(ctx context.Context, tx *db.Tx, before, d *Deal, in *record.Patch[Fields]) error {
	f := Fields{Details: d.Details, Intake: (*Answers)(d.Intake), NextActionAt: d.NextActionAt}
	in.Apply(&f)
	d.Details, d.Intake, d.NextActionAt = f.Details, (*jsontype.Object)(f.Intake), f.NextActionAt
	plan.Normalise(d)
	var faults apierr.Fields
	if d.checkVenueTimes(&faults); len(faults) > 0 {
		return faults.Err()
	}
	if in.Sent(&in.Value.ChecklistDone) {
		all, err := selectStages(ctx, tx, d.CompanyID, d.TypeID)
		if err != nil {
			return err
		}
		if d.ChecklistDone, err = checkChecklist(f.ChecklistDone, before.ChecklistDone, all); err != nil {
			return err
		}
	}
	found, err := s.resolve(ctx, tx, before, d, f.Items)
	if err != nil {
		return err
	}
	if in.Sent(&in.Value.Items) {
		if d.Lines, err = build(&found, before.Lines, f.Items, f.Reprice); err != nil {
			return err
		}
	}
	if err := found.CheckClient(); err != nil {
		return err
	}
	found.CopyContact(document.Unless(in.Sent(&in.Value.CustomerName), &d.CustomerName), document.Unless(in.Sent(&in.Value.CustomerPhone), &d.CustomerPhone),
		document.Unless(in.Sent(&in.Value.CustomerEmail), &d.CustomerEmail))
	if !record.Same(before.AddressID, d.AddressID) {
		d.AddressLabel = found.AddressLabel
	}
	return d.settle(jsontype.At(tx.Now()))
}
