package lineitem

import (
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Builder builds lines from items and prices. Its zero switches are the rules of documents that announce what is to be
// sold, such as orders; a receipt of what was sold sets AnyQty and AllowHidden.
type Builder struct {
	Items  map[trade.ItemRef]trade.Item
	Prices map[trade.ItemRef]money.Amount // of the client's price list; nil = none
	Taxes  map[uuid.UUID]money.Percent    // of the rates that lines name
	Had    []*Line                        // lines that the document has; their items may be hidden

	Reprice     bool // price all lines anew; otherwise those that continue one of Had keep its price, and the name
	AnyQty      bool // accept quantities below the minimum or between the steps of an item
	AllowHidden bool // accept hidden items
}

// Build builds the lines of a document; each makes the document's own line from the input, the common part, and the index in Had of the
// line that it continues, which is -1 if there is none or prices are new. It reports
// unknown references first, then faults of the input, then conflicts, then lines of more than [MaxBytes]. The input has passed
// [Check].
func Build[T input, L any](b Builder, items []T, each func(in T, l Line, had int) L) ([]L, error) {
	if err := checkRefs(b, items); err != nil {
		return nil, err
	}
	if err := checkTaxes(b, items); err != nil {
		return nil, err
	}
	if err := checkRules(b, items); err != nil {
		return nil, err
	}
	lines, had := make([]L, len(items)), continued(b.kept(), items)
	bytes := 0
	for i, in := range items {
		l, err := b.line(in.common(), i, had[i])
		if err != nil {
			return nil, err
		}
		if bytes += l.bytes(); bytes > MaxBytes {
			return nil, apierr.InvalidField("items", apierr.Length, "with the names that the catalog has for items and modifiers, the lines may take at most %d bytes as JSON; "+
				"those up to items[%d] take more: divide the document, or use fewer modifiers or shorter names", MaxBytes, i)
		}
		lines[i] = each(in, l, had[i])
	}
	return lines, nil
}

// MaxBytes is how many bytes the lines of a document may take. A request names items and modifiers by their ids, but the
// document stores their names, so the limit of request bodies does not bound it.
const MaxBytes = 1 << 20

// What a line, a modifier and a component of a bundle take as JSON besides their texts.
const (
	lineBytes      = 500
	modifierBytes  = 110
	componentBytes = 130
)

// bytes is about how many bytes the line takes as JSON, with what it takes from stock.
func (l *Line) bytes() int {
	n := lineBytes + textBytes(l.Name) + len(l.Stock)*componentBytes
	for _, text := range [...]*string{l.SKU, l.Unit} {
		if text != nil {
			n += textBytes(*text)
		}
	}
	for i := range l.Modifiers {
		n += modifierBytes + textBytes(l.Modifiers[i].Name)
	}
	return n
}

// textBytes is how many bytes a text takes as JSON, in which control characters become up to six.
func textBytes(s string) int {
	n := len(s)
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ':
			n += 5
		case c == '"', c == '\\':
			n++
		}
	}
	return n
}

func checkRefs[T input](b Builder, items []T) error {
	for i := range items {
		r, ok := items[i].common().Ref()
		if !ok {
			continue
		}
		item, found := b.Items[r]
		switch {
		case !found && r.Kind == trade.KindService:
			return apierr.ReferenceNotFound("SERVICE", At(i, "refId"), r.ID.String())
		case !found:
			return apierr.ReferenceNotFound("PRODUCT", At(i, "refId"), r.ID.String())
		case item.UnknownVariant:
			return apierr.ReferenceNotFound("PRODUCT_VARIANT", At(i, "variantId"), r.Variant.String())
		}
	}
	return nil
}

// checkTaxes checks that the rates which lines name can be chosen, or are those that the document has had.
func checkTaxes[T input](b Builder, items []T) error {
	for i := range items {
		id := items[i].common().TaxRateID
		if id == nil || slices.ContainsFunc(b.Had, func(l *Line) bool { return l.TaxRateID != nil && *l.TaxRateID == *id }) {
			continue
		}
		if _, ok := b.Taxes[*id]; !ok {
			return apierr.ReferenceNotFound("TAX_RATE", At(i, "taxRateId"), id.String())
		}
	}
	return nil
}

func checkRules[T input](b Builder, items []T) error {
	var faults apierr.Fields
	for i := range items {
		in := items[i].common()
		r, ok := in.Ref()
		if !ok {
			continue
		}
		item := b.Items[r]
		if !b.AnyQty {
			checkQty(i, orOne(in.Qty), &item, &faults)
		}
		checkModifiers(i, in.Modifiers, &item, &faults)
	}
	if err := faults.Err(); err != nil {
		return err
	}
	for i := range items {
		if err := b.checkState(i, items[i].common()); err != nil {
			return err
		}
	}
	return nil
}

