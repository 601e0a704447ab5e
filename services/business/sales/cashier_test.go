package sales_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

// A token names an active user of its company; its own user is recorded as well.
func TestCashierOfASale(t *testing.T) {
	t.Parallel()
	f := open(t)
	shift, actor := f.shift(), f.Principal.Actor.String()
	v := f.sale(shift, "cashierId", f.n.ben)
	require.Equal(t, []any{f.n.ben.String(), "Ben", actor}, []any{v["cashierId"], v["cashierName"], v["createdById"]})
	require.Equal(t, v, f.readSale(v["id"]))
	require.Equal(t, v, f.events().Of("sale.completed")[0].Data)
	changed := f.Do(t, "PATCH", "/sales/"+v["id"].(string), `{"metadata":{"a":"b"}}`).OK(200)
	require.Equal(t, "Ben", changed["cashierName"])
	updated := f.events().Of("sale.updated")[0].Data
	require.Equal(t, []any{"Ben", []any{"metadata"}}, []any{updated["cashierName"], updated["changedFields"]})

	own := f.sale(shift, "cashierId", actor)
	require.Equal(t, []any{actor, nil, actor}, []any{own["cashierId"], own["cashierName"], own["createdById"]})
	require.Equal(t, []string{v["id"].(string)}, idsOf(f.Do(t, "GET", "/sales?cashierId="+f.n.ben.String(), nil).OK(200)))
	meta := f.post(shift, "cashierId", uuid.New()).Fault(404, "USER_NOT_FOUND")["meta"].(map[string]any)
	require.Equal(t, "cashierId", meta["field"])
	got := f.post(shift, "cashierId", f.n.blocked).Fault(409, "CASHIER_INACTIVE")
	require.Equal(t, map[string]any{"field": "cashierId", "id": f.n.blocked.String()}, got["meta"])
	other := f.server.Caller(f.Principal.Company)
	f.post(shift, "cashierId", other.Principal.Actor).Fault(404, "USER_NOT_FOUND")
	f.noGaps()
}

func TestCashierOfAShift(t *testing.T) {
	t.Parallel()
	f := open(t)
	open := func(id any) map[string]any { return map[string]any{"openingCash": 0, "cashierId": id} }
	f.Do(t, "POST", "/shifts/open", open(uuid.New())).Fault(404, "USER_NOT_FOUND")
	f.Do(t, "POST", "/shifts/open", open(f.n.blocked)).Fault(409, "CASHIER_INACTIVE")
	v := f.Do(t, "POST", "/shifts/open", open(f.n.ben)).OK(201)
	require.Equal(t, []any{f.n.ben.String(), "Ben", f.Principal.Actor.String()}, []any{v["cashierId"], v["cashierName"], v["openedById"]})
	require.Equal(t, v, f.events().Of("shift.opened")[0].Data)
	require.Equal(t, v, f.Do(t, "GET", "/shifts?cashierId="+f.n.ben.String(), nil).OK(200)["items"].([]any)[0])
	shut := f.Do(t, "POST", "/shifts/"+v["id"].(string)+"/close", nil).OK(200)
	require.Equal(t, "Ben", shut["cashierName"])
	require.Equal(t, shut, f.events().Of("shift.closed")[0].Data)
}

// A person who is signed in has a name, whether the request names somebody or not, and whoever reads it.
func TestPersonAsCashier(t *testing.T) {
	t.Parallel()
	f := open(t)
	me := f.server.Caller(f.Principal.Company, func(p *access.Principal) { p.Actor, p.TokenID = f.n.ben, f.n.ben })
	v := me.Do(t, "POST", "/shifts/open", map[string]any{"openingCash": 0, "cashierId": f.n.ben}).OK(201)
	require.Equal(t, []any{f.n.ben.String(), "Ben"}, []any{v["cashierId"], v["cashierName"]})
	require.Equal(t, v, f.events().Of("shift.opened")[0].Data)
	path := "/shifts/" + v["id"].(string)
	moved := me.Do(t, "POST", path+"/cash-movements", `{"type":"in","amount":5,"reason":"change"}`).OK(201)
	sold := me.Do(t, "POST", "/sales", body(v["id"].(string))).OK(201)
	require.Equal(t, []any{"Ben", "Ben"}, []any{moved["cashierName"], sold["cashierName"]})
	require.Equal(t, sold, f.events().Of("sale.completed")[0].Data)
	for _, reader := range []*apitest.Client{f.Client, me} {
		require.Equal(t, "Ben", reader.Do(t, "GET", path, nil).OK(200)["cashierName"])
		require.Equal(t, moved, reader.Do(t, "GET", path+"/cash-movements", nil).OK(200)["items"].([]any)[0])
		require.Equal(t, sold, reader.Do(t, "GET", "/sales/"+sold["id"].(string), nil).OK(200))
	}
}

