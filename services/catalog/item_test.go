package catalog_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/apitest"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/dbtest"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/services/catalog"
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
	s := catalog.New(d, catalog.Neighbours{})
	server := apitest.New(t, d, s.Register)
	c, other := server.Company(), server.Company()
	by := access.Caller{Principal: c.Principal}
	product := func(in catalog.ProductInput) catalog.Product {
		p, err := write(t, d, func(ctx context.Context, tx *db.Tx) (catalog.Product, error) { return s.CreateProduct(ctx, tx, by, in) })
		require.NoError(t, err)
		return p
	}
	qty, cost := money.Qty(2500), money.Amount(10)
	stocked := product(catalog.ProductInput{Name: "Stocked", Price: 100, Cost: 60, HasStock: true, MinOrderQty: &qty, OrderStepQty: &qty})
	loose := product(catalog.ProductInput{Name: "Loose", Price: 5})
	require.Equal(t, []string{"pcs", "active"}, []string{stocked.Unit, stocked.Status}, "the service has the defaults of the API")
	parts := []catalog.CostComponentInput{
		{Label: "a", ProductID: &stocked.ID, Qty: &qty, UnitCost: &cost}, {Label: "b", ProductID: &loose.ID, Amount: &cost}, {Label: "c", ProductID: &stocked.ID, Amount: &cost},
	}
	bundle := product(catalog.ProductInput{Name: "Set", Price: 300, IsBundle: true, CostComponents: parts, ModifierGroups: []catalog.ModifierGroupInput{
		{Name: "Wrap", Options: []catalog.ModifierOptionInput{{Name: "paper", Surcharge: 20}}},
	}})
	kept := product(catalog.ProductInput{Name: "Stocked set", Price: 300, IsBundle: true, HasStock: true, CostComponents: parts})

	ref := func(id uuid.UUID) catalog.ItemRef { return catalog.ItemRef{Kind: catalog.KindProduct, RefID: id} }
	variant := uuid.New()
	refs := []catalog.ItemRef{
		ref(bundle.ID), ref(uuid.New()), ref(stocked.ID), ref(stocked.ID),
		{Kind: catalog.KindService, RefID: stocked.ID},
		{Kind: catalog.KindProduct, RefID: stocked.ID, VariantID: &variant},
		ref(kept.ID),
	}
	items, err := s.OrderItems(t.Context(), d, c.Principal.Company, refs)
	require.NoError(t, err)
	missing := make([]string, len(items))
	for i, it := range items {
		require.Equal(t, refs[i], it.ItemRef)
		missing[i] = it.Missing
	}
	require.Equal(t, []string{"", "PRODUCT", "", "", "SERVICE", "PRODUCT_VARIANT", ""}, missing)
	require.Equal(t, []catalog.ItemComponent{{ProductID: stocked.ID, Qty: 2500}, {ProductID: stocked.ID, Qty: 1000}}, items[0].Components)
	require.Equal(t, bundle.ModifierGroups, items[0].Modifiers)
	require.Empty(t, items[6].Components, "a bundle with stock of its own takes nothing from its parts")
	require.Equal(t, catalog.Item{
		ItemRef: ref(stocked.ID), SKU: stocked.SKU, Name: "Stocked", Unit: "pcs", Price: 100, Cost: 60, Status: "active", HasStock: true,
		MinOrderQty: &qty, OrderStepQty: &qty, Modifiers: []catalog.ModifierGroup{},
	}, items[2])

	foreign, err := s.OrderItems(t.Context(), d, other.Principal.Company, []catalog.ItemRef{ref(stocked.ID)})
	require.NoError(t, err)
	require.Equal(t, "PRODUCT", foreign[0].Missing)
}

func TestUnits(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	s := catalog.New(d, catalog.Neighbours{})
	server := apitest.New(t, d, s.Register)
	c, other := server.Company(), server.Company()
	unit := func(in catalog.UnitInput) (catalog.Unit, error) {
		return write(t, d, func(ctx context.Context, tx *db.Tx) (catalog.Unit, error) {
			return s.CreateUnit(ctx, tx, access.Caller{Principal: c.Principal}, in)
		})
	}
	box, err := unit(catalog.UnitInput{Code: "box", Name: "Box", ShortName: "bx", NameI18n: map[string]string{"de": "Kiste"}})
	require.NoError(t, err)
	for _, code := range []string{"box", "kg"} {
		_, err = unit(catalog.UnitInput{Code: code, Name: "Again", ShortName: "x"})
		require.ErrorContains(t, err, "UNIT_CODE_TAKEN")
	}
	var units []object
	c.Do(t, "GET", "/catalog/units", nil).Decode(&units)
	require.Len(t, units, 11)
	require.Equal(t, object{
		"id": "00000000-0000-7000-8000-000000000001", "companyId": nil, "code": "pcs", "name": "Piece", "nameI18n": object{}, "shortName": "pcs", "precision": 0.0, "isActive": true,
	}, units[0])
	require.Equal(t, object{
		"id": box.ID.String(), "companyId": c.Principal.Company.String(), "code": "box", "name": "Box", "nameI18n": object{"de": "Kiste"}, "shortName": "bx", "precision": 0.0, "isActive": true,
	}, units[10])

	require.Equal(t, "box", create(t, c, object{"name": "a", "price": 1, "unit": "box"}).OK(201)["unit"])
	p := create(t, c, object{"name": "a", "price": 1, "unit": "kg", "unitId": box.ID}).OK(201)
	require.Equal(t, []any{"box", box.ID.String()}, []any{p["unit"], p["unitId"]}, "unitId decides")
	require.Len(t, listUnits(t, other), 10)
	create(t, other, object{"name": "a", "price": 1, "unitId": box.ID}).Fault(404, "UNIT_NOT_FOUND")
	require.Equal(t, map[string]string{"unit": "ENUM"}, create(t, other, object{"name": "a", "price": 1, "unit": "box"}).Fields())
}
