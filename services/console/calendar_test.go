package console_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/platform/company"
)

// A booking is moved by rows of the grid, and by columns: another resource, or another day.
func TestBookingsAreMovedInTheGrid(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.boardShop()
	c, root := p.calls(s), "/c/"+s.id.String()
	v := p.signedIn(s.people[company.RoleOwner])
	id, noah := s.records["/bookings"], s.records["resource"]
	tilda := p.resource(s, map[string]any{"type": "staff", "name": "Tilda", "timeZone": "UTC"})
	at := func() (start, resource string, minutes any) {
		b := c.do("GET", "/scheduling/bookings/"+id, nil)
		return fmt.Sprint(b["startAt"]), fmt.Sprint(b["resourceId"]), b["durationMinutes"]
	}
	first := time.Now().UTC().AddDate(0, 0, 1).Truncate(24 * time.Hour)
	day := first.Format(time.DateOnly)
	move := func(pairs ...string) page {
		return v.submit(root+"/bookings/"+id+"/move", append([]string{"day", day}, pairs...)...)
	}
	for _, step := range []struct {
		name     string
		pairs    []string
		clock    time.Duration // since the start of the day
		resource string
		minutes  float64
	}{
		{"later", []string{"rows", "3"}, 10*time.Hour + 45*time.Minute, noah, 60},
		{"earlier and longer", []string{"rows", "-1", "longer", "2"}, 10*time.Hour + 30*time.Minute, noah, 90},
		{"to somebody else", []string{"column", tilda, "to", day, "rows", "0"}, 10*time.Hour + 30*time.Minute, tilda, 90},
		{"to another day by the clock", []string{"column", tilda, "to", first.AddDate(0, 0, 2).Format(time.DateOnly), "rows", "2"}, 59 * time.Hour, tilda, 90},
		{"back", []string{"column", noah, "to", day, "rows", "-2", "longer", "-2"}, 10*time.Hour + 30*time.Minute, noah, 60},
	} {
		got := move(step.pairs...)
		require.Equal(t, 200, got.status, "%s: %s", step.name, got.body)
		require.Contains(t, got.body, "Undo", step.name)
		start, resource, minutes := at()
		require.Equal(t, first.Add(step.clock).Format("2006-01-02T15:04:05.000Z"), start, step.name)
		require.Equal(t, step.resource, resource, step.name)
		require.InDelta(t, step.minutes, minutes, 0, step.name)
	}

	c.do("POST", "/scheduling/bookings", map[string]any{"resourceId": noah, "startAt": first.Add(14 * time.Hour), "customerName": "Kim", "customerPhone": "+49 30 23125 708", "durationMinutes": 60})
	got := move("rows", "14") // 14:00
	require.Equal(t, 422, got.status)
	require.Regexp(t, `<p class="refused [^"]*" role="alert">The resource has no free place at this time. Choose another time or resource.</p>`, got.body)
	require.Contains(t, move("rows", "-200").body, "This time is in the past.")
	require.Contains(t, move("rows", "1", "version", "1").body, "Somebody has changed it since")
	start, _, _ := at()
	require.Equal(t, first.Add(10*time.Hour+30*time.Minute).Format("2006-01-02T15:04:05.000Z"), start, "it is where it was")

	viewer := p.signedIn(s.people[company.RoleViewer])
	body := viewer.load(root + "/bookings?day=" + day + "&open=" + id).body
	require.Contains(t, body, `id="panel"`)
	require.NotContains(t, body, "data-move")
	require.NotContains(t, body, `class="free`)
	require.Equal(t, 403, viewer.submit(root+"/bookings/"+id+"/move", "rows", "1").status)
}

// What is free is a link to the form for it, a hold takes its place, and the week of one resource has the same grid.
func TestCalendarOffersWhatIsFree(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.boardShop()
	c, root := p.calls(s), "/c/"+s.id.String()
	v := p.signedIn(s.people[company.RoleOwner])
	first := time.Now().UTC().AddDate(0, 0, 1).Truncate(24 * time.Hour)
	day, noah := first.Format(time.DateOnly), s.records["resource"]
	free := func(hour int) string {
		return "at=" + url.QueryEscape(first.Add(time.Duration(hour)*time.Hour).Format("2006-01-02T15:04:05Z"))
	}
	got := v.load(root + "/bookings?day=" + day)
	require.Contains(t, got.body, free(9))
	require.NotContains(t, got.body, free(10), "it is booked")
	c.do("POST", "/scheduling/holds", map[string]any{"resourceId": noah, "startAt": first.Add(9 * time.Hour), "durationMinutes": 60})
	got = v.load(root + "/bookings?day=" + day)
	require.Contains(t, got.body, "Held until")
	require.NotContains(t, got.body, free(9))
	got = v.load(root + "/bookings?view=week&day=" + day + "&resource=" + noah)
	require.Contains(t, got.body, free(12))
	require.Contains(t, got.body, `class="calendar of-days"`)
	require.Contains(t, v.load(root+"/bookings?day="+day+"&with="+noah+"&"+free(12)).body, `id="f-customerName"`)
	require.NotContains(t, v.load(root+"/bookings?day="+day+"&open="+s.records["/deals"]).body, `id="panel"`, "there is no such booking")
}
