package counts_test

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/counts"
	st "github.com/tradegrid/tradegrid/services/business/stockdoc/stockdoctest"
	"github.com/tradegrid/tradegrid/services/business/trade"
	"github.com/tradegrid/tradegrid/services/business/trade/tradetest"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

type object = map[string]any

func open(t testing.TB, edit ...func(*access.Principal)) *st.Kit {
	t.Helper()
	return openWith(t, st.NewShop(), edit...)
}

func openWith(t testing.TB, n *tradetest.Shop, edit ...func(*access.Principal)) *st.Kit {
	t.Helper()
	d := dbtest.Open(t)
	stock := warehouse.New(warehouse.Config{DB: d, Products: n, Users: n, Branches: st.Branches{}})
	s := counts.New(counts.Config{DB: d, Sources: st.Sources(n, stock), Levels: stock})
	return st.Open(t, d, stock, "/warehouse/counts", []func(*httpapi.API){s.Register}, edit...)
}

func lineOf(c object, product uuid.UUID) object {
	for _, l := range c["lines"].([]any) {
		if l := l.(object); l["productId"] == product.String() {
			return l
		}
	}
	return nil
}

func record(s *st.Kit, c object, product uuid.UUID, qty any) object {
	return s.Command(c["id"], "record", object{"items": st.Items(object{"lineId": lineOf(c, product)["id"], "qty": qty})}).OK(200)
}

// Sales go on while people count: the difference is to what was on stock when the line was counted.
func TestLifeOfACount(t *testing.T) {
	t.Parallel()
	s := open(t, func(p *access.Principal) { p.Settings.StockPolicy = access.StockBlock })
	s.Adjust(s.Depot, st.Nail, 10)
	s.Adjust(s.Depot, st.Wood, 2.5)
	s.Adjust(s.Depot, st.Shirt, 4, "variantId", st.Large)
	c := s.Create(object{"note": "monthly"}).OK(201)
	for field, want := range map[string]any{"number": 1.0, "status": "counting", "warehouseName": "Depot", "note": "monthly", "linesCount": 3.0, "countedLines": 0.0, "postedAt": nil} {
		require.Equal(t, want, c[field], field)
	}
	require.Equal(t, []any{10.0, nil, nil, nil}, []any{lineOf(c, st.Nail)["expectedQty"], lineOf(c, st.Nail)["countedQty"], lineOf(c, st.Nail)["differenceQty"], lineOf(c, st.Nail)["countedAt"]})
	require.Equal(t, []object{c}, s.Events("warehouse.count.created"))

	s.Adjust(s.Depot, st.Nail, -1) // sold before the shelf is counted
	c = record(s, c, st.Nail, 7)
	l := lineOf(c, st.Nail)
	require.Equal(t, []any{9.0, 7.0, -2.0, 1.0}, []any{l["expectedQty"], l["countedQty"], l["differenceQty"], c["countedLines"]})
	require.NotNil(t, l["countedAt"])
	require.Equal(t, c, s.Get(c["id"]))
	s.Adjust(s.Depot, st.Nail, -6) // and after that
	c = record(s, c, st.Shirt, 4)
	c = record(s, c, st.Shirt, 5)
	require.Equal(t, 1.0, lineOf(c, st.Shirt)["differenceQty"], "counted again")
	require.Len(t, s.Events("stock.movement.created"), 5, "counting moves nothing")

	posted := s.Command(c["id"], "post", nil).OK(200)
	require.Equal(t, []any{"posted", 2.0}, []any{posted["status"], posted["countedLines"]})
	require.NotNil(t, posted["postedAt"])
	require.Equal(t, []string{"1", "5", "2.5"}, []string{s.Qty(s.Depot, st.Nail), s.Qty(s.Depot, st.Shirt, st.Large), s.Qty(s.Depot, st.Wood)})
	moved := s.Events("stock.movement.created")[5:]
	require.Len(t, moved, 2)
	for _, m := range moved {
		require.Equal(t, []any{"count", "stock_count", c["id"], 1.0}, []any{m["type"], m["documentType"], m["documentId"], m["documentNumber"]})
	}
	require.Equal(t, []object{posted}, s.Events("warehouse.count.posted"))
	s.Command(c["id"], "post", nil).Fault(409, "STOCK_COUNT_STATUS_TRANSITION_INVALID")
	s.Command(c["id"], "cancel", nil).Fault(409, "STOCK_COUNT_STATUS_TRANSITION_INVALID")
	require.Equal(t, object{"status": "posted"}, s.Command(c["id"], "record", object{"items": st.Items(object{"lineId": l["id"], "qty": 1})}).Fault(409, "STOCK_COUNT_NOT_OPEN")["meta"])
	s.Command(c["id"], "lines", object{"items": st.Items(object{"productId": st.Wood})}).Fault(409, "STOCK_COUNT_NOT_OPEN")
	s.Consistent()
}

// A count is not bound by the policy, and what was sold since may make the quantity negative.
func TestCountsBelowZero(t *testing.T) {
	t.Parallel()
	s := open(t, func(p *access.Principal) { p.Settings.StockPolicy = access.StockBlock })
	s.Adjust(s.Depot, st.Nail, 10)
	c := record(s, s.Create(object{}).OK(201), st.Nail, 8)
	s.Adjust(s.Depot, st.Nail, -9)
	s.Command(c["id"], "post", nil).OK(200)
	require.Equal(t, "-1", s.Qty(s.Depot, st.Nail))
}

