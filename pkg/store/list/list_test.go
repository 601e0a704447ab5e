package list_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

const createBooks = `CREATE TABLE books (
    company_id  UUID NOT NULL,
    id          UUID NOT NULL,
    title       TEXT NOT NULL,
    pages       BIGINT,
    price       DECIMAL(18,3) NOT NULL,
    search_text TEXT NOT NULL,
    version     BIGINT NOT NULL,
    ev_pos      BIGINT NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT books_pkey PRIMARY KEY (company_id, id)
)`

type book struct {
	ID    uuid.UUID `json:"id"`
	Title string    `json:"title"`
	Pages *int64    `json:"pages"`
	record.Meta

	price float64
}

var bookList = list.Spec{
	From: "books b", Reads: []db.Table{"books"}, Columns: "b.id, b.title, b.pages, b.version, b.ev_pos, b.created_at, b.updated_at",
	Company: "b.company_id", ID: "b.id", Updated: "b.updated_at",
	Sorts: map[string]list.Sort{
		"title":     {Column: "b.title", Type: "TEXT"},
		"pages":     {Column: "b.pages", Type: "BIGINT", Nullable: true},
		"price":     {Column: "b.price", Type: "DECIMAL"},
		"createdAt": {Column: "b.created_at", Type: "TIMESTAMPTZ"},
	},
}

type listBooks struct {
	httpapi.Call
	list.Params
	Sort     string     `query:"sort" enum:"title,pages,price,createdAt"`
	Fresh    bool       `query:"fresh" default:"true"`
	Title    []string   `query:"title"`
	MinPages *int64     `query:"minPages"`
	From     *list.From `query:"createdFrom"`
	To       *list.To   `query:"createdTo"`
}

func register(d *db.DB) func(*httpapi.API) {
	node := list.NewNode(list.NodeConfig{Skip: 2})
	group := httpapi.Group{Tag: "Books", Scope: "catalog", Component: "catalog"}
	return func(api *httpapi.API) {
		httpapi.Register(api, group.Op("GET", "/books", "listBooks", "List", 200), func(ctx context.Context, in *listBooks) (*httpapi.Reply[*list.Page[book]], error) {
			in.On(node, in.Fresh)
			q, err := list.New(bookList, in.Company, in.Params, in.Sort)
			if err != nil {
				return nil, err
			}
			q.In("b.title", in.Title)
			q.Search("b.search_text")
			if in.MinPages != nil {
				q.Where("b.pages >= ?", in.MinPages)
			}
			if err := q.Between("b.created_at", "createdFrom", in.From, "createdTo", in.To); err != nil {
				return nil, err
			}
			page, err := list.Fetch(ctx, d, q, func(b *book) []any { return append([]any{&b.ID, &b.Title, &b.Pages}, b.Targets()...) })
			if err != nil {
				return nil, err
			}
			return httpapi.OK(page), nil
		})
	}
}

type kit struct {
	*apitest.Client
	db *db.DB
}

func setup(t *testing.T) kit {
	t.Helper()
	d := dbtest.OpenNew(t)
	_, err := d.Exec(t.Context(), createBooks)
	require.NoError(t, err)
	return kit{apitest.New(t, d, register(d)).Company(), d}
}

var sqlInsertBook = db.Table("books").Insert(`(company_id, id, title, pages, price, search_text, version, ev_pos, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`)

func newBookOf(title string) book {
	return book{ID: record.NewID(), Title: title, Meta: record.New(time.Now())}
}

func (b book) args(company tenant.ID) []any {
	return []any{company, b.ID, b.Title, b.Pages, b.price, list.SearchText([]string{b.Title}), b.Version, b.EvPos, b.CreatedAt, b.UpdatedAt}
}

// add stores a book as another process would: no node of this one hears of it.
func (f kit) add(t *testing.T, company tenant.ID, b book) book {
	t.Helper()
	if b.ID == uuid.Nil {
		b.ID = record.NewID()
	}
	if b.Version == 0 {
		b.Meta = record.New(time.Now())
	}
	_, err := f.db.Write(t.Context(), sqlInsertBook, b.args(company)...)
	require.NoError(t, err)
	return b
}

