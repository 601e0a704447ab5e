package catalog_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

func (a console) tryVariant(product any, in catalog.VariantInput) (catalog.ProductVariant, error) {
	a.t.Helper()
	return write(a.t, a.d, func(ctx context.Context, tx *db.Tx) (catalog.ProductVariant, error) {
		return a.CreateProductVariant(ctx, tx, a.by, uuid.MustParse(fmt.Sprint(product)), in)
	})
}

func (a console) variant(product any, in catalog.VariantInput) catalog.ProductVariant {
	a.t.Helper()
	v, err := a.tryVariant(product, in)
	require.NoError(a.t, err)
	return v
}

func (a console) patchVariant(by access.Caller, product any, id uuid.UUID, in catalog.VariantInput, names ...string) (catalog.ProductVariant, error) {
	a.t.Helper()
	return write(a.t, a.d, func(ctx context.Context, tx *db.Tx) (catalog.ProductVariant, error) {
		return a.UpdateProductVariant(ctx, tx, by, uuid.MustParse(fmt.Sprint(product)), id, record.PatchOf(in, names...))
	})
}

func (a console) hideVariant(product any, id uuid.UUID) catalog.ProductVariant {
	a.t.Helper()
	v, err := write(a.t, a.d, func(ctx context.Context, tx *db.Tx) (catalog.ProductVariant, error) {
		return a.HideProductVariant(ctx, tx, a.by, uuid.MustParse(fmt.Sprint(product)), id)
	})
	require.NoError(a.t, err)
	return v
}

func listVariants(t *testing.T, c *apitest.Client, product any, query string) (all []object) {
	t.Helper()
	got := c.Do(t, "GET", fmt.Sprintf("/catalog/products/%s/variants%s", product, query), nil)
	require.Equal(t, 200, got.Status, "%s", got.Body)
	got.Decode(&all)
	return all
}

func ptr[T any](v T) *T { return &v }

