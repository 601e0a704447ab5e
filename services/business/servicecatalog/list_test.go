package servicecatalog_test

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"pgregory.net/rapid"
)

// listed is a service as the model of the list knows it.
type listed struct {
	ID         string
	Name       string
	SKU        string
	Price      int
	TotalCost  int
	PriceModel string
	Status     string
	CategoryID *string
}

type page struct {
	Items      []listed
	Total      *int
	NextCursor *string
}

// shelf is a company with services, and what the model needs to know of its categories.
type shelf struct {
	kit

	services []listed
	below    map[string][]string // category → it and those under it
}

func fill(t *testing.T) *shelf {
	t.Helper()
	s := &shelf{kit: setup(t)}
	category := func(name string, parent any) string {
		return s.post("/catalog/categories", object{"name": name, "parentId": parent})["id"].(string)
	}
	root := category("root", nil)
	child := category("child", root)
	other := category("other", nil)
	s.below = map[string][]string{root: {root, child}, child: {child}, other: {other}, noID: {}}
	for i := range 48 {
		body := object{
			"name": fmt.Sprintf("%s %d", []string{"Cut", "cut", "Ёлка", "50% off", `back\slash`, "snake_case"}[i%6], i%7), "price": i % 9 * 100,
			"categoryId": []any{nil, root, child, other}[i%4], "status": []string{"active", "active", "hidden"}[i%3],
			"priceModel": []string{"fixed", "per_hour", "per_minute", "per_day", "per_item"}[i%5],
			"costItems":  []any{object{"label": "x", "amount": i % 4 * 10}},
		}
		if i%5 == 0 {
			body["sku"] = fmt.Sprintf("Hand-%d", i)
		}
		var made listed
		got := s.create(body)
		require.Equal(t, 201, got.Status, "%s", got.Body)
		got.Decode(&made)
		s.services = append(s.services, made)
	}
	return s
}

func (s *shelf) matches(v url.Values, o listed) bool {
	statuses, category := cmp.Or(v.Get("status"), "active"), v.Get("categoryId")
	low, _ := strconv.Atoi(cmp.Or(v.Get("priceMin"), "0"))
	high, _ := strconv.Atoi(cmp.Or(v.Get("priceMax"), "9999"))
	switch {
	case statuses != "all" && !slices.Contains(strings.Split(statuses, ","), o.Status),
		category == "null" && o.CategoryID != nil,
		category != "" && category != "null" && (o.CategoryID == nil || !slices.Contains(s.below[category], *o.CategoryID)),
		v.Has("priceModel") && !slices.Contains(strings.Split(v.Get("priceModel"), ","), o.PriceModel),
		o.Price < low, o.Price > high:
		return false
	}
	fold := strings.ReplaceAll(strings.ToLower(o.Name+"\n"+o.SKU), "ё", "е")
	return strings.Contains(fold, strings.ToLower(strings.TrimSpace(v.Get("search"))))
}

// answer is what the model lists.
func (s *shelf) answer(v url.Values) []listed {
	out := []listed{}
	for _, o := range s.services {
		if s.matches(v, o) {
			out = append(out, o)
		}
	}
	byName := collate.New(language.Und) // not safe for concurrent use
	slices.SortFunc(out, func(a, b listed) int {
		n := cmp.Compare(a.ID, b.ID)
		switch v.Get("sort") {
		case "name":
			n = cmp.Or(byName.CompareString(a.Name, b.Name), n)
		case "sku":
			n = cmp.Or(byName.CompareString(a.SKU, b.SKU), n)
		case "price":
			n = cmp.Or(cmp.Compare(a.Price, b.Price), n)
		case "totalCost":
			n = cmp.Or(cmp.Compare(a.TotalCost, b.TotalCost), n)
		}
		if v.Get("order") == "desc" || !v.Has("order") && !v.Has("sort") {
			return -n
		}
		return n
	})
	return out
}

func (s *shelf) page(v url.Values) (p page) {
	s.t.Helper()
	got := s.Do(s.t, "GET", "/catalog/services?"+v.Encode(), nil)
	require.Equal(s.t, 200, got.Status, "%s %s", v.Encode(), got.Body)
	got.Decode(&p)
	return p
}

// Every list, by pages and by cursors, is the one made in Go.
func TestListAgainstModel(t *testing.T) {
	t.Parallel()
	s := fill(t)
	categories := []string{"", "", "null"}
	for id := range s.below {
		categories = append(categories, id)
	}
	slices.Sort(categories)
	rapid.Check(t, func(rt *rapid.T) {
		v := url.Values{}
		draw := func(name string, values ...string) {
			if value := rapid.SampledFrom(values).Draw(rt, name); value != "" {
				v.Set(name, value)
			}
		}
		draw("sort", "", "name", "sku", "price", "totalCost", "createdAt")
		draw("order", "", "asc", "desc")
		draw("search", "", "", "CUT", "елка", "50%", "_", `\`, "hand-", "s-00", "nothing", " t 1 ")
		draw("categoryId", categories...)
		draw("status", "", "active", "hidden", "all", "active,hidden")
		draw("priceModel", "", "", "fixed", "per_day", "per_hour,per_item", "per_minute")
		draw("priceMin", "", "", "0", "200")
		draw("priceMax", "", "", "500", "200")
		want, size := s.answer(v), rapid.IntRange(1, 60).Draw(rt, "pageSize")
		v.Set("pageSize", strconv.Itoa(size))
		paged := []listed{}
		for n := 1; n <= len(want)/size+2; n++ {
			v.Set("page", strconv.Itoa(n))
			p := s.page(v)
			require.Equal(rt, len(want), *p.Total)
			paged = append(paged, p.Items...)
		}
		require.Equal(rt, want, paged)
		v.Del("page")
		walked := []listed{}
		for range len(want) + 1 {
			p := s.page(v)
			walked = append(walked, p.Items...)
			if p.NextCursor == nil {
				break
			}
			v.Set("cursor", *p.NextCursor)
		}
		require.Equal(rt, want, walked)
	})
}

func TestListParameters(t *testing.T) {
	t.Parallel()
	k := setup(t)
	for _, row := range []struct{ query, field, code string }{
		{"sort=durationMinutes", "sort", "ENUM"},
		{"status=gone", "status[0]", "ENUM"},
		{"priceModel=per_week", "priceModel[0]", "ENUM"},
		{"priceMin=-1", "priceMin", "MIN"},
		{"priceMin=2&priceMax=1", "priceMin", "CONFLICT"},
		{"categoryId=x", "categoryId", "FORMAT"},
		{"pageSize=201", "pageSize", "MAX"},
		{"fields=nope", "fields", "ENUM"},
	} {
		require.Equal(t, map[string]string{row.field: row.code}, k.Do(t, "GET", "/catalog/services?"+row.query, nil).Fields(), row.query)
	}
	s := k.create(nil).OK(201)
	since := "/catalog/services?updatedSince=" + s["updatedAt"].(string)
	k.Do(t, "DELETE", path(s), nil).OK(200)
	require.Empty(t, k.Do(t, "GET", "/catalog/services", nil).OK(200)["items"])
	require.Len(t, k.Do(t, "GET", since, nil).OK(200)["items"], 1, "readers of changes learn of hidden services")
	require.Empty(t, k.Do(t, "GET", since+"&status=active", nil).OK(200)["items"])
}
