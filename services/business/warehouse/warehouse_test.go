package warehouse_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/business/trade"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
)

func TestLifeOfAWarehouse(t *testing.T) {
	t.Parallel()
	s := open(t)
	branch, ann := s.branch("North"), s.user("Ann")
	made := s.Do(t, "POST", "/warehouse/warehouses", map[string]any{"name": " Annex ", "address": "1 Mill Lane", "managerUserId": ann, "branchId": branch})
	w := made.OK(201)
	id := w["id"].(string)
	require.Equal(t, "/api/external/v1/warehouse/warehouses/"+id, made.Header.Get("Location"))
	for field, want := range map[string]any{
		"name": "Annex", "address": "1 Mill Lane", "managerUserId": ann, "branchId": branch, "isDefault": false, "version": 1.0, "companyId": s.Principal.Company.String(),
	} {
		require.Equal(t, want, w[field], field)
	}
	require.Equal(t, w, s.Do(t, "GET", "/warehouse/warehouses/"+id, nil).OK(200))

	same := s.Do(t, "PATCH", "/warehouse/warehouses/"+id, map[string]any{"name": "Annex", "branchId": branch, "managerUserId": ann}).OK(200)
	require.Equal(t, w, same, "the same values are no change")
	south := s.branch("South")
	changed := s.Do(t, "PATCH", "/warehouse/warehouses/"+id, map[string]any{"name": "Depot", "address": nil, "managerUserId": nil, "branchId": south}).OK(200)
	for field, want := range map[string]any{"name": "Depot", "address": nil, "managerUserId": nil, "branchId": south, "version": 2.0} {
		require.Equal(t, want, changed[field], field)
	}
	s.Do(t, "PATCH", "/warehouse/warehouses/"+id, `{"name":"x"}`, apitest.Header{"If-Match", `"1"`}).Fault(412, "PRECONDITION_FAILED")
	s.Do(t, "DELETE", "/warehouse/warehouses/"+id, nil, apitest.Header{"If-Match", `"1"`}).Fault(412, "PRECONDITION_FAILED")

	s.Do(t, "DELETE", "/warehouse/warehouses/"+id, nil).OK(204)
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		s.Do(t, method, "/warehouse/warehouses/"+id, map[string]any{}).Fault(404, "WAREHOUSE_NOT_FOUND")
	}
	require.Empty(t, apitest.Events(t, s.d, s.Principal.Company)[1:], "only the user raised an event")
}

func TestBranchesOfWarehouses(t *testing.T) {
	t.Parallel()
	s := open(t)
	create := func(body map[string]any) *apitest.Response {
		return s.Do(t, "POST", "/warehouse/warehouses", body)
	}
	create(map[string]any{"name": "Annex"}).Fault(409, "BRANCH_NOT_AVAILABLE")
	first, second, closed := s.branch("first"), s.branch("second"), s.branch("closed")
	s.close(closed)
	w := create(map[string]any{"name": "Annex"}).OK(201)
	require.Equal(t, first, w["branchId"], "the oldest branch without a warehouse")
	fault := create(map[string]any{"name": "Other", "branchId": first}).Fault(409, "BRANCH_WAREHOUSE_EXISTS")
	require.Equal(t, map[string]any{"branchId": first, "warehouseId": w["id"]}, fault["meta"])
	require.Equal(t, closed, create(map[string]any{"name": "Other", "branchId": closed}).Fault(409, "BRANCH_NOT_AVAILABLE")["meta"].(map[string]any)["branchId"])
	missing := uuid.NewString()
	require.Equal(t, map[string]any{"field": "branchId", "id": missing}, create(map[string]any{"name": "x", "branchId": missing}).Fault(404, "BRANCH_NOT_FOUND")["meta"])
	require.Equal(t, "managerUserId", create(map[string]any{"name": "x", "managerUserId": missing}).Fault(404, "USER_NOT_FOUND")["meta"].(map[string]any)["field"])
	path := "/warehouse/warehouses/" + s.main
	s.Do(t, "PATCH", path, map[string]any{"branchId": first}).Fault(409, "BRANCH_WAREHOUSE_EXISTS")
	s.Do(t, "PATCH", path, map[string]any{"branchId": closed}).Fault(409, "BRANCH_NOT_AVAILABLE")
	s.Do(t, "PATCH", path, map[string]any{"branchId": missing}).Fault(404, "BRANCH_NOT_FOUND")
	s.Do(t, "PATCH", path, map[string]any{"managerUserId": missing}).Fault(404, "USER_NOT_FOUND")
	other := open(t)
	create(map[string]any{"name": "x", "branchId": other.branch("theirs")}).Fault(404, "BRANCH_NOT_FOUND")
	require.Equal(t, second, s.Do(t, "PATCH", path, map[string]any{"branchId": second}).OK(200)["branchId"])
	require.NotEqual(t, first, create(map[string]any{"name": "Back"}).OK(201)["branchId"], "the default branch is free again")
	create(map[string]any{"name": "Late"}).Fault(409, "BRANCH_NOT_AVAILABLE")
}