func TestVariants(t *testing.T) {
	t.Parallel()
	c, a := setupConsole(t)
	x := a.traits()
	axis := a.attribute(catalog.AttributeFields{Name: "Size", Type: "select", IsVariant: true}).ID
	large, small := a.option(axis, "L", 1), a.option(axis, "S", 2)
	p := create(t, c, object{"name": "Shirt", "price": 1000, "sku": "SH"}).OK(201)
	id := p["id"]
	require.Equal(t, []object{}, listVariants(t, c, id, ""))

	second := a.variant(id, catalog.VariantInput{
		VariantFields: catalog.VariantFields{SKU: " sh-small ", Barcode: ptr("400"), Name: ptr("small"), Price: ptr(money.Amount(900)), Cost: ptr(money.Amount(0)), SortOrder: 2},
		Attributes:    []catalog.ProductAttributeValueInput{{AttributeID: axis, OptionID: &small}},
	})
	first := a.variant(id, catalog.VariantInput{VariantFields: catalog.VariantFields{SortOrder: 1}, Attributes: []catalog.ProductAttributeValueInput{{AttributeID: axis, OptionIDs: []uuid.UUID{large}}}})
	require.Equal(t, map[string]string{"Size": "L"}, first.Attributes)
	all := listVariants(t, c, id, "")
	require.Len(t, all, 2)
	delete(all[1], "createdAt")
	delete(all[1], "updatedAt")
	require.Equal(t, fmt.Sprint(object{
		"id": second.ID, "companyId": c.Principal.Company, "productId": id, "sku": "sh-small", "barcode": "400", "name": "small", "attributes": object{"Size": "S"},
		"price": 900, "cost": 0, "effectivePrice": 900, "photoFileId": nil, "source": nil, "externalId": nil, "metadata": object{}, "status": "active", "sortOrder": 2, "version": 1,
	}), fmt.Sprint(all[1]))
	require.Equal(t, "SH-0001 <nil> 1000 <nil>", fmt.Sprint(all[0]["sku"], " ", all[0]["price"], " ", all[0]["effectivePrice"], " ", all[0]["barcode"]))

	// A change of a variant is a change of its product.
	raised := events(t, c)
	require.Equal(t, []string{"product.created", "product.updated", "product.updated"}, raised.Names())
	require.Equal(t, []any{"variants", "variantsCount"}, raised[2].Data["changedFields"])
	require.EqualValues(t, 3, raised[2].Data["version"])
	changed, err := a.patchVariant(a.by, id, first.ID, catalog.VariantInput{VariantFields: catalog.VariantFields{Price: ptr(money.Amount(1500)), Name: ptr("")}}, "price", "name")
	require.NoError(t, err)
	require.EqualValues(t, 1500, changed.EffectivePrice)
	require.Nil(t, changed.Name)
	require.Equal(t, map[string]string{"Size": "L"}, changed.Attributes, "what was not sent stays")
	require.EqualValues(t, 2, changed.Version)
	again, err := a.patchVariant(a.by, id, first.ID, catalog.VariantInput{VariantFields: catalog.VariantFields{Price: ptr(money.Amount(1500))}}, "price")
	require.NoError(t, err)
	require.Equal(t, changed, again)
	hidden := a.hideVariant(id, first.ID)
	require.Equal(t, "hidden", hidden.Status)
	require.Equal(t, hidden, a.hideVariant(id, first.ID))
	require.Len(t, events(t, c), 5, "what changes nothing raises nothing")
	require.EqualValues(t, 5, c.Do(t, "GET", "/catalog/products/"+id.(string), nil).OK(200)["version"])
	require.Equal(t, "hidden", listVariants(t, c, id, "")[0]["status"])
	read, err := a.ProductVariant(t.Context(), a.by, uuid.MustParse(id.(string)), first.ID)
	require.NoError(t, err)
	require.Equal(t, hidden, read)

	_, err = a.patchVariant(a.by.Expecting(1), id, first.ID, catalog.VariantInput{VariantFields: catalog.VariantFields{SortOrder: 7}}, "sortOrder")
	require.True(t, apierr.Is(err, "PRECONDITION_FAILED"), "the version is that of the variant: %v", err)

	// Values.
	for code, in := range map[string]catalog.VariantInput{
		"VALIDATION_ERROR":           {Attributes: []catalog.ProductAttributeValueInput{{AttributeID: x.text, ValueText: ptr("x")}}},
		"ATTRIBUTE_NOT_FOUND":        {Attributes: []catalog.ProductAttributeValueInput{{AttributeID: uuid.New(), ValueText: ptr("x")}}},
		"ATTRIBUTE_OPTION_NOT_FOUND": {Attributes: []catalog.ProductAttributeValueInput{{AttributeID: axis, OptionID: &x.red}}},
		"PRODUCT_VARIANT_EXISTS":     {Attributes: []catalog.ProductAttributeValueInput{{AttributeID: axis, OptionID: &small}}},
		"SKU_TAKEN":                  {VariantFields: catalog.VariantFields{SKU: "SH"}},
		"BARCODE_TAKEN":              {VariantFields: catalog.VariantFields{Barcode: ptr("400")}},
	} {
		_, err := a.tryVariant(id, in)
		require.True(t, apierr.Is(err, code), "%s: %v", code, err)
	}
	twin := a.variant(id, catalog.VariantInput{Attributes: []catalog.ProductAttributeValueInput{{AttributeID: axis, OptionID: &large}}})
	_, err = a.patchVariant(a.by, id, first.ID, catalog.VariantInput{VariantFields: catalog.VariantFields{Status: "active"}}, "status")
	require.True(t, apierr.Is(err, "PRODUCT_VARIANT_EXISTS"), "a hidden variant gives its values away: %v", err)
	a.hideVariant(id, twin.ID)
	_, err = a.patchVariant(a.by, id, first.ID, catalog.VariantInput{VariantFields: catalog.VariantFields{Status: "active"}}, "status")
	require.NoError(t, err)
	require.Empty(t, c.Do(t, "GET", "/catalog/products?attr["+axis.String()+"]="+large.String(), nil).OK(200)["items"], "values of variants are not those of the product")
	err = a.d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error { return a.DeleteAttributeOption(ctx, tx, a.by, axis, small) })
	require.True(t, apierr.Is(err, "ATTRIBUTE_OPTION_IN_USE"), err)

	// Names are shared with products.
	taken := create(t, c, object{"name": "x", "price": 1, "sku": "SH-SMALL"}).Fault(409, "SKU_TAKEN")
	require.Equal(t, object{"sku": "sh-small", "entity": "variant", "id": second.ID.String(), "status": "active"}, taken["meta"])
	create(t, c, object{"name": "x", "price": 1, "barcode": "400"}).Fault(409, "BARCODE_TAKEN")
	a.hideVariant(id, second.ID)
	taken = create(t, c, object{"name": "x", "price": 1, "sku": "SH-SMALL"}).Fault(409, "SKU_TAKEN")
	require.Equal(t, "hidden", taken["meta"].(object)["status"])
	create(t, c, object{"name": "x", "price": 1, "barcode": "400"}).OK(201)
	_, err = a.patchVariant(a.by, id, second.ID, catalog.VariantInput{VariantFields: catalog.VariantFields{Status: "active"}}, "status")
	require.True(t, apierr.Is(err, "BARCODE_TAKEN"), err)

	// Other products, and companies.
	other := create(t, c, object{"name": "y", "price": 1}).OK(201)["id"]
	_, err = a.patchVariant(a.by, other, first.ID, catalog.VariantInput{VariantFields: catalog.VariantFields{SortOrder: 7}}, "sortOrder")
	require.True(t, apierr.Is(err, "PRODUCT_VARIANT_NOT_FOUND"), err)
	_, err = a.ProductVariant(t.Context(), a.by, uuid.MustParse(other.(string)), first.ID)
	require.True(t, apierr.Is(err, "PRODUCT_VARIANT_NOT_FOUND"), err)
	_, err = a.tryVariant(uuid.New(), catalog.VariantInput{})
	require.True(t, apierr.Is(err, "PRODUCT_NOT_FOUND"), err)
	stranger, _ := setupConsole(t)
	stranger.Do(t, "GET", fmt.Sprintf("/catalog/products/%s/variants", id), nil).Fault(404, "PRODUCT_NOT_FOUND")
	c.Do(t, "GET", "/catalog/products/x/variants", nil).Fault(400, "VALIDATION_ERROR")
}

