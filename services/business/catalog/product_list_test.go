package catalog_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// listed is a product as the model of the list knows it.
type listed struct {
	ID         string
	Name       string
	SKU        string
	Barcode    *string
	Brand      *string
	Model      *string
	Price      int
	Status     string
	CategoryID *string
	CreatedAt  string
	UpdatedAt  string

	AttributeValues []struct {
		AttributeID string
		ValueNumber *float64
		Options     []struct{ OptionID string }
	}
}

// number is the number among the values of the product.
func (p listed) number() (float64, bool) {
	for _, v := range p.AttributeValues {
		if v.ValueNumber != nil {
			return *v.ValueNumber, true
		}
	}
	return 0, false
}

func (p listed) hasOption(ids string) bool {
	for _, v := range p.AttributeValues {
		for _, o := range v.Options {
			if strings.Contains(ids, o.OptionID) {
				return true
			}
		}
	}
	return false
}

type page struct {
	Items      []listed
	Total      *int
	Page       *int
	PageSize   int
	NextCursor *string
}

// shelf is a company with products, and what the model needs to know of its categories.
type shelf struct {
	client   *apitest.Client
	products []listed
	below    map[string][]string // category → it and those under it
	size     string              // an attribute: a number
	colour   string              // an attribute: any of the options
	options  []string
}

func fillShelf(t *testing.T) *shelf {
	t.Helper()
	c, admin := setupConsole(t)
	s := &shelf{client: c, below: map[string][]string{}}
	size, colour := admin.attribute(catalog.AttributeFields{Name: "Size", Type: "number"}).ID, admin.attribute(catalog.AttributeFields{Name: "Colour", Type: "multiselect"}).ID
	s.size, s.colour = size.String(), colour.String()
	for _, label := range []string{"red", "green", "blue", "none"} {
		s.options = append(s.options, admin.option(colour, label, 0).String())
	}
	category := func(name string, parent any) string {
		return s.client.Do(t, "POST", "/catalog/categories", object{"name": name, "parentId": parent}).OK(201)["id"].(string)
	}
	root := category("root", nil)
	child := category("child", root)
	grandchild := category("grandchild", child)
	other := category("other", nil)
	s.below = map[string][]string{root: {root, child, grandchild}, child: {child, grandchild}, grandchild: {grandchild}, other: {other}, noID: {}}
	categories := []any{nil, root, child, grandchild, other}
	texts := []any{nil, "", "Acme", "acme", "Größe 100%", "a_b"}
	for i := range 60 {
		p := object{
			"name": fmt.Sprintf("%s %d", []string{"Hammer", "hammer", "Ёлка", "50% off", `back\slash`, "snake_case"}[i%6], i%7), "price": i % 9 * 100,
			"categoryId": categories[i%5], "brand": texts[i%6], "model": texts[(i/2)%6], "status": []string{"active", "active", "hidden"}[i%3],
		}
		if i%4 == 0 {
			p["barcode"] = fmt.Sprintf("40%04d", i)
		}
		if i%5 == 0 {
			p["sku"] = fmt.Sprintf("Hand-%d", i)
		}
		values := []object{}
		if i%7 != 0 {
			values = append(values, object{"attributeId": size, "valueNumber": float64(i%4) + 0.5})
		}
		if i%3 != 0 {
			values = append(values, object{"attributeId": colour, "optionIds": s.options[i%2 : i%2+1+i%2]})
		}
		p["attributes"] = values
		var made listed
		got := create(t, s.client, p)
		require.Equal(t, 201, got.Status, "%s", got.Body)
		got.Decode(&made)
		s.products = append(s.products, made)
	}
	return s
}

// question is one set of query parameters.
type question struct{ sort, order, search, category, status, brand, priceMin, priceMax, size, colour string }

