package servicecatalog_test

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/servicecatalog"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

func TestLife(t *testing.T) {
	t.Parallel()
	k := setup(t)
	made := k.Do(t, "POST", "/catalog/services", `{"name":" Haircut ","price":3000}`)
	s := made.OK(201)
	require.Equal(t, "/api/external/v1"+path(s), made.Header.Get("Location"))
	want := object{
		"id": s["id"], "companyId": k.Principal.Company.String(), "sku": "S-0001", "name": "Haircut", "nameI18n": object{}, "categoryId": nil,
		"priceModel": "fixed", "price": 3000.0, "taxRateId": nil, "durationMinutes": nil, "bufferBeforeMinutes": nil, "bufferAfterMinutes": nil, "totalCost": 0.0, "status": "active", "costItems": []any{}, "source": nil, "externalId": nil, "metadata": object{},
		"version": 1.0, "createdAt": s["createdAt"], "updatedAt": s["updatedAt"],
	}
	require.Equal(t, want, s)
	require.Equal(t, s, k.Do(t, "GET", path(s), nil).OK(200))

	category := k.post("/catalog/categories", object{"name": "Hair"})["id"]
	change := object{
		"sku": "HC", "name": "Cut", "nameI18n": object{"de": "Schnitt"}, "categoryId": category, "priceModel": "per_hour", "price": 0, "durationMinutes": 45,
		"costItems": []any{object{"label": "Work", "amount": 7}},
	}
	changed := k.Do(t, "PATCH", path(s), change).OK(200)
	for field, v := range change {
		if field != "costItems" {
			require.EqualValues(t, v, changed[field], field)
		}
	}
	require.Equal(t, 7.0, changed["totalCost"])
	require.Equal(t, changed, k.Do(t, "PATCH", path(s), change).OK(200), "the same values are no change, also those of cost items")
	require.Equal(t, changed, k.Do(t, "PATCH", path(s), object{}).OK(200))
	cleared := k.Do(t, "PATCH", path(s), `{"categoryId":null,"durationMinutes":null,"nameI18n":{},"costItems":[]}`).OK(200)
	require.Equal(t, []any{nil, nil, object{}, []any{}, 0.0}, []any{cleared["categoryId"], cleared["durationMinutes"], cleared["nameI18n"], cleared["costItems"], cleared["totalCost"]})
	k.Do(t, "PATCH", path(s), `{"name":"x"}`, apitest.Header{"If-Match", `"1"`}).Fault(412, "PRECONDITION_FAILED")

	hidden := k.Do(t, "DELETE", path(s), nil).OK(200)
	require.Equal(t, "hidden", hidden["status"])
	require.Equal(t, hidden, k.Do(t, "DELETE", path(s), nil).OK(200), "hiding it again is no change")
	require.Equal(t, hidden, k.Do(t, "GET", path(s), nil).OK(200))
	restored := k.Do(t, "PATCH", path(s), `{"status":"active"}`).OK(200)
	require.Equal(t, "active", restored["status"])

	events := k.events()
	names := make([]string, len(events))
	for i, e := range events {
		names[i] = e.Name
		if e.Name == "service.updated" {
			require.Contains(t, e.Data, "changedFields")
			delete(e.Data, "changedFields")
		}
		require.Equal(t, []object{want, changed, cleared, hidden, restored}[i], e.Data)
	}
	require.Equal(t, []string{"service.created", "service.updated", "service.updated", "service.deleted", "service.updated"}, names)
	require.ElementsMatch(t, []any{"sku", "name", "nameI18n", "categoryId", "priceModel", "price", "durationMinutes", "totalCost", "costItems"},
		k.events()[1].Data["changedFields"])
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	k := setup(t)
	items := slices.Repeat([]any{object{"label": "x", "amount": 1}}, 101)
	for _, row := range []struct {
		body   any
		faults map[string]string
	}{
		{`{}`, map[string]string{"name": "REQUIRED", "price": "REQUIRED"}},
		{object{"name": " ", "price": -1, "priceModel": "per_week", "status": "gone", "durationMinutes": 0, "sku": ""}, map[string]string{
			"name": "LENGTH", "price": "MIN", "priceModel": "ENUM", "status": "ENUM", "durationMinutes": "MIN", "sku": "LENGTH",
		}},
		{object{"name": strings.Repeat("x", 256), "price": 1.5, "durationMinutes": 1441, "sku": strings.Repeat("x", 65), "categoryId": "x"}, map[string]string{
			"name": "LENGTH", "price": "STEP", "durationMinutes": "MAX", "sku": "LENGTH", "categoryId": "FORMAT",
		}},
		{object{"name": "n", "price": 1, "nameI18n": object{"de": "", "x": "y"}}, map[string]string{"nameI18n.de": "LENGTH", "nameI18n.x": "FORMAT"}},
		{object{"name": "n", "price": 1, "costItems": items}, map[string]string{"costItems": "MAX"}},
		{object{"name": "n", "price": 1, "costItems": []any{object{"qty": 0, "unitCost": -1, "amount": -1, "productId": "x", "unitId": "x"}}}, map[string]string{
			"costItems[0].label": "REQUIRED", "costItems[0].qty": "MIN", "costItems[0].unitCost": "MIN", "costItems[0].amount": "MIN",
			"costItems[0].productId": "FORMAT", "costItems[0].unitId": "FORMAT",
		}},
		{object{"name": "n", "price": 1, "costItems": []any{object{"label": "a", "qty": 1000, "unitCost": 1 << 52}}}, map[string]string{"costItems[0].amount": "MAX"}},
		{object{"name": "n", "price": 1, "costItems": []any{object{"label": "a", "amount": 1 << 52}, object{"label": "b", "amount": 1 << 52}}}, map[string]string{"costItems": "MAX"}},
	} {
		require.Equal(t, row.faults, k.Do(t, "POST", "/catalog/services", row.body).Fields())
	}
	s := k.create(nil).OK(201)
	require.Equal(t, map[string]string{"name": "TYPE", "price": "TYPE", "priceModel": "TYPE", "status": "TYPE", "sku": "TYPE"},
		k.Do(t, "PATCH", path(s), `{"name":null,"price":null,"priceModel":null,"status":null,"sku":null}`).Fields())
	made := k.Do(t, "POST", "/catalog/services", `{"name":"n","price":1,"totalCost":5,"id":"x"}`)
	require.Equal(t, "id, totalCost", made.Header.Get("X-Ignored-Fields"))
	require.Equal(t, 0.0, made.OK(201)["totalCost"])
	require.Len(t, k.events(), 2)
}

