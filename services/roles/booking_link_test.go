package roles_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// guest is somebody who has the link to a booking of a company.
type guest struct {
	t    *testing.T
	node *rolestest.Node
	by   rolestest.Client
	id   tenant.ID
	path string // of the booking in the API
	page string // path of the link
}

func newGuest(t *testing.T, locale string) guest {
	t.Helper()
	g := guest{t: t, node: rolestest.NewNode(dbtest.Open(t), rolestest.Alone())}
	c, err := g.node.CreateCompany(t.Context(), company.NewCompany{
		Name: "Nordic <b>Cycles", Plan: "business", Locale: locale, Bookings: company.NewBookingSettings{URL: new("https://book.example.com/"), ChangeMinutes: new(int32(60))},
	})
	require.NoError(t, err)
	g.id, g.by = c.ID, g.node.Client(g.node.Issue(t, c.ID, []string{"*:write"}).Text)
	hours := make([]string, 7)
	for i := range hours {
		hours[i] = fmt.Sprintf(`{"weekday":%d,"from":"00:00","to":"24:00"}`, i+1)
	}
	resource := g.by.OK(t, "POST", "/scheduling/resources", `{"type":"staff","name":"Ann","timeZone":"Europe/Berlin","workingHours":[`+strings.Join(hours, ",")+`]}`).ID(t)
	day := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 3)
	book := func(hour int, customer string) *rolestest.Reply {
		return g.by.OK(t, "POST", "/scheduling/bookings", fmt.Sprintf(`{"resourceId":%q,"startAt":%q,"durationMinutes":60,"customerName":%q,"customerPhone":"+49 30 1"}`,
			resource, day.Add(time.Duration(hour)*time.Hour).Format(time.RFC3339), customer))
	}
	book(11, "Cleo Somebody")
	b := book(10, "Bo <i>Corvane")
	g.path = "/scheduling/bookings/" + b.ID(t)
	link, ok := strings.CutPrefix(b.Body["publicUrl"].(string), "https://book.example.com")
	require.True(t, ok)
	g.page = link
	return g
}

func (g guest) ask(method, path, form string, headers ...string) *rolestest.Reply {
	g.t.Helper()
	return rolestest.AskOf(g.t, g.node.API, "", method, path, form, append([]string{"Content-Type", "application/x-www-form-urlencoded"}, headers...)...)
}

func (g guest) booking() map[string]any {
	g.t.Helper()
	return g.by.OK(g.t, "GET", g.path, "").Body
}

// form is the form of the page that does something.
func (g guest) form(page *rolestest.Reply, do string) url.Values {
	g.t.Helper()
	version := regexp.MustCompile(`name="do" value="` + do + `"><input type="hidden" name="version" value="(\d+)"`).FindStringSubmatch(page.Raw)
	require.NotNil(g.t, version, "%s: %s", do, page.Raw)
	return url.Values{"do": {do}, "version": {version[1]}}
}