func TestBadWarehouses(t *testing.T) {
	t.Parallel()
	s := open(t)
	require.Equal(t, map[string]string{"name": "REQUIRED", "branchId": "FORMAT", "managerUserId": "FORMAT", "address": "TYPE"},
		s.Do(t, "POST", "/warehouse/warehouses", `{"branchId":"x","managerUserId":"y","address":5}`).Fields())
	require.Equal(t, map[string]string{"branchId": "TYPE", "name": "TYPE"}, s.Do(t, "PATCH", "/warehouse/warehouses/"+s.main, `{"branchId":null,"name":null}`).Fields())
	res := s.Do(t, "PATCH", "/warehouse/warehouses/"+s.main, `{"isDefault":false,"version":7}`)
	require.Equal(t, "isDefault, version", res.Header.Get("X-Ignored-Fields"))
	require.Equal(t, true, res.OK(200)["isDefault"])
	require.Equal(t, map[string]string{"sort": "ENUM"}, s.Do(t, "GET", "/warehouse/warehouses?sort=address", nil).Fields())
}

func TestWarehouseList(t *testing.T) {
	t.Parallel()
	s := open(t)
	ann := s.user("Ann")
	a := s.depot("apple")
	s.Do(t, "PATCH", "/warehouse/warehouses/"+a, map[string]any{"managerUserId": ann, "address": "2 Harbour Road"}).OK(200)
	s.depot("Banana")
	require.Equal(t, []any{"apple", "Banana", "Centre"}, column(s.list("/warehouse/warehouses", "sort", "name"), "name"))
	require.Equal(t, []any{"Centre", "Banana", "apple"}, column(s.list("/warehouse/warehouses", "sort", "name", "order", "desc"), "name"))
	require.Equal(t, []any{"Banana", "apple", "Centre"}, column(s.list("/warehouse/warehouses"), "name"))
	require.Equal(t, []any{"Centre", "apple", "Banana"}, column(s.list("/warehouse/warehouses", "sort", "createdAt"), "name"))
	require.Equal(t, []any{"apple"}, column(s.list("/warehouse/warehouses", "search", "HARBOUR"), "name"))
	item := s.list("/warehouse/warehouses", "search", "apple")[0]
	require.Equal(t, "apple", item["branchName"])
	require.Equal(t, "Ann", item["managerName"])
	require.Equal(t, a, item["id"])
	require.Equal(t, map[string]any{"id": a, "managerName": "Ann"}, s.list("/warehouse/warehouses", "search", "apple", "fields", "managerName")[0])
	require.Equal(t, map[string]any{"id": a, "name": "apple"}, s.list("/warehouse/warehouses", "search", "apple", "fields", "name")[0])
	require.Nil(t, s.list("/warehouse/warehouses", "search", "centre")[0]["managerName"])
	page := s.page("/warehouse/warehouses", "pageSize", "2", "page", "2")
	require.EqualValues(t, 3, page["total"])
	require.Len(t, page["items"], 1)
	require.Len(t, open(t).list("/warehouse/warehouses"), 1)
}

