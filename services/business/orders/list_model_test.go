package orders_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// listed is an order as a list must find it.
type listed struct {
	id, number         string
	status, payment    string
	customer, assigned string
	creator            string
	created            time.Time
	due, ready, pay    string // "" = null
	total              int
	name, phone, email string
	line               string
	sequence           int // number
}

// text is what search= matches, in lower case.
func (l listed) text() []string {
	all := []string{l.number, l.name, l.email, l.line}
	for i, s := range all {
		all[i] = strings.ToLower(s)
	}
	return all
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// archive makes orders that differ in everything that lists filter and sort by.
func (s *kit) archive(c *clock) (all []listed) {
	s.t.Helper()
	second := s.server.Caller(s.Principal.Company)
	people := []struct{ name, phone, email string }{
		{"Zoë Straße", "+49 (30) 123-45", "zoe@example.com"}, {"Ann_Lee", "0151 2345678", "ANN@example.com"}, {"", "", ""}, {"100% Cotton", "+1 555", "c@d.ef"},
	}
	statuses := [][]string{{}, {"confirmed"}, {"in_progress"}, {"confirmed", "ready"}, {"in_progress", "completed"}, {"cancelled"}}
	for i := range 24 {
		c.at = c.at.Add(time.Duration(i%3) * 12 * time.Hour) // some share the instant
		client, by := s.Client, s.Principal.Actor
		if i%4 == 3 {
			client, by = second, second.Principal.Actor
		}
		p := people[i%len(people)]
		l := listed{
			status: "new", payment: "unpaid", creator: by.String(), created: c.at, name: p.name, phone: p.phone, email: p.email, sequence: i + 1,
			number: fmt.Sprint(i + 1), total: []int{500, 1000, 500, 20000}[i%4], line: []string{"Oak board", "Nail", "oak_LEAF"}[i%3],
		}
		body := map[string]any{"items": []any{map[string]any{"kind": "custom", "name": l.line, "unitPrice": l.total}}, "customerName": p.name, "customerPhone": p.phone, "customerEmail": p.email}
		if i%5 == 0 {
			l.assigned = s.bob.String()
			body["assignedToId"] = s.bob
		}
		if i%6 == 1 {
			l.customer = s.bea.String()
			body["customerId"] = s.bea
		}
		if i%2 == 0 {
			l.due = fmt.Sprintf("2031-03-%02dT10:00:00.000Z", 1+i%7)
			body["dueAt"] = l.due
		}
		if i%3 == 0 {
			l.ready = fmt.Sprintf("2031-02-%02dT10:00:00.000Z", 28-i%5)
			body["readyBy"] = l.ready
		}
		if i%4 != 0 {
			l.pay = fmt.Sprintf("2031-05-%02dT00:00:00.000Z", 1+i%4)
			body["payDueAt"] = l.pay
		}
		if paid := []int{0, l.total / 2, l.total}[i%3]; paid > 0 {
			body["prepaidAmount"] = paid
			l.payment = []string{"", "partial", "paid"}[i%3]
		}
		o := client.Do(s.t, "POST", "/orders", body).OK(201)
		l.id = o["id"].(string)
		for _, next := range statuses[i%len(statuses)] {
			s.move(l.id, next).OK(200)
			l.status = next
		}
		if i%8 == 2 && l.payment != "unpaid" {
			s.patch(l.id, `{"prepaidAmount":0}`).OK(200)
			l.payment = "refunded"
		}
		all = append(all, l)
	}
	return all
}

// query is a list request and what it must find.
type query struct {
	params url.Values
	keep   []func(l listed) bool
	less   func(a, b listed) int
}

func (q *query) where(name, value string, keep func(l listed) bool) {
	q.params.Set(name, value)
	q.keep = append(q.keep, keep)
}

func (q *query) find(all []listed) []string {
	found := []string{}
	kept := slices.DeleteFunc(slices.Clone(all), func(l listed) bool {
		return slices.ContainsFunc(q.keep, func(keep func(listed) bool) bool { return !keep(l) })
	})
	slices.SortFunc(kept, q.less)
	for _, l := range kept {
		found = append(found, l.number)
	}
	return found
}

// nullsLast compares optional values: without one last in both directions.
func nullsLast(a, b string, sign int) int {
	switch {
	case a == b:
		return 0
	case a == "":
		return 1
	case b == "":
		return -1
	}
	return sign * strings.Compare(a, b)
}

// drawQuery draws any combination of filters, and one sort.
func (s *kit) drawQuery(rt *rapid.T, all []listed) query {
	q := query{params: url.Values{}}
	use := func(name string) bool { return rapid.IntRange(0, 3).Draw(rt, name) == 0 }
	subset := func(name string, of ...string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(of), 1, len(of), rapid.ID[string]).Draw(rt, name)
	}
	if use("status?") {
		set := subset("status", "new", "confirmed", "in_progress", "ready", "completed", "cancelled")
		q.where("status", strings.Join(set, ","), func(l listed) bool { return slices.Contains(set, l.status) })
	}
	if use("paymentStatus?") {
		set := subset("paymentStatus", "unpaid", "partial", "paid", "refunded")
		q.where("paymentStatus", strings.Join(set, ","), func(l listed) bool { return slices.Contains(set, l.payment) })
	}
	if use("assigned?") {
		q.where("assignedToId", s.bob.String(), func(l listed) bool { return l.assigned != "" })
	}
	if use("creator?") {
		by := rapid.SampledFrom(all).Draw(rt, "creator").creator
		q.where("createdById", by, func(l listed) bool { return l.creator == by })
	}
	if use("customer?") {
		q.where("customerId", s.bea.String(), func(l listed) bool { return l.customer != "" })
	}
	if use("dateFrom?") {
		from := rapid.SampledFrom(all).Draw(rt, "from").created
		q.where("dateFrom", from.Format(time.RFC3339Nano), func(l listed) bool { return !l.created.Before(from) })
		if use("dateTo?") {
			to := from.Add(60 * time.Hour)
			q.where("dateTo", to.Format(time.RFC3339Nano), func(l listed) bool { return !l.created.After(to) })
		}
	}
	from := ""
	if use("dueFrom?") {
		day := rapid.IntRange(1, 7).Draw(rt, "day")
		from = fmt.Sprintf("2031-03-%02d", day) + rapid.SampledFrom([]string{"", "T10:00:00.000Z", "T10:00:00.001Z"}).Draw(rt, "at")
		q.where("dueFrom", from, func(l listed) bool { return l.due >= from })
	}
	if use("dueTo?") {
		bounds := []string{"2031-03-07", "2031-03-07T10:00:00.000Z", "2031-03-07T09:59:59.999Z"}
		bounds = slices.DeleteFunc(bounds, func(to string) bool { return len(to) > len("2031-03-07") && to < from }) // refused
		to := rapid.SampledFrom(bounds).Draw(rt, "until")
		q.where("dueTo", to, func(l listed) bool { return l.due != "" && l.due[:min(len(to), len(l.due))] <= to })
	}
	if use("search?") {
		text := rapid.SampledFrom([]string{"oak", "K_L", "%", "straße", "ZO", "@example.com", "2345", "1", "2", "49 30", "nobody", "lee"}).Draw(rt, "text")
		q.where("search", text, func(l listed) bool {
			for _, in := range l.text() {
				if strings.Contains(in, strings.ToLower(text)) {
					return true
				}
			}
			return strings.Contains(strings.ToLower(l.phone), strings.ToLower(text)) || (len(digits(text)) > 0 && strings.Trim(text, "0123456789 ") == "" && strings.Contains(digits(l.phone), digits(text)))
		})
	}
	s.drawSort(rt, &q)
	return q
}