func TestVariantRaces(t *testing.T) {
	t.Parallel()
	c, a := setupConsole(t)
	axis := a.attribute(catalog.AttributeFields{Name: "Size", Type: "text", IsVariant: true}).ID
	p := create(t, c, object{"name": "Shirt", "price": 1000}).OK(201)["id"]
	count := func(code string, errs []error) {
		t.Helper()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
				continue
			}
			require.True(t, apierr.Is(err, code), "%v", err)
		}
		require.Equal(t, 1, won)
	}
	errs := make([]error, racers)
	together(racers, func(i int) {
		_, errs[i] = a.tryVariant(p, catalog.VariantInput{Attributes: []catalog.ProductAttributeValueInput{{AttributeID: axis, ValueText: ptr("L")}}})
	})
	count("PRODUCT_VARIANT_EXISTS", errs)
	products := make([]any, racers)
	for i := range products {
		products[i] = create(t, c, object{"name": "n", "price": 1}).OK(201)["id"]
	}
	together(racers, func(i int) {
		if i%2 == 0 {
			_, errs[i] = a.tryVariant(products[i], catalog.VariantInput{VariantFields: catalog.VariantFields{SKU: "same"}})
			return
		}
		errs[i] = nil
		if got := create(t, c, object{"name": "n", "price": 1, "sku": "SAME"}); got.Status != 201 {
			got.Fault(409, "SKU_TAKEN")
			errs[i] = apierr.StateConflict("SKU_TAKEN", "taken")
		}
	})
	count("SKU_TAKEN", errs)
	skus := make([]string, racers)
	together(racers, func(i int) {
		v, err := a.tryVariant(p, catalog.VariantInput{})
		require.NoError(t, err)
		skus[i] = v.SKU
	})
	slices.Sort(skus)
	require.Len(t, slices.Compact(slices.Clone(skus)), racers)
	require.EqualValues(t, racers+2, c.Do(t, "GET", fmt.Sprint("/catalog/products/", p), nil).OK(200)["version"])
}

