package roles_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// shopkeeper makes documents at random.
type shopkeeper struct {
	rolestest.Client
	t     *testing.T
	rand  *rand.Rand
	items []string // ways to name what is sold
}

func (s *shopkeeper) one(list ...string) string { return list[s.rand.IntN(len(list))] }

func (s *shopkeeper) make(path, body string) map[string]any {
	s.t.Helper()
	return s.OK(s.t, http.MethodPost, path, body).Body
}

// lines are the items of a document with its discounts.
func (s *shopkeeper) lines() string {
	all := make([]string, 1+s.rand.IntN(4))
	for i := range all {
		all[i] = fmt.Sprintf(`{%s,"qty":%d%s}`, s.one(s.items...), 1+s.rand.IntN(5), s.one("", "", `,"discountPercent":33.33`, `,"fixedDiscount":7`))
	}
	return `"items":[` + strings.Join(all, ",") + `]` + s.one("", `,"discountPercent":12.5`, `,"fixedDiscount":111`)
}

// part is a part of the lines of a document that can still come back; "" = nothing.
func (s *shopkeeper) part(document map[string]any, id string) string {
	var items []string
	for _, l := range document["lines"].([]any) {
		line := l.(map[string]any)
		if qty := int(line["qty"].(float64)); s.rand.IntN(2) == 0 {
			items = append(items, fmt.Sprintf(`{%q:%q,"qty":%d}`, id, line["id"], 1+s.rand.IntN(qty)))
		}
	}
	if items == nil {
		return ""
	}
	return `{"items":[` + strings.Join(items, ",") + `]}`
}

func (s *shopkeeper) sell(shift string) {
	sale := s.make("/sales", `{"shiftId":"`+shift+`","paymentMethod":"`+s.one("cash", "card")+`","channel":"`+s.one("pos", "kiosk")+`",`+s.lines()+`}`)
	if back := s.part(sale, "saleLineId"); back != "" && s.rand.IntN(2) == 0 {
		s.make("/sales/"+sale["id"].(string)+"/refund", back)
	}
	if s.rand.IntN(6) == 0 {
		s.Do(s.t, http.MethodPost, "/sales/"+sale["id"].(string)+"/refund", "") // the rest, if there is one
	}
}

func (s *shopkeeper) order(warehouse string) {
	order := s.make("/orders", `{"warehouseId":"`+warehouse+`","deliveryCost":`+s.one("0", "490")+`,`+s.lines()+`}`)
	path := "/orders/" + order["id"].(string)
	switch s.rand.IntN(5) {
	case 0:
		s.make(path+"/status/cancelled", "")
	case 1, 2:
		for _, next := range []string{"confirmed", "in_progress", "ready", "completed"} {
			s.make(path+"/status/"+next, "")
		}
		if back := s.part(order, "orderLineId"); back != "" {
			r := s.Do(s.t, http.MethodPost, path+"/returns", strings.TrimSuffix(back, "}")+s.one("", `,"fee":1`)+"}")
			require.Contains(s.t, []string{"", "RETURN_AMOUNT_EXCEEDED"}, r.Code(), "a fee of what is worth nothing")
		}
	}
}

// sumOf adds up fields of rows; null is 0.
func sumOf(rows []any, fields ...string) map[string]float64 {
	sums := map[string]float64{}
	for _, r := range rows {
		for _, f := range fields {
			n, _ := r.(map[string]any)[f].(float64)
			sums[f] += n
		}
	}
	return sums
}

