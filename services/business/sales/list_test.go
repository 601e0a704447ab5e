package sales_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// listed is the model of a sale in a list.
type listed struct {
	id, shift, cashier, customer, kind, method string
	total, number                              int64
}

type query struct {
	Sort, Order, Kind, Shift, Cashier, Customer, Method string
	Size                                                int
}

func (q query) values() url.Values {
	v := url.Values{"pageSize": {fmt.Sprint(q.Size)}}
	for name, value := range map[string]string{
		"sort": q.Sort, "order": q.Order, "kind": q.Kind, "shiftId": q.Shift, "cashierId": q.Cashier, "customerId": q.Customer, "paymentMethod": q.Method,
	} {
		if value != "" {
			v.Set(name, value)
		}
	}
	return v
}

func (q query) expect(all []listed) (ids []string) {
	var hits []listed
	for _, l := range all {
		if (q.Kind == "" || q.Kind == "all" || q.Kind == l.kind) && (q.Shift == "" || q.Shift == l.shift) && (q.Cashier == "" || q.Cashier == l.cashier) &&
			(q.Customer == "" || q.Customer == l.customer) && (q.Method == "" || slices.Contains(strings.Split(q.Method, ","), l.method)) {
			hits = append(hits, l)
		}
	}
	slices.SortFunc(hits, func(a, b listed) int {
		if q.Sort == "total" {
			return cmp.Or(cmp.Compare(a.total, b.total), cmp.Compare(a.id, b.id))
		}
		return cmp.Compare(a.number, b.number)
	})
	if q.Order == "desc" || (q.Sort == "" && q.Order == "") {
		slices.Reverse(hits)
	}
	for _, l := range hits {
		ids = append(ids, l.id)
	}
	return ids
}

func seed(f *kit) (all []listed, shifts, cashiers, customers []string) {
	second := *f
	second.Client = f.server.Caller(f.Principal.Company)
	tills := []*kit{f, &second}
	shifts = []string{f.shift(), second.shift()}
	cashiers = []string{f.Principal.Actor.String(), second.Principal.Actor.String()}
	customers = []string{f.client(0), f.client(0)}
	add := func(v map[string]any) {
		customer, _ := v["customerId"].(string)
		all = append(all, listed{
			v["id"].(string), v["shiftId"].(string), v["cashierId"].(string), customer, v["kind"].(string), v["paymentMethod"].(string), number(v["total"]), number(v["number"]),
		})
	}
	for i := range 14 {
		price := int64(100 * (i % 4))
		pairs := []any{"paymentMethod", []string{"cash", "card", "sbp"}[i%3], "items", []any{custom(price + 10)}}
		if i%5 == 4 {
			pairs = []any{"paymentMethod", "mixed", "payments", []any{pay("cash", 5), pay("card", price+5)}, "items", []any{custom(price + 10)}}
		}
		if i%3 > 0 {
			pairs = append(pairs, "customerId", customers[i%2])
		}
		v := tills[i%2].sale(shifts[i%2], pairs...)
		add(v)
		if i%4 == 3 {
			add(tills[(i+1)%2].refund(v["id"]).OK(200))
		}
	}
	return all, shifts, cashiers, customers
}

func idsOf(page map[string]any) (ids []string) {
	for _, item := range page["items"].([]any) {
		ids = append(ids, item.(map[string]any)["id"].(string))
	}
	return ids
}

func TestListAgainstModel(t *testing.T) {
	t.Parallel()
	f := open(t)
	all, shifts, cashiers, customers := seed(f)
	oneOf := func(rt *rapid.T, name string, values ...string) string {
		return rapid.SampledFrom(append([]string{""}, values...)).Draw(rt, name)
	}
	rapid.Check(t, func(rt *rapid.T) {
		q := query{
			Sort: oneOf(rt, "sort", "createdAt", "number", "total"), Order: oneOf(rt, "order", "asc", "desc"), Kind: oneOf(rt, "kind", "all", "sale", "refund"),
			Shift: oneOf(rt, "shift", shifts...), Cashier: oneOf(rt, "cashier", cashiers...), Customer: oneOf(rt, "customer", customers...),
			Method: oneOf(rt, "method", "cash", "mixed", "card,sbp"), Size: rapid.IntRange(1, 10).Draw(rt, "size"),
		}
		want := q.expect(all)
		var pages, cursor []string
		for n := 1; ; n++ {
			v := q.values()
			v.Set("page", fmt.Sprint(n))
			page := f.Do(t, "GET", "/sales?"+v.Encode(), nil).OK(200)
			require.Equal(rt, float64(len(want)), page["total"])
			got := idsOf(page)
			if len(got) == 0 {
				break
			}
			pages = append(pages, got...)
		}
		require.Equal(rt, want, pages)
		for v := q.values(); ; {
			page := f.Do(t, "GET", "/sales?"+v.Encode(), nil).OK(200)
			cursor = append(cursor, idsOf(page)...)
			next, more := page["nextCursor"].(string)
			if !more {
				break
			}
			v.Set("cursor", next)
		}
		require.Equal(rt, want, cursor)
	})
}