func (s *kit) drawSort(rt *rapid.T, q *query) {
	sort := rapid.SampledFrom([]string{"", "createdAt", "number", "dueAt", "readyBy", "payDueAt", "total", "status", "paymentStatus"}).Draw(rt, "sort")
	order := rapid.SampledFrom([]string{"", "asc", "desc"}).Draw(rt, "order")
	sign := 1
	if order == "desc" || (order == "" && sort == "") {
		sign = -1
	}
	by := map[string]func(a, b listed) int{
		"":              func(a, b listed) int { return sign * a.created.Compare(b.created) },
		"createdAt":     func(a, b listed) int { return sign * a.created.Compare(b.created) },
		"number":        func(a, b listed) int { return sign * cmp.Compare(a.sequence, b.sequence) },
		"dueAt":         func(a, b listed) int { return nullsLast(a.due, b.due, sign) },
		"readyBy":       func(a, b listed) int { return nullsLast(a.ready, b.ready, sign) },
		"payDueAt":      func(a, b listed) int { return nullsLast(a.pay, b.pay, sign) },
		"total":         func(a, b listed) int { return sign * cmp.Compare(a.total, b.total) },
		"status":        func(a, b listed) int { return sign * strings.Compare(a.status, b.status) },
		"paymentStatus": func(a, b listed) int { return sign * strings.Compare(a.payment, b.payment) },
	}[sort]
	if sort != "" {
		q.params.Set("sort", sort)
	}
	if order != "" {
		q.params.Set("order", order)
	}
	q.less = func(a, b listed) int { return cmp.Or(by(a, b), sign*strings.Compare(a.id, b.id)) }
}