func TestPageOfABooking(t *testing.T) {
	t.Parallel()
	g := newGuest(t, "de-AT")
	page := g.ask("GET", g.page, "")
	require.Equal(t, 200, page.Status, page.Raw)
	for _, want := range []string{`<html lang="de">`, "Ihr Termin", "Nordic &lt;b&gt;Cycles", "Bo &lt;i&gt;Corvane", "Ann", "noch nicht bestätigt", `name="robots" content="noindex`, " Uhr CE"} {
		require.Contains(t, page.Raw, want)
	}
	for _, not := range []string{"<script", "Cleo", "+49", "http://", "https://"} {
		require.NotContains(t, page.Raw, not)
	}
	h := page.Header
	require.Contains(t, h.Get("Content-Security-Policy"), "default-src 'none'; style-src 'sha256-")
	require.Equal(t, []string{"no-store", "noindex, nofollow, noarchive", "no-referrer", "DENY", "nosniff", "text/html; charset=utf-8"},
		[]string{h.Get("Cache-Control"), h.Get("X-Robots-Tag"), h.Get("Referrer-Policy"), h.Get("X-Frame-Options"), h.Get("X-Content-Type-Options"), h.Get("Content-Type")})

	before := g.booking()
	for _, query := range []string{"?do=cancel&version=1", "?done=cancel", "?from=2026-01-01", "?from=9999-12-31", "?from=x"} {
		got := g.ask("GET", g.page+query, "")
		require.Equal(t, 200, got.Status, got.Raw)
		require.NotContains(t, got.Raw, "Cleo")
		require.NotContains(t, got.Raw, "Der Termin ist storniert")
	}
	require.Equal(t, 200, g.ask("HEAD", g.page, "").Status)
	require.Equal(t, before, g.booking(), "opening a link changes nothing")
	require.Equal(t, 405, g.ask("DELETE", g.page, "").Status)

	done := g.ask("POST", g.page, g.form(page, "confirm").Encode())
	require.Equal(t, []any{303, g.page + "?done=confirm"}, []any{done.Status, done.Header.Get("Location")})
	page = g.ask("GET", g.page+"?done=confirm", "")
	require.Contains(t, page.Raw, "Der Termin ist bestätigt.")
	require.NotContains(t, page.Raw, `value="confirm"`)

	free := g.ask("GET", g.page+"?from="+before["startAt"].(string)[:10], "")
	start := regexp.MustCompile(`name="start" value="([^"]+)"`).FindAllStringSubmatch(free.Raw, -1)
	require.NotEmpty(t, start, free.Raw)
	move := g.form(free, "move")
	stale := url.Values{"do": {"cancel"}, "version": {"1"}}
	move.Set("start", start[len(start)-1][1])
	require.Equal(t, 303, g.ask("POST", g.page, move.Encode()).Status)
	again := g.ask("POST", g.page, move.Encode())
	require.Equal(t, 409, again.Status, "a replay changes nothing")
	require.Contains(t, again.Raw, "hat sich geändert")
	require.Equal(t, 409, g.ask("POST", g.page, stale.Encode()).Status)
	moved := g.booking()
	at, err := time.Parse(time.RFC3339, start[len(start)-1][1])
	require.NoError(t, err)
	require.Equal(t, at.UTC().Format("2006-01-02T15:04:05.000Z"), moved["startAt"])
	taken := g.form(g.ask("GET", g.page+"?from="+before["startAt"].(string)[:10], ""), "move")
	taken.Set("start", strings.Replace(before["startAt"].(string), "T10:", "T11:", 1))
	require.Contains(t, g.ask("POST", g.page, taken.Encode()).Raw, "nicht mehr frei")

	require.Equal(t, 303, g.ask("POST", g.page, g.form(g.ask("GET", g.page, ""), "cancel").Encode()).Status)
	require.Equal(t, "cancelled", g.booking()["status"])
	require.Contains(t, g.ask("GET", g.page+"?done=cancel", "").Raw, "Der Termin ist storniert.")
}

func TestStrangersGetNothingOfBookings(t *testing.T) {
	t.Parallel()
	g := newGuest(t, "en")
	for what, row := range map[string]struct {
		status             int
		method, path, form string
	}{
		"a forged link":    {404, "GET", g.page[:len(g.page)-1] + "B", ""},
		"a forged change":  {404, "POST", g.page[:len(g.page)-1] + "B", "do=cancel&version=1"},
		"no link":          {404, "GET", "/b/x", ""},
		"a long one":       {404, "GET", "/b/" + strings.Repeat("x", 2000), ""},
		"no form":          {415, "POST", g.page, "{}"},
		"a broken form":    {400, "POST", g.page, "do=%zz"},
		"a large form":     {413, "POST", g.page, "do=" + strings.Repeat("x", 5000)},
		"a form of less":   {409, "POST", g.page, "do=cancel"},
		"an unknown thing": {409, "POST", g.page, "do=complete&version=1"},
	} {
		headers := []string{"Accept-Language", "de"}
		if what == "no form" {
			headers = append(headers, "Content-Type", "application/json")
		}
		got := g.ask(row.method, row.path, row.form, headers...)
		require.Equal(t, row.status, got.Status, "%s: %s", what, got.Raw)
		require.Contains(t, got.Header.Get("Content-Security-Policy"), "default-src 'none'", what)
		if row.status != 409 {
			require.Contains(t, got.Raw, `<html lang="de">`, what)
			require.NotContains(t, got.Raw, "Corvane", what)
		}
	}
	require.Equal(t, "pending", g.booking()["status"])
	_, err := roles.Change(t.Context(), g.node.DB, "test", g.id, g.node.Company.Archive)
	require.NoError(t, err)
	require.Equal(t, 404, g.ask("GET", g.page, "").Status, "the company is closed")
}

// Visits are limited by address before anything is looked at, and by booking from wherever they come.
func TestVisitsAreLimited(t *testing.T) {
	t.Parallel()
	g := newGuest(t, "en")
	one := rolestest.NewAddress()
	statuses := map[int]int{}
	for range 70 {
		statuses[g.ask("GET", "/b/x", "", "X-Forwarded-For", one).Status]++
	}
	require.GreaterOrEqual(t, statuses[404], 60)
	require.Positive(t, statuses[429])
	got := g.ask("GET", g.page, "", "X-Forwarded-For", one)
	require.Equal(t, 429, got.Status)
	require.NotEmpty(t, got.Header.Get("Retry-After"))
	require.Equal(t, 200, g.ask("GET", g.page, "").Status, "others are not")
	statuses = map[int]int{}
	for range 40 {
		statuses[g.ask("GET", g.page, "").Status]++
	}
	require.GreaterOrEqual(t, statuses[200], 29)
	require.Positive(t, statuses[429], "one booking from many addresses")
}
