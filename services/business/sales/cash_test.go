package sales_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

func (f *kit) moveCash(shift, typ string, amount int64, pairs ...any) *apitest.Response {
	f.t.Helper()
	return f.Do(f.t, "POST", "/shifts/"+shift+"/cash-movements", object(append([]any{"type", typ, "amount", amount, "reason", "float"}, pairs...)))
}

func TestCashMovements(t *testing.T) {
	t.Parallel()
	f := open(t)
	shift := f.shift("cashierId", f.n.ben)
	made := f.moveCash(shift, "in", 500, "reason", "change from the bank", "externalId", "m-1", "metadata", map[string]any{"bag": "7"})
	first := made.OK(201)
	path := "/shifts/" + shift + "/cash-movements/" + first["id"].(string)
	require.Equal(t, "/api/external/v1"+path, made.Header.Get("Location"))
	require.Equal(t, first, f.Do(t, "GET", path, nil).OK(200))
	require.Equal(t, map[string]any{
		"id": first["id"], "companyId": f.Principal.Company.String(), "shiftId": shift, "type": "in", "amount": 500.0, "reason": "change from the bank",
		"source": nil, "externalId": "m-1", "metadata": map[string]any{"bag": "7"}, "cashierId": f.Principal.Actor.String(), "cashierName": nil,
		"occurredAt": first["createdAt"], "late": false, "createdById": f.Principal.Actor.String(), "version": 1.0, "createdAt": first["createdAt"], "updatedAt": first["createdAt"],
	}, first)
	f.sale(shift) // 1000 in cash
	got := f.moveCash(shift, "out", 2501).Fault(409, "CASH_INSUFFICIENT")
	require.Equal(t, map[string]any{"amount": 2501.0, "expectedCash": 2500.0}, got["meta"])
	other := f.server.Caller(f.Principal.Company)
	second := other.Do(t, "POST", "/shifts/"+shift+"/cash-movements", map[string]any{"type": "out", "amount": 2500, "reason": "bank deposit", "cashierId": f.n.ben}).OK(201)
	require.Equal(t, []any{"Ben", other.Principal.Actor.String()}, []any{second["cashierName"], second["createdById"]})
	v := f.readShift(shift)
	require.Equal(t, []any{500.0, 2500.0, 0.0, "Ben", 4.0}, []any{v["cashIn"], v["cashOut"], v["expectedCash"], v["cashierName"], v["version"]})
	require.Equal(t, map[string]any{"cash": 1000.0, "card": 0.0, "sbp": 0.0}, v["totalsByMethod"], "of sales and refunds")

	events := f.events().Of("shift.cash_moved")
	require.Len(t, events, 2)
	require.Equal(t, first, events[0].Data["cashMovement"])
	require.Equal(t, second, events[1].Data["cashMovement"])
	delete(events[1].Data, "cashMovement")
	require.Equal(t, v, events[1].Data, "with the shift after it")

	page := func(query string) []string {
		return idsOf(f.Do(t, "GET", "/shifts/"+shift+"/cash-movements?"+query, nil).OK(200))
	}
	one, two := first["id"].(string), second["id"].(string)
	for query, want := range map[string][]string{
		"": {two, one}, "order=asc": {one, two}, "type=in": {one}, "type=out": {two}, "externalId=m-1": {one}, "metadata[bag]=7": {one}, "search=bank": {two, one},
		"search=deposit": {two}, "pageSize=1&page=2": {one}, "updatedSince=2020-01-01T00:00:00Z": {one, two},
	} {
		require.Equal(t, want, page(query), query)
	}
	require.NotNil(t, f.moveCash(shift, "out", 999999, "externalId", "m-1").Fault(409, "CASH_MOVEMENT_EXTERNAL_ID_TAKEN")["meta"].(map[string]any)["id"], "before amounts")

	shut := f.Do(t, "POST", "/shifts/"+shift+"/close", `{"closingCash":5}`).OK(200)
	require.Equal(t, []any{0.0, 5.0, "Ben"}, []any{shut["expectedCash"], shut["cashDifference"], shut["cashierName"]})
	require.Equal(t, shut, f.readShift(shift))
	f.moveCash(shift, "in", 1).Fault(409, "SHIFT_CLOSED")
	require.Equal(t, []string{two, one}, page(""))
}

