package clients_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/clients"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// shelf is the catalog: its refs exist.
type shelf map[trade.ItemRef]trade.Item

func (s shelf) OrderItems(_ context.Context, _ db.Querier, _ tenant.ID, refs []trade.ItemRef) (map[trade.ItemRef]trade.Item, error) {
	found := map[trade.ItemRef]trade.Item{}
	for _, r := range refs {
		if item, ok := s[r]; ok {
			found[r] = item
		}
	}
	return found, nil
}

// NamedItems knows the product by the SKU product.
func (s shelf) NamedItems(_ context.Context, _ db.Querier, _ tenant.ID, names []trade.ItemName) (map[trade.ItemName][]trade.ItemRef, error) {
	found := map[trade.ItemName][]trade.ItemRef{}
	for r, item := range s {
		for _, n := range names {
			if item.SKU == n.SKU && item.SKU != "" && r.Kind == n.Kind {
				found[n] = append(found[n], r)
			}
		}
	}
	return found, nil
}

type priceKit struct {
	t       *testing.T
	d       *db.DB
	s       *clients.Service
	by      access.Caller
	list    uuid.UUID
	product trade.ItemRef
	small   trade.ItemRef // variants of product
	large   trade.ItemRef
	repair  trade.ItemRef // service
	unknown trade.ItemRef // variant of product that does not exist
}

func setupPrices(t *testing.T) *priceKit {
	t.Helper()
	product := trade.ItemRef{Kind: "product", ID: uuid.New()}
	variant := func() trade.ItemRef { return trade.ItemRef{Kind: "product", ID: product.ID, Variant: uuid.New()} }
	k := &priceKit{
		t: t, d: dbtest.Open(t), by: access.Caller{Principal: &access.Principal{Company: tenant.NewID(), Actor: uuid.New()}},
		product: product, small: variant(), large: variant(), unknown: variant(), repair: trade.ItemRef{Kind: "service", ID: uuid.New()},
	}
	k.s = clients.New(clients.Config{DB: k.d, Users: apitest.Users{}, Items: shelf{
		k.product: {SKU: "product"}, k.small: {}, k.large: {}, k.repair: {}, k.unknown: {UnknownVariant: true},
	}})
	k.list = k.priceList("Wholesale")
	return k
}

func (k *priceKit) tx(fn func(ctx context.Context, tx *db.Tx) error) error {
	return k.d.RunTx(context.Background(), "test", fn)
}

func (k *priceKit) priceList(name string) uuid.UUID {
	k.t.Helper()
	var l clients.PriceListRecord
	require.NoError(k.t, k.tx(func(ctx context.Context, tx *db.Tx) (err error) {
		l, err = k.s.CreatePriceList(ctx, tx, k.by, clients.PriceListFields{Name: name})
		return err
	}))
	return l.ID
}

func (k *priceKit) set(r trade.ItemRef, price money.Amount) (p clients.ListPrice, err error) {
	in := clients.PriceFields{Kind: r.Kind, RefID: r.ID, Price: price}
	if r.Variant != uuid.Nil {
		in.VariantID = &r.Variant
	}
	err = k.tx(func(ctx context.Context, tx *db.Tx) (err error) {
		p, err = k.s.SetPrice(ctx, tx, k.by, k.list, in)
		return err
	})
	return p, err
}

func (k *priceKit) prices(priceList uuid.UUID) map[trade.ItemRef]money.Amount {
	k.t.Helper()
	found, err := k.s.Prices(context.Background(), k.d, k.by.Company, priceList, []trade.ItemRef{k.product, k.small, k.large, k.repair})
	require.NoError(k.t, err)
	return found
}

func requireCode(t *testing.T, code string, err error) {
	t.Helper()
	require.True(t, apierr.Is(err, code), "%v", err)
}

func TestPricesOfLists(t *testing.T) {
	t.Parallel()
	k := setupPrices(t)
	require.Empty(t, k.prices(k.list))
	first, err := k.set(k.product, 100)
	require.NoError(t, err)
	require.Equal(t, map[trade.ItemRef]money.Amount{k.product: 100, k.small: 100, k.large: 100}, k.prices(k.list), "variants without a price of their own have that of the product")
	_, err = k.set(k.small, 80)
	require.NoError(t, err)
	_, err = k.set(k.repair, 0)
	require.NoError(t, err)
	again, err := k.set(k.product, 120)
	require.NoError(t, err)
	require.Equal(t, []any{first.ID, int64(2), money.Amount(120)}, []any{again.ID, again.Version, again.Price}, "an item has one price")
	require.Equal(t, map[trade.ItemRef]money.Amount{k.product: 120, k.small: 80, k.large: 120, k.repair: 0}, k.prices(k.list))

	require.Empty(t, k.prices(k.priceList("Retail")), "lists are apart")
	other := *k
	other.by = access.Caller{Principal: &access.Principal{Company: tenant.NewID()}}
	require.Empty(t, other.prices(k.list), "companies are apart")

	page, err := k.s.ListPrices(context.Background(), k.by, k.list, clients.PriceFilter{Params: list.Params{Page: 1, PageSize: 10}, Sort: "price"})
	require.NoError(t, err)
	require.Equal(t, []money.Amount{0, 80, 120}, []money.Amount{page.Items[0].Price, page.Items[1].Price, page.Items[2].Price})
	page, err = k.s.ListPrices(context.Background(), k.by, k.list, clients.PriceFilter{Params: list.Params{Page: 1, PageSize: 10}, Kind: []string{"service"}})
	require.NoError(t, err)
	require.Equal(t, k.repair.ID, page.Items[0].RefID)
	require.Len(t, page.Items, 1)
	_, err = other.s.ListPrices(context.Background(), other.by, k.list, clients.PriceFilter{Params: list.Params{Page: 1, PageSize: 10}})
	requireCode(t, "PRICE_LIST_NOT_FOUND", err)

	remove := func(k *priceKit, priceList, id uuid.UUID) error {
		return k.tx(func(ctx context.Context, tx *db.Tx) error { return k.s.RemovePrice(ctx, tx, k.by, priceList, id) })
	}
	requireCode(t, "PRICE_NOT_FOUND", remove(k, k.priceList("Third"), first.ID))
	requireCode(t, "PRICE_LIST_NOT_FOUND", remove(&other, k.list, first.ID))
	require.NoError(t, remove(k, k.list, first.ID))
	requireCode(t, "PRICE_NOT_FOUND", remove(k, k.list, first.ID))
	require.Equal(t, map[trade.ItemRef]money.Amount{k.small: 80, k.repair: 0}, k.prices(k.list))
	require.NoError(t, k.tx(func(ctx context.Context, tx *db.Tx) error { return k.s.DeletePriceList(ctx, tx, k.by, k.list) }))
	require.Empty(t, k.prices(k.list), "the prices go with their list")
}