func TestWhatCannotBeDeleted(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.Do(t, "DELETE", "/warehouse/warehouses/"+s.main, nil).Fault(409, "WAREHOUSE_IS_DEFAULT")
	annex, p, q := s.depot("Annex"), s.product("Nail"), s.product("Screw")
	s.adjust(p, 5, "warehouseId", annex).OK(201)
	fault := s.Do(t, "DELETE", "/warehouse/warehouses/"+annex, nil).Fault(409, "WAREHOUSE_NOT_EMPTY")
	require.Equal(t, map[string]any{"products": 1.0}, fault["meta"])
	s.adjust(p, 0, "warehouseId", annex).OK(201)
	s.tx(func(_ context.Context, tx *db.Tx) error {
		s.s.Reserve(tx, s.caller(), []trade.StockDelta{{Warehouse: uuid.MustParse(annex), StockKey: trade.StockKey{Product: uuid.MustParse(q)}, Reserved: units(1)}})
		return nil
	})
	s.Do(t, "DELETE", "/warehouse/warehouses/"+annex, nil).Fault(409, "WAREHOUSE_NOT_EMPTY")
	require.Len(t, s.list("/warehouse/stocks", "warehouseId", annex), 2, "a refused deletion changes nothing")
	s.tx(func(_ context.Context, tx *db.Tx) error {
		s.s.Reserve(tx, s.caller(), []trade.StockDelta{{Warehouse: uuid.MustParse(annex), StockKey: trade.StockKey{Product: uuid.MustParse(q)}, Reserved: units(-1)}})
		return nil
	})
	s.Do(t, "DELETE", "/warehouse/warehouses/"+annex, nil).OK(204)
	require.Empty(t, s.list("/warehouse/stocks"))
	history := s.list("/warehouse/movements", "warehouseId", annex)
	require.Equal(t, []any{"Annex", "Annex"}, column(history, "warehouseName"), "history keeps names")

	// Documents that still name the warehouse cannot put anything there.
	row := trade.StockDelta{Warehouse: uuid.MustParse(annex), StockKey: trade.StockKey{Product: uuid.MustParse(p)}, Qty: units(1)}
	err := s.d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		return s.s.Move(ctx, tx, s.caller(), trade.StockDocument{Movement: trade.MovementRefund}, []trade.StockDelta{row})
	})
	require.True(t, apierr.Is(err, "WAREHOUSE_DELETED"), "%v", err)
	row.Qty, row.Reserved = 0, units(1)
	err = s.d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
		s.s.Reserve(tx, s.caller(), []trade.StockDelta{row})
		return nil
	}, db.ReadCommitted())
	require.True(t, apierr.Is(err, "WAREHOUSE_DELETED"), "%v", err)
	s.adjust(p, 1, "warehouseId", annex).Fault(404, "WAREHOUSE_NOT_FOUND")
}

// together runs n requests at the same time and counts their answers: the code of a fault, or the status.
func together(t *testing.T, n int, send func(i int) *apitest.Response) map[string]int {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	answers := map[string]int{}
	for i := range n {
		wg.Go(func() {
			res := send(i)
			answer := "ok"
			if res.Status >= 300 {
				var fault struct{ Code string }
				res.Decode(&fault)
				answer = fault.Code
			}
			mu.Lock()
			defer mu.Unlock()
			answers[answer]++
		})
	}
	wg.Wait()
	return answers
}

func TestOneWarehousePerBranchAlsoAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	branch := s.branch("North")
	require.Equal(t, map[string]int{"ok": 1, "BRANCH_WAREHOUSE_EXISTS": 9}, together(t, 10, func(int) *apitest.Response {
		return s.Do(t, "POST", "/warehouse/warehouses", map[string]any{"name": "x", "branchId": branch})
	}))
	for _, name := range []string{"a", "b", "c"} {
		s.branch(name)
	}
	require.Equal(t, map[string]int{"ok": 3, "BRANCH_NOT_AVAILABLE": 7}, together(t, 10, func(int) *apitest.Response {
		return s.Do(t, "POST", "/warehouse/warehouses", map[string]any{"name": "x"})
	}), "each free branch is taken once")
	// Processes do not share the mutex of the service.
	s.branch("d")
	s.branch("e")
	others := []*shop{s.elsewhere(), s.elsewhere(), s.elsewhere(), s.elsewhere()}
	require.Equal(t, map[string]int{"ok": 2, "BRANCH_NOT_AVAILABLE": 2}, together(t, 4, func(i int) *apitest.Response {
		return others[i].Do(t, "POST", "/warehouse/warehouses", map[string]any{"name": "x"})
	}))
}

func TestDeletionAgainstStock(t *testing.T) {
	t.Parallel()
	for range 5 {
		s := open(t)
		annex, p := s.depot("Annex"), s.product("Nail")
		there := s.elsewhere()
		answers := together(t, 2, func(i int) *apitest.Response {
			if i == 0 {
				return s.Do(t, "DELETE", "/warehouse/warehouses/"+annex, nil)
			}
			return there.adjust(p, 3, "warehouseId", annex)
		})
		require.Equal(t, 1, answers["ok"], "%v", answers)
		require.Equal(t, 1, answers["WAREHOUSE_NOT_EMPTY"]+answers["WAREHOUSE_NOT_FOUND"], "%v", answers)
	}
}

func TestMakeDefault(t *testing.T) {
	t.Parallel()
	s := open(t)
	annex := uuid.MustParse(s.depot("Annex"))
	makeDefault := func(id uuid.UUID, version ...int64) (w warehouse.Warehouse, err error) {
		by := access.Caller{Principal: s.Principal}
		if version != nil {
			by = by.Expecting(version[0])
		}
		err = s.d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) (err error) {
			w, err = s.s.MakeDefault(ctx, tx, by, id)
			return err
		})
		return w, err
	}
	_, err := makeDefault(uuid.New())
	require.True(t, apierr.Is(err, "WAREHOUSE_NOT_FOUND"), "%v", err)
	_, err = makeDefault(annex, 9)
	require.True(t, apierr.Is(err, "PRECONDITION_FAILED"), "%v", err)
	w, err := makeDefault(annex, 1)
	require.NoError(t, err)
	require.True(t, w.IsDefault)
	require.EqualValues(t, 2, w.Version)
	again, err := makeDefault(annex)
	require.NoError(t, err)
	require.EqualValues(t, 2, again.Version, "it is the default already")
	require.Equal(t, false, s.Do(t, "GET", "/warehouse/warehouses/"+s.main, nil).OK(200)["isDefault"])
	found, ok, err := s.s.FindWarehouse(t.Context(), s.d, s.Principal.Company, nil)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, annex, found)
	s.Do(t, "DELETE", "/warehouse/warehouses/"+annex.String(), nil).Fault(409, "WAREHOUSE_IS_DEFAULT")
	s.Do(t, "DELETE", "/warehouse/warehouses/"+s.main, nil).OK(204)
}

func TestWarehouseOfBranch(t *testing.T) {
	t.Parallel()
	s := open(t)
	north, empty := s.branch("North"), s.branch("Empty")
	annex := s.Do(t, "POST", "/warehouse/warehouses", map[string]any{"name": "Annex", "branchId": north}).OK(201)["id"].(string)
	for branch, want := range map[string]string{north: annex, empty: s.main, uuid.NewString(): s.main} {
		found, ok, err := s.s.WarehouseOfBranch(t.Context(), s.d, s.Principal.Company, uuid.MustParse(branch))
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, want, found.String())
	}
	_, ok, err := s.s.WarehouseOfBranch(t.Context(), s.d, s.server.Company().Principal.Company, uuid.New())
	require.NoError(t, err)
	require.False(t, ok)
}