func TestUnknownReferences(t *testing.T) {
	t.Parallel()
	server := open(t)
	k, other := kit{server.Company(), t}, kit{server.Company(), t}
	foreign := other.post("/catalog/categories", object{"name": "x"})["id"]
	product := other.post("/catalog/products", object{"name": "x", "price": 1})["id"]
	s := k.create(nil).OK(201)
	for _, row := range []struct {
		body        object
		code, field string
		id          any
	}{
		{object{"categoryId": noID}, "CATEGORY_NOT_FOUND", "categoryId", noID},
		{object{"categoryId": foreign}, "CATEGORY_NOT_FOUND", "categoryId", foreign},
		{object{"costItems": []any{object{"label": "a"}, object{"label": "b", "productId": product}}}, "PRODUCT_NOT_FOUND", "costItems[1].productId", product},
		{object{"costItems": []any{object{"label": "a", "unitId": noID}}}, "UNIT_NOT_FOUND", "costItems[0].unitId", noID},
	} {
		for _, got := range []*apitest.Response{k.create(row.body), k.Do(t, "PATCH", path(s), row.body)} {
			require.Equal(t, object{"field": row.field, "id": row.id}, got.Fault(404, row.code)["meta"])
		}
	}
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		other.Do(t, method, path(s), object{}).Fault(404, "SERVICE_NOT_FOUND")
		k.Do(t, method, "/catalog/services/"+noID, object{}).Fault(404, "SERVICE_NOT_FOUND")
		require.Equal(t, 400, k.Do(t, method, "/catalog/services/x", object{}).Status)
	}
	require.Empty(t, other.Do(t, "GET", "/catalog/services", nil).OK(200)["items"])
}