func TestPreviewOfASale(t *testing.T) {
	t.Parallel()
	f := open(t, func(p *access.Principal) {
		p.Settings.AccrualPercentBP, p.Settings.StockPolicy = 1000, access.StockBlock
	})
	f.receive(f.depot, f.wood, 3)
	shift, ann := f.shift(), f.client(300)
	in := body(shift, "customerId", ann, "redeemPoints", 200, "discountPercent", 12.5, "receivedAmount", 5000, "cashierId", f.n.ben,
		"items", []any{map[string]any{"refId": f.wood, "qty": 3}, custom(7)})
	p := f.Do(t, "POST", "/sales/preview", in).OK(200)
	for _, field := range []string{"lines", "payments"} {
		require.NotEmpty(t, p[field])
	}
	require.Equal(t, int64(300), f.points(ann))
	require.Equal(t, "3", f.stock(f.depot, f.wood, uuid.Nil))
	require.Empty(t, f.events().Of("sale.completed"))
	require.Empty(t, f.Do(t, "GET", "/sales", nil).OK(200)["items"])
	require.Equal(t, 0.0, f.readShift(shift)["salesCount"])
	v := f.Do(t, "POST", "/sales", in).OK(201)
	require.Equal(t, 1.0, v["number"], "a preview takes none")
	for field, want := range p {
		if field == "lines" || field == "payments" {
			for i, part := range want.([]any) {
				for name, value := range part.(map[string]any) {
					if name != "id" && name != "createdAt" {
						require.Equal(t, v[field].([]any)[i].(map[string]any)[name], value, "%s.%s", field, name)
					}
				}
			}
			continue
		}
		require.Equal(t, v[field], want, field)
	}
	// It fails as a sale does.
	for _, pairs := range [][]any{
		{"items", []any{map[string]any{"refId": f.wood, "qty": 1}}},
		{"items", []any{map[string]any{"refId": uuid.New()}}},
		{"items", []any{}},
		{"paymentMethod", "mixed"},
		{"receivedAmount", 999},
		{"customerId", uuid.New()},
		{"customerId", ann, "redeemPoints", 999},
		{"cashierId", f.n.blocked},
		{"items", []any{map[string]any{"refId": f.kit, "qty": 1}}},
	} {
		preview, sale := f.Do(t, "POST", "/sales/preview", body(shift, pairs...)), f.Do(t, "POST", "/sales", body(shift, pairs...))
		require.Equal(t, sale.Status, preview.Status, pairs)
		require.GreaterOrEqual(t, sale.Status, 400)
		got, want := preview.OK(preview.Status), sale.OK(sale.Status)
		for _, field := range []string{"code", "message", "meta", "errors"} {
			require.Equal(t, want[field], got[field], pairs)
		}
	}
	f.Do(t, "POST", "/shifts/"+shift+"/close", nil).OK(200)
	f.Do(t, "POST", "/sales/preview", body(shift)).Fault(409, "SHIFT_CLOSED")
}

// A person answers for one drawer at a time, whatever token opens it. Users of tokens are no persons.
func TestOneOpenShiftOfAPerson(t *testing.T) {
	t.Parallel()
	f := open(t)
	first := f.shift("cashierId", f.n.ben)
	other := f.server.Caller(f.Principal.Company)
	got := other.Do(t, "POST", "/shifts/open", map[string]any{"openingCash": 0, "cashierId": f.n.ben}).Fault(409, "SHIFT_ALREADY_OPEN")
	require.Equal(t, map[string]any{"field": "cashierId", "shiftId": first, "number": 1.0}, got["meta"])
	theirs := other.Do(t, "POST", "/shifts/open", `{"openingCash":0}`).OK(201)
	third := f.server.Caller(f.Principal.Company)
	third.Do(t, "POST", "/shifts/open", map[string]any{"openingCash": 0, "cashierId": theirs["cashierId"]}).Fault(404, "USER_NOT_FOUND")
	f.Do(t, "POST", "/shifts/"+first+"/close", nil).OK(200)
	third.Do(t, "POST", "/shifts/open", map[string]any{"openingCash": 0, "cashierId": f.n.ben}).OK(201)
}
