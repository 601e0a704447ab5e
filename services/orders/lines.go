package orders

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/record"
)

// Kinds of lines.
const (
	kindProduct = "product"
	kindService = "service"
	kindCustom  = "custom"
)

func intText(n int64) string { return strconv.FormatInt(n, 10) }

func at(i int, field string) string { return fmt.Sprintf("items[%d].%s", i, field) }

// checkItems are the rules of lines that need no other record.
func checkItems(items []LineInput) error {
	var faults fault.Fields
	for i, in := range items {
		if in.Kind == kindCustom {
			in.checkCustom(i, &faults)
		} else if in.RefID == nil {
			faults.Add(at(i, "refId"), fault.Required, "is required for a %s; use the kind custom for what the catalog does not have", in.Kind)
		}
		if in.Kind == kindService && in.VariantID != nil {
			faults.Add(at(i, "variantId"), fault.Conflict, "belongs to products; leave it out for a service")
		}
		seen := map[uuid.UUID]bool{}
		for j, m := range in.Modifiers {
			if seen[m.OptionID] {
				faults.Add(at(i, fmt.Sprintf("modifiers[%d].optionId", j)), fault.Conflict, "is there twice; send it once with a qty")
			}
			seen[m.OptionID] = true
		}
	}
	return faults.Err()
}

func (in LineInput) checkCustom(i int, faults *fault.Fields) {
	if in.RefID != nil {
		faults.Add(at(i, "refId"), fault.Conflict, "must be left out for a custom line")
	}
	if in.VariantID != nil {
		faults.Add(at(i, "variantId"), fault.Conflict, "must be left out for a custom line")
	}
	if in.Name == nil {
		faults.Add(at(i, "name"), fault.Required, "is required for a custom line")
	}
	if in.UnitPrice == nil {
		faults.Add(at(i, "unitPrice"), fault.Required, "is required for a custom line")
	}
	if len(in.Modifiers) > 0 {
		faults.Add(at(i, "modifiers"), fault.Conflict, "must be left out for a custom line")
	}
}

// ref is what the line names in the catalog; ok is false for a custom line.
func (in LineInput) ref() (r ItemRef, ok bool) {
	if in.Kind == kindCustom || in.RefID == nil {
		return r, false
	}
	r = ItemRef{Kind: in.Kind, ID: *in.RefID}
	if in.VariantID != nil {
		r.Variant = *in.VariantID
	}
	return r, true
}

func (l *Line) ref() (r ItemRef, ok bool) {
	return LineInput{Kind: l.Kind, RefID: l.RefID, VariantID: l.VariantID}.ref()
}

// itemRefs are the refs of the lines, each once.
func itemRefs(items []LineInput) []ItemRef {
	var refs []ItemRef
	seen := map[ItemRef]bool{}
	for _, in := range items {
		if r, ok := in.ref(); ok && !seen[r] {
			seen[r] = true
			refs = append(refs, r)
		}
	}
	return refs
}

// goods are the items and prices that lines are made of.
type goods struct {
	items  map[ItemRef]Item
	prices map[ItemRef]money.Amount // of the customer's price list
	known  map[ItemRef]bool         // refs that the order has already: they may be hidden by now
}

// lines makes the lines of an order. Faults of the input come first, then unknown references, then states.
func (g goods) lines(items []LineInput) ([]Line, error) {
	if err := g.checkRefs(items); err != nil {
		return nil, err
	}
	if err := g.checkRules(items); err != nil {
		return nil, err
	}
	lines := make([]Line, len(items))
	for i, in := range items {
		l, err := g.line(in)
		if err != nil {
			return nil, err
		}
		l.SortOrder = int32(i)
		lines[i] = l
	}
	return lines, nil
}

