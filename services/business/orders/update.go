package orders

import (
	"context"
	"reflect"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// Update changes an order. Items can change only while it is new or confirmed (409 ORDER_ITEMS_LOCKED). Of a completed or
// cancelled order, only note, assignedToId and prepaidAmount can change (409 ORDER_FINALIZED).
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[Fields]) (Order, error) {
	if err := lineitem.Check(in.Value.Items); err != nil {
		return Order{}, err
	}
	var prepaid money.Amount // recorded by the change
	o, err := table.Change(ctx, tx, by, id, func(before Order, o *Order) error {
		in := in
		if before.isFinal() || !before.takesItems() {
			in = in.Without(before.fieldsFor(in.Value))
		}
		if err := before.checkChange(&in); err != nil {
			return err
		}
		if in.Sent(&in.Value.Items) && before.shipped() > 0 {
			return errShipped
		}
		if err := s.apply(ctx, tx, &before, o, &in); err != nil {
			return err
		}
		s.follow(tx, by, &before, o)
		prepaid = o.PrepaidAmount - before.PrepaidAmount
		return nil
	}, updated)
	if err != nil {
		return o, err
	}
	return o, insertPrepaid(ctx, tx, by, &o, prepaid, jsontype.At(tx.Now()))
}

// fieldsFor returns the fields of the order as a body that describes it has them: with the items of the body, if they describe its lines.
func (o *Order) fieldsFor(in Fields) Fields {
	f := Fields{Details: o.Details}
	if in.WarehouseID != nil {
		f.WarehouseID = o.WarehouseID
	}
	if slices.EqualFunc(in.Items, o.Lines, func(in LineInput, l Line) bool {
		return in.Describe(&l.Line) && reflect.DeepEqual(in.LineFields, l.LineFields)
	}) {
		f.Items = in.Items
	}
	return f
}

// apply applies the body to the order and computes the dependent fields.
func (s *Service) apply(ctx context.Context, tx *db.Tx, before, o *Order, in *record.Patch[Fields]) error {
	f := Fields{Details: o.Details}
	in.Apply(&f)
	o.Details = f.Details
	if f.WarehouseID != nil {
		o.WarehouseID = f.WarehouseID
	}
	plan.Normalise(o)
	newItems := in.Sent(&in.Value.Items)
	found, err := s.resolve(ctx, tx, before, o, f.Items)
	if err != nil {
		return err
	}
	if newItems {
		if o.Lines, err = found.lines(f.Items, before.Lines); err != nil {
			return err
		}
	}
	if err := found.check(); err != nil {
		return err
	}
	found.CopyContact(document.Unless(in.Sent(&in.Value.CustomerName), &o.CustomerName), document.Unless(in.Sent(&in.Value.CustomerPhone), &o.CustomerPhone),
		document.Unless(in.Sent(&in.Value.CustomerEmail), &o.CustomerEmail))
	if !record.Same(before.AddressID, o.AddressID) {
		o.AddressLabel = found.AddressLabel
	}
	if in.Sent(&in.Value.DeliveryMethod) {
		if err := o.settleDelivery(before.DeliveryMethod); err != nil {
			return err
		}
	}
	if newItems {
		if err := s.assignWarehouse(ctx, tx, o); err != nil {
			return err
		}
	}
	return o.settle()
}

// follow queues what follows from a change of the order. Clients come before stock, as in all changes of orders, so that two of
// them cannot wait for each other.
func (s *Service) follow(tx *db.Tx, by access.Caller, before, o *Order) {
	if record.Same(before.CustomerID, o.CustomerID) {
		s.addBalance(tx, o, o.PrepaidAmount-before.PrepaidAmount)
	} else { // payments follow the customer
		s.addBalance(tx, before, -before.PrepaidAmount)
		s.addBalance(tx, o, o.PrepaidAmount)
	}
	s.cfg.Stock.Reserve(tx, by, append(before.reserved(-1), o.reserved(1)...))
}

// addBalance queues a payment or debt for the order's client, if there is one.
func (s *Service) addBalance(tx *db.Tx, o *Order, delta money.Amount) {
	if o.CustomerID != nil && delta != 0 {
		s.cfg.Clients.AddBalance(tx, o.CompanyID, *o.CustomerID, delta)
	}
}
