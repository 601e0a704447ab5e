package orders

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/trade"
)

func ptr[T any](v T) *T { return &v }

// fieldsOf are the faults of the fields, by their paths.
func fieldsOf(t *testing.T, err error) map[string]string {
	t.Helper()
	codes := map[string]string{}
	if err == nil {
		return codes
	}
	f, ok := fault.As(err)
	require.True(t, ok, "%v", err)
	for _, field := range f.Fields {
		codes[field.Field] = field.Code
	}
	return codes
}

func TestItemsOfABody(t *testing.T) {
	t.Parallel()
	id, name, price := ptr(uuid.New()), ptr("x"), ptr(money.Amount(1))
	option := ModifierInput{OptionID: uuid.New()}
	for name, row := range map[string]struct {
		in   LineInput
		want map[string]string
	}{
		"product":                 {LineInput{Kind: "product", RefID: id, VariantID: id}, nil},
		"product without ref":     {LineInput{Kind: "product"}, map[string]string{"refId": "REQUIRED"}},
		"service":                 {LineInput{Kind: "service", RefID: id}, nil},
		"service with variant":    {LineInput{Kind: "service", RefID: id, VariantID: id}, map[string]string{"variantId": "CONFLICT"}},
		"option once":             {LineInput{Kind: "product", RefID: id, Modifiers: []ModifierInput{option, {OptionID: uuid.New()}}}, nil},
		"option twice":            {LineInput{Kind: "product", RefID: id, Modifiers: []ModifierInput{option, option}}, map[string]string{"modifiers[1].optionId": "CONFLICT"}},
		"custom":                  {LineInput{Kind: "custom", Name: name, UnitPrice: price}, nil},
		"custom without anything": {LineInput{Kind: "custom"}, map[string]string{"name": "REQUIRED", "unitPrice": "REQUIRED"}},
		"custom of the catalog": {
			LineInput{Kind: "custom", Name: name, UnitPrice: price, RefID: id, VariantID: id, Modifiers: []ModifierInput{option}},
			map[string]string{"refId": "CONFLICT", "variantId": "CONFLICT", "modifiers": "CONFLICT"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := map[string]string{}
			for field, code := range row.want {
				want[at(1, field)] = code
			}
			require.Equal(t, want, fieldsOf(t, checkItems([]LineInput{{Kind: "product", RefID: id}, row.in})))
		})
	}
}

// shelf is a catalog to build lines from.
type shelf struct {
	lineBuilder
	plain, stepped, shirt, large, hidden, bundle, service trade.ItemRef
	gift                                                  uuid.UUID
}

func newShelf() *shelf {
	s := &shelf{gift: uuid.New()}
	s.items = map[trade.ItemRef]trade.Item{}
	add := func(kind string, item trade.Item) trade.ItemRef {
		r := trade.ItemRef{Kind: kind, ID: uuid.New()}
		s.items[r] = item
		return r
	}
	s.plain = add("product", trade.Item{SKU: "P", Name: "Plain", Unit: "pcs", Price: 1000, HasStock: true, Options: map[uuid.UUID]trade.Modifier{s.gift: {Name: "Gift wrap", Surcharge: 150}}})
	s.stepped = add("product", trade.Item{SKU: "S", Price: 10, MinOrderQty: ptr(money.Units(2)), OrderStepQty: ptr(money.Qty(500))})
	s.shirt = add("product", trade.Item{SKU: "T", Price: 20, HasVariants: true, HasStock: true})
	s.large = trade.ItemRef{Kind: "product", ID: s.shirt.ID, Variant: uuid.New()}
	s.items[s.large] = trade.Item{SKU: "T-L", Price: 30, HasVariants: true, HasStock: true}
	s.hidden = add("product", trade.Item{SKU: "H", Hidden: true})
	s.bundle = add("product", trade.Item{SKU: "B", Price: 5000, Components: []trade.Component{{Product: s.plain.ID, Qty: 2500}, {Product: s.shirt.ID, Qty: 333}}})
	s.service = add("service", trade.Item{SKU: "F", Name: "Repair", Unit: "h", Price: 3000})
	return s
}

func (s *shelf) input(r trade.ItemRef, thousandths money.Qty) LineInput {
	in := LineInput{Kind: r.Kind, RefID: &r.ID, Qty: &thousandths}
	if r.Variant != uuid.Nil {
		in.VariantID = &r.Variant
	}
	return in
}