func TestItemsOfVariants(t *testing.T) {
	t.Parallel()
	c, a := setupConsole(t)
	axis := a.attribute(catalog.AttributeFields{Name: "Size", Type: "text", IsVariant: true}).ID
	p := uuid.MustParse(create(t, c, object{"name": "Shirt", "price": 1000, "cost": 400, "sku": "SH", "hasStock": true, "minOrderQty": 2}).OK(201)["id"].(string))
	plain := uuid.MustParse(create(t, c, object{"name": "Cup", "price": 5}).OK(201)["id"].(string))
	named := a.variant(p, catalog.VariantInput{
		VariantFields: catalog.VariantFields{SKU: "SH-L", Name: ptr("large"), Price: ptr(money.Amount(1200)), Cost: ptr(money.Amount(0))},
		Attributes:    []catalog.ProductAttributeValueInput{{AttributeID: axis, ValueText: ptr("L")}},
	})
	full := a.variant(p, catalog.VariantInput{VariantFields: catalog.VariantFields{SKU: "SH-F", Name: ptr("Shirt of wool")}})
	bare := a.variant(p, catalog.VariantInput{VariantFields: catalog.VariantFields{SKU: "SH-B"}})
	hidden := a.variant(p, catalog.VariantInput{VariantFields: catalog.VariantFields{SKU: "SH-H", Status: "hidden"}})
	ref := func(product, variant uuid.UUID) trade.ItemRef {
		return trade.ItemRef{Kind: trade.KindProduct, ID: product, Variant: variant}
	}
	unknown := uuid.New()
	refs := []trade.ItemRef{ref(p, uuid.Nil), ref(p, named.ID), ref(p, full.ID), ref(p, bare.ID), ref(p, hidden.ID), ref(p, unknown), ref(plain, named.ID), ref(plain, uuid.Nil)}
	items, err := a.OrderItems(t.Context(), a.d, c.Principal.Company, refs)
	require.NoError(t, err)
	two := money.Qty(2000)
	base := trade.Item{SKU: "SH", Name: "Shirt", Unit: "pcs", Price: 1000, Cost: 400, HasStock: true, HasVariants: true, MinOrderQty: &two}
	with := func(edit func(*trade.Item)) trade.Item { it := base; edit(&it); return it }
	require.Equal(t, map[trade.ItemRef]trade.Item{
		ref(p, uuid.Nil):     base,
		ref(p, named.ID):     with(func(i *trade.Item) { i.SKU, i.Name, i.Price, i.Cost = "SH-L", "Shirt, large", 1200, 0 }),
		ref(p, full.ID):      with(func(i *trade.Item) { i.SKU, i.Name = "SH-F", "Shirt of wool" }),
		ref(p, bare.ID):      with(func(i *trade.Item) { i.SKU = "SH-B" }),
		ref(p, hidden.ID):    with(func(i *trade.Item) { i.SKU, i.Hidden = "SH-H", true }),
		ref(p, unknown):      with(func(i *trade.Item) { i.UnknownVariant = true }),
		ref(plain, named.ID): {SKU: "P-0001", Name: "Cup", Unit: "pcs", Price: 5, UnknownVariant: true},
		ref(plain, uuid.Nil): {SKU: "P-0001", Name: "Cup", Unit: "pcs", Price: 5},
	}, items)

	key := func(product, variant uuid.UUID) trade.StockKey {
		return trade.StockKey{Product: product, Variant: variant}
	}
	stock, err := a.StockProducts(t.Context(), a.d, c.Principal.Company, []trade.StockKey{key(p, uuid.Nil), key(p, named.ID), key(p, unknown), key(plain, named.ID), key(plain, uuid.Nil)})
	require.NoError(t, err)
	require.Equal(t, map[trade.StockKey]trade.StockProduct{
		key(p, uuid.Nil):     {Name: "Shirt", SKU: "SH", HasStock: true, HasVariants: true},
		key(p, named.ID):     {Name: "Shirt", SKU: "SH", HasStock: true, HasVariants: true, VariantSKU: ptr("SH-L"), VariantAttributes: map[string]string{"Size": "L"}},
		key(plain, uuid.Nil): {Name: "Cup", SKU: "P-0001"},
	}, stock)

	for _, v := range []uuid.UUID{named.ID, full.ID, bare.ID} {
		a.hideVariant(p, v)
	}
	items, err = a.OrderItems(t.Context(), a.d, c.Principal.Company, refs[:1])
	require.NoError(t, err)
	require.False(t, items[refs[0]].HasVariants, "hidden variants are not for sale")
}