func (g goods) checkRefs(items []LineInput) error {
	for i, in := range items {
		r, ok := in.ref()
		if !ok {
			continue
		}
		item, found := g.items[r]
		switch {
		case !found && r.Kind == kindService:
			return fault.ReferenceNotFound("SERVICE", at(i, "refId"), r.ID.String())
		case !found:
			return fault.ReferenceNotFound("PRODUCT", at(i, "refId"), r.ID.String())
		case item.NoVariant:
			return fault.ReferenceNotFound("PRODUCT_VARIANT", at(i, "variantId"), r.Variant.String())
		}
	}
	return nil
}

func (g goods) checkRules(items []LineInput) error {
	var faults fault.Fields
	for i, in := range items {
		r, _ := in.ref()
		item := g.items[r]
		qty := in.qty()
		if item.MinOrderQty != nil && qty < *item.MinOrderQty {
			faults.Add(at(i, "qty"), fault.Min, "must be at least %s, the minimum of %s", *item.MinOrderQty, item.SKU)
		} else if item.OrderStepQty != nil && *item.OrderStepQty > 0 && qty%*item.OrderStepQty != 0 {
			faults.Add(at(i, "qty"), fault.Step, "must be a multiple of %s, the shipping multiple of %s", *item.OrderStepQty, item.SKU)
		}
		for j, m := range in.Modifiers {
			if _, ok := item.Options[m.OptionID]; !ok {
				faults.Add(at(i, fmt.Sprintf("modifiers[%d].optionId", j)), fault.Enum, "is not an option of %s", item.SKU)
			}
		}
	}
	if err := faults.Err(); err != nil {
		return err
	}
	for i, in := range items {
		if err := g.checkState(i, in); err != nil {
			return err
		}
	}
	return nil
}

func (g goods) checkState(i int, in LineInput) error {
	r, ok := in.ref()
	if !ok {
		return nil
	}
	item := g.items[r]
	if item.HasVariants && r.Variant == uuid.Nil {
		return fault.StateConflict("PRODUCT_VARIANT_REQUIRED", "%s: the product has variants; name one of them", at(i, "variantId")).
			With("field", at(i, "variantId")).With("productId", r.ID)
	}
	if item.Hidden && !g.known[r] {
		return fault.StateConflict("CATALOG_ITEM_HIDDEN", "%s: the item is hidden and cannot be ordered; make it active or choose another", at(i, "refId")).
			With("field", at(i, "refId")).With("id", r.ID)
	}
	return nil
}

func (in LineInput) qty() money.Qty {
	if in.Qty == nil {
		return money.Units(1)
	}
	return *in.Qty
}

func (g goods) line(in LineInput) (Line, error) {
	r, _ := in.ref()
	item := g.items[r]
	l := Line{ID: record.NewID(), Kind: in.Kind, RefID: in.RefID, VariantID: in.VariantID, Name: item.Name, Qty: in.qty(), Note: in.Note, Modifiers: []Modifier{}}
	if in.Kind != kindCustom {
		l.SKU, l.Unit = &item.SKU, &item.Unit
	}
	if in.Name != nil {
		l.Name = *in.Name
	}
	for _, m := range in.Modifiers {
		chosen := item.Options[m.OptionID]
		chosen.OptionID, chosen.Qty = m.OptionID, money.Units(1)
		if m.Qty != nil {
			chosen.Qty = *m.Qty
		}
		l.Modifiers = append(l.Modifiers, chosen)
	}
	var err error
	if l.UnitPrice, err = g.price(in, l.Modifiers); err != nil {
		return l, err
	}
	if l.Amount, err = money.LineAmount(l.Qty, l.UnitPrice); err != nil {
		return l, err
	}
	l.stock, err = parts(r, item, l.Qty)
	return l, err
}

// price is the unit price that was sent, else the one of the price list or the catalog with the surcharges.
func (g goods) price(in LineInput, modifiers []Modifier) (money.Amount, error) {
	if in.UnitPrice != nil {
		return *in.UnitPrice, nil
	}
	r, _ := in.ref()
	price, ok := g.prices[r]
	if !ok {
		price = g.items[r].Price
	}
	for _, m := range modifiers {
		surcharge, err := money.LineAmount(m.Qty, m.Surcharge)
		if err != nil {
			return 0, err
		}
		if price, err = money.Sum(price, surcharge); err != nil {
			return 0, err
		}
	}
	return price, nil
}