func TestBadCashMovements(t *testing.T) {
	t.Parallel()
	f := open(t)
	shift := f.shift()
	path := "/shifts/" + shift + "/cash-movements"
	for body, want := range map[string]map[string]string{
		`{}`:                                      {"type": "REQUIRED", "amount": "REQUIRED", "reason": "REQUIRED"},
		`{"type":"in","amount":0,"reason":"x"}`:   {"amount": "MIN"},
		`{"type":"in","amount":-5,"reason":"x"}`:  {"amount": "MIN"},
		`{"type":"in","amount":0.5,"reason":"x"}`: {"amount": "STEP"},
		`{"type":"to","amount":5,"reason":" "}`:   {"type": "ENUM", "reason": "LENGTH"},
	} {
		require.Equal(t, want, f.Do(t, "POST", path, body).Fields(), body)
	}
	f.moveCash(shift, "in", 1, "cashierId", uuid.New()).Fault(404, "USER_NOT_FOUND")
	f.moveCash(shift, "in", 1, "cashierId", f.n.blocked).Fault(409, "CASHIER_INACTIVE")
	f.moveCash(uuid.NewString(), "in", 1).Fault(404, "SHIFT_NOT_FOUND")
	f.Do(t, "GET", "/shifts/"+uuid.NewString()+"/cash-movements", nil).Fault(404, "SHIFT_NOT_FOUND")
	made := f.moveCash(shift, "in", 1).OK(201)["id"].(string)
	f.Do(t, "GET", path+"/"+uuid.NewString(), nil).Fault(404, "CASH_MOVEMENT_NOT_FOUND")
	f.Do(t, "GET", "/shifts/"+uuid.NewString()+"/cash-movements/"+made, nil).Fault(404, "SHIFT_NOT_FOUND")
	theirs := f.server.Caller(f.Principal.Company).Do(t, "POST", "/shifts/open", `{"openingCash":0}`).OK(201)["id"].(string)
	f.Do(t, "GET", "/shifts/"+theirs+"/cash-movements/"+made, nil).Fault(404, "CASH_MOVEMENT_NOT_FOUND")
	f.moveCash(shift, "out", 1).OK(201)
	stranger := f.server.Company()
	stranger.Do(t, "GET", path+"/"+made, nil).Fault(404, "SHIFT_NOT_FOUND")
	stranger.Do(t, "POST", path, `{"type":"in","amount":5,"reason":"x"}`).Fault(404, "SHIFT_NOT_FOUND")
	stranger.Do(t, "GET", path, nil).Fault(404, "SHIFT_NOT_FOUND")
	f.Do(t, "POST", path, `{"type":"in","amount":5,"reason":"x"}`, apitest.Header{"If-Match", `"2"`}).Fault(412, "PRECONDITION_FAILED")
	const most = int64(1)<<53 - 1
	f.moveCash(shift, "in", most-1).OK(201)
	f.moveCash(shift, "in", 1).Fault(409, "SHIFT_TOTAL_OUT_OF_RANGE")
	require.Equal(t, 4.0, f.readShift(shift)["version"], "what was refused changed nothing")
	key := apitest.Header{"X-Idempotency-Key", uuid.NewString()}
	again := f.Do(t, "POST", path, `{"type":"out","amount":5,"reason":"x"}`, key).OK(201)
	require.Equal(t, again, f.Do(t, "POST", path, `{"type":"out","amount":5,"reason":"x"}`, key).OK(201))
	require.Equal(t, 6.0, f.readShift(shift)["cashOut"])
}

// Cash that leaves a shift in parallel is never more than was there, and none leaves it after its end.
func TestCashInParallel(t *testing.T) {
	t.Parallel()
	for _, closes := range []bool{false, true} {
		f := open(t)
		shift := f.shift() // with 1000
		nodes := []*kit{f, f.another()}
		const n = 24
		answers := make([]*apitest.Response, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { answers[i] = nodes[i%2].moveCash(shift, "out", 90) })
			if i%6 == 0 {
				wg.Go(func() { nodes[i%2].post(shift) })
			}
			if closes && i == n/2 {
				wg.Go(func() { f.Do(t, "POST", "/shifts/"+shift+"/close", nil).OK(200) })
			}
		}
		wg.Wait()
		out := 0
		for _, a := range answers {
			if a.Status == http.StatusCreated {
				out += 90
			} else {
				require.Contains(t, []any{"CASH_INSUFFICIENT", "SHIFT_CLOSED"}, a.OK(409)["code"])
			}
		}
		v := f.readShift(shift)
		require.Equal(t, float64(out), v["cashOut"])
		require.GreaterOrEqual(t, v["expectedCash"], 0.0)
		require.Equal(t, 1000+1000*v["salesCount"].(float64)-float64(out), v["expectedCash"])
		require.Len(t, f.events().Of("shift.cash_moved"), out/90)
		if !closes {
			require.GreaterOrEqual(t, out, 11*90, "what was there at first")
		}
	}
}

// The expected cash is that of a drawer into which everything is put.
func TestDrawerAgainstModel(t *testing.T) {
	t.Parallel()
	f := open(t)
	rapid.Check(t, func(rt *rapid.T) {
		c := *f
		c.Client = f.server.Company()
		shift, drawer := c.shift(), int64(1000)
		var in, out int64
		var sold []map[string]any
		for range rapid.IntRange(1, 10).Draw(rt, "steps") {
			amount := rapid.Int64Range(1, 1500).Draw(rt, "amount")
			switch rapid.IntRange(0, 3).Draw(rt, "step") {
			case 0:
				c.moveCash(shift, "in", amount).OK(201)
				in, drawer = in+amount, drawer+amount
			case 1:
				if got := c.moveCash(shift, "out", amount); amount > drawer {
					got.Fault(409, "CASH_INSUFFICIENT")
				} else {
					got.OK(201)
					out, drawer = out+amount, drawer-amount
				}
			case 2:
				cash := rapid.Int64Range(1, amount).Draw(rt, "cash")
				if cash == amount {
					sold = append(sold, c.sale(shift, "items", []any{custom(amount)}))
				} else {
					sold = append(sold, c.sale(shift, "items", []any{custom(amount)}, "paymentMethod", "mixed", "payments", []any{pay("cash", cash), pay("card", amount-cash)}))
				}
				drawer += cash
			default:
				if len(sold) == 0 {
					continue
				}
				v := rapid.SampledFrom(sold).Draw(rt, "sale")
				got := c.refund(v["id"], "items", []any{item(v, 0, 0.4)})
				if got.Status == http.StatusConflict {
					got.Fault(409, "REFUND_QTY_EXCEEDED")
					continue
				}
				for _, p := range paymentsOf(got.OK(200)) {
					if p["paymentMethod"] == "cash" {
						drawer -= number(p["amount"])
					}
				}
			}
		}
		v := c.readShift(shift)
		require.Equal(rt, []int64{in, out, drawer}, []int64{number(v["cashIn"]), number(v["cashOut"]), number(v["expectedCash"])})
	})
}