func TestStockOfVariants(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	cfg := config(d)
	totals := map[uuid.UUID]trade.StockTotals{}
	cfg.VariantStock = func(context.Context, db.Querier, tenant.ID, []uuid.UUID) (map[uuid.UUID]trade.StockTotals, error) {
		return totals, nil
	}
	s := catalog.New(cfg)
	c := apitest.New(t, d, s.Register).Company()
	a := console{t, d, s, access.Caller{Principal: c.Principal}}
	p := create(t, c, object{"name": "n", "price": 1, "hasStock": true}).OK(201)["id"]
	loose := create(t, c, object{"name": "n", "price": 1}).OK(201)["id"]
	one := a.variant(p, catalog.VariantInput{})
	a.variant(p, catalog.VariantInput{VariantFields: catalog.VariantFields{SortOrder: 1}})
	a.variant(loose, catalog.VariantInput{})
	totals[one.ID] = trade.StockTotals{Qty: 2500, Available: -500, Low: true}
	all := listVariants(t, c, p, "?include=stock")
	require.Equal(t, "2.5 -0.5 true", fmt.Sprint(all[0]["stockQty"], " ", all[0]["stockAvailable"], " ", all[0]["isLowStock"]))
	require.Equal(t, "0 0 false", fmt.Sprint(all[1]["stockQty"], " ", all[1]["stockAvailable"], " ", all[1]["isLowStock"]))
	for _, v := range append(listVariants(t, c, p, ""), listVariants(t, c, loose, "?include=stock")...) {
		require.NotContains(t, v, "stockQty")
	}
	c.Do(t, "GET", fmt.Sprintf("/catalog/products/%s/variants?include=prices", p), nil).Fault(400, "VALIDATION_ERROR")
}

// A variant is found by its exact SKU or barcode, among those of its product.
func TestVariantsBySKUAndBarcode(t *testing.T) {
	t.Parallel()
	c, _ := setupConsole(t)
	first := create(t, c, object{"name": "Shirt", "price": 1000, "sku": "SH"}).OK(201)["id"]
	other := create(t, c, object{"name": "Shoe", "price": 1000, "sku": "SO"}).OK(201)["id"]
	add := func(product any, v object) {
		c.Do(t, "POST", fmt.Sprintf("/catalog/products/%s/variants", product), v).OK(201)
	}
	add(first, object{"sku": "SH-S", "barcode": "Ab1"})
	add(first, object{"sku": "SH-SM", "barcode": "Ab12"})
	add(first, object{"sku": "SH-L"})
	add(other, object{"sku": "SO-S", "barcode": "Ab13"})
	for query, want := range map[string][]any{
		"?sku=sh-s": {"SH-S"}, "?sku=SH": nil, "?sku=SO-S": nil, "?barcode=Ab1": {"SH-S"}, "?barcode=ab1": {"SH-S"}, "?barcode=Ab13": nil, "?sku=SH-SM&barcode=Ab12": {"SH-SM"}, "?sku=SH-SM&barcode=Ab1": nil,
		"?sku=SH-L&barcode=Ab1": nil, "?include=stock": {"SH-S", "SH-SM", "SH-L"},
	} {
		var skus []any
		for _, v := range listVariants(t, c, first, query) {
			skus = append(skus, v["sku"])
		}
		require.ElementsMatch(t, want, skus, query)
	}
	c.Do(t, "GET", fmt.Sprintf("/catalog/products/%s/variants?sku=%s", first, strings.Repeat("x", 65)), nil).Fault(400, "VALIDATION_ERROR")
}
