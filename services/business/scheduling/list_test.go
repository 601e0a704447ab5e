package scheduling_test

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type listedBooking struct {
	ID                          string
	Number                      int
	ResourceID                  string
	ServiceID, ClientID         *string
	CustomerName, CustomerPhone string
	CustomerEmail               *string
	StartAt                     time.Time
	Status                      string
}

func fillBookings(k kit) (all []listedBooking, ids map[string][]string) {
	resources := []string{k.resource("parallelBookings", 50), k.resource("parallelBookings", 50)}
	services := []any{nil, k.service(), k.service()}
	clients := []any{nil, k.customer(), k.customer()}
	for i := range 36 {
		made := k.book(resources[i%2], day.Add(time.Duration(i%5)*8*time.Hour).Format(time.RFC3339), "serviceId", services[i%3], "clientId", clients[(i/2)%3],
			"customerName", []string{"Bo", "Zoë Straße", "50% off_"}[i%3], "customerPhone", fmt.Sprintf("+49 (30) 12-%d", i%4), "customerEmail", []any{nil, "a@Example.com"}[i%2]).OK(201)
		if to := []string{"", "confirmed", "completed", "no_show", "cancelled"}[i%5]; to != "" {
			made = k.move(made, to).OK(200)
		}
		var b listedBooking
		k.Do(k.t, "GET", path(made), nil).Decode(&b)
		all = append(all, b)
	}
	ids = map[string][]string{"resourceId": append(resources, "", "", noID), "serviceId": {"", "", noID}, "clientId": {"", "", noID}}
	for i := range 2 {
		ids["serviceId"] = append(ids["serviceId"], services[i+1].(string))
		ids["clientId"] = append(ids["clientId"], clients[i+1].(string))
	}
	return all, ids
}

func matches(v url.Values, b listedBooking) bool {
	is := func(filter string, id *string) bool {
		return v.Get(filter) == "" || id != nil && *id == v.Get(filter)
	}
	from, _ := time.Parse(time.DateOnly, cmp.Or(v.Get("dateFrom"), "2000-01-01"))
	to, _ := time.Parse(time.DateOnly, cmp.Or(v.Get("dateTo"), "2100-01-01"))
	email := ""
	if b.CustomerEmail != nil {
		email = *b.CustomerEmail
	}
	digits := strings.NewReplacer("+", "", " ", "", "(", "", ")", "", "-", "").Replace(b.CustomerPhone)
	folded := func(text string) string { return strings.ReplaceAll(strings.ToLower(text), "ß", "ss") }
	text := folded(strings.Join([]string{strconv.Itoa(b.Number), b.CustomerName, email, b.CustomerPhone, digits}, "\n"))
	return is("resourceId", &b.ResourceID) && is("serviceId", b.ServiceID) && is("clientId", b.ClientID) &&
		(v.Get("status") == "" || slices.Contains(strings.Split(v.Get("status"), ","), b.Status)) &&
		!b.StartAt.Before(from) && b.StartAt.Before(to.AddDate(0, 0, 1)) && strings.Contains(text, folded(v.Get("search")))
}

// Every list, by pages and by cursors, is the one made in Go.
func TestBookingListAgainstModel(t *testing.T) {
	t.Parallel()
	k := setup(t)
	all, ids := fillBookings(k)
	get := func(v url.Values) (page struct {
		Items      []listedBooking
		Total      *int
		NextCursor *string
	},
	) {
		k.Do(t, "GET", "/scheduling/bookings?"+v.Encode(), nil).Decode(&page)
		return page
	}
	rapid.Check(t, func(rt *rapid.T) {
		v := url.Values{}
		draw := func(name string, values ...string) {
			if value := rapid.SampledFrom(values).Draw(rt, name); value != "" {
				v.Set(name, value)
			}
		}
		for _, name := range []string{"resourceId", "serviceId", "clientId"} {
			draw(name, ids[name]...)
		}
		draw("sort", "", "startAt", "createdAt", "number")
		draw("order", "", "asc", "desc")
		draw("status", "", "", "pending", "confirmed,no_show", "cancelled", "completed")
		draw("dateFrom", "", "", "2040-01-03", "2040-01-04")
		draw("dateTo", "", "", "2040-01-04", "2040-01-05")
		draw("search", "", "", "bo", "STRASSE", "straße", "50%", "off_", "493012", "12-3", "example", "7", "nobody")
		want := []listedBooking{}
		for _, b := range all {
			if matches(v, b) {
				want = append(want, b)
			}
		}
		slices.SortFunc(want, func(a, b listedBooking) int {
			n := cmp.Compare(a.Number, b.Number)
			if v.Get("sort") == "startAt" {
				n = cmp.Or(a.StartAt.Compare(b.StartAt), n)
			}
			if v.Get("order") == "desc" || !v.Has("order") && !v.Has("sort") {
				return -n
			}
			return n
		})
		size := rapid.IntRange(1, 40).Draw(rt, "pageSize")
		v.Set("pageSize", strconv.Itoa(size))
		paged := []listedBooking{}
		for n := 1; n <= len(want)/size+1; n++ {
			v.Set("page", strconv.Itoa(n))
			p := get(v)
			require.Equal(rt, len(want), *p.Total)
			paged = append(paged, p.Items...)
		}
		require.Equal(rt, want, paged)
		v.Del("page")
		walked := []listedBooking{}
		for range len(want) + 1 {
			p := get(v)
			walked = append(walked, p.Items...)
			if p.NextCursor == nil {
				break
			}
			v.Set("cursor", *p.NextCursor)
		}
		require.Equal(rt, want, walked)
	})
	require.Equal(t, map[string]string{"status[0]": "ENUM", "sort": "ENUM", "resourceId": "FORMAT", "dateFrom": "FORMAT"},
		k.Do(t, "GET", "/scheduling/bookings?status=gone&sort=price&resourceId=x&dateFrom=x", nil).Fields())
	require.Equal(t, map[string]string{"dateFrom": "CONFLICT"}, k.Do(t, "GET", "/scheduling/bookings?dateFrom=2040-01-02&dateTo=2040-01-01", nil).Fields())
}
