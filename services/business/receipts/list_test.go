package receipts_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// receiptModel is a receipt as the test posted it.
type receiptModel struct {
	id, status, warehouse, supplier, note string
	date                                  time.Time
	number                                int
	qty, amount                           float64
}

func TestListAgainstTheModel(t *testing.T) {
	t.Parallel()
	s := open(t)
	depots := []uuid.UUID{s.depot, s.newDepot("Annex", false)}
	north, south := s.mill, s.Do(t, "POST", "/warehouse/suppliers", `{"name":"South Dairy"}`).OK(201)["id"].(string)
	names := map[string]string{north: "North Mill", south: "South Dairy", "": ""}
	var all []receiptModel
	day := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := range 30 {
		m := receiptModel{
			status: "posted", warehouse: depots[i%2].String(), supplier: []string{north, "", south}[i%3], note: []string{"milk", "", "bread"}[i*7%3],
			date: day.AddDate(0, 0, i*11%7), number: i + 1, qty: float64(i*5%9 + 1),
		}
		m.amount = m.qty * float64(i%4*100)
		pairs := []any{"warehouseId", m.warehouse, "date", m.date.Format(time.RFC3339), "items", s.items(object{"productId": s.nail, "qty": m.qty, "unitCost": i % 4 * 100})}
		if m.supplier != "" {
			pairs = append(pairs, "supplierId", m.supplier)
		}
		if m.note != "" {
			pairs = append(pairs, "note", m.note)
		}
		m.id = s.post(pairs...).OK(201)["id"].(string)
		if i%4 == 3 {
			s.cancel(m.id).OK(200)
			m.status = "cancelled"
		}
		all = append(all, m)
	}
	rapid.Check(t, func(rt *rapid.T) {
		v := url.Values{"pageSize": {fmt.Sprint(rapid.IntRange(1, 20).Draw(rt, "size"))}}
		draw := func(name string, values ...string) string {
			value := rapid.SampledFrom(append(values, "")).Draw(rt, name)
			if value != "" {
				v.Set(name, value)
			}
			return value
		}
		by, order := draw("sort", "createdAt", "date", "number", "totalQty", "totalAmount"), draw("order", "asc", "desc")
		status, depot := draw("status", "posted", "cancelled", "posted,cancelled"), draw("warehouseId", depots[0].String(), depots[1].String())
		supplier, search := draw("supplierId", north, south, uuid.NewString()), draw("search", "MILK", "dairy", "2", "nothing")
		from, to := draw("dateFrom", "2026-03-02", "2026-03-04"), draw("dateTo", "2026-03-04", "2026-03-05T12:00:00Z")
		want := slices.DeleteFunc(slices.Clone(all), func(m receiptModel) bool {
			date := m.date.Format(time.RFC3339)
			text := strings.ToLower(fmt.Sprint(m.number, "\n", names[m.supplier], "\n", m.note))
			return (status != "" && !strings.Contains(status, m.status)) || (depot != "" && m.warehouse != depot) || (supplier != "" && m.supplier != supplier) ||
				!strings.Contains(text, strings.ToLower(search)) || (from != "" && date < from) || (to != "" && date[:len(to)] > to)
		})
		desc := order == "desc" || (order == "" && by == "")
		slices.SortFunc(want, func(a, b receiptModel) int {
			c := 0
			switch by {
			case "date":
				c = a.date.Compare(b.date)
			case "totalQty":
				c = int(a.qty - b.qty)
			case "totalAmount":
				c = int(a.amount - b.amount)
			}
			if c == 0 {
				c = a.number - b.number
			}
			if desc {
				return -c
			}
			return c
		})
		ids, got := []string{}, []string{}
		for _, m := range want {
			ids = append(ids, m.id)
		}
		for page := 1; ; page++ {
			v.Set("page", fmt.Sprint(page))
			p := s.Do(t, "GET", "/warehouse/receipts?"+v.Encode(), nil).OK(200)
			require.EqualValues(rt, len(want), p["total"])
			for _, item := range p["items"].([]any) {
				item := item.(object)
				require.NotContains(rt, item, "lines")
				require.EqualValues(rt, 1, item["linesCount"])
				got = append(got, item["id"].(string))
			}
			if p["nextCursor"] == nil {
				break
			}
		}
		require.Equal(rt, ids, got)
	})
	require.Empty(t, open(t).Do(t, "GET", "/warehouse/receipts", nil).OK(200)["items"])
	for query, field := range map[string]string{"status=new": "status[0]", "sort=note": "sort", "dateFrom=2026-02-02&dateTo=2026-02-01": "dateFrom", "supplierId=": "supplierId"} {
		require.Contains(t, s.Do(t, "GET", "/warehouse/receipts?"+query, nil).Fields(), field, query)
	}
}