func TestRulesOfLines(t *testing.T) {
	t.Parallel()
	s := newShelf()
	unknown := trade.ItemRef{Kind: "product", ID: uuid.New()}
	noVariant := trade.ItemRef{Kind: "product", ID: s.shirt.ID, Variant: uuid.New()}
	s.items[noVariant] = trade.Item{UnknownVariant: true}
	other := s.input(s.plain, 1000)
	other.Modifiers = []ModifierInput{{OptionID: uuid.New()}}
	for name, row := range map[string]struct {
		in     LineInput
		code   string
		fields map[string]string
	}{
		"any quantity":                 {s.input(s.plain, 1), "", nil},
		"the minimum":                  {s.input(s.stepped, 2000), "", nil},
		"a multiple":                   {s.input(s.stepped, 2500), "", nil},
		"below the minimum":            {s.input(s.stepped, 1500), "VALIDATION_ERROR", map[string]string{"items[0].qty": "MIN"}},
		"no multiple":                  {s.input(s.stepped, 2100), "VALIDATION_ERROR", map[string]string{"items[0].qty": "STEP"}},
		"option of another item":       {other, "VALIDATION_ERROR", map[string]string{"items[0].modifiers[0].optionId": "ENUM"}},
		"variant":                      {s.input(s.large, 1000), "", nil},
		"product whose variant counts": {s.input(s.shirt, 1000), "PRODUCT_VARIANT_REQUIRED", nil},
		"unknown variant":              {s.input(noVariant, 1000), "PRODUCT_VARIANT_NOT_FOUND", nil},
		"unknown product":              {s.input(unknown, 1000), "PRODUCT_NOT_FOUND", nil},
		"unknown service":              {s.input(trade.ItemRef{Kind: "service", ID: s.plain.ID}, 1000), "SERVICE_NOT_FOUND", nil},
		"hidden":                       {s.input(s.hidden, 1000), "CATALOG_ITEM_HIDDEN", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := s.lines([]LineInput{row.in})
			requireFault(t, row.code, err)
			if row.fields != nil {
				require.Equal(t, row.fields, fieldsOf(t, err))
			}
		})
	}
	has := Order{Lines: []Line{{Kind: s.hidden.Kind, RefID: &s.hidden.ID}, {Kind: "custom"}}}
	again := lineBuilder{items: s.items, known: has.itemRefs()}
	_, err := again.lines([]LineInput{s.input(s.hidden, 1000)})
	require.NoError(t, err, "an order keeps what was hidden since")
}

func TestPricesOfLines(t *testing.T) {
	t.Parallel()
	s := newShelf()
	s.prices = map[trade.ItemRef]money.Amount{s.service: 2500}
	with := func(in LineInput, edit func(*LineInput)) LineInput {
		edit(&in)
		return in
	}
	gifts := func(qty *money.Qty) func(*LineInput) {
		return func(in *LineInput) { in.Modifiers = []ModifierInput{{OptionID: s.gift, Qty: qty}} }
	}
	for name, row := range map[string]struct {
		in            LineInput
		price, amount money.Amount
		code          string
	}{
		"catalog":               {s.input(s.plain, 3000), 1000, 3000, ""},
		"variant":               {s.input(s.large, 2000), 30, 60, ""},
		"price list":            {s.input(s.service, 1500), 2500, 3750, ""},
		"sent":                  {with(s.input(s.service, 1000), func(in *LineInput) { in.UnitPrice = ptr(money.Amount(0)) }), 0, 0, ""},
		"half is rounded up":    {with(s.input(s.plain, 1500), func(in *LineInput) { in.UnitPrice = ptr(money.Amount(1)) }), 1, 2, ""},
		"one option":            {with(s.input(s.plain, 2000), gifts(nil)), 1150, 2300, ""},
		"options":               {with(s.input(s.plain, 1000), gifts(ptr(money.Units(3)))), 1450, 1450, ""},
		"sent goes before them": {with(with(s.input(s.plain, 1000), gifts(nil)), func(in *LineInput) { in.UnitPrice = ptr(money.Amount(7)) }), 7, 7, ""},
		"custom":                {LineInput{Kind: "custom", Name: ptr("x"), UnitPrice: ptr(money.Amount(9))}, 9, 9, ""},
		"out of range":          {LineInput{Kind: "custom", Name: ptr("x"), UnitPrice: ptr(money.MaxAmount), Qty: ptr(money.Units(2))}, 0, 0, "VALIDATION_ERROR"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines, err := s.lines([]LineInput{row.in})
			requireFault(t, row.code, err)
			if row.code == "" {
				require.Equal(t, row.price, lines[0].UnitPrice)
				require.Equal(t, row.amount, lines[0].Amount)
			}
		})
	}
	lines, err := s.lines([]LineInput{s.input(s.plain, 1000), with(s.input(s.service, 1000), func(in *LineInput) { in.Name = ptr("Express repair") }), {Kind: "custom", Name: ptr("x"), UnitPrice: ptr(money.Amount(9))}})
	require.NoError(t, err)
	require.Equal(t, "Plain", lines[0].Name)
	require.Equal(t, "P", *lines[0].SKU)
	require.Equal(t, "Express repair", lines[1].Name)
	require.Equal(t, "h", *lines[1].Unit)
	require.Nil(t, lines[2].SKU)
	require.Equal(t, money.Units(1), lines[2].Qty)
	for i, l := range lines {
		require.EqualValues(t, i, l.SortOrder)
		require.NotZero(t, l.ID)
		require.NotNil(t, l.Modifiers)
	}
}
