package lineitem

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

func ptr[T any](v T) *T { return &v }

// fieldsOf are the faults of the fields, by their paths.
func fieldsOf(t *testing.T, err error) map[string]string {
	t.Helper()
	codes := map[string]string{}
	if err == nil {
		return codes
	}
	f, ok := apierr.As(err)
	require.True(t, ok, "%v", err)
	for _, field := range f.Fields {
		codes[field.Field] = field.Code
	}
	return codes
}

// requireFault requires a fault with the code, or none if it is "".
func requireFault(t *testing.T, code string, err error, msg ...any) {
	t.Helper()
	if code == "" {
		require.NoError(t, err, msg...)
		return
	}
	require.True(t, apierr.Is(err, code), "%v: %v", msg, err)
}

func TestItemsOfABody(t *testing.T) {
	t.Parallel()
	id, name, price := ptr(uuid.New()), ptr("x"), ptr(money.Amount(1))
	option := ModifierInput{OptionID: uuid.New()}
	for name, row := range map[string]struct {
		in   Input
		want map[string]string
	}{
		"product":                 {Input{Kind: "product", RefID: id, VariantID: id}, nil},
		"product without ref":     {Input{Kind: "product"}, map[string]string{"refId": "REQUIRED"}},
		"product by SKU":          {Input{Kind: "product", Naming: Naming{SKU: name}}, nil},
		"product by external id":  {Input{Kind: "product", Naming: Naming{ExternalID: name}}, nil},
		"id besides names":        {Input{Kind: "product", RefID: id, Naming: Naming{SKU: name, Barcode: name}}, nil},
		"names of a custom line":  {Input{Kind: "custom", Name: name, UnitPrice: price, Naming: Naming{SKU: name}}, nil},
		"two names":               {Input{Kind: "product", Naming: Naming{SKU: name, ExternalID: name}}, map[string]string{"externalId": "CONFLICT"}},
		"source alone":            {Input{Kind: "product", Naming: Naming{Source: name}}, map[string]string{"externalId": "REQUIRED"}},
		"variant besides a name":  {Input{Kind: "product", VariantID: id, Naming: Naming{SKU: name}}, map[string]string{"variantId": "CONFLICT"}},
		"barcode of a service":    {Input{Kind: "service", Naming: Naming{Barcode: name}}, map[string]string{"barcode": "CONFLICT"}},
		"service":                 {Input{Kind: "service", RefID: id}, nil},
		"service with variant":    {Input{Kind: "service", RefID: id, VariantID: id}, map[string]string{"variantId": "CONFLICT"}},
		"option once":             {Input{Kind: "product", RefID: id, Modifiers: []ModifierInput{option, {OptionID: uuid.New()}}}, nil},
		"option twice":            {Input{Kind: "product", RefID: id, Modifiers: []ModifierInput{option, option}}, map[string]string{"modifiers[1].optionId": "CONFLICT"}},
		"custom":                  {Input{Kind: "custom", Name: name, UnitPrice: price}, nil},
		"custom without anything": {Input{Kind: "custom"}, map[string]string{"name": "REQUIRED", "unitPrice": "REQUIRED"}},
		"custom of the catalog": {
			Input{Kind: "custom", Name: name, UnitPrice: price, RefID: id, VariantID: id, Modifiers: []ModifierInput{option}},
			map[string]string{"refId": "CONFLICT", "variantId": "CONFLICT", "modifiers": "CONFLICT"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := map[string]string{}
			for field, code := range row.want {
				want[At(1, field)] = code
			}
			require.Equal(t, want, fieldsOf(t, Check([]Input{{Kind: "product", RefID: id}, row.in})))
		})
	}
}

// names is a catalog that knows one item by one name.
type names struct {
	asked *[]trade.ItemName
	ref   trade.ItemRef
}

func (n names) NamedItems(_ context.Context, _ db.Querier, _ tenant.ID, all []trade.ItemName) (map[trade.ItemName][]trade.ItemRef, error) {
	*n.asked = all
	return map[trade.ItemName][]trade.ItemRef{{Kind: "product", SKU: "a"}: {n.ref}}, nil
}

