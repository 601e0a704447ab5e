package sales_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/numbering"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/sales"
)

// another returns the same company served by another process: nothing is shared but the database.
func (f *kit) another() *kit {
	f.t.Helper()
	other := *f
	other.d = anotherDB(f.t)
	other.s = sales.New(sales.Config{
		DB: other.d, Numbers: numbering.New(numbering.Config{DB: other.d}), Catalog: f.n, Clients: f.clients, Stock: f.store, Users: f.n, Branches: f.n,
	})
	other.server = apitest.New(f.t, other.d, other.s.Register, f.clients.Register)
	other.Client = other.server.Caller(f.Principal.Company, func(p *access.Principal) { *p = *f.Principal })
	return &other
}

// anotherDB is a handle on the same database that shares no locks with other handles.
func anotherDB(t testing.TB) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), MaxConns: 4})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	return d
}

// A sale is wholly in the totals of a shift that is closed at the same time, or refused.
func TestSalesWhileTheShiftIsClosed(t *testing.T) {
	t.Parallel()
	for range 4 {
		f := open(t)
		shift, ann := f.shift(), f.client(1000)
		old := f.sale(shift)["id"]
		nodes := []*kit{f, f.another()}
		const n = 24
		answers := make([]*apitest.Response, n)
		var closing, refund *apitest.Response
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				answers[i] = nodes[i%2].post(shift, "customerId", ann, "redeemPoints", 10, "items", []any{map[string]any{"refId": f.nail, "qty": 3}})
			})
			if i == n/2 {
				wg.Go(func() { closing = nodes[1].Do(t, "POST", "/shifts/"+shift+"/close", `{"closingCash":0}`) })
				wg.Go(func() { refund = nodes[0].refund(old) })
			}
		}
		wg.Wait()
		sold := 1
		for _, a := range answers {
			if a.Status == http.StatusCreated {
				sold++
				continue
			}
			a.Fault(409, "SHIFT_CLOSED")
		}
		refunds := 0
		if refund.Status == http.StatusOK {
			refunds = 1
		} else {
			refund.Fault(409, "SHIFT_NOT_OPEN")
		}
		shut := closing.OK(200)
		require.Equal(t, shut, f.readShift(shift), "nothing came after the end")
		number := 0.0
		last := shut["openedAt"].(string)
		for _, v := range f.Do(t, "GET", "/sales?pageSize=100&sort=createdAt&order=asc&shiftId="+shift, nil).OK(200)["items"].([]any) {
			v := v.(map[string]any)
			require.LessOrEqual(t, v["createdAt"], shut["closedAt"], "no sale lies behind the end of its shift")
			require.GreaterOrEqual(t, v["createdAt"], last)
			last, number = v["createdAt"].(string), number+1
		}
		require.Positive(t, number)
		cash := 1000 + 1000 + (sold-1)*20 - refunds*1000
		for field, want := range map[string]int{
			"salesCount": sold, "refundsCount": refunds, "salesTotal": 1000 + (sold-1)*20, "refundsTotal": refunds * 1000, "expectedCash": cash, "cashDifference": -cash,
		} {
			require.Equal(t, float64(want), shut[field], field)
		}
		require.Equal(t, float64(sold), f.Do(t, "GET", "/sales?kind=sale", nil).OK(200)["total"])
		require.Equal(t, int64(1000-10*(sold-1)), f.points(ann))
		require.Equal(t, text(-3*(sold-1)), f.stock(f.depot, f.nail, uuid.Nil))
		require.Len(t, f.events().Of("sale.completed"), sold)
		f.noGaps()
	}
}

