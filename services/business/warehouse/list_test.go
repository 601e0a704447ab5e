package warehouse_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// stockModel is a stock record as the test made it.
type stockModel struct {
	product, name, sku, barcode string
	category, warehouse         string
	qty, reserved, reorder      float64
	order                       int // of creation
	updated                     int // order of the last movement
}

func (m stockModel) level(level string) bool {
	switch level {
	case "low":
		return m.reorder > 0 && m.qty <= m.reorder
	case "negative":
		return m.qty < 0
	case "reorder":
		return m.reorder > 0 && m.qty-m.reserved <= m.reorder
	}
	return true
}

// filled is a company with stock of 12 products in 3 warehouses and 3 categories, one of them below another.
func filled(t *testing.T) (s *shop, all []stockModel, below map[string][]string) {
	t.Helper()
	s = open(t)
	root := s.category("Tools", nil)
	child := s.category("Hand tools", root)
	other := s.category("Paint", nil)
	below = map[string][]string{root: {root, child}, child: {child}, other: {other}}
	warehouses := []string{s.main, s.depot("North"), s.depot("South")}
	names := []string{"apple", "Banana", "cherry", "Äpfel", "date", "Éclair", "fig", "grape", "apple", "iris", "juniper", "kiwi"}
	for i, name := range names {
		category := []any{nil, root, child, other}[i%4]
		sku, barcode := fmt.Sprintf("S-%02d", 50-i*7%12), fmt.Sprintf("46000%02d", i)
		p := s.product(name, "sku", sku, "barcode", barcode, "categoryId", category)
		for j, w := range warehouses {
			if (i+j)%3 == 2 && i%2 == 0 {
				continue
			}
			m := stockModel{
				product: p, name: name, sku: sku, barcode: barcode, warehouse: w, order: len(all), updated: len(all),
				qty: float64((i*5+j*3)%9 - 3), reorder: float64(i * j % 4), reserved: float64((i + j) % 3),
			}
			if category != nil {
				m.category = category.(string)
			}
			s.adjust(p, m.qty, "warehouseId", w, "reorderPoint", m.reorder).OK(201)
			s.tx(func(_ context.Context, tx *db.Tx) error {
				s.s.Reserve(tx, s.caller(), []trade.StockDelta{{Warehouse: uuid.MustParse(w), StockKey: trade.StockKey{Product: uuid.MustParse(p)}, Reserved: units(int64(m.reserved))}})
				return nil
			})
			all = append(all, m)
		}
	}
	return s, all, below
}

var root = collate.New(language.Und) //nolint:gochecknoglobals // a constant

// sorted sorts as the list does, ties by creation in the direction of the sort.
func sorted(all []stockModel, by string, desc bool) []stockModel {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b stockModel) int {
		var c int
		switch by {
		case "productName":
			c = root.CompareString(a.name, b.name)
		case "productSku":
			c = root.CompareString(a.sku, b.sku)
		case "qty":
			c = cmp.Compare(a.qty, b.qty)
		case "updatedAt":
			c = cmp.Compare(a.updated, b.updated)
		}
		c = cmp.Or(c, cmp.Compare(a.order, b.order))
		if desc {
			return -c
		}
		return c
	})
	return all
}