func TestCostItems(t *testing.T) {
	t.Parallel()
	k := setup(t)
	product := k.post("/catalog/products", object{"name": "Shampoo", "price": 500})["id"]
	units := k.Do(t, "GET", "/catalog/units", nil)
	var all []object
	units.Decode(&all)
	unit := all[0]["id"]
	sent := []any{
		object{"label": "Shampoo", "productId": product, "qty": 0.333, "unitId": unit, "unitCost": 101},
		object{"label": "Nothing"},
		object{"label": "Work", "qty": 2, "unitCost": 50, "amount": 90},
		object{"label": "Rent", "unitCost": 11},
	}
	s := k.create(object{"costItems": sent}).OK(201)
	require.Equal(t, 135.0, s["totalCost"], "34 + 0 + 90 + 11")
	items := s["costItems"].([]any)
	ids := map[any]bool{}
	for i, want := range []object{
		{"label": "Shampoo", "productId": product, "qty": 0.333, "unitId": unit, "unitCost": 101.0, "amount": 34.0},
		{"label": "Nothing", "productId": nil, "qty": 1.0, "unitId": nil, "unitCost": 0.0, "amount": 0.0},
		{"label": "Work", "productId": nil, "qty": 2.0, "unitId": nil, "unitCost": 50.0, "amount": 90.0},
		{"label": "Rent", "productId": nil, "qty": 1.0, "unitId": nil, "unitCost": 11.0, "amount": 11.0},
	} {
		got := maps.Clone(items[i].(object))
		ids[got["id"]] = true
		want["id"], want["sortOrder"] = got["id"], float64(i)
		require.Equal(t, want, got)
	}
	require.Len(t, ids, 4)
	sent[1] = object{"label": "Something", "amount": 5}
	changed := k.Do(t, "PATCH", path(s), object{"costItems": sent[:2]}).OK(200)
	require.Equal(t, 39.0, changed["totalCost"])
	now := changed["costItems"].([]any)
	require.Len(t, now, 2, "the items are replaced as a whole")
	require.Equal(t, items[0], now[0])
	require.NotContains(t, ids, now[1].(object)["id"])
	require.Equal(t, now, k.Do(t, "PATCH", path(s), object{"name": "x"}).OK(200)["costItems"])

	require.NotContains(t, k.Do(t, "GET", "/catalog/services", nil).OK(200)["items"].([]any)[0], "costItems")
	require.Equal(t, now, k.Do(t, "GET", "/catalog/services?include=costItems", nil).OK(200)["items"].([]any)[0].(object)["costItems"])
	require.Equal(t, map[string]string{"include[0]": "ENUM"}, k.Do(t, "GET", "/catalog/services?include=stock", nil).Fields())
}

// The sum of the cost items is what a model computes with fractions.
func TestTotalCostAgainstModel(t *testing.T) {
	t.Parallel()
	k := setup(t)
	rapid.Check(t, func(rt *rapid.T) {
		var sent []any
		var want int64
		for range rapid.IntRange(0, 5).Draw(rt, "items") {
			thousandths, cost := rapid.Int64Range(1, 9999).Draw(rt, "qty"), rapid.Int64Range(0, 1000).Draw(rt, "cost")
			item := object{"label": "x", "qty": float64(thousandths) / 1000, "unitCost": cost}
			amount := (thousandths*cost*2 + 1000) / 2000 // rounded half up
			if rapid.Bool().Draw(rt, "sent") {
				amount = rapid.Int64Range(0, 1000).Draw(rt, "amount")
				item["amount"] = amount
			}
			sent, want = append(sent, item), want+amount
		}
		if sent == nil {
			sent = []any{}
		}
		require.EqualValues(rt, want, k.create(object{"costItems": sent}).OK(201)["totalCost"])
	})
}

