package catalog_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// write runs a change of the service as the caller, as the demo data do.
func write[T any](t *testing.T, d *db.DB, change func(context.Context, *db.Tx) (T, error)) (out T, err error) {
	t.Helper()
	err = d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = change(ctx, tx)
		return err
	})
	return out, err
}

func TestOrderItems(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	s := catalog.New(config(d))
	server := apitest.New(t, d, s.Register)
	c, other := server.Company(), server.Company()
	by := access.Caller{Principal: c.Principal}
	product := func(in catalog.ProductInput) catalog.Product {
		p, err := write(t, d, func(ctx context.Context, tx *db.Tx) (catalog.Product, error) { return s.CreateProduct(ctx, tx, by, in) })
		require.NoError(t, err)
		return p
	}
	qty, cost, two := money.Qty(2500), money.Amount(10), int32(2)
	stocked := product(catalog.ProductInput{ProductFields: catalog.ProductFields{Name: "Stocked", Price: 100, Cost: 60, HasStock: true, MinOrderQty: &qty, OrderStepQty: &qty}})
	loose := product(catalog.ProductInput{ProductFields: catalog.ProductFields{Name: "Loose", Price: 5}})
	require.Equal(t, []string{"pcs", "active"}, []string{stocked.Unit, stocked.Status}, "the service has the defaults of the API")
	parts := []catalog.CostComponentInput{
		{Label: "a", ProductID: &stocked.ID, Qty: &qty, UnitCost: &cost}, {Label: "b", ProductID: &loose.ID, Amount: &cost}, {Label: "c", ProductID: &stocked.ID, Amount: &cost},
	}
	bundle := product(catalog.ProductInput{ProductFields: catalog.ProductFields{Name: "Set", Price: 300, IsBundle: true}, CostComponents: parts, ModifierGroups: []catalog.ModifierGroupInput{
		{Name: "Wrap", MinSelect: 1, MaxSelect: &two, Options: []catalog.ModifierOptionInput{{Name: "paper", Surcharge: 20}}},
	}})
	kept := product(catalog.ProductInput{ProductFields: catalog.ProductFields{Name: "Stocked set", Price: 300, IsBundle: true, HasStock: true}, CostComponents: parts})

	ref := func(id uuid.UUID) trade.ItemRef { return trade.ItemRef{Kind: trade.KindProduct, ID: id} }
	variant := trade.ItemRef{Kind: trade.KindProduct, ID: stocked.ID, Variant: uuid.New()}
	refs := []trade.ItemRef{
		ref(bundle.ID), ref(uuid.New()), ref(stocked.ID), ref(stocked.ID), {Kind: trade.KindService, ID: stocked.ID}, variant, ref(kept.ID),
	}
	items, err := s.OrderItems(t.Context(), d, c.Principal.Company, refs)
	require.NoError(t, err)
	option := bundle.ModifierGroups[0].Options[0].ID
	want := trade.Item{SKU: stocked.SKU, Name: "Stocked", Unit: "pcs", Price: 100, Cost: 60, HasStock: true, MinOrderQty: &qty, OrderStepQty: &qty}
	unknown := want
	unknown.UnknownVariant = true
	require.Equal(t, map[trade.ItemRef]trade.Item{
		ref(stocked.ID): want,
		variant:         unknown,
		ref(bundle.ID): {
			SKU: bundle.SKU, Name: "Set", Unit: "pcs", Price: 300,
			Components: []trade.Component{{Product: stocked.ID, Qty: 2500}, {Product: stocked.ID, Qty: 1000}},
			Options:    map[uuid.UUID]trade.Modifier{option: {OptionID: option, Name: "paper", Surcharge: 20}},
			Groups:     []trade.ModifierGroup{{Name: "Wrap", MinSelect: 1, MaxSelect: &two, Options: []uuid.UUID{option}}},
		},
		// A bundle with stock of its own takes nothing from its components.
		ref(kept.ID): {SKU: kept.SKU, Name: "Stocked set", Unit: "pcs", Price: 300, HasStock: true},
	}, items)

	_, err = write(t, d, func(ctx context.Context, tx *db.Tx) (catalog.Product, error) {
		return s.HideProduct(ctx, tx, by, loose.ID)
	})
	require.NoError(t, err)
	items, err = s.OrderItems(t.Context(), d, c.Principal.Company, []trade.ItemRef{ref(loose.ID)})
	require.NoError(t, err)
	require.True(t, items[ref(loose.ID)].Hidden)
	foreign, err := s.OrderItems(t.Context(), d, other.Principal.Company, []trade.ItemRef{ref(stocked.ID)})
	require.NoError(t, err)
	require.Empty(t, foreign)
}