// What was counted by mistake is taken back, and is left alone when the count is posted.
func TestCountedIsTakenBack(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.Adjust(s.Depot, st.Nail, 5)
	c := record(s, s.Create(object{}).OK(201), st.Nail, 8)
	require.Equal(t, 1.0, c["countedLines"])
	c = record(s, c, st.Nail, nil)
	require.Equal(t, 0.0, c["countedLines"])
	l := lineOf(c, st.Nail)
	require.Equal(t, []any{nil, nil, nil}, []any{l["countedQty"], l["countedAt"], l["differenceQty"]})
	require.Equal(t, map[string]string{"items[0].qty": "REQUIRED"}, s.Command(c["id"], "record", object{"items": st.Items(object{"lineId": l["id"]})}).Fields(), "it has to be said")
	s.Command(c["id"], "post", nil).OK(200)
	require.Equal(t, "5", s.Qty(s.Depot, st.Nail))
}

// Goods are in one open count of a warehouse, whoever asks first.
func TestCountsDoNotOverlap(t *testing.T) {
	t.Parallel()
	s := open(t)
	list := object{"items": st.Items(object{"productId": st.Nail})}
	first := s.Create(list).OK(201)
	fault := s.Create(list).Fault(409, "STOCK_COUNT_OVERLAPS")
	require.Equal(t, object{"productId": st.Nail.String(), "variantId": nil, "countId": first["id"]}, fault["meta"])
	s.Create(object{"warehouseId": s.Annex, "items": list["items"]}).OK(201)
	s.Command(first["id"], "lines", list).Fault(409, "STOCK_COUNT_OVERLAPS")
	s.Create(object{"items": st.Items(object{"productId": st.Wood}, object{"productId": st.Wood})}).Fault(409, "STOCK_COUNT_OVERLAPS")
	added := s.Command(first["id"], "lines", object{"items": st.Items(object{"productId": st.Shirt, "variantId": st.Large})}).OK(200)
	require.Equal(t, []any{2.0, 1.0}, []any{added["linesCount"], lineOf(added, st.Shirt)["sortOrder"]})
	s.Adjust(s.Depot, st.Nail, 1)
	s.Adjust(s.Depot, st.Wood, 1)
	require.Equal(t, 1.0, s.Create(object{}).OK(201)["linesCount"], "the rest of the warehouse")
	s.Command(first["id"], "cancel", nil).OK(200)
	require.Empty(t, s.Events("warehouse.count.posted"))

	codes := make(chan int, 6)
	var wg sync.WaitGroup
	for range cap(codes) {
		wg.Go(func() { codes <- s.Create(list).Status })
	}
	wg.Wait()
	close(codes)
	got := map[int]int{}
	for code := range codes {
		got[code]++
	}
	require.Equal(t, map[int]int{201: 1, 409: cap(codes) - 1}, got)
}

func TestBadCounts(t *testing.T) {
	t.Parallel()
	n := st.NewShop()
	many := make([]any, 251)
	for i := range many {
		id := uuid.Must(uuid.NewV7())
		n.Items[tradetest.Product(id)] = trade.Item{Name: fmt.Sprint("Part ", i), SKU: fmt.Sprint("P-", i), Unit: "pcs", HasStock: true}
		many[i] = object{"productId": id}
	}
	s := openWith(t, n)
	missing := uuid.NewString()
	s.Create(object{"warehouseId": missing}).Fault(404, "WAREHOUSE_NOT_FOUND")
	s.Create(object{"items": st.Items(object{"productId": missing})}).Fault(404, "PRODUCT_NOT_FOUND")
	s.Create(object{"items": st.Items(object{"productId": st.Shirt})}).Fault(409, "PRODUCT_VARIANT_REQUIRED")
	s.Create(object{"items": st.Items(object{"productId": st.Advice})}).Fault(409, "STOCK_ACCOUNTING_DISABLED")
	require.Equal(t, map[string]string{"items": "MIN"}, s.Create(object{"items": []any{}}).Fields())
	c := s.Create(object{"items": many}).OK(201)
	require.Equal(t, 1.0, c["number"], "what is not stored takes no number")
	line := c["lines"].([]any)[0].(object)["id"]
	for field, body := range map[string]object{
		"items[0].qty": {"items": st.Items(object{"lineId": line, "qty": -1})}, "items[1].lineId": {"items": st.Items(object{"lineId": line, "qty": 1}, object{"lineId": line, "qty": 1})}, "items": {},
	} {
		require.Contains(t, s.Command(c["id"], "record", body).Fields(), field)
	}
	s.Command(c["id"], "record", object{"items": st.Items(object{"lineId": missing, "qty": 1})}).Fault(404, "STOCK_COUNT_LINE_NOT_FOUND")
	s.Command(missing, "post", nil).Fault(404, "STOCK_COUNT_NOT_FOUND")
}

func TestLists(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.Create(object{"note": "Monthly", "source": "erp"}).OK(201)
	s.Lists([]string{
		"sort=createdAt", "sort=number&order=desc", "status=counting", "number=1", "search=MONTH", "source=erp", "warehouseId=" + s.Depot.String(),
	}, []string{"status=posted,cancelled", "number=2", "search=year", "warehouseId=" + s.Annex.String()})
}
