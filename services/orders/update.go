package orders

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// Update changes an order. Items change only while it is new or confirmed (409 ORDER_ITEMS_LOCKED); of a completed or
// cancelled one only note, assignedToId and prepaidAmount do (409 ORDER_FINALIZED).
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in Patch) (Order, error) {
	if err := checkItems(in.Items.Value); err != nil {
		return Order{}, err
	}
	before, err := selectOrder(ctx, tx, by.Company, id, true)
	if err != nil {
		return Order{}, err
	}
	if err := by.Expect(before.Version); err != nil {
		return Order{}, err
	}
	if err := in.allowed(&before); err != nil {
		return Order{}, err
	}
	o := before
	o.Lines = slices.Clone(before.Lines)
	if err := s.apply(ctx, tx, by.Company, &o, in); err != nil {
		return Order{}, err
	}
	changes, err := difference(&before, &o)
	if err != nil || len(changes) == 0 {
		return before, err
	}
	o.Touch(s.now())
	return o, s.store(ctx, tx, by, &before, &o, changes)
}

// allowed is the 409 of a field that the status of the order does not let change.
func (in Patch) allowed(o *Order) error {
	if o.isFinal() {
		if fields := in.locked(); len(fields) > 0 {
			return fault.StateConflict("ORDER_FINALIZED", "the order is %s: only note, assignedToId and prepaidAmount can change", o.Status).
				With("status", o.Status).With("fields", fields)
		}
	}
	if in.Items.Set && o.Status != statusNew && o.Status != statusConfirmed {
		return fault.StateConflict("ORDER_ITEMS_LOCKED", "the order is %s: items can be replaced only while it is new or confirmed", o.Status).With("status", o.Status)
	}
	return nil
}

// locked names the fields of the body that a finished order does not take.
func (in Patch) locked() (names []string) {
	for _, f := range []struct {
		set  bool
		name string
	}{
		{in.Items.Set, "items"},
		{in.CustomerID.Set, "customerId"},
		{in.AssetID.Set, "assetId"},
		{in.AddressID.Set, "addressId"},
		{in.CustomerName.Set, "customerName"},
		{in.CustomerPhone.Set, "customerPhone"},
		{in.CustomerEmail.Set, "customerEmail"},
		{in.CustomerNote.Set, "customerNote"},
		{in.Channel.Set, "channel"},
		{in.Source.Set, "source"},
		{in.ExternalID.Set, "externalId"},
		{in.WarehouseID.Set, "warehouseId"},
		{in.DeliveryMethod.Set, "deliveryMethod"},
		{in.DeliveryCost.Set, "deliveryCost"},
		{in.DeliveryAddressText.Set, "deliveryAddressText"},
		{in.DueAt.Set, "dueAt"},
		{in.ReadyBy.Set, "readyBy"},
		{in.PayDueAt.Set, "payDueAt"},
		{in.DiscountPercent.Set, "discountPercent"},
	} {
		if f.set {
			names = append(names, f.name)
		}
	}
	return names
}

// apply brings the body into the order and computes what follows.
func (s *Service) apply(ctx context.Context, tx *db.Tx, company tenant.ID, o *Order, in Patch) error {
	newClient := in.CustomerID.Set && !samePtr(in.CustomerID.Ptr(), o.CustomerID)
	known := map[ItemRef]bool{}
	for i := range o.Lines {
		if r, ok := o.Lines[i].ref(); ok {
			known[r] = true
		}
	}
	f, err := s.look(ctx, tx, company, in.references(o, newClient))
	if err != nil {
		return err
	}
	if in.Items.Set {
		if o.Lines, err = (goods{items: f.items, prices: f.prices, known: known}).lines(in.Items.Value); err != nil {
			return err
		}
	}
	if !newClient {
		f.client = nil // it was read for its prices only
	}
	if err := f.check(in.CustomerID.Ptr()); err != nil {
		return err
	}
	if err := in.fields(o, f); err != nil {
		return err
	}
	if in.Items.Set {
		if err := s.assignWarehouse(ctx, tx, o); err != nil {
			return err
		}
	}
	if newClient {
		o.snapshot(f.client, !in.CustomerName.Set, !in.CustomerPhone.Set, !in.CustomerEmail.Set)
	}
	if err := o.price(); err != nil {
		return err
	}
	o.reserve()
	o.derive()
	return nil
}