// The items of an order are read by a cached plan, also for a company with fewer products than others.
func TestOrderItemsAreNotPlannedAnew(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t)
	if d.Dialect() != db.PostgreSQL {
		t.Skip("CockroachDB has no pg_prepared_statements with counts of plans")
	}
	s := catalog.New(config(d))
	server := apitest.New(t, d, s.Register)
	large, small := server.Company(), server.Company()
	product := func(c *apitest.Client, name string) uuid.UUID {
		p, err := write(t, d, func(ctx context.Context, tx *db.Tx) (catalog.Product, error) {
			return s.CreateProduct(ctx, tx, access.Caller{Principal: c.Principal}, catalog.ProductInput{ProductFields: catalog.ProductFields{Name: name, Price: 1}})
		})
		require.NoError(t, err)
		return p.ID
	}
	for i := range 20 {
		product(large, fmt.Sprint("Product ", i))
	}
	ref := trade.ItemRef{Kind: trade.KindProduct, ID: product(small, "Product")}
	_, err := d.Exec(t.Context(), "ANALYZE products")
	require.NoError(t, err)
	pooled, err := d.Pool().Acquire(t.Context())
	require.NoError(t, err)
	defer pooled.Release()
	for range 8 {
		items, err := s.OrderItems(t.Context(), pooled.Conn(), small.Principal.Company, []trade.ItemRef{ref})
		require.NoError(t, err)
		require.Len(t, items, 1)
	}
	var cached, anew int
	require.NoError(t, pooled.QueryRow(t.Context(), `SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE 'SELECT p.id, p.sku%'`).Scan(&cached, &anew))
	require.Equal(t, []int{8, 0}, []int{cached, anew})
}

func TestUnits(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	s := catalog.New(config(d))
	server := apitest.New(t, d, s.Register).ServeAdmin(s.RegisterAdmin)
	c, other := server.Company(), server.Company()
	admin := c.Admin()
	made := admin.Do(t, "POST", "/catalog/units", object{"code": "box", "name": "Box", "shortName": "bx", "nameI18n": object{"de": "Kiste"}})
	box := made.OK(201)["id"].(string)
	require.Equal(t, "/api/admin/v1/companies/"+c.Principal.Company.String()+"/catalog/units/"+box, made.Header.Get("Location"))
	for _, code := range []string{"box", "kg"} {
		admin.Do(t, "POST", "/catalog/units", object{"code": code, "name": "Again", "shortName": "x"}).Fault(409, "UNIT_CODE_TAKEN")
	}
	var units []object
	c.Do(t, "GET", "/catalog/units", nil).Decode(&units)
	require.Len(t, units, 11)
	require.Equal(t, object{
		"id": "00000000-0000-7000-8000-000000000001", "companyId": nil, "code": "pcs", "name": "Piece", "nameI18n": object{}, "shortName": "pcs", "precision": 0.0, "isActive": true,
	}, units[0])
	require.Equal(t, object{
		"id": box, "companyId": c.Principal.Company.String(), "code": "box", "name": "Box", "nameI18n": object{"de": "Kiste"}, "shortName": "bx", "precision": 0.0, "isActive": true,
	}, units[10])

	require.Equal(t, "box", create(t, c, object{"name": "a", "price": 1, "unit": "box"}).OK(201)["unit"])
	p := create(t, c, object{"name": "a", "price": 1, "unit": "kg", "unitId": box}).OK(201)
	require.Equal(t, []any{"box", box}, []any{p["unit"], p["unitId"]}, "unitId decides")
	require.Len(t, listUnits(t, other), 10)
	create(t, other, object{"name": "a", "price": 1, "unitId": box}).Fault(404, "UNIT_NOT_FOUND")
	require.Equal(t, map[string]string{"unit": "ENUM"}, create(t, other, object{"name": "a", "price": 1, "unit": "box"}).Fields())
}