func TestStocksAgainstTheModel(t *testing.T) {
	t.Parallel()
	s, all, below := filled(t)
	categories := []string{""}
	for id := range below {
		categories = append(categories, id)
	}
	slices.Sort(categories)
	rapid.Check(t, func(rt *rapid.T) {
		by := rapid.SampledFrom([]string{"", "productName", "productSku", "qty", "updatedAt"}).Draw(rt, "sort")
		order := rapid.SampledFrom([]string{"", "asc", "desc"}).Draw(rt, "order")
		params := []string{"pageSize", fmt.Sprint(rapid.IntRange(1, 20).Draw(rt, "size"))}
		add := func(name, value string) {
			if value != "" {
				params = append(params, name, value)
			}
		}
		warehouse := rapid.SampledFrom([]string{"", s.main, all[1].warehouse, uuid.NewString()}).Draw(rt, "warehouse")
		category := rapid.SampledFrom(append(categories, "null", uuid.NewString())).Draw(rt, "category")
		level := rapid.SampledFrom([]string{"", "all", "low", "negative", "reorder", "low,negative"}).Draw(rt, "level")
		search := rapid.SampledFrom([]string{"", "APP", "s-4", "4600", "x"}).Draw(rt, "search")
		add("sort", by)
		add("order", order)
		add("warehouseId", warehouse)
		add("categoryId", category)
		add("level", level)
		add("search", search)
		want := slices.DeleteFunc(slices.Clone(all), func(m stockModel) bool {
			text := strings.ToLower(m.name + "\n" + m.sku + "\n" + m.barcode)
			inLevel := slices.ContainsFunc(strings.Split(level, ","), m.level)
			inCategory := category == "" || (category == "null" && m.category == "") || slices.Contains(below[category], m.category) && m.category != ""
			return (warehouse != "" && m.warehouse != warehouse) || !inCategory || !inLevel || !strings.Contains(text, strings.ToLower(search))
		})
		want = sorted(want, by, order == "desc" || (order == "" && by == ""))
		got := s.walk(rt, "/warehouse/stocks", len(want), params...)
		require.Len(rt, got, len(want))
		for i, m := range want {
			require.Equal(rt, []any{m.product, m.warehouse, m.name, m.sku, m.qty, m.reserved, m.qty - m.reserved, m.reorder, m.level("low")}, []any{
				got[i]["productId"], got[i]["warehouseId"], got[i]["productName"], got[i]["productSku"], got[i]["qty"], got[i]["reserved"], got[i]["available"],
				got[i]["reorderPoint"], got[i]["isLowStock"],
			}, "row %d", i)
		}
	})
}

// walk reads all pages by cursor and requires the total.
func (s *shop) walk(t require.TestingT, path string, total int, params ...string) (all []map[string]any) {
	for cursor := ""; ; {
		query := append(slices.Clone(params), "withTotal", "true")
		if cursor != "" {
			query = append(query, "cursor", cursor)
		}
		page := s.page(path, query...)
		require.EqualValues(t, total, page["total"])
		for _, item := range page["items"].([]any) {
			all = append(all, item.(map[string]any))
		}
		next, more := page["nextCursor"].(string)
		if !more {
			return all
		}
		cursor = next
	}
}

// A product is found with its variants, a variant by its own SKU and barcode, in any case and as a part.
func TestStocksAreFoundByVariant(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.adjust(s.product("Cup", "sku", "CUP"), 1).OK(201)
	shirt := s.product("Shirt", "sku", "TS")
	variant := func(body string) string {
		id := s.Admin().Do(t, "POST", "/catalog/products/"+shirt+"/variants", body).OK(201)["id"].(string)
		s.adjust(shirt, 1, "variantId", id).OK(201)
		return id
	}
	red := variant(`{"sku":"Größe-L","barcode":"4600001"}`)
	blue := variant(`{"sku":"blue%","barcode":"4600 (002)"}`)
	other := open(t)
	theirs := other.product("Theirs", "sku", "X")
	id := other.Admin().Do(t, "POST", "/catalog/products/"+theirs+"/variants", `{"sku":"größe-l"}`).OK(201)["id"].(string)
	other.adjust(theirs, 1, "variantId", id).OK(201)
	for search, want := range map[string][]any{
		"GRÖSSE": {red}, "grösse-L": {red}, "GRÖßE-l": {red}, "4600001": {red}, "e%": {blue}, "4600": {red, blue}, "4600 (": {red, blue}, "shirt": {red, blue}, "ts": {red, blue}, "cup": {nil}, "x": {},
	} {
		for _, grouped := range []bool{false, true} {
			params := []string{"search", search, "sort", "updatedAt"}
			if grouped {
				params = append(params, "groupBy", "product")
			}
			require.Equal(t, want, column(s.walk(t, "/warehouse/stocks", len(want), params...), "variantId"), "%s, grouped: %t", search, grouped)
		}
	}
	s.Admin().Do(t, "PATCH", "/catalog/products/"+shirt+"/variants/"+red, `{"sku":"L-new","barcode":null}`).OK(200)
	require.Equal(t, []any{red}, column(s.list("/warehouse/stocks", "search", "l-NEW"), "variantId"))
	require.Empty(t, s.list("/warehouse/stocks", "search", "4600001"))
}