func TestLinesAreIdentifiedAnew(t *testing.T) {
	t.Parallel()
	catalog := names{new([]trade.ItemName), trade.ItemRef{Kind: "product", ID: uuid.New(), Variant: uuid.New()}}
	sent := []Input{
		{Kind: "product", RefID: ptr(uuid.New()), Naming: Naming{SKU: ptr("b")}},
		{Kind: "product", Naming: Naming{SKU: ptr("a"), Source: ptr("x")}},
		{Kind: "custom"},
		{Kind: "product", Naming: Naming{SKU: ptr("a")}},
	}
	for range 2 { // a transaction that is tried again
		got, err := Identify(t.Context(), nil, catalog, tenant.ID{}, sent)
		require.NoError(t, err)
		require.Equal(t, []trade.ItemName{{Kind: "product", SKU: "a"}}, *catalog.asked, "each name is asked for once")
		require.Equal(t, sent[0], got[0])
		for _, i := range []int{1, 3} {
			ref, ok := got[i].Ref()
			require.True(t, ok)
			require.Equal(t, catalog.ref, ref)
			require.Equal(t, At(i, "sku"), got[i].Field(i, "refId"))
			require.Nil(t, sent[i].RefID, "what was sent stays")
		}
	}
	same, err := Identify(t.Context(), nil, nil, tenant.ID{}, sent[:1])
	require.NoError(t, err)
	require.Equal(t, sent[:1], same, "nothing is read for ids")
	_, err = Identify(t.Context(), nil, catalog, tenant.ID{}, []Input{{Kind: "product", Naming: Naming{Barcode: ptr("a")}}})
	requireFault(t, "PRODUCT_NOT_FOUND", err)
}

// shelf is a catalog to build lines from.
type shelf struct {
	Builder
	plain, stepped, shirt, large, hidden, bundle, service trade.ItemRef
	gift                                                  uuid.UUID
}

func newShelf() *shelf {
	s := &shelf{gift: uuid.New()}
	s.Items = map[trade.ItemRef]trade.Item{}
	add := func(kind string, item trade.Item) trade.ItemRef {
		r := trade.ItemRef{Kind: kind, ID: uuid.New()}
		s.Items[r] = item
		return r
	}
	s.plain = add("product", trade.Item{SKU: "P", Name: "Plain", Unit: "pcs", Price: 1000, HasStock: true, Options: map[uuid.UUID]trade.Modifier{s.gift: {Name: "Gift wrap", Surcharge: 150}}})
	s.stepped = add("product", trade.Item{SKU: "S", Price: 10, MinOrderQty: ptr(money.Units(2)), OrderStepQty: ptr(money.Qty(500))})
	s.shirt = add("product", trade.Item{SKU: "T", Price: 20, HasVariants: true, HasStock: true})
	s.large = trade.ItemRef{Kind: "product", ID: s.shirt.ID, Variant: uuid.New()}
	s.Items[s.large] = trade.Item{SKU: "T-L", Price: 30, HasVariants: true, HasStock: true}
	s.hidden = add("product", trade.Item{SKU: "H", Hidden: true})
	s.bundle = add("product", trade.Item{SKU: "B", Price: 5000, Components: []trade.Component{{Product: s.plain.ID, Qty: 2500}, {Product: s.shirt.ID, Qty: 333}}})
	s.service = add("service", trade.Item{SKU: "F", Name: "Repair", Unit: "h", Price: 3000})
	return s
}

func (s *shelf) lines(items ...Input) ([]Line, error) {
	return Build(s.Builder, items, func(_ Input, l Line, _ int) Line { return l })
}

func (s *shelf) input(r trade.ItemRef, thousandths money.Qty) Input {
	in := Input{Kind: r.Kind, RefID: &r.ID, Qty: &thousandths}
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
	s.Items[noVariant] = trade.Item{UnknownVariant: true}
	other := s.input(s.plain, 1000)
	other.Modifiers = []ModifierInput{{OptionID: uuid.New()}}
	for name, row := range map[string]struct {
		in     Input
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
			_, err := s.lines(row.in)
			requireFault(t, row.code, err)
			if row.fields != nil {
				require.Equal(t, row.fields, fieldsOf(t, err))
			}
		})
	}
	again := *s
	again.Had = Of([]Line{{Kind: s.hidden.Kind, RefID: &s.hidden.ID}, {Kind: "custom"}})
	_, err := again.lines(s.input(s.hidden, 1000))
	require.NoError(t, err, "a document keeps what was hidden since")
}

func TestRulesOfReceipts(t *testing.T) {
	t.Parallel()
	s := newShelf()
	s.AnyQty, s.AllowHidden = true, true
	for name, row := range map[string]struct {
		in   Input
		code string
	}{
		"hidden":                       {s.input(s.hidden, 1000), ""},
		"below the minimum":            {s.input(s.stepped, 100), ""},
		"product whose variant counts": {s.input(s.shirt, 1000), "PRODUCT_VARIANT_REQUIRED"},
		"unknown product":              {s.input(trade.ItemRef{Kind: "product", ID: uuid.New()}, 1000), "PRODUCT_NOT_FOUND"},
	} {
		_, err := s.lines(row.in)
		requireFault(t, row.code, err, name)
	}
}