// references are what the body names anew.
func (in Patch) references(o *Order, newClient bool) references {
	r := references{asset: in.AssetID.Ptr(), address: in.AddressID.Ptr(), assigned: in.AssignedToID.Ptr(), warehouse: in.WarehouseID.Ptr()}
	if in.Items.Set {
		r.items = itemRefs(in.Items.Value)
	}
	switch {
	case newClient:
		r.customer = in.CustomerID.Ptr()
	case in.Items.Set:
		r.customer = o.CustomerID
	}
	source, external := o.Source, o.ExternalID
	wire.ApplyNullable(&source, in.Source)
	wire.ApplyNullable(&external, in.ExternalID)
	if external != nil && (deref(source) != deref(o.Source) || !samePtr(external, o.ExternalID)) {
		r.source, r.external = source, external
	}
	return r
}

// fields applies what needs no computation.
func (in Patch) fields(o *Order, f facts) error {
	wire.ApplyNullable(&o.CustomerID, in.CustomerID)
	wire.ApplyNullable(&o.AssetID, in.AssetID)
	if wire.ApplyNullable(&o.AddressID, in.AddressID) {
		o.AddressLabel = f.address
	}
	wire.ApplyNullable(&o.CustomerName, in.CustomerName)
	wire.ApplyNullable(&o.CustomerPhone, in.CustomerPhone)
	wire.ApplyNullable(&o.CustomerEmail, in.CustomerEmail)
	wire.ApplyNullable(&o.CustomerNote, in.CustomerNote)
	wire.ApplyNullable(&o.Channel, in.Channel)
	wire.ApplyNullable(&o.Source, in.Source)
	wire.ApplyNullable(&o.ExternalID, in.ExternalID)
	wire.ApplyNullable(&o.WarehouseID, in.WarehouseID)
	wire.Apply(&o.DeliveryCost, in.DeliveryCost)
	wire.ApplyNullable(&o.DeliveryAddressText, in.DeliveryAddressText)
	applyTime(&o.DueAt, in.DueAt)
	applyTime(&o.ReadyBy, in.ReadyBy)
	applyTime(&o.PayDueAt, in.PayDueAt)
	wire.ApplyNullable(&o.Note, in.Note)
	wire.Apply(&o.DiscountPercent, in.DiscountPercent)
	if wire.Apply(&o.PrepaidAmount, in.PrepaidAmount) && o.PrepaidAmount > 0 {
		o.wasPaid = true
	}
	wire.ApplyNullable(&o.AssignedToID, in.AssignedToID)
	if in.DeliveryMethod.Set {
		return o.setDelivery(in.DeliveryMethod.Ptr())
	}
	return nil
}

// applyTime is [wire.ApplyNullable] for instants, which are equal whatever their zone.
func applyTime(dst **wire.Time, o wire.Optional[wire.Time]) {
	if o.Set {
		*dst = o.Ptr()
	}
}

func samePtr[T comparable](a, b *T) bool {
	return (a == nil && b == nil) || (a != nil && b != nil && *a == *b)
}

// store queues the writes of a change and announces it.
func (s *Service) store(ctx context.Context, tx *db.Tx, by access.Caller, before, o *Order, changes []change) error {
	updateOrder(tx, o)
	if !slices.EqualFunc(before.Lines, o.Lines, sameLine) {
		replaceLines(tx, o)
	}
	s.cfg.Stock.Reserve(tx, by, append(before.reserved(-1), o.reserved(1)...))
	if delta := o.PrepaidAmount - before.PrepaidAmount; delta != 0 {
		insertPayment(tx, o, by, delta, o.UpdatedAt)
	}
	if err := s.moveBalance(ctx, tx, before, o); err != nil {
		return err
	}
	insertHistory(tx, o, by, changes)
	raw, err := marshal(o)
	if err != nil {
		return err
	}
	return s.raise(ctx, tx, by, eventUpdated, 0, o, raw, event.Changed{ChangedFields: namesOf(changes)})
}

// sameLine reports whether a stored line need not be written again.
func sameLine(a, b Line) bool {
	return a.ID == b.ID && a.DiscountAmount == b.DiscountAmount && a.ReservedQty == b.ReservedQty
}

// moveBalance gives the client what was paid for the order, and takes it from the one who was the client before.
func (s *Service) moveBalance(ctx context.Context, tx *db.Tx, before, o *Order) error {
	if samePtr(before.CustomerID, o.CustomerID) {
		return s.addBalance(ctx, tx, o, o.PrepaidAmount-before.PrepaidAmount)
	}
	if err := s.addBalance(ctx, tx, before, -before.PrepaidAmount); err != nil {
		return err
	}
	return s.addBalance(ctx, tx, o, o.PrepaidAmount)
}

// addBalance books what was paid, or is owed, for the order with its client, if it has one.
func (s *Service) addBalance(ctx context.Context, tx *db.Tx, o *Order, delta money.Amount) error {
	if o.CustomerID == nil || delta == 0 {
		return nil
	}
	return s.cfg.Clients.AddBalance(ctx, tx, o.CompanyID, *o.CustomerID, delta)
}
