package orders

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/lineitem"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/record"
)

// Update changes an order. Items can change only while it is new or confirmed (409 ORDER_ITEMS_LOCKED). Of a completed or
// cancelled order, only note, assignedToId and prepaidAmount can change (409 ORDER_FINALIZED).
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[Fields]) (Order, error) {
	if err := lineitem.Check(in.Value.Items); err != nil {
		return Order{}, err
	}
	before, err := s.lock(ctx, tx, by, id)
	if err != nil {
		return Order{}, err
	}
	if err := before.checkChange(&in); err != nil {
		return Order{}, err
	}
	if in.Sent(&in.Value.Items) && before.shipped() > 0 {
		return Order{}, errShipped
	}
	kept := headers.Keep(&before.Header)
	o := before
	o.Lines = slices.Clone(before.Lines)
	if err := s.apply(ctx, tx, &before, &o, &in); err != nil {
		return Order{}, err
	}
	changes, err := difference(kept, &before, &o)
	if err != nil || len(changes) == 0 {
		return before, err
	}
	o.Touch(tx.Now())
	return o, s.store(ctx, tx, by, &before, &o, changes)
}

// apply applies the body to the order and computes the dependent fields.
func (s *Service) apply(ctx context.Context, tx *db.Tx, before, o *Order, in *record.Patch[Fields]) error {
	f := Fields{Details: o.Details}
	in.Apply(&f)
	o.Details = f.Details
	if in.Sent(&in.Value.WarehouseID) {
		o.WarehouseID = &f.WarehouseID
	}
	headers.Normalise(&o.Header)
	newItems := in.Sent(&in.Value.Items)
	found, err := s.resolve(ctx, tx, o.CompanyID, s.newReferences(before, o, f.Items))
	if err != nil {
		return err
	}
	if newItems {
		if o.Lines, err = found.lines(f.Items, before.Lines); err != nil {
			return err
		}
	}
	if samePtr(before.CustomerID, o.CustomerID) {
		found.client = nil // read only for its prices
	}
	if err := found.check(o.CustomerID); err != nil {
		return err
	}
	o.copyClient(found.client, !in.Sent(&in.Value.CustomerName), !in.Sent(&in.Value.CustomerPhone), !in.Sent(&in.Value.CustomerEmail))
	if !samePtr(before.AddressID, o.AddressID) {
		o.AddressLabel = found.address
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

// newReferences returns the changed references of the order, and its new items with the client that determines prices.
func (s *Service) newReferences(before, o *Order, items []LineInput) references {
	r := references{known: s.refer(&before.Header, &o.Header), items: lineitem.Refs(items)}
	if !samePtr(before.CustomerID, o.CustomerID) || len(items) > 0 {
		r.customer = o.CustomerID
	}
	if !samePtr(before.AddressID, o.AddressID) {
		r.address = o.AddressID
	}
	if !samePtr(before.WarehouseID, o.WarehouseID) {
		r.warehouse = o.WarehouseID
	}
	if deref(before.Source) != deref(o.Source) || !samePtr(before.ExternalID, o.ExternalID) {
		r.source, r.external = o.Source, o.ExternalID
	}
	return r
}

// store queues the writes and events of a change. Clients come before stock, as in all changes of orders, so that two of them
// cannot wait for each other.
func (s *Service) store(ctx context.Context, tx *db.Tx, by access.Caller, before, o *Order, changes []change) error {
	if delta := o.PrepaidAmount - before.PrepaidAmount; delta != 0 {
		insertPayment(tx, o, by, delta, o.UpdatedAt)
	}
	if samePtr(before.CustomerID, o.CustomerID) {
		s.addBalance(tx, o, o.PrepaidAmount-before.PrepaidAmount)
	} else { // payments follow the customer
		s.addBalance(tx, before, -before.PrepaidAmount)
		s.addBalance(tx, o, o.PrepaidAmount)
	}
	s.cfg.Stock.Reserve(tx, by, append(before.reserved(-1), o.reserved(1)...))
	return s.storeChange(ctx, tx, by, before, o, changes)
}

// storeChange queues the writes and the event of a change that concern the order alone.
func (s *Service) storeChange(ctx context.Context, tx *db.Tx, by access.Caller, before, o *Order, changes []change) error {
	updateOrder(tx, before, o)
	insertHistory(tx, o, by, historyOf(before, o, changes))
	raw, err := marshal(o)
	if err != nil {
		return err
	}
	return s.raise(ctx, tx, by, updated, announcement{before: before, order: o, raw: raw, changed: namesOf(changes)})
}

// addBalance queues a payment or debt for the order's client, if there is one.
func (s *Service) addBalance(tx *db.Tx, o *Order, delta money.Amount) {
	if o.CustomerID != nil && delta != 0 {
		s.cfg.Clients.AddBalance(tx, o.CompanyID, *o.CustomerID, delta)
	}
}