type page struct {
	Items      []map[string]any `json:"items"`
	Total      *int             `json:"total"`
	Page       *int             `json:"page"`
	PageSize   int              `json:"pageSize"`
	NextCursor *string          `json:"nextCursor"`
	HasMore    bool             `json:"hasMore"`
	watermark  string
}

func (f kit) list(t *testing.T, pairs ...string) page {
	t.Helper()
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	res := f.Do(t, "GET", "/books?"+v.Encode(), nil)
	require.Equal(t, 200, res.Status, "%s", res.Body)
	var p page
	res.Decode(&p)
	p.watermark = res.Header.Get("X-Sync-Watermark")
	require.NotContains(t, string(res.Body), `"items":null`)
	return p
}

func (p page) ids() []string {
	ids := make([]string, 0, len(p.Items))
	for _, item := range p.Items {
		ids = append(ids, item["id"].(string))
	}
	return ids
}

// walk reads all pages by cursor; between two pages it calls pause.
func (f kit) walk(t *testing.T, pause func(), pairs ...string) (ids []string) {
	t.Helper()
	p := f.list(t, pairs...)
	for ids = p.ids(); p.NextCursor != nil; ids = append(ids, p.ids()...) {
		pause()
		p = f.list(t, append(slices.Clone(pairs), "cursor", *p.NextCursor)...)
		require.Nil(t, p.Page)
		require.Nil(t, p.Total)
		require.NotEmpty(t, p.Items, "a cursor is only given when something follows")
	}
	return ids
}

func TestAgainstModel(t *testing.T) {
	t.Parallel()
	f := setup(t)
	all := make([]book, 0, 40)
	for i := range 40 {
		b := book{Title: fmt.Sprint("t", i*7%5), price: float64(i*3%8) / 4}
		if i%4 != 0 {
			n := int64(i * 11 % 6)
			b.Pages = &n
		}
		all = append(all, f.add(t, f.Principal.Company, b))
		f.add(t, tenant.NewID(), book{Title: "t1"})
	}
	rapid.Check(t, func(rt *rapid.T) {
		sort := rapid.SampledFrom([]string{"title", "pages", "price", "createdAt"}).Draw(rt, "sort")
		desc := rapid.Bool().Draw(rt, "desc")
		size := rapid.IntRange(1, 17).Draw(rt, "size")
		params := []string{"sort", sort, "pageSize", fmt.Sprint(size), "order", map[bool]string{false: "asc", true: "desc"}[desc]}
		keep := func(book) bool { return true }
		switch rapid.IntRange(0, 2).Draw(rt, "filter") {
		case 1:
			params = append(params, "title", "t1,t3")
			keep = func(b book) bool { return b.Title == "t1" || b.Title == "t3" }
		case 2:
			params = append(params, "minPages", "2")
			keep = func(b book) bool { return b.Pages != nil && *b.Pages >= 2 }
		}
		want := expect(all, sort, desc, keep)
		if got := f.walk(t, func() {}, params...); !slices.Equal(want, got) {
			rt.Fatalf("by cursor:\n got %v\nwant %v", got, want)
		}
		pages := []string{}
		for n := 1; ; n++ {
			p := f.list(t, append(slices.Clone(params), "page", fmt.Sprint(n))...)
			if *p.Total != len(want) || *p.Page != n || p.PageSize != size {
				rt.Fatalf("envelope %+v, want a total of %d", p, len(want))
			}
			if (p.NextCursor != nil) != (n*size < len(want)) {
				rt.Fatalf("page %d of size %d: nextCursor %v", n, size, p.NextCursor)
			}
			if len(p.Items) == 0 {
				break
			}
			pages = append(pages, p.ids()...)
		}
		if !slices.Equal(want, pages) {
			rt.Fatalf("by pages:\n got %v\nwant %v", pages, want)
		}
	})
}