func TestSelectionsOfGroups(t *testing.T) {
	t.Parallel()
	a, b, c := uuid.New(), uuid.New(), uuid.New()
	type options map[uuid.UUID]money.Qty
	groups := func(least int32, most *int32) []trade.ModifierGroup {
		return []trade.ModifierGroup{{Name: "Size", MinSelect: least, MaxSelect: most, Options: []uuid.UUID{a, b}}, {Name: "Extras", Options: []uuid.UUID{c}}}
	}
	for name, row := range map[string]struct {
		groups  []trade.ModifierGroup
		options options
		code    string
	}{
		"nothing is required":      {groups(0, nil), nil, ""},
		"any number":               {groups(0, nil), options{a: 1000, b: 9000, c: 1000}, ""},
		"one is required":          {groups(1, nil), nil, "MIN"},
		"an option of the other":   {groups(1, nil), options{c: 1000}, "MIN"},
		"half of it":               {groups(1, nil), options{a: 500}, "MIN"},
		"the required one":         {groups(1, ptr(int32(1))), options{b: 1000}, ""},
		"one too many":             {groups(1, ptr(int32(1))), options{a: 1000, b: 1000}, "MAX"},
		"one of them twice":        {groups(1, ptr(int32(1))), options{a: 2000}, "MAX"},
		"both of two":              {groups(2, ptr(int32(2))), options{a: 2000}, ""},
		"the other group is apart": {groups(1, ptr(int32(1))), options{a: 1000, c: 5000}, ""},
		"none of the group":        {groups(0, ptr(int32(0))), options{a: 1}, "MAX"},
	} {
		s := newShelf()
		r := trade.ItemRef{Kind: "product", ID: uuid.New()}
		s.Items[r] = trade.Item{SKU: "M", Groups: row.groups, Options: map[uuid.UUID]trade.Modifier{a: {}, b: {}, c: {}}}
		in := s.input(r, 3000)
		for o, qty := range row.options {
			in.Modifiers = append(in.Modifiers, ModifierInput{OptionID: o, Qty: &qty})
		}
		_, err := s.lines(s.input(s.plain, 1000), in)
		if row.code == "" {
			require.NoError(t, err, name)
			continue
		}
		require.Equal(t, map[string]string{"items[1].modifiers": row.code}, fieldsOf(t, err), name)
	}
}

func TestPricesOfLines(t *testing.T) {
	t.Parallel()
	s := newShelf()
	s.Prices = map[trade.ItemRef]money.Amount{s.service: 2500}
	with := func(in Input, edit func(*Input)) Input {
		edit(&in)
		return in
	}
	gifts := func(qty *money.Qty) func(*Input) {
		return func(in *Input) { in.Modifiers = []ModifierInput{{OptionID: s.gift, Qty: qty}} }
	}
	for name, row := range map[string]struct {
		in            Input
		price, amount money.Amount
		code          string
	}{
		"catalog":               {s.input(s.plain, 3000), 1000, 3000, ""},
		"variant":               {s.input(s.large, 2000), 30, 60, ""},
		"price list":            {s.input(s.service, 1500), 2500, 3750, ""},
		"sent":                  {with(s.input(s.service, 1000), func(in *Input) { in.UnitPrice = ptr(money.Amount(0)) }), 0, 0, ""},
		"half is rounded up":    {with(s.input(s.plain, 1500), func(in *Input) { in.UnitPrice = ptr(money.Amount(1)) }), 1, 2, ""},
		"one option":            {with(s.input(s.plain, 2000), gifts(nil)), 1150, 2300, ""},
		"options":               {with(s.input(s.plain, 1000), gifts(ptr(money.Units(3)))), 1450, 1450, ""},
		"sent goes before them": {with(with(s.input(s.plain, 1000), gifts(nil)), func(in *Input) { in.UnitPrice = ptr(money.Amount(7)) }), 7, 7, ""},
		"custom":                {Input{Kind: "custom", Name: ptr("x"), UnitPrice: ptr(money.Amount(9))}, 9, 9, ""},
		"out of range":          {Input{Kind: "custom", Name: ptr("x"), UnitPrice: ptr(money.MaxAmount), Qty: ptr(money.Units(2))}, 0, 0, "VALIDATION_ERROR"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tiers, err := s.lines(row.in)
			requireFault(t, row.code, err)
			if row.code == "" {
				require.Equal(t, row.price, tiers[0].UnitPrice)
				require.Equal(t, row.amount, tiers[0].Amount)
			}
		})
	}
	tiers, err := s.lines(s.input(s.plain, 1000), with(s.input(s.service, 1000), func(in *Input) { in.Name = ptr("Express repair") }), Input{Kind: "custom", Name: ptr("x"), UnitPrice: ptr(money.Amount(9))})
	require.NoError(t, err)
	require.Equal(t, "Plain", tiers[0].Name)
	require.Equal(t, "P", *tiers[0].SKU)
	require.Equal(t, "Express repair", tiers[1].Name)
	require.Equal(t, "h", *tiers[1].Unit)
	require.Nil(t, tiers[2].SKU)
	require.Equal(t, money.Units(1), tiers[2].Qty)
	for i, l := range tiers {
		require.EqualValues(t, i, l.SortOrder)
		require.NotZero(t, l.ID)
		require.NotNil(t, l.Modifiers)
	}
}