func TestPricesOfUnknownItems(t *testing.T) {
	t.Parallel()
	k := setupPrices(t)
	for code, r := range map[string]trade.ItemRef{
		"PRODUCT_NOT_FOUND":         {Kind: "product", ID: uuid.New()},
		"SERVICE_NOT_FOUND":         {Kind: "service", ID: k.product.ID},
		"PRODUCT_VARIANT_NOT_FOUND": k.unknown,
		"VALIDATION_ERROR":          {Kind: "service", ID: k.repair.ID, Variant: uuid.New()},
	} {
		_, err := k.set(r, 1)
		requireCode(t, code, err)
	}
	k.list = uuid.New()
	_, err := k.set(k.product, 1)
	requireCode(t, "PRICE_LIST_NOT_FOUND", err)
}

// Many set the price of one item at once: all succeed, and it has one price.
func TestSettingOnePriceAtOnce(t *testing.T) {
	t.Parallel()
	k := setupPrices(t)
	errs := make([]error, 12)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { _, errs[i] = k.set(k.product, money.Amount(i+1)) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	page, err := k.s.ListPrices(context.Background(), k.by, k.list, clients.PriceFilter{Params: list.Params{Page: 1, PageSize: 10}})
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	require.EqualValues(t, len(errs), page.Items[0].Version)
}

func TestOperatorsMaintainPrices(t *testing.T) {
	t.Parallel()
	k := setupPrices(t)
	server := apitest.New(t, k.d, k.s.Register).ServeAdmin(k.s.RegisterAdmin)
	c := server.Company()
	k.by = access.Caller{Principal: c.Principal}
	k.list = k.priceList("Retail")
	admin, path := c.Admin(), "/clients/price-lists/"+k.list.String()+"/prices"
	require.Equal(t, map[string]string{"refId": "REQUIRED", "price": "REQUIRED", "kind": "ENUM"}, admin.Do(t, "POST", path, map[string]any{"kind": "custom"}).Fields())
	require.Equal(t, map[string]string{"price": "MIN"}, admin.Do(t, "POST", path, map[string]any{"refId": k.product.ID, "price": -1}).Fields())
	admin.Do(t, "POST", path, map[string]any{"refId": uuid.New(), "price": 1}).Fault(404, "PRODUCT_NOT_FOUND")
	made := admin.Do(t, "POST", path, map[string]any{"refId": k.product.ID, "price": 100}).OK(200)
	require.Equal(t, []any{"product", k.product.ID.String(), nil, 100.0, k.list.String(), 1.0},
		[]any{made["kind"], made["refId"], made["variantId"], made["price"], made["priceListId"], made["version"]})
	variant := admin.Do(t, "POST", path, map[string]any{"refId": k.product.ID, "variantId": k.small.Variant, "price": 90}).OK(200)
	page := admin.Do(t, "GET", path+"?sort=price&kind=product&refId="+k.product.ID.String(), nil).OK(200)
	require.Equal(t, []any{variant, made}, page["items"])
	require.Empty(t, admin.Do(t, "GET", path+"?kind=service", nil).OK(200)["items"])
	admin.Do(t, "DELETE", path+"/"+made["id"].(string), nil, apitest.Header{"If-Match", `"2"`}).Fault(412, "PRECONDITION_FAILED")
	admin.Do(t, "DELETE", path+"/"+made["id"].(string), nil).OK(204)
	admin.Do(t, "DELETE", path+"/"+made["id"].(string), nil).Fault(404, "PRICE_NOT_FOUND")

	other := server.Company()
	other.Admin().Do(t, "GET", path, nil).Fault(404, "PRICE_LIST_NOT_FOUND")
	other.Admin().Do(t, "POST", path, map[string]any{"refId": k.product.ID, "price": 1}).Fault(404, "PRICE_LIST_NOT_FOUND")
	other.Admin().Do(t, "DELETE", path+"/"+variant["id"].(string), nil).Fault(404, "PRICE_LIST_NOT_FOUND")
	c.Do(t, "POST", path, map[string]any{"refId": k.product.ID, "price": 1}).OK(200)
}