// TestListsFollowTheModel draws filters and sorts, alone and combined, and compares pages and cursors with a model.
func TestListsFollowTheModel(t *testing.T) {
	t.Parallel()
	open(t, nil)
	c := &clock{time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)}
	s := open(t, dbtest.Open(t).WithClock(c.now))
	all := s.archive(c)
	rapid.Check(t, func(rt *rapid.T) {
		q := s.drawQuery(rt, all)
		want := q.find(all)
		size := rapid.IntRange(1, 30).Draw(rt, "pageSize")
		q.params.Set("pageSize", fmt.Sprint(size))
		require.Equal(rt, want, s.walk(rt, q.params, len(want)), q.params.Encode())
		page := rapid.IntRange(1, 4).Draw(rt, "page")
		q.params.Set("page", fmt.Sprint(page))
		got := s.Do(t, "GET", "/orders?"+q.params.Encode(), nil).OK(200)
		from := min(len(want), (page-1)*size)
		require.Equal(rt, want[from:min(len(want), from+size)], numbersOf(got), q.params.Encode())
	})
}

func numbersOf(page map[string]any) []string {
	numbers := []string{}
	for _, item := range page["items"].([]any) {
		numbers = append(numbers, fmt.Sprint(item.(map[string]any)["number"]))
	}
	return numbers
}

// walk reads all pages by their cursors.
func (s *kit) walk(t require.TestingT, params url.Values, total int) []string {
	params = maps.Clone(params)
	numbers := []string{}
	for {
		page := s.Do(s.t, "GET", "/orders?"+params.Encode(), nil).OK(200)
		if params.Get("cursor") == "" {
			require.EqualValues(t, total, page["total"], "%s %v", params.Encode(), page["items"])
		}
		numbers = append(numbers, numbersOf(page)...)
		if page["nextCursor"] == nil {
			return numbers
		}
		params.Set("cursor", page["nextCursor"].(string))
	}
}

// A walk by cursors finds each order that was there at its start exactly once, however many are added meanwhile.
func TestCursorsWhileOrdersAreAdded(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	for range 12 {
		s.create("dueAt", "2031-03-01T10:00:00Z")
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				s.create("dueAt", "2031-03-01T10:00:00Z")
			}
		}
	})
	for _, sort := range []string{"number", "createdAt", "dueAt", "total"} {
		for _, order := range []string{"asc", "desc"} {
			seen := map[string]int{}
			cursor := ""
			for page := 0; page < 12 && (page == 0 || cursor != ""); page++ { // an ascending walk may never end
				got := s.Do(t, "GET", "/orders?pageSize=3&sort="+sort+"&order="+order+cursor, nil).OK(200)
				for _, n := range numbersOf(got) {
					seen[n]++
				}
				cursor = ""
				if next, ok := got["nextCursor"].(string); ok {
					cursor = "&cursor=" + next
				}
			}
			for n, times := range seen {
				require.Equal(t, 1, times, "%s %s: order %s", sort, order, n)
			}
			if order == "asc" {
				for n := 1; n <= 12; n++ {
					require.Contains(t, seen, fmt.Sprint(n), sort)
				}
			}
		}
	}
	close(stop)
	wg.Wait()
}

// A reader that goes on from the watermark of each answer ends up with the last version of every order, whatever was written
// in between.
func TestReadingChangesWhileOrdersChange(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	ids := make([]any, 6)
	for i := range ids {
		ids[i] = s.create()["id"]
	}
	var wg sync.WaitGroup
	for i, id := range ids {
		wg.Go(func() {
			for n := range 5 {
				s.patch(id, map[string]any{"note": fmt.Sprint(i, n)})
			}
			s.ship(id, nil).OK(201)
			s.move(id, "in_progress").OK(200)
		})
	}
	copied, since := map[any]any{}, "2000-01-01T00:00:00Z"
	sync := func() {
		cursor := ""
		for first := true; first || cursor != ""; first = false {
			res := s.Do(t, "GET", "/orders?pageSize=2&updatedSince="+url.QueryEscape(since)+cursor, nil)
			got := res.OK(200)
			for _, item := range got["items"].([]any) {
				o := item.(map[string]any)
				copied[o["id"]] = o["version"]
			}
			cursor = ""
			if next, ok := got["nextCursor"].(string); ok {
				cursor = "&cursor=" + next
			} else {
				since = res.Header.Get("X-Sync-Watermark")
			}
		}
	}
	for range 5 {
		sync()
	}
	wg.Wait()
	sync()
	for _, id := range ids {
		require.Equal(t, s.read(id)["version"], copied[id])
	}
}