func TestStocksByProduct(t *testing.T) {
	t.Parallel()
	s, all, _ := filled(t)
	names := map[string]string{}
	for _, w := range s.list("/warehouse/warehouses") {
		names[w["id"].(string)] = w["name"].(string)
	}
	for _, warehouse := range []string{"", s.main} {
		sums := []stockModel{}
		for _, m := range all {
			if warehouse != "" && m.warehouse != warehouse {
				continue
			}
			i := slices.IndexFunc(sums, func(s stockModel) bool { return s.product == m.product })
			if i < 0 {
				sums = append(sums, m)
				continue
			}
			sums[i].qty, sums[i].reserved, sums[i].reorder, sums[i].updated = sums[i].qty+m.qty, sums[i].reserved+m.reserved, sums[i].reorder+m.reorder, m.updated
		}
		for _, by := range []string{"", "productName", "productSku", "qty", "updatedAt"} {
			for _, level := range []string{"all", "low", "negative", "reorder"} {
				want := sorted(slices.DeleteFunc(slices.Clone(sums), func(m stockModel) bool { return !m.level(level) }), by, by == "")
				params := []string{"groupBy", "product", "level", level, "pageSize", "4"}
				if by != "" {
					params = append(params, "sort", by)
				}
				if warehouse != "" {
					params = append(params, "warehouseId", warehouse)
				}
				got := s.walk(t, "/warehouse/stocks", len(want), params...)
				require.Equal(t, len(want), len(got))
				for i, m := range want {
					g := got[i]
					require.Equal(t, []any{m.product, m.product, nil, nil, m.qty, m.reserved, m.qty - m.reserved, m.reorder, m.level("low")}, []any{
						g["id"], g["productId"], g["warehouseId"], g["warehouseName"], g["qty"], g["reserved"], g["available"], g["reorderPoint"], g["isLowStock"],
					}, "%s %s %d", by, level, i)
					var sum float64
					for _, w := range g["warehouses"].([]any) {
						w := w.(map[string]any)
						sum += w["qty"].(float64)
						require.Equal(t, names[w["warehouseId"].(string)], w["warehouseName"])
						require.Equal(t, w["qty"].(float64)-w["reserved"].(float64), w["available"])
					}
					require.InDelta(t, m.qty, sum, 0)
				}
			}
		}
	}
}

func TestStocksByProductKeepVariantsApart(t *testing.T) {
	t.Parallel()
	s := open(t)
	p, v := uuid.MustParse(s.product("Shirt")), uuid.New()
	s.tx(func(_ context.Context, tx *db.Tx) error {
		row := trade.StockDelta{Warehouse: uuid.MustParse(s.main), StockKey: trade.StockKey{Product: p}, Reserved: units(1)}
		large := row
		large.Variant, large.Reserved = v, units(2)
		s.s.Reserve(tx, s.caller(), []trade.StockDelta{row, large})
		return nil
	})
	got := s.list("/warehouse/stocks", "groupBy", "product", "sort", "productName")
	require.ElementsMatch(t, []any{p.String(), p.String() + ":" + v.String()}, column(got, "id"))
	for _, item := range got {
		require.Len(t, item["warehouses"], 1)
	}
}