func checkQty(i int, qty money.Qty, item *trade.Item, faults *apierr.Fields) {
	if item.MinOrderQty != nil && qty < *item.MinOrderQty {
		faults.Add(At(i, "qty"), apierr.Min, "must be at least %s, the minimum order quantity of %s", *item.MinOrderQty, item.SKU)
	} else if item.OrderStepQty != nil && *item.OrderStepQty > 0 && qty%*item.OrderStepQty != 0 {
		faults.Add(At(i, "qty"), apierr.Step, "must be a multiple of %s, the order step of %s", *item.OrderStepQty, item.SKU)
	}
}

// checkModifiers checks that the options belong to the item, and how many of each of its groups are selected.
func checkModifiers(i int, modifiers []ModifierInput, item *trade.Item, faults *apierr.Fields) {
	for j, m := range modifiers {
		if _, ok := item.Options[m.OptionID]; !ok {
			faults.Add(modifierAt(i, j), apierr.Enum, "must be a modifier option of %s", item.SKU)
		}
	}
	for _, g := range item.Groups {
		var n money.Qty
		for _, m := range modifiers {
			if slices.Contains(g.Options, m.OptionID) {
				n += orOne(m.Qty)
			}
		}
		if n < money.Units(int64(g.MinSelect)) {
			faults.Add(At(i, "modifiers"), apierr.Min, "must have at least %d option(s) of the group %s, has %s", g.MinSelect, g.Name, n)
		} else if g.MaxSelect != nil && n > money.Units(int64(*g.MaxSelect)) {
			faults.Add(At(i, "modifiers"), apierr.Max, "must have at most %d option(s) of the group %s, has %s", *g.MaxSelect, g.Name, n)
		}
	}
}

func (b Builder) checkState(i int, in Input) error {
	r, ok := in.Ref()
	if !ok {
		return nil
	}
	item := b.Items[r]
	if item.HasVariants && r.Variant == uuid.Nil {
		field := in.Field(i, "variantId")
		return apierr.StateConflict("PRODUCT_VARIANT_REQUIRED", "%s: the product has variants; set the variant", field).With("field", field).With("productId", r.ID)
	}
	if item.Hidden && !b.AllowHidden && !b.knows(r) {
		field := in.Field(i, "refId")
		return apierr.StateConflict("CATALOG_ITEM_HIDDEN", "%s: the item is hidden and cannot be added; make it active, or choose another", field).
			With("field", field).With("id", r.ID)
	}
	return nil
}

// line makes the i-th line, which continues that of Had at the index had; -1 = none.
func (b Builder) line(in Input, i, had int) (Line, error) {
	r, _ := in.Ref()
	if had >= 0 {
		in = in.like(b.Had[had])
	}
	item := b.Items[r]
	l := Line{
		ID: record.NewID(), Kind: in.Kind, RefID: in.RefID, VariantID: in.VariantID, Name: item.Name, Qty: orOne(in.Qty),
		Modifiers: make([]Modifier, len(in.Modifiers)), SortOrder: int32(i),
	}
	if in.Kind != trade.KindCustom {
		l.SKU = &item.SKU
		if item.Unit != "" { // services have none
			l.Unit = &item.Unit
		}
	}
	if in.Name != nil {
		l.Name = *in.Name
	}
	for j, m := range in.Modifiers {
		option := item.Options[m.OptionID]
		l.Modifiers[j] = Modifier{OptionID: m.OptionID, Name: option.Name, Surcharge: option.Surcharge, Qty: orOne(m.Qty)}
	}
	if had >= 0 {
		l.Modifiers = b.Had[had].Modifiers
	}
	var err error
	if l.UnitPrice, err = b.price(in, l.Modifiers); err != nil {
		return l, err
	}
	b.terms(in, &l, had)
	if err := l.Charge(l.Qty); err != nil {
		return l, err
	}
	l.Stock, err = StockItems(r, item, l.Qty)
	return l, err
}

// price returns the unit price that was sent, or else that of the price list or the catalog plus the surcharges.
func (b Builder) price(in Input, modifiers []Modifier) (money.Amount, error) {
	if in.UnitPrice != nil {
		return *in.UnitPrice, nil
	}
	r, _ := in.Ref()
	price, ok := b.Prices[r]
	if !ok {
		price = b.Items[r].Price
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

// StockItems returns what a quantity of an item takes from stock: the item itself, or the components of a bundle.
func StockItems(r trade.ItemRef, item trade.Item, qty money.Qty) ([]StockItem, error) {
	if item.HasStock {
		return []StockItem{{Product: r.ID, Variant: r.Variant, Qty: qty}}, nil
	}
	var all []StockItem
	for _, c := range item.Components {
		n, err := money.MulDiv(money.Amount(qty), int64(c.Qty), 1000)
		if err != nil {
			return nil, err
		}
		all = append(all, StockItem{Product: c.Product, Qty: money.Qty(n)})
	}
	return all, nil
}