func TestPagesOfLargeSalesAreShort(t *testing.T) {
	t.Parallel()
	f := open(t)
	shift := f.shift()
	lines := make([]any, 440)
	for i := range lines {
		lines[i] = custom(1)
		lines[i].(map[string]any)["name"] = strings.Repeat("\U0001F600", 255)
	}
	var want []string
	for range 8 { // of 0.7 MB
		sale := f.sale(shift, "items", lines, "paymentMethod", "mixed", "payments", []any{pay("cash", 240), pay("card", 200)})
		want = append(want, sale["id"].(string))
	}
	slices.Reverse(want)
	for _, include := range []string{"lines", "lines,payments"} {
		var got []string
		query := ""
		for pages := 1; ; pages++ {
			page := f.Do(t, "GET", "/sales?pageSize=8&include="+include+query, nil).OK(200)
			items := page["items"].([]any)
			require.Less(t, len(items), 8, "a shorter page")
			for _, item := range items {
				require.Len(t, item.(map[string]any)["lines"], 440)
				if include != "lines" {
					require.Len(t, item.(map[string]any)["payments"], 2)
				}
			}
			got = append(got, idsOf(page)...)
			next, more := page["nextCursor"].(string)
			require.Equal(t, more, page["hasMore"])
			if !more {
				break
			}
			query = "&cursor=" + next
			require.Less(t, pages, 8)
		}
		require.Equal(t, want, got, include)
	}
	require.Len(t, f.Do(t, "GET", "/sales?pageSize=8&include=payments", nil).OK(200)["items"], 8, "payments are small")
}

func TestListItem(t *testing.T) {
	t.Parallel()
	f := open(t)
	shift, ann := f.shift(), f.client(0)
	v := f.sale(shift, "customerId", ann, "cashierId", f.n.ben, "items", []any{custom(1), custom(2)})
	back := f.server.Caller(f.Principal.Company).Do(t, "POST", "/sales/"+v["id"].(string)+"/refund", nil).OK(200)
	v = f.Do(t, "GET", "/sales/"+v["id"].(string), nil).OK(200)
	items := f.Do(t, "GET", "/sales?sort=number&include=lines,payments", nil).OK(200)["items"].([]any)
	for i, want := range []map[string]any{v, back} {
		got := items[i].(map[string]any)
		require.Equal(t, 2.0, got["linesCount"])
		require.Equal(t, []any{"Ben", nil}[i], got["cashierName"])
		delete(got, "linesCount")
		require.Equal(t, want, got)
	}
	plain := f.Do(t, "GET", "/sales?sort=number", nil).OK(200)["items"].([]any)[0].(map[string]any)
	fields := slices.Collect(maps.Keys(v))
	fields = slices.DeleteFunc(append(fields, "linesCount"), func(name string) bool { return name == "lines" || name == "payments" })
	require.ElementsMatch(t, fields, slices.Collect(maps.Keys(plain)))
	only := f.Do(t, "GET", "/sales?include=payments", nil).OK(200)["items"].([]any)[0].(map[string]any)
	require.NotContains(t, only, "lines")
	require.Len(t, only["payments"], 1)
	free := f.sale(shift, "discountPercent", 100)
	only = f.Do(t, "GET", "/sales?include=payments&ids="+free["id"].(string), nil).OK(200)["items"].([]any)[0].(map[string]any)
	require.Equal(t, []any{}, only["payments"])
}

func TestSearchAndDatesOfSales(t *testing.T) {
	t.Parallel()
	f := open(t)
	shift := f.shift()
	ids := map[string]string{
		"1": f.sale(shift, "customerName", "Zoë Smith", "customerPhone", "+49 (30) 555-77")["id"].(string),
		"2": f.sale(shift, "customerName", "Bob")["id"].(string),
	}
	for params, want := range map[string][]string{
		"search=ZOË":                        {"1"},
		"search=3055577":                    {"1"},
		"search=bob":                        {"2"},
		"search=2":                          {"2"},
		"search=nobody":                     nil,
		"dateFrom=2020-01-01":               {"2", "1"},
		"dateTo=2020-01-01":                 nil,
		"updatedSince=2020-01-01T00:00:00Z": {"1", "2"},
		"dateFrom=2020-01-01&search=smith&kind=sale": {"1"},
	} {
		var got []string
		for _, number := range want {
			got = append(got, ids[number])
		}
		name, value, _ := strings.Cut(params, "search=")
		if value != "" && !strings.Contains(value, "&") {
			params = name + "search=" + url.QueryEscape(value)
		}
		require.Equal(t, got, idsOf(f.Do(t, "GET", "/sales?"+params, nil).OK(200)), params)
	}
	for params, field := range map[string]string{
		"sort=shift": "sort", "kind=gift": "kind", "shiftId=x": "shiftId", "customerId=": "customerId", "paymentMethod=gold": "paymentMethod[0]",
		"dateFrom=2026-01-02&dateTo=2026-01-01": "dateFrom", "include=client": "include[0]", "pageSize=201": "pageSize",
	} {
		require.Contains(t, f.Do(t, "GET", "/sales?"+params, nil).Fields(), field, params)
	}
	require.Empty(t, f.server.Company().Do(t, "GET", "/sales", nil).OK(200)["items"])
}