// Whatever a report is grouped by, its rows add up to its totals, and these to the documents, to the last minor unit: the amounts, taxes,
// discounts, costs and what came back. So they do when the sums of the day are kept, and when records change afterwards.
func TestReportsAddUpToTheDocumentsInEveryGrouping(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	n := rolestest.NewNode(d.WithClock(func() time.Time { return time.Now().AddDate(0, 0, -3) }), rolestest.Alone())
	owner, id := n.Owner(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	s := &shopkeeper{Client: owner, t: t, rand: rand.New(rand.NewPCG(seed, 0))}
	n.Operator(rolestest.WriterToken).In(id).OK(t, http.MethodPatch, "", `{"taxMode":"`+s.one("included", "added")+`","taxRounding":"`+s.one("line", "document")+`"}`)
	rate := s.make("/catalog/tax-rates", `{"name":"Standard","percent":19}`)["id"].(string)
	tools := s.make("/catalog/categories", `{"name":"Tools"}`)["id"].(string)
	for _, product := range []string{`"price":999,"cost":333,"taxRateId":"` + rate + `","categoryId":"` + tools + `"`, `"price":1250,"cost":1300,"categoryId":"` + tools + `"`, `"price":77,"taxRateId":"` + rate + `"`} {
		made := s.make("/catalog/products", `{"name":"Saw","hasStock":true,`+product+`}`)
		s.items = append(s.items, `"refId":"`+made["id"].(string)+`"`)
	}
	service := s.make("/catalog/services", `{"name":"Cut","price":500,"categoryId":"`+tools+`","costItems":[{"label":"Work","amount":120}]}`)
	s.items = append(s.items, `"kind":"service","refId":"`+service["id"].(string)+`"`, `"kind":"custom","name":"Bag","unitPrice":10`)
	addBranch(t, n, id)
	annex := s.make("/warehouse/warehouses", `{"name":"Annex"}`) // of the branch that has none
	branch := annex["branchId"].(string)
	main := s.OK(t, http.MethodGet, "/warehouse/warehouses?sort=createdAt&order=asc", "").Body["items"].([]any)[0].(map[string]any)["id"].(string)

	trade := func() {
		for range 2 {
			shift := s.make("/shifts/open", s.one(`{"openingCash":0}`, `{"openingCash":0,"branchId":"`+branch+`"}`))["id"].(string)
			for range 8 {
				s.sell(shift)
			}
			s.make("/shifts/"+shift+"/close", "")
			for range 8 {
				s.order(s.one(main, annex["id"].(string)))
			}
		}
	}
	for range 3 { // the second time, the sums of the first are kept and have changed
		trade()
		s.compare()
		s.compare()
	}
}

// compare compares reports with documents.
func (s *shopkeeper) compare() {
	s.t.Helper()
	days := fmt.Sprintf("?from=%s&to=%s&groupBy=", rolestest.Today(-6), rolestest.Today(1))
	of := func(path string) []any {
		items := s.OK(s.t, http.MethodGet, path, "").Body["items"].([]any)
		require.Less(s.t, len(items), 200)
		for _, it := range items {
			item := it.(map[string]any)
			costs := item["costs"].(map[string]any)
			item["cost"], item["costedAmount"], item["margin"] = costs["cost"], costs["costedAmount"], costs["margin"]
			if item["status"] == "cancelled" {
				clear(item)
			}
			for name, v := range item {
				if n, ok := v.(float64); ok && item["kind"] == "refund" {
					item[name] = -n
				}
			}
			item["netTotal"] = item["total"]
		}
		return items
	}
	first, err := time.Parse(time.DateOnly, rolestest.Today(-6))
	require.NoError(s.t, err)
	sales, orders := of("/sales?pageSize=200&include=costs"), of("/orders?pageSize=200&include=costs,lines")
	var lines []any
	for _, o := range orders {
		of, _ := o.(map[string]any)["lines"].([]any)
		lines = append(lines, of...)
	}
	check := func(report, by string, documents []any, fields ...string) {
		s.t.Helper()
		r := s.OK(s.t, http.MethodGet, "/reports/"+report+days+by, "").Body
		require.NotEmpty(s.t, r["rows"])
		require.Equal(s.t, sumOf([]any{r["totals"]}, fields...), sumOf(r["rows"].([]any), fields...), "rows of %s by %s", report, by)
		require.Equal(s.t, sumOf(documents, fields...), sumOf([]any{r["totals"]}, fields...), "totals of %s by %s", report, by)
		require.Nil(s.t, r["comparison"])
		compare := s.one("previous", "year")
		from := map[string]time.Time{"previous": first.AddDate(0, 0, 8), "year": first.AddDate(1, 0, 0)}[compare]
		later := fmt.Sprintf("?from=%s&to=%s&compare=%s&groupBy=%s", from.Format(time.DateOnly), from.AddDate(0, 0, 7).Format(time.DateOnly), compare, by)
		compared := s.OK(s.t, http.MethodGet, "/reports/"+report+later, "").Body["comparison"]
		require.Equal(s.t, map[string]any{"from": r["from"], "to": r["to"], "rows": r["rows"], "totals": r["totals"]}, compared, "%s of %s by %s", compare, report, by)
	}
	common := []string{"taxAmount", "discountAmount", "cost", "costedAmount", "margin"}
	for _, by := range []string{
		"day", "method,channel,branch", "tax", "cashier", "shift", "branch,shift,cashier", "hour", "day,branch,hour", "product", "category", "branch,product", "day,product,category",
	} {
		check("sales", by, sales, append(slices.Clone(common), "netTotal")...)
	}
	for _, by := range []string{"day", "status,channel", "hour", "branch,hour"} {
		check("orders", by, orders, append(slices.Clone(common), "total", "returnedAmount", "returnedTaxAmount", "payable")...)
	}
	for _, by := range []string{"tax", "product", "category", "branch,product", "day,product,category"} {
		check("orders", by, orders, append(slices.Clone(common), "total", "returnedTaxAmount")...)
		check("orders", by, lines, "returnedAmount")
	}
}
