package orders_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

func qty(thousandths int64) money.Qty { return money.Qty(thousandths) }

// asThousandths reads a decimal of the database.
func asThousandths(text string) int64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err) // a mistake of the test
	}
	return int64(math.Round(f * 1000))
}

func (s *kit) numbers(query string) []int {
	s.t.Helper()
	numbers := []int{}
	for _, item := range s.Do(s.t, "GET", "/orders?"+query, nil).OK(200)["items"].([]any) {
		numbers = append(numbers, int(item.(map[string]any)["number"].(float64)))
	}
	return numbers
}

func TestListOrders(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.create("customerId", s.ann, "dueAt", "2026-12-03T10:00:00Z", "readyBy", "2026-12-01T00:00:00+01:00")                             // 1: total 2997
	s.create("assignedToId", s.bob, "dueAt", "2026-12-01T10:00:00Z", "customerName", "Zoë Straße", "customerEmail", "zoe@example.com") // 2
	id := s.create("prepaidAmount", 2997, "items", []any{map[string]any{"refId": s.wood, "qty": 5, "name": "Oak_board"}})["id"]        // 3: total 4995
	s.move(id, "confirmed").OK(200)
	for query, want := range map[string][]int{
		"":                                  {3, 2, 1},
		"sort=number":                       {1, 2, 3},
		"sort=number&order=desc&pageSize=2": {3, 2},
		"page=2&pageSize=2":                 {1},
		"page=9":                            {},
		"sort=dueAt":                        {2, 1, 3},
		"sort=dueAt&order=desc":             {1, 2, 3},
		"sort=readyBy":                      {1, 2, 3},
		"sort=payDueAt":                     {1, 2, 3},
		"sort=total&order=desc":             {3, 2, 1},
		"sort=status":                       {3, 1, 2},
		"sort=paymentStatus&order=asc":      {3, 1, 2},
		"sort=createdAt":                    {1, 2, 3},
		"status=confirmed":                  {3},
		"status=new,confirmed":              {3, 2, 1},
		"paymentStatus=partial":             {3},
		"customerId=" + s.ann.String():      {1},
		"assignedToId=" + s.bob.String():    {2},
		"createdById=" + s.Principal.Actor.String(): {3, 2, 1},
		"createdById=" + uuid.NewString():           {},
		"dueFrom=2026-12-01&dueTo=2026-12-02":       {2},
		"dateFrom=2000-01-01&dateTo=2001-01-01":     {},
		"search=ann":                                {1},
		"search=0151":                               {},
		"search=151%20234":                          {1},
		"search=STRASSE":                            {2},
		"search=zo%C3%AB":                           {2},
		"search=ZOE@":                               {2},
		"search=k_b":                                {3},
		"search=wood":                               {2, 1},
		"search=%25":                                {},
		"ids=" + id.(string):                        {3},
	} {
		require.Equal(t, want, s.numbers(query), query)
	}
	for query, field := range map[string]string{
		"sort=name": "sort", "status=lost": "status[0]", "paymentStatus=x": "paymentStatus[0]", "customerId=x": "customerId", "assignedToId=1": "assignedToId",
		"createdById=x": "createdById", "dateFrom=x": "dateFrom", "dateTo=x": "dateTo", "dueFrom=2026-01-02&dueTo=2026-01-01": "dueFrom",
		"pageSize=201": "pageSize", "page=0": "page", "include=x": "include[0]", "order=up": "order",
	} {
		require.Contains(t, s.Do(t, "GET", "/orders?"+query, nil).Fields(), field, query)
	}
}

func TestListItemsAndLines(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.create("assignedToId", s.bob)
	item := s.Do(t, "GET", "/orders", nil).OK(200)["items"].([]any)[0].(map[string]any)
	require.Equal(t, "Bob", item["assignedToName"])
	require.Equal(t, 1.0, item["linesCount"])
	require.NotContains(t, item, "lines")
	require.Equal(t, []any{"confirmed", "in_progress", "cancelled"}, item["allowedTransitions"])
	item = s.Do(t, "GET", "/orders?include=lines", nil).OK(200)["items"].([]any)[0].(map[string]any)
	require.Len(t, item["lines"], 1)
}