func TestRefundOnceInParallel(t *testing.T) {
	t.Parallel()
	f := open(t)
	shift, ann := f.shift(), f.client(100)
	sold := f.sale(shift, "customerId", ann, "redeemPoints", 100, "items", []any{map[string]any{"refId": f.wood, "qty": 5}})
	nodes := []*kit{f, f.another()}
	const n = 16
	answers := make([]*apitest.Response, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { answers[i] = nodes[i%2].refund(sold["id"]) })
	}
	wg.Wait()
	refund := f.Do(t, "GET", "/sales/"+sold["id"].(string), nil).OK(200)["refundedBySaleId"]
	done := 0
	for _, a := range answers {
		if a.Status == http.StatusOK {
			done++
			require.Equal(t, refund, a.OK(200)["id"])
			continue
		}
		require.Equal(t, map[string]any{"refundSaleId": refund}, a.Fault(409, "SALE_ALREADY_REFUNDED")["meta"])
	}
	require.Equal(t, 1, done)
	require.Equal(t, int64(100), f.points(ann))
	require.Equal(t, "0", f.stock(f.depot, f.wood, uuid.Nil))
	require.Equal(t, 1.0, f.readShift(shift)["refundsCount"])
	require.Len(t, f.events().Of("sale.refunded"), 1)
	f.noGaps()
}

// Points and the last pieces on stock are spent once, and all that is left is sold.
func TestSalesInParallelShareWhatIsLeft(t *testing.T) {
	t.Parallel()
	f := open(t, func(p *access.Principal) { p.Settings.StockPolicy = access.StockBlock })
	shift, ann := f.shift(), f.client(95)
	f.receive(f.depot, f.nail, 7)
	nodes := []*kit{f, f.another()}
	const n = 20
	points, pieces := make([]*apitest.Response, n), make([]*apitest.Response, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { points[i] = nodes[i%2].post(shift, "customerId", ann, "redeemPoints", 10) })
		wg.Go(func() { pieces[i] = nodes[i%2].post(shift, "items", []any{map[string]any{"refId": f.nail}}) })
	}
	wg.Wait()
	count := func(all []*apitest.Response, code string) (sold int) {
		for _, a := range all {
			if a.Status == http.StatusCreated {
				sold++
				continue
			}
			a.Fault(409, code)
		}
		return sold
	}
	require.Equal(t, 9, count(points, "LOYALTY_POINTS_INSUFFICIENT"))
	require.Equal(t, 7, count(pieces, "STOCK_INSUFFICIENT"))
	require.Equal(t, int64(5), f.points(ann))
	require.Equal(t, "0", f.stock(f.depot, f.nail, uuid.Nil))
	require.Equal(t, 16.0, f.readShift(shift)["salesCount"])
	f.noGaps()
}

// The totals of several shifts that sell and refund at the same time are the sums of their documents.
func TestTotalsOfShiftsInParallel(t *testing.T) {
	t.Parallel()
	f := open(t)
	shifts := make([]string, 3)
	tills := make([]*kit, 3)
	for i := range tills {
		till := *f
		till.Client = f.server.Caller(f.Principal.Company)
		tills[i] = &till
		shifts[i] = till.shift()
	}
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			till := tills[i%3]
			v := till.sale(shifts[i%3], "paymentMethod", "mixed", "items", []any{custom(int64(100 + i)), map[string]any{"refId": f.nail, "qty": 2}},
				"payments", []any{pay("cash", 100), pay("card", int64(20+i))})
			if i%2 == 0 {
				till.refund(v["id"]).OK(200)
			}
		})
	}
	wg.Wait()
	for i, shift := range shifts {
		var total, refunds, cash, card float64
		for _, item := range f.Do(t, "GET", "/sales?include=payments&shiftId="+shift, nil).OK(200)["items"].([]any) {
			v := item.(map[string]any)
			sign := 1.0
			if v["kind"] == "refund" {
				sign, refunds = -1, refunds+v["total"].(float64)
			} else {
				total += v["total"].(float64)
			}
			for _, p := range v["payments"].([]any) {
				p := p.(map[string]any)
				if p["paymentMethod"] == "cash" {
					cash += sign * p["amount"].(float64)
				} else {
					card += sign * p["amount"].(float64)
				}
			}
		}
		v := tills[i].readShift(shift)
		require.Equal(t, 8.0, v["salesCount"])
		require.Equal(t, []any{total, refunds, 1000 + cash}, []any{v["salesTotal"], v["refundsTotal"], v["expectedCash"]})
		require.Equal(t, map[string]any{"cash": cash, "card": card, "sbp": 0.0}, v["totalsByMethod"])
	}
	require.Equal(t, "-24", f.stock(f.depot, f.nail, uuid.Nil), "12 sales that were not refunded")
	f.noGaps()
}
