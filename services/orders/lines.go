package orders

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/trade"
)

// at is the path of a field of an item in the body.
func at(i int, field string) string { return fmt.Sprintf("items[%d].%s", i, field) }

// checkItems are the rules of lines that need no other record.
func checkItems(items []LineInput) error {
	var faults fault.Fields
	for i, in := range items {
		if in.Kind == trade.KindCustom {
			in.checkCustom(i, &faults)
		} else if in.RefID == nil {
			faults.Add(at(i, "refId"), fault.Required, "is required for a %s; send kind custom for an item that is not in the catalog", in.Kind)
		}
		if in.Kind == trade.KindService && in.VariantID != nil {
			faults.Add(at(i, "variantId"), fault.Conflict, "belongs to products; leave it out for a service")
		}
		seen := map[uuid.UUID]bool{}
		for j, m := range in.Modifiers {
			if seen[m.OptionID] {
				faults.Add(at(i, fmt.Sprintf("modifiers[%d].optionId", j)), fault.Conflict, "is listed twice; send it once, with a qty")
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
func (in LineInput) ref() (r trade.ItemRef, ok bool) {
	if in.Kind == trade.KindCustom || in.RefID == nil {
		return r, false
	}
	r = trade.ItemRef{Kind: in.Kind, ID: *in.RefID}
	if in.VariantID != nil {
		r.Variant = *in.VariantID
	}
	return r, true
}

// itemRefs are the refs of the lines, each once.
func itemRefs(items []LineInput) []trade.ItemRef {
	var refs []trade.ItemRef
	seen := map[trade.ItemRef]bool{}
	for _, in := range items {
		if r, ok := in.ref(); ok && !seen[r] {
			seen[r] = true
			refs = append(refs, r)
		}
	}
	return refs
}

// itemRefs are the refs that the lines of the order have.
func (o *Order) itemRefs() map[trade.ItemRef]bool {
	refs := map[trade.ItemRef]bool{}
	for _, l := range o.Lines {
		if r, ok := (LineInput{Kind: l.Kind, RefID: l.RefID, VariantID: l.VariantID}).ref(); ok {
			refs[r] = true
		}
	}
	return refs
}

// lineBuilder makes the lines of an order from items and prices of the catalog.
type lineBuilder struct {
	items  map[trade.ItemRef]trade.Item
	prices map[trade.ItemRef]money.Amount // of the customer's price list
	known  map[trade.ItemRef]bool         // refs that the order already has: those may be hidden by now
}

// lines makes the lines of an order. Faults of the input come first, then unknown references, then states.
func (b lineBuilder) lines(items []LineInput) ([]Line, error) {
	if err := b.checkRefs(items); err != nil {
		return nil, err
	}
	if err := b.checkRules(items); err != nil {
		return nil, err
	}
	lines := make([]Line, len(items))
	for i, in := range items {
		l, err := b.line(in)
		if err != nil {
			return nil, err
		}
		l.SortOrder = int32(i)
		lines[i] = l
	}
	return lines, nil
}

func (b lineBuilder) checkRefs(items []LineInput) error {
	for i, in := range items {
		r, ok := in.ref()
		if !ok {
			continue
		}
		item, found := b.items[r]
		switch {
		case !found && r.Kind == trade.KindService:
			return fault.ReferenceNotFound("SERVICE", at(i, "refId"), r.ID.String())
		case !found:
			return fault.ReferenceNotFound("PRODUCT", at(i, "refId"), r.ID.String())
		case item.UnknownVariant:
			return fault.ReferenceNotFound("PRODUCT_VARIANT", at(i, "variantId"), r.Variant.String())
		}
	}
	return nil
}

func (b lineBuilder) checkRules(items []LineInput) error {
	var faults fault.Fields
	for i, in := range items {
		r, _ := in.ref()
		item := b.items[r]
		qty := orOne(in.Qty)
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
		if err := b.checkState(i, in); err != nil {
			return err
		}
	}
	return nil
}

func (b lineBuilder) checkState(i int, in LineInput) error {
	r, ok := in.ref()
	if !ok {
		return nil
	}
	item := b.items[r]
	if item.HasVariants && r.Variant == uuid.Nil {
		return fault.StateConflict("PRODUCT_VARIANT_REQUIRED", "%s: the product has variants; name one of them", at(i, "variantId")).
			With("field", at(i, "variantId")).With("productId", r.ID)
	}
	if item.Hidden && !b.known[r] {
		return fault.StateConflict("CATALOG_ITEM_HIDDEN", "%s: the item is hidden and cannot be ordered; make it active, or choose another", at(i, "refId")).
			With("field", at(i, "refId")).With("id", r.ID)
	}
	return nil
}

func orOne(qty *money.Qty) money.Qty {
	if qty == nil {
		return money.Units(1)
	}
	return *qty
}

func (b lineBuilder) line(in LineInput) (Line, error) {
	r, _ := in.ref()
	item := b.items[r]
	l := Line{ID: record.NewID(), Kind: in.Kind, RefID: in.RefID, VariantID: in.VariantID, Name: item.Name, Qty: orOne(in.Qty), Note: in.Note, Modifiers: []Modifier{}}
	if in.Kind != trade.KindCustom {
		l.SKU, l.Unit = &item.SKU, &item.Unit
	}
	if in.Name != nil {
		l.Name = *in.Name
	}
	for _, m := range in.Modifiers {
		option := item.Options[m.OptionID]
		l.Modifiers = append(l.Modifiers, Modifier{OptionID: m.OptionID, Name: option.Name, Surcharge: option.Surcharge, Qty: orOne(m.Qty)})
	}
	var err error
	if l.UnitPrice, err = b.price(in, l.Modifiers); err != nil {
		return l, err
	}
	if l.Amount, err = money.LineAmount(l.Qty, l.UnitPrice); err != nil {
		return l, err
	}
	l.stock, err = components(r, item, l.Qty)
	return l, err
}

// price is the unit price that was sent, else the one of the price list or the catalog with the surcharges.
func (b lineBuilder) price(in LineInput, modifiers []Modifier) (money.Amount, error) {
	if in.UnitPrice != nil {
		return *in.UnitPrice, nil
	}
	r, _ := in.ref()
	price, ok := b.prices[r]
	if !ok {
		price = b.items[r].Price
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

// components are what the line takes from the warehouse: the item itself, or the components of a bundle.
func components(r trade.ItemRef, item trade.Item, qty money.Qty) ([]stockItem, error) {
	if item.HasStock {
		return []stockItem{{Product: r.ID, Variant: r.Variant, Qty: qty}}, nil
	}
	var all []stockItem
	for _, c := range item.Components {
		n, err := money.MulDiv(money.Amount(qty), int64(c.Qty), 1000)
		if err != nil {
			return nil, err
		}
		all = append(all, stockItem{Product: c.Product, Qty: money.Qty(n)})
	}
	return all, nil
}