func TestCursorsSeeEveryOrderOnce(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	for i := range 7 {
		pairs := []any{"note", fmt.Sprint(i)}
		if i%2 == 0 {
			pairs = append(pairs, "dueAt", "2026-12-01T10:00:00Z")
		}
		s.create(pairs...)
	}
	for _, sort := range []string{"sort=dueAt", "sort=dueAt&order=desc", "sort=total", "sort=status", "sort=createdAt"} {
		seen, cursor := map[any]bool{}, ""
		for range 5 {
			page := s.Do(t, "GET", "/orders?pageSize=2&"+sort+cursor, nil).OK(200)
			for _, item := range page["items"].([]any) {
				seen[item.(map[string]any)["number"]] = true
			}
			if page["nextCursor"] == nil {
				break
			}
			cursor = "&cursor=" + page["nextCursor"].(string)
		}
		require.Len(t, seen, 7, sort)
	}
}

func TestOtherCompaniesSeeNothing(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	id := s.create()["id"].(string)
	other := open(t, nil)
	other.Do(t, "GET", "/orders/"+id, nil).Fault(404, "ORDER_NOT_FOUND")
	other.patch(id, `{"note":"x"}`).Fault(404, "ORDER_NOT_FOUND")
	other.move(id, "confirmed").Fault(404, "ORDER_NOT_FOUND")
	other.Do(t, "POST", "/orders", other.body("warehouseId", s.warehouse)).Fault(404, "WAREHOUSE_NOT_FOUND")
	require.Empty(t, other.numbers(""))
}

func TestPreviewStoresNothing(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	p := s.Do(t, "POST", "/orders/preview", s.body("discountPercent", 10, "deliveryCost", 5)).OK(200)
	require.Equal(t, 2997.0, p["subtotal"])
	require.Equal(t, 300.0, p["discountAmount"])
	require.Equal(t, 2702.0, p["amountDue"])
	require.Zero(t, s.counts())
	require.Empty(t, s.events())
}

// As everywhere, a user without a name is shown as null.
func TestListNamesUsersThatHaveNames(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	nameless := uuid.New()
	s.n.Users[nameless] = ""
	s.create("assignedToId", s.bob)
	s.create("assignedToId", nameless)
	s.create()
	var names []any
	for _, item := range s.Do(t, "GET", "/orders?sort=number&order=asc", nil).OK(200)["items"].([]any) {
		names = append(names, item.(map[string]any)["assignedToName"])
	}
	require.Equal(t, []any{"Bob", nil, nil}, names)
}

func TestPagesOfLargeOrdersAreShort(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	lines := make([]map[string]any, 440)
	for i := range lines {
		lines[i] = map[string]any{"kind": "custom", "name": strings.Repeat("\U0001F600", 255), "unitPrice": 1}
	}
	for range 8 { // of 0.7 MB
		s.create("items", lines)
	}
	for _, start := range []string{"page=1", "page=1&sort=number", "cursor="} {
		seen, query := map[any]bool{}, "&"+strings.TrimSuffix(start, "cursor=")
		sort := ""
		if strings.Contains(start, "sort") {
			sort = "&sort=number"
		}
		for pages := 1; ; pages++ {
			resp := s.Do(t, "GET", "/orders?include=lines&pageSize=8"+query, nil)
			page := resp.OK(200)
			items := page["items"].([]any)
			require.Less(t, len(items), 8, "a shorter page")
			require.NotEmpty(t, items)
			for _, item := range items {
				require.Len(t, item.(map[string]any)["lines"], 440)
				seen[item.(map[string]any)["number"]] = true
			}
			if pages == 1 {
				require.Equal(t, 8.0, page["total"])
				require.Equal(t, 8.0, page["pageSize"])
				require.Equal(t, true, page["hasMore"])
			}
			if page["nextCursor"] == nil {
				require.Equal(t, false, page["hasMore"])
				break
			}
			require.Less(t, pages, 8)
			query = sort + "&cursor=" + page["nextCursor"].(string)
		}
		require.Len(t, seen, 8, start)
	}
	require.Len(t, s.Do(t, "GET", "/orders?pageSize=8", nil).OK(200)["items"], 8, "without lines")
}
