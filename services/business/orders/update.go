package orders

import (
	"context"
	"reflect"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Update changes an order. Items can change only while it is new or confirmed (409 ORDER_ITEMS_LOCKED). Of a completed or
// cancelled order, only note, attachmentFileIds, assignedToId and prepaidAmount can change (409 ORDER_FINALIZED).
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[Fields]) (Order, error) {
	if err := lineitem.Check(in.Value.Items); err != nil {
		return Order{}, err
	}
	if err := in.Value.Check(len(in.Value.Items)); err != nil {
		return Order{}, err
	}
	var prepaid Payment // that the change records
	o, err := table.Change(ctx, tx, by, id, func(before Order, o *Order) (err error) {
		in := in
		if in.Value.Items, err = lineitem.Identify(ctx, tx, s.cfg.Catalog, by.Company, in.Value.Items); err != nil {
			return err
		}
		if before.isFinal() || !before.takesItems() {
			in = in.Without(before.fieldsFor(in.Value))
		}
		if err := before.checkChange(&in); err != nil {
			return err
		}
		if in.Sent(&in.Value.Items) && before.shipped() > 0 {
			return errShipped
		}
		if err := s.apply(ctx, tx, by, &before, o, &in); err != nil {
			return err
		}
		if err := o.checkAfterReturns(&before); err != nil {
			return err
		}
		prepaid = newPayment(tx, o, by, o.PrepaidAmount-before.PrepaidAmount)
		s.follow(tx, by, &before, o, prepaid)
		return nil
	}, updated)
	if err != nil {
		return o, err
	}
	return o, insertPrepaid(ctx, tx, by, &o, prepaid)
}

// fieldsFor returns the fields of the order as a body that describes it has them: with the items of the body, if they describe its lines.
func (o *Order) fieldsFor(in Fields) Fields {
	f := Fields{Details: o.Details, Attached: o.Attached, MatchCustomer: in.MatchCustomer && o.isFinal()}
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
func (s *Service) apply(ctx context.Context, tx *db.Tx, by access.Caller, before, o *Order, in *record.Patch[Fields]) (err error) {
	f := Fields{Details: o.Details, Attached: o.Attached}
	in.Apply(&f)
	o.Details, o.Attached = f.Details, f.Attached
	if f.WarehouseID != nil {
		o.WarehouseID = f.WarehouseID
	}
	plan.Normalise(o)
	if o.CustomerID, err = document.Match(ctx, tx, s.cfg.Clients, by, f.MatchCustomer, o.CustomerID, o.CustomerPhone, o.CustomerEmail); err != nil {
		return err
	}
	newItems := in.Sent(&in.Value.Items)
	found, err := s.resolve(ctx, tx, before, o, f.Items)
	if err != nil {
		return err
	}
	if newItems {
		if o.Lines, err = found.lines(f.Items, before.Lines, f.Reprice); err != nil {
			return err
		}
	}
	if err := found.CheckClient(); err != nil {
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

// follow queues what follows from a change of the order by the payment, which may be none. Clients come before stock, as in all changes of
// orders, so that two of them cannot wait for each other.
func (s *Service) follow(tx *db.Tx, by access.Caller, before, o *Order, p Payment) {
	if !record.Same(before.CustomerID, o.CustomerID) { // payments follow the customer
		at := jsontype.At(tx.Now())
		s.enter(tx, before, trade.LedgerEntry{Kind: trade.LedgerReassignment, At: at, Paid: -before.PrepaidAmount, OtherID: o.CustomerID})
		s.enter(tx, o, trade.LedgerEntry{Kind: trade.LedgerReassignment, At: at, Paid: before.PrepaidAmount, OtherID: before.CustomerID})
	}
	s.enterPayment(tx, o, p)
	o.Keep(tx, by.Company, usedByOrder, o.ID, before.Attached)
	s.cfg.Stock.Reserve(tx, by, append(before.reserved(-1), o.reserved(1)...))
}