func TestStockListExtras(t *testing.T) {
	t.Parallel()
	s := open(t)
	p, q := s.product("Nail"), s.product("Screw")
	first := s.adjust(p, 1).OK(201)
	second := s.adjust(q, 1).OK(201)
	since := s.list("/warehouse/stocks", "updatedSince", second["updatedAt"].(string))
	require.Equal(t, second["id"], since[len(since)-1]["id"])
	require.Empty(t, s.list("/warehouse/stocks", "updatedSince", time.Now().Add(time.Hour).Format(time.RFC3339)))
	require.Equal(t, []any{first["id"]}, column(s.list("/warehouse/stocks", "ids", first["id"].(string)), "id"))
	require.Equal(t, []any{p}, column(s.list("/warehouse/stocks", "groupBy", "product", "ids", p), "id"))
	require.Equal(t, map[string]any{"id": first["id"], "qty": 1.0}, s.list("/warehouse/stocks", "fields", "qty", "ids", first["id"].(string))[0])
	require.Empty(t, open(t).list("/warehouse/stocks"))
	for query, field := range map[string]string{
		"level=some": "level[0]", "groupBy=category": "groupBy", "categoryId=x": "categoryId", "sort=reserved": "sort", "warehouseId=x": "warehouseId", "warehouseId=": "warehouseId",
	} {
		require.Contains(t, s.Do(t, "GET", "/warehouse/stocks?"+query, nil).Fields(), field, query)
	}
	s.Do(t, "PATCH", "/catalog/products/"+p, map[string]any{"name": "Zinc nail"}).OK(200)
	require.Equal(t, []any{"Screw", "Zinc nail"}, column(s.list("/warehouse/stocks", "sort", "productName"), "productName"), "names are those of the catalog")
}

func TestMovements(t *testing.T) {
	t.Parallel()
	s := open(t)
	north, p, q := s.depot("North"), s.product("Nail"), s.product("Screw")
	s.adjust(p, 1).OK(201)
	s.adjust(q, 2, "warehouseId", north).OK(201)
	require.NoError(t, s.move(trade.MovementSale, -1, p))
	require.NoError(t, s.move(trade.MovementRefund, 1, p, q))
	deltas := func(params ...string) []any {
		return column(s.list("/warehouse/movements", append(params, "sort", "createdAt")...), "delta")
	}
	require.Equal(t, []any{1.0, 2.0, -1.0, 1.0, 1.0}, deltas())
	require.Equal(t, []any{1.0, -1.0, 1.0}, deltas("productId", p))
	require.Equal(t, []any{2.0}, deltas("warehouseId", north))
	require.Equal(t, []any{1.0, 2.0}, deltas("type", "adjustment"))
	require.Equal(t, []any{-1.0, 1.0, 1.0}, deltas("type", "sale,refund"))
	require.Equal(t, []any{1.0}, deltas("type", "refund", "productId", q))
	require.Empty(t, deltas("variantId", uuid.NewString()))
	day := time.Now().UTC()
	require.Len(t, deltas("dateFrom", day.AddDate(0, 0, -1).Format(time.DateOnly), "dateTo", day.AddDate(0, 0, 1).Format(time.DateOnly)), 5)
	require.Empty(t, deltas("dateTo", day.AddDate(0, 0, -1).Format(time.DateOnly)))
	require.Empty(t, deltas("dateFrom", day.AddDate(0, 0, 2).Format(time.DateOnly)))
	m := s.list("/warehouse/movements", "type", "sale")[0]
	require.Equal(t, []any{"sale", 7.0, 1.0, 0.0}, []any{m["documentType"], m["documentNumber"], m["qtyBefore"], m["qtyAfter"]})
	require.Len(t, s.walk(t, "/warehouse/movements", 5, "pageSize", "2"), 5)
	require.Empty(t, open(t).list("/warehouse/movements"))
	require.Contains(t, s.Do(t, "GET", "/warehouse/movements?type=theft", nil).Fields(), "type[0]")
	require.Contains(t, s.Do(t, "GET", "/warehouse/movements?dateFrom=2026-02-02&dateTo=2026-02-01", nil).Fields(), "dateFrom")
}