// parts is what the line takes from the warehouse.
func parts(r ItemRef, item Item, qty money.Qty) ([]linePart, error) {
	if item.HasStock {
		return []linePart{{Product: r.ID, Variant: r.Variant, Qty: qty}}, nil
	}
	var all []linePart
	for _, p := range item.Parts {
		n, err := money.MulDiv(money.Amount(qty), int64(p.Qty), 1000)
		if err != nil {
			return nil, err
		}
		all = append(all, linePart{Product: p.Product, Qty: money.Qty(n)})
	}
	return all, nil
}

// price computes all amounts of the order from its lines, discount and payments.
func (o *Order) price() error {
	amounts := make([]money.Amount, len(o.Lines))
	for i, l := range o.Lines {
		amounts[i] = l.Amount
	}
	var err error
	if o.Subtotal, err = money.Sum(amounts...); err != nil {
		return err
	}
	o.DiscountAmount = money.Discount(o.Subtotal, o.DiscountPercent)
	o.Total = o.Subtotal - o.DiscountAmount
	for i, share := range money.Spread(o.DiscountAmount, amounts) {
		o.Lines[i].DiscountAmount, o.Lines[i].Total = share, amounts[i]-share
	}
	payable, err := o.payable()
	if err != nil {
		return err
	}
	if o.PrepaidAmount > payable {
		return fault.StateConflict("ORDER_OVERPAID", "the payments of %s exceed the %s to pay; lower prepaidAmount first", o.PrepaidAmount, payable).
			With("payable", payable).With("prepaidAmount", o.PrepaidAmount)
	}
	o.PaymentStatus = paymentStatus(o.PrepaidAmount, payable, o.wasPaid)
	return nil
}

// needsWarehouse reports whether stock is kept of some goods of the order and it does not say where.
func (o *Order) needsWarehouse() bool {
	return o.WarehouseID == nil && slices.ContainsFunc(o.Lines, func(l Line) bool { return len(l.stock) > 0 })
}

// reserve sets what each line reserves: all of it, while the order is unfinished and has a warehouse.
func (o *Order) reserve() {
	for i := range o.Lines {
		l := &o.Lines[i]
		l.ReservedQty = 0
		if len(l.stock) > 0 && o.WarehouseID != nil && !o.isFinal() {
			l.ReservedQty = l.Qty - l.ShippedQty
		}
	}
}

// reserved is what the order holds in the warehouse, times sign.
func (o *Order) reserved(sign money.Qty) []StockDelta {
	return o.deltas(func(l *Line, d *StockDelta, q money.Qty) { d.Reserved = sign * share(q, l.ReservedQty, l.Qty) })
}

// leaving is what goes out of the warehouse when the order is completed, with its reserve.
func (o *Order) leaving() []StockDelta {
	return o.deltas(func(l *Line, d *StockDelta, q money.Qty) {
		d.Qty, d.Reserved = -share(q, l.Qty-l.ShippedQty, l.Qty), -share(q, l.ReservedQty, l.Qty)
	})
}

func (o *Order) deltas(fill func(l *Line, d *StockDelta, q money.Qty)) []StockDelta {
	var all []StockDelta
	if o.WarehouseID == nil {
		return nil
	}
	for i := range o.Lines {
		for _, p := range o.Lines[i].stock {
			d := StockDelta{Warehouse: *o.WarehouseID, Product: p.Product, Variant: p.Variant}
			fill(&o.Lines[i], &d, p.Qty)
			all = append(all, d)
		}
	}
	return all
}

// share is the part of q that some of the line stands for.
func share(q, some, of money.Qty) money.Qty {
	n, err := money.MulDiv(money.Amount(q), int64(some), int64(of))
	if err != nil {
		panic(err) // some is at most of, so the share is at most q
	}
	return money.Qty(n)
}