func TestSKUsAreSharedWithProducts(t *testing.T) {
	t.Parallel()
	k := setup(t)
	product := k.post("/catalog/products", object{"name": "p", "price": 1, "sku": "Abc"})
	taken := k.create(object{"sku": " aBC "}).Fault(409, "SKU_TAKEN")
	require.Equal(t, object{"sku": "Abc", "entity": "product", "id": product["id"], "status": "active"}, taken["meta"])
	s := k.create(object{"sku": "s-0002"}).OK(201)
	k.Do(t, "DELETE", path(s), nil).OK(200)
	taken = k.Do(t, "POST", "/catalog/products", object{"name": "p", "price": 1, "sku": "S-0002"}).Fault(409, "SKU_TAKEN")
	require.Equal(t, object{"sku": "s-0002", "entity": "service", "id": s["id"], "status": "hidden"}, taken["meta"])
	require.Equal(t, "S-0001", k.create(nil).OK(201)["sku"])
	require.Equal(t, "S-0003", k.create(nil).OK(201)["sku"], "the number given by hand is skipped")

	category := k.post("/catalog/categories", object{"name": "c", "prefix": "HA"})["id"]
	below := k.post("/catalog/categories", object{"name": "c", "parentId": category})["id"]
	first := k.create(object{"categoryId": category}).OK(201)
	require.Equal(t, "HA-0001", first["sku"])
	require.Equal(t, "HA-0002", k.post("/catalog/products", object{"name": "p", "price": 1, "categoryId": category})["sku"], "one counter for both")
	require.Equal(t, "S-0004", k.create(object{"categoryId": below}).OK(201)["sku"], "the prefix of a parent does not count")
	require.Equal(t, "HA-0001", k.Do(t, "PATCH", path(first), object{"categoryId": below}).OK(200)["sku"])
	k.Do(t, "PATCH", path(first), `{"sku":"ABC"}`).Fault(409, "SKU_TAKEN")
	require.Equal(t, "ha-0001", k.Do(t, "PATCH", path(first), `{"sku":"ha-0001"}`).OK(200)["sku"])
	k.Do(t, "PATCH", path(first), `{"sku":"free"}`).OK(200)
	k.create(object{"sku": "HA-0001"}).OK(201)
}

// together runs n calls at once.
func together(n int, call func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			call(i)
		})
	}
	close(start)
	wg.Wait()
}

const racers = 16

func TestSKURaces(t *testing.T) {
	t.Parallel()
	k := setup(t)
	status := make([]int, racers)
	together(racers, func(i int) {
		if i%2 == 0 {
			status[i] = k.Do(t, "POST", "/catalog/products", object{"name": "a", "price": 1, "sku": "Same"}).Status
		} else {
			status[i] = k.create(object{"sku": "same"}).Status
		}
	})
	slices.Sort(status)
	require.Equal(t, append([]int{201}, slices.Repeat([]int{409}, racers-1)...), status)
	skus := make([]string, racers)
	together(racers, func(i int) { skus[i] = k.create(nil).OK(201)["sku"].(string) })
	slices.Sort(skus)
	require.Len(t, slices.Compact(skus), racers)
}