func TestWhatLinesTakeFromTheWarehouse(t *testing.T) {
	t.Parallel()
	s := newShelf()
	plain, shirt := s.plain.ID, s.shirt.ID
	for name, row := range map[string]struct {
		ref  trade.ItemRef
		qty  money.Qty
		want []StockItem
	}{
		"product":          {s.plain, 1500, []StockItem{{Product: plain, Qty: 1500}}},
		"variant":          {s.large, 1000, []StockItem{{Product: shirt, Variant: s.large.Variant, Qty: 1000}}},
		"service":          {s.service, 1000, nil},
		"bundle":           {s.bundle, 2000, []StockItem{{Product: plain, Qty: 5000}, {Product: shirt, Qty: 666}}},
		"half of a bundle": {s.bundle, 500, []StockItem{{Product: plain, Qty: 1250}, {Product: shirt, Qty: 167}}}, // 166.5
	} {
		got, err := s.lines(s.input(row.ref, row.qty))
		require.NoError(t, err, name)
		require.Equal(t, row.want, got[0].Stock, name)
	}
	_, err := StockItems(s.bundle, s.Items[s.bundle], money.MaxQty)
	requireFault(t, "VALIDATION_ERROR", err)
}

func TestQuantitiesPerGuest(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		qty      money.Qty
		perGuest bool
		guests   *int32
		want     money.Qty
		code     string
	}{
		{1500, false, ptr(int32(10)), 1500, ""},
		{1500, true, nil, 1500, ""},
		{1500, true, ptr(int32(10)), 15000, ""},
		{1500, true, ptr(int32(0)), 0, ""},
		{money.MaxQty, true, ptr(int32(2)), 0, "VALIDATION_ERROR"},
	} {
		got, err := Effective(row.qty, row.perGuest, row.guests)
		requireFault(t, row.code, err, row)
		require.Equal(t, row.want, got)
	}
	l := Line{Qty: 1500, UnitPrice: 333}
	require.NoError(t, l.Charge(3000))
	require.Equal(t, money.Amount(999), l.Amount)
	requireFault(t, "VALIDATION_ERROR", l.Charge(money.MaxQty))
}

func TestBytesOfLines(t *testing.T) {
	t.Parallel()
	s := newShelf()
	// What the names of items and modifiers, and the components of bundles, make of bodies of a few kilobytes.
	long := strings.Repeat("ж", 255)
	item := trade.Item{SKU: "L", Name: long, Unit: "pcs", HasStock: true, Options: map[uuid.UUID]trade.Modifier{}}
	options := make([]ModifierInput, 50)
	for i := range options {
		options[i].OptionID = uuid.New()
		item.Options[options[i].OptionID] = trade.Modifier{Name: long}
	}
	r := trade.ItemRef{Kind: "product", ID: uuid.New()}
	s.Items[r] = item
	loaded := s.input(r, 1000)
	loaded.Modifiers = options
	plain := s.input(r, 1000)
	quoted := Input{Kind: "custom", Name: ptr(strings.Repeat("\x01", 255)), UnitPrice: ptr(money.Amount(1))}
	bundle := trade.ItemRef{Kind: "product", ID: uuid.New()}
	components := make([]trade.Component, 100)
	s.Items[bundle] = trade.Item{SKU: "B", Components: components}
	for name, row := range map[string]struct {
		in          Input
		fit, exceed int
	}{
		"modifiers":               {loaded, 32, 36},
		"components":              {s.input(bundle, 1000), 70, 90},
		"escaped characters":      {quoted, 480, 600},
		"as many as there may be": {plain, 500, 1200},
	} {
		_, err := s.lines(slices.Repeat([]Input{row.in}, row.fit)...)
		require.NoError(t, err, name)
		_, err = s.lines(slices.Repeat([]Input{row.in}, row.exceed)...)
		require.Equal(t, map[string]string{"items": "LENGTH"}, fieldsOf(t, err), name)
		require.ErrorContains(t, err, "the lines may take at most 1048576 bytes", name)
	}
	// The estimate is what the lines take.
	tiers, err := s.lines(slices.Repeat([]Input{loaded, plain, quoted}, 8)...)
	require.NoError(t, err)
	estimate := 0
	for i := range tiers {
		estimate += tiers[i].bytes()
	}
	raw, err := json.Marshal(tiers)
	require.NoError(t, err)
	require.InEpsilon(t, len(raw), estimate, 0.1)
}