func drawQuestion(rt *rapid.T, s *shelf) question {
	draw := func(name string, values ...string) string { return rapid.SampledFrom(values).Draw(rt, name) }
	categories := append(slices.Sorted(maps.Keys(s.below)), "", "", "null")
	q := question{
		sort: draw("sort", "", "name", "sku", "price", "brand", "model", "createdAt"), order: draw("order", "", "asc", "desc"),
		search:   draw("search", "", "", "HAMMER", "елка", "50%", "%", "_", `\`, "hand-", "40", "p-00", "nothing", " r 1 "),
		category: draw("category", categories...), status: draw("status", "", "active", "hidden", "all", "active,hidden"),
		brand: draw("brand", "", "", "Acme", "acme", "Größe 100%"), priceMin: draw("priceMin", "", "", "0", "200"), priceMax: draw("priceMax", "", "", "500", "200"),
		size:   draw("size", "", "", "", "1.5", "0.5:2", "2:", ":0.5", "7:8"),
		colour: draw("colour", "", "", s.options[0], s.options[1], s.options[2]+","+s.options[0], s.options[3]),
	}
	return q
}

func (q question) values(s *shelf) url.Values {
	v := url.Values{}
	for name, value := range map[string]string{
		"sort": q.sort, "order": q.order, "search": q.search, "categoryId": q.category, "status": q.status, "brand": q.brand, "priceMin": q.priceMin, "priceMax": q.priceMax,
		"attr[" + s.size + "]": q.size, "attr[" + s.colour + "]": q.colour,
	} {
		if value != "" {
			v.Set(name, value)
		}
	}
	return v
}

// answer is what the model lists.
func (s *shelf) answer(q question) []listed {
	var out []listed
	for _, p := range s.products {
		if s.matches(q, p) {
			out = append(out, p)
		}
	}
	desc := q.order == "desc" || (q.order == "" && q.sort == "")
	byName := collate.New(language.Und) // not safe for concurrent use
	slices.SortFunc(out, func(a, b listed) int {
		x, y := sortValue(q.sort, a), sortValue(q.sort, b)
		if (x == nil) != (y == nil) {
			return map[bool]int{true: 1, false: -1}[x == nil] // nulls last, whatever the direction
		}
		n := cmp.Compare(a.ID, b.ID)
		if x != nil {
			n = cmp.Or(byName.CompareString(*x, *y), n)
		}
		if desc {
			return -n
		}
		return n
	})
	return out
}

func sortValue(sort string, p listed) *string {
	text := ""
	switch sort {
	case "brand":
		return p.Brand
	case "model":
		return p.Model
	case "name":
		text = p.Name
	case "sku":
		text = p.SKU
	case "price":
		text = fmt.Sprintf("%09d", p.Price)
	default:
		text = p.ID // ids are in the order of their making, and finer than milliseconds
	}
	return &text
}

func (s *shelf) matches(q question, p listed) bool {
	statuses := cmp.Or(q.status, "active")
	if statuses != "all" && !slices.Contains(strings.Split(statuses, ","), p.Status) {
		return false
	}
	switch {
	case q.category == "null" && p.CategoryID != nil, q.category != "" && q.category != "null" && (p.CategoryID == nil || !slices.Contains(s.below[q.category], *p.CategoryID)):
		return false
	case q.brand != "" && (p.Brand == nil || *p.Brand != q.brand):
		return false
	case q.priceMin == "200" && p.Price < 200, q.priceMax == "500" && p.Price > 500, q.priceMax == "200" && p.Price > 200:
		return false
	}
	if q.size != "" {
		bounds := map[string][2]float64{"1.5": {1.5, 1.5}, "0.5:2": {0.5, 2}, "2:": {2, 9}, ":0.5": {-9, 0.5}, "7:8": {7, 8}}[q.size]
		if n, ok := p.number(); !ok || n < bounds[0] || n > bounds[1] {
			return false
		}
	}
	if q.colour != "" && !p.hasOption(q.colour) {
		return false
	}
	fold := strings.NewReplacer("ё", "е").Replace(strings.ToLower(strings.Join([]string{p.Name, p.SKU, record.OrZero(p.Barcode)}, "\n")))
	return strings.Contains(fold, strings.ToLower(strings.TrimSpace(q.search)))
}

func getPage(t *testing.T, c *apitest.Client, v url.Values) page {
	t.Helper()
	got := c.Do(t, "GET", "/catalog/products?"+v.Encode(), nil)
	require.Equal(t, 200, got.Status, "%s %s", v.Encode(), got.Body)
	var p page
	got.Decode(&p)
	return p
}

// TestProductListAgainstModel reads every list twice, by pages and by cursors, and compares with a list made in Go.
func TestProductListAgainstModel(t *testing.T) {
	t.Parallel()
	s := fillShelf(t)
	rapid.Check(t, func(rt *rapid.T) {
		q := drawQuestion(rt, s)
		want := s.answer(q)
		size := rapid.IntRange(1, 70).Draw(rt, "pageSize")
		v := q.values(s)
		v.Set("pageSize", fmt.Sprint(size))

		var paged []listed
		for n := 1; n <= len(want)/size+2; n++ {
			v.Set("page", fmt.Sprint(n))
			p := getPage(t, s.client, v)
			require.Equal(rt, len(want), *p.Total)
			require.Equal(rt, n, *p.Page)
			paged = append(paged, p.Items...)
		}
		require.Equal(rt, want, paged)
		v.Del("page")
		require.Equal(rt, want, readByCursor(t, s.client, v, len(want)))
	})
}

func readByCursor(t *testing.T, c *apitest.Client, v url.Values, limit int) (all []listed) {
	t.Helper()
	for range limit + 2 {
		p := getPage(t, c, v)
		all = append(all, p.Items...)
		if p.NextCursor == nil {
			return all
		}
		v.Set("cursor", *p.NextCursor)
	}
	require.Fail(t, "the cursors do not end")
	return nil
}

func TestProductListParameters(t *testing.T) {
	t.Parallel()
	c := setup(t)
	for _, row := range []struct{ query, field, code string }{
		{"sort=cost", "sort", "ENUM"},
		{"order=up", "order", "ENUM"},
		{"status=gone", "status[0]", "ENUM"},
		{"priceMin=x", "priceMin", "TYPE"},
		{"priceMin=-1", "priceMin", "MIN"},
		{"priceMax=1.5", "priceMax", "STEP"},
		{"priceMin=2&priceMax=1", "priceMin", "CONFLICT"},
		{"categoryId=x", "categoryId", "FORMAT"},
		{"page=0", "page", "MIN"},
		{"pageSize=201", "pageSize", "MAX"},
		{"include=price", "include[0]", "ENUM"},
		{"fields=nope", "fields", "ENUM"},
		{"ids=x", "ids[0]", "FORMAT"},
		{"cursor=abc", "cursor", "FORMAT"},
		{"updatedSince=x", "updatedSince", "FORMAT"},
		{"search=" + strings.Repeat("x", 201), "search", "LENGTH"},
	} {
		require.Equal(t, map[string]string{row.field: row.code}, c.Do(t, "GET", "/catalog/products?"+row.query, nil).Fields(), row.query)
	}
	a := create(t, c, object{"name": "a", "price": 1}).OK(201)
	b := create(t, c, object{"name": "b", "price": 1}).OK(201)
	create(t, c, object{"name": "c", "price": 1}).OK(201)
	got := c.Do(t, "GET", fmt.Sprintf("/catalog/products?ids=%s,%s,%s&fields=name&sort=name", a["id"], b["id"], noID), nil).OK(200)
	require.Equal(t, []any{object{"id": a["id"], "name": "a"}, object{"id": b["id"], "name": "b"}}, got["items"])

	c.Do(t, "PATCH", "/catalog/products/"+a["id"].(string), `{"name":"z"}`).OK(200)
	sync := c.Do(t, "GET", "/catalog/products?updatedSince="+b["updatedAt"].(string), nil)
	items := sync.OK(200)["items"].([]any)
	require.NotEmpty(t, sync.Header.Get("X-Sync-Watermark"))
	require.Equal(t, a["id"], items[len(items)-1].(object)["id"], "what changed last comes last")
}

// someStock gives every product whose id it knows its totals.
type someStock map[uuid.UUID]trade.StockTotals

func (s someStock) totals(_ context.Context, _ db.Querier, _ tenant.ID, products []uuid.UUID) (map[uuid.UUID]trade.StockTotals, error) {
	out := map[uuid.UUID]trade.StockTotals{}
	for _, id := range products {
		if t, ok := s[id]; ok {
			out[id] = t
		}
	}
	return out, nil
}

func TestIncludeStock(t *testing.T) {
	t.Parallel()
	d, stock := dbtest.Open(t), someStock{}
	c := apitest.New(t, d, catalog.New(catalog.Config{DB: d, Stock: stock.totals}).Register).Company()
	full := create(t, c, object{"name": "a", "price": 1, "hasStock": true}).OK(201)["id"].(string)
	empty := create(t, c, object{"name": "b", "price": 1, "hasStock": true}).OK(201)["id"].(string)
	none := create(t, c, object{"name": "c", "price": 1}).OK(201)["id"].(string)
	stock[uuid.MustParse(full)] = trade.StockTotals{Qty: money.Units(5), Available: money.Qty(4500)}

	p := c.Do(t, "GET", "/catalog/products/"+full+"?include=stock", nil).OK(200)
	require.Equal(t, []any{5.0, 4.5, false}, []any{p["stockQty"], p["stockAvailable"], p["isLowStock"]})
	require.NotContains(t, c.Do(t, "GET", "/catalog/products/"+full, nil).OK(200), "stockQty")
	require.NotContains(t, c.Do(t, "GET", "/catalog/products/"+none+"?include=stock", nil).OK(200), "stockQty")

	items := c.Do(t, "GET", "/catalog/products?include=stock&sort=name", nil).OK(200)["items"].([]any)
	require.Equal(t, 5.0, items[0].(object)["stockQty"])
	require.Equal(t, empty, items[1].(object)["id"])
	require.Equal(t, []any{0.0, 0.0, false}, []any{items[1].(object)["stockQty"], items[1].(object)["stockAvailable"], items[1].(object)["isLowStock"]})
	require.NotContains(t, items[2], "stockQty")
}

func TestReadersOfChangesLearnOfHiddenProducts(t *testing.T) {
	t.Parallel()
	c := setup(t)
	p := create(t, c, object{"name": "a", "price": 1}).OK(201)
	since := "/catalog/products?updatedSince=" + p["updatedAt"].(string)
	c.Do(t, "DELETE", "/catalog/products/"+p["id"].(string), nil).OK(200)
	require.Empty(t, c.Do(t, "GET", "/catalog/products", nil).OK(200)["items"])
	require.Len(t, c.Do(t, "GET", since, nil).OK(200)["items"], 1)
	require.Empty(t, c.Do(t, "GET", since+"&status=active", nil).OK(200)["items"])
}