// expect sorts as the contract says: nulls last in both directions, ties by id in the direction of the sort.
func expect(all []book, sort string, desc bool, keep func(book) bool) []string {
	hits := slices.DeleteFunc(slices.Clone(all), func(b book) bool { return !keep(b) })
	slices.SortFunc(hits, func(a, b book) int {
		if sort == "pages" && (a.Pages == nil) != (b.Pages == nil) {
			if a.Pages == nil {
				return 1
			}
			return -1
		}
		var c int
		switch {
		case sort == "title":
			c = cmp.Compare(a.Title, b.Title)
		case sort == "price":
			c = cmp.Compare(a.price, b.price)
		case sort == "pages" && a.Pages != nil:
			c = cmp.Compare(*a.Pages, *b.Pages)
		case sort == "createdAt":
			c = a.CreatedAt.Std().Compare(b.CreatedAt.Std())
		}
		c = cmp.Or(c, cmp.Compare(a.ID.String(), b.ID.String()))
		if desc {
			return -c
		}
		return c
	})
	ids := make([]string, 0, len(hits))
	for _, b := range hits {
		ids = append(ids, b.ID.String())
	}
	return ids
}

func TestCursorWalkUnderInserts(t *testing.T) {
	t.Parallel()
	for _, params := range [][]string{{}, {"order", "asc"}, {"sort", "title"}, {"sort", "pages", "order", "desc"}} {
		f := setup(t)
		want := make([]string, 0, 15)
		for i := range 15 {
			n := int64(i % 3)
			want = append(want, f.add(t, f.Principal.Company, book{Title: string(rune('a' + i)), Pages: &n}).ID.String())
		}
		n := 0
		got := f.walk(t, func() {
			n++
			f.add(t, f.Principal.Company, book{Title: string(rune('a' + n*5%15)), Pages: nil})
		}, append(params, "pageSize", "4")...)
		count := map[string]int{}
		for _, id := range got {
			count[id]++
			require.Equal(t, 1, count[id], "%v: a record came twice", params)
		}
		for _, id := range want {
			require.Equal(t, 1, count[id], "%v: a record was left out", params)
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for range 3 {
		f.add(t, f.Principal.Company, book{Title: "x"})
	}
	for _, far := range []string{"2", "1000", "2147483647"} {
		p := f.list(t, "page", far)
		require.Empty(t, p.Items)
		require.Equal(t, 3, *p.Total)
		require.Nil(t, p.NextCursor)
	}
	first := f.list(t)
	require.Equal(t, 50, first.PageSize)
	require.Equal(t, 1, *first.Page)
	require.Equal(t, 200, f.list(t, "pageSize", "200").PageSize)
	p := f.list(t, "pageSize", "2")
	q := f.list(t, "pageSize", "2", "cursor", *p.NextCursor, "withTotal", "true")
	require.Equal(t, 3, *q.Total)
	require.Nil(t, q.NextCursor)
	require.Len(t, q.Items, 1)

	digest := *p.NextCursor
	for name, params := range map[string]string{
		"pageSize": "pageSize=0", "pageSize ": "pageSize=201", "pageSize  ": "pageSize=-1", "pageSize   ": "pageSize=x", "page": "page=0", "page ": "page=1.5",
		"order": "order=up", "sort": "sort=secret", "withTotal": "withTotal=yes", "ids[0]": "ids=7", "fields": "fields=id,nothing",
		"cursor": "page=1&cursor=" + digest, "cursor ": "cursor=x", "cursor  ": "cursor=" + digest + "&title=y", "cursor   ": "cursor=" + digest + "&order=asc",
		"cursor    ": "cursor=" + digest + "&sort=title", "updatedSince": "updatedSince=yesterday", "createdFrom": "createdFrom=2026-02-30",
		"createdFrom ": "createdFrom=2026-02-02&createdTo=2026-02-01", "search": "search=" + strings.Repeat("x", 201),
	} {
		require.Contains(t, f.Do(t, "GET", "/books?"+params, nil).Fields(), strings.TrimSpace(name), params)
	}
	many := strings.TrimSuffix(strings.Repeat(uuid.NewString()+",", 101), ",")
	require.Equal(t, map[string]string{"ids": "MAX"}, f.Do(t, "GET", "/books?ids="+many, nil).Fields())
}

// A cursor is opaque, but nothing keeps a client from changing one.
func TestMadeUpCursors(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for range 2 {
		f.add(t, f.Principal.Company, book{Title: "x"})
	}
	raw, err := base64.RawURLEncoding.DecodeString(*f.list(t, "pageSize", "1").NextCursor)
	require.NoError(t, err)
	for field, values := range map[string][]any{"v": {"junk", "x' OR true", ""}, "i": {"7"}, "q": {"x"}, "s": {"title"}, "d": {false}} {
		for _, value := range values {
			var c map[string]any
			require.NoError(t, json.Unmarshal(raw, &c))
			c[field] = value
			changed, err := json.Marshal(c)
			require.NoError(t, err)
			got := f.Do(t, "GET", "/books?pageSize=1&cursor="+base64.RawURLEncoding.EncodeToString(changed), nil)
			require.Equal(t, map[string]string{"cursor": "FORMAT"}, got.Fields(), "%s=%v", field, value)
		}
	}
	other := kit{f.Client, f.db}
	require.Len(t, other.list(t).Items, 2)
}

func TestSelections(t *testing.T) {
	t.Parallel()
	f := setup(t)
	n := int64(5)
	a := f.add(t, f.Principal.Company, book{Title: "Alpha 50%", Pages: &n})
	b := f.add(t, f.Principal.Company, book{Title: "beta_x"})
	foreign := f.add(t, tenant.NewID(), book{Title: "Alpha"})
	require.Equal(t, []string{b.ID.String()}, f.list(t, "ids", b.ID.String()+", "+foreign.ID.String()).ids())
	p := f.list(t, "fields", "title,pages", "order", "asc")
	require.Equal(t, []map[string]any{{"id": a.ID.String(), "title": "Alpha 50%", "pages": 5.0}, {"id": b.ID.String(), "title": "beta_x", "pages": nil}}, p.Items)
	require.Equal(t, 2, *p.Total)
	for search, want := range map[string]int{"ALPHA": 1, "a": 2, "0%": 1, "%": 1, "_": 1, `\`: 0, "alpha beta": 0, "  beta ": 1} {
		require.Len(t, f.list(t, "search", search).Items, want, search)
	}
	day := a.CreatedAt.Std().Format(time.DateOnly)
	require.Len(t, f.list(t, "createdFrom", day, "createdTo", b.CreatedAt.Std().Format(time.DateOnly)).Items, 2)
	require.Empty(t, f.list(t, "createdTo", a.CreatedAt.Std().AddDate(0, 0, -1).Format(time.DateOnly)).Items)
	exact := a.CreatedAt.Std().Format(time.RFC3339Nano)
	require.Equal(t, []string{a.ID.String()}, f.list(t, "createdFrom", exact, "createdTo", exact).ids(), "both bounds are inclusive")
	berlin := a.CreatedAt.Std().In(time.FixedZone("", 2*3600)).Format(time.RFC3339Nano)
	require.Equal(t, []string{a.ID.String()}, f.list(t, "createdFrom", berlin, "createdTo", berlin).ids())
}

func TestIncrementalRead(t *testing.T) {
	t.Parallel()
	f := setup(t)
	base := time.Now().UTC().Truncate(time.Microsecond).Add(-time.Hour)
	ids := make([]string, 0, 5)
	for i := range 5 {
		m := record.New(base)
		m.Touch(base.Add(time.Duration(10-i) * time.Minute))
		ids = append(ids, f.add(t, f.Principal.Company, book{Title: string(rune('a' + i)), Meta: m}).ID.String())
	}
	slices.Reverse(ids)
	since := base.Add(6 * time.Minute).Format(time.RFC3339)
	since2 := base.Add(7 * time.Minute).Format(time.RFC3339Nano)
	before := time.Now()
	got := f.list(t, "updatedSince", since, "sort", "title", "order", "desc")
	require.Equal(t, ids, got.ids(), "oldest change first, whatever sort asks for")
	require.Equal(t, ids[1:], f.list(t, "updatedSince", since2).ids(), "inclusive")
	mark, err := time.Parse(time.RFC3339, got.watermark)
	require.NoError(t, err)
	require.WithinRange(t, mark, before.Add(-15*time.Second-time.Millisecond), time.Now().Add(-15*time.Second))
	require.Equal(t, ids, f.walk(t, func() {}, "updatedSince", since, "pageSize", "2"))
	require.Empty(t, f.list(t).watermark)
}