func TestCategoriesOfServices(t *testing.T) {
	t.Parallel()
	k := setup(t)
	category := k.post("/catalog/categories", object{"name": "c"})["id"].(string)
	other := k.post("/catalog/categories", object{"name": "d"})["id"].(string)
	active, hidden := k.create(object{"categoryId": category}).OK(201), k.create(object{"categoryId": category, "status": "hidden"}).OK(201)
	used := k.Do(t, "DELETE", "/catalog/categories/"+category, nil).Fault(409, "CATEGORY_IN_USE")
	require.Equal(t, object{"children": 0.0, "products": 0.0, "services": 1.0}, used["meta"])
	before := len(k.events())
	k.Do(t, "DELETE", "/catalog/categories/"+category+"?reassignTo="+other, nil).OK(204)
	moved := k.Do(t, "GET", path(active), nil).OK(200)
	require.Equal(t, other, moved["categoryId"])
	detached := k.Do(t, "GET", path(hidden), nil).OK(200)
	require.Nil(t, detached["categoryId"])
	require.EqualValues(t, 2, detached["version"])
	events := k.events()[before:]
	require.Len(t, events, 1, "only active services have an event")
	require.Equal(t, []any{"categoryId"}, events[0].Data["changedFields"])

	k.Do(t, "DELETE", path(active), nil).OK(200)
	k.Do(t, "DELETE", "/catalog/categories/"+other, nil).OK(204)
	require.Nil(t, k.Do(t, "GET", path(active), nil).OK(200)["categoryId"])
}

func TestItemsOfDocuments(t *testing.T) {
	t.Parallel()
	k := setup(t)
	s := k.create(object{"costItems": []any{object{"label": "x", "amount": 70}}}).OK(201)
	hidden := k.create(object{"status": "hidden", "durationMinutes": 30, "priceModel": "per_hour"}).OK(201)
	id, hiddenID := uuid.MustParse(s["id"].(string)), uuid.MustParse(hidden["id"].(string))
	ref := func(kind string, id, variant uuid.UUID) trade.ItemRef {
		return trade.ItemRef{Kind: kind, ID: id, Variant: variant}
	}
	service, gone, variant := ref(trade.KindService, id, uuid.Nil), ref(trade.KindService, hiddenID, uuid.Nil), ref(trade.KindService, id, uuid.New())
	d := dbtest.Open(t)
	got, err := servicecatalog.OrderItems(t.Context(), d, k.Principal.Company, []trade.ItemRef{service, service, gone, variant, ref(trade.KindProduct, id, uuid.Nil), ref(trade.KindService, uuid.New(), uuid.Nil)})
	require.NoError(t, err)
	want := trade.Item{SKU: "S-0001", Name: "Haircut", Price: 3000, Cost: 70}
	unknown, old := want, trade.Item{SKU: "S-0002", Name: "Haircut", Price: 3000, Hidden: true}
	unknown.UnknownVariant = true
	require.Equal(t, map[trade.ItemRef]trade.Item{service: want, gone: old, variant: unknown}, got)

	booked, found, err := servicecatalog.Booked(t.Context(), d, k.Principal.Company, hiddenID)
	require.NoError(t, err)
	require.True(t, found)
	minutes := int32(30)
	require.Equal(t, trade.BookedService{ID: hiddenID, Name: "Haircut", PriceModel: "per_hour", Price: 3000, DurationMinutes: &minutes, Hidden: true}, booked)
	_, found, err = servicecatalog.Booked(t.Context(), d, k.Principal.Company, uuid.New())
	require.NoError(t, err)
	require.False(t, found)
}

func TestReplayOfACreation(t *testing.T) {
	t.Parallel()
	k := setup(t)
	key := apitest.Header{"X-Idempotency-Key", uuid.NewString()}
	first := k.Do(t, "POST", "/catalog/services", object{"name": "a", "price": 1}, key)
	again := k.Do(t, "POST", "/catalog/services", object{"name": "a", "price": 1}, key)
	require.Equal(t, first.OK(201), again.OK(201))
	require.Equal(t, "true", again.Header.Get("X-Idempotent-Replayed"))
	require.Len(t, k.events(), 1)
	k.Do(t, "POST", "/catalog/services", object{"name": "b", "price": 1}, key).Fault(422, "IDEMPOTENCY_KEY_REUSED")
	require.Equal(t, "S-0002", k.create(nil).OK(201)["sku"], "a replay takes no number")
}
