package console_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// Wherever two days are asked for, links lead to the days that people ask for most, and the one that is shown is marked.
func TestRangesOfDaysAreLinks(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	viewer, owner := p.signedIn(own.people[company.RoleViewer]), p.signedIn(own.people[company.RoleOwner])
	marked := regexp.MustCompile(`<a href="[^"]*" aria-current="true">([^<]*)</a>`)
	follow := func(v *visitor, form, text string) string {
		t.Helper()
		link := regexp.MustCompile(`<a href="([^"]*)"[^>]*>` + text + `</a>`).FindStringSubmatch(v.get(form))
		require.NotNil(t, link, form)
		at := html.UnescapeString(link[1])
		require.Equal(t, 200, v.ask(http.MethodGet, at, nil).status, at)
		return at
	}
	for _, only := range []string{"&only=dueFrom", "&only=dueTo"} {
		at := follow(viewer, root+"/orders/filter?search=bell&dateFrom=2026-01-01"+only, "Yesterday")
		require.Equal(t, root+"/orders?dateFrom=2026-01-01&dueFrom=yesterday&dueTo=yesterday&search=bell", at, "the word moves on with the days")
		shown := viewer.get(strings.Replace(at, "?", "/filter?", 1) + only)
		require.Equal(t, "Yesterday", marked.FindStringSubmatch(shown)[1])
		require.Len(t, marked.FindAllString(shown, -1), 1)
	}
	require.Equal(t, 2, strings.Count(viewer.get(root+"/orders/filter"), `class="seg ranges"`), "one for each pair of days")
	require.NotContains(t, viewer.get(root+"/orders/filter?only=status"), `class="seg ranges"`)
	week := follow(viewer, root+"/orders/filter?only=dateFrom", "Last 7 days")
	require.Equal(t, root+"/orders?dateFrom="+rolestest.Today(-6)+"&dateTo="+rolestest.Today(0), week)

	require.Contains(t, viewer.get(follow(viewer, root+"/orders/report?groupBy=status", "Last 7 days")), `aria-current="true">Last 7 days</a>`)
	require.Contains(t, owner.get(follow(owner, root+"/audit?kind=orders", "Last 7 days")), `aria-current="true">Last 7 days</a>`)
}

// The lists of developers have links to days, too; a day of an address means all of it, and stays when another filter is set.
func TestRangesOfDaysOfDevelopers(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shop()
	code := 500
	event, delivery, request := own.records["/events"], p.delivery(own, own.records["/events"], 3, &code), own.records["/requests"]
	developer, root := p.signedIn(own.people[company.RoleDeveloper]), "/c/"+own.id.String()
	receiver := "/webhooks/" + own.records["/webhooks"]
	for _, list := range []struct{ at, filter, from, to, row string }{
		{"/events", "event=order.*", "from", "to", event},
		{"/webhooks/deliveries", "status=failed", "from", "to", delivery},
		{receiver, "tab=dead", "from", "to", delivery},
		{"/requests", "answer=4xx", "dateFrom", "dateTo", request},
		{"/requests/errors", "method=GET", "dateFrom", "dateTo", request},
	} {
		page := developer.get(root + list.at + "?" + list.filter)
		require.Equal(t, 1, strings.Count(page, `class="seg ranges"`), list.at)
		require.Contains(t, page, list.row, list.at)
		for text, found := range map[string]bool{"Yesterday": false, "Today": true} {
			link := regexp.MustCompile(`<a href="([^"]*)"[^>]*>` + text + `</a>`).FindStringSubmatch(page)
			require.NotNil(t, link, list.at)
			at := html.UnescapeString(link[1])
			require.Contains(t, at, html.UnescapeString(list.filter[:strings.Index(list.filter, "=")]), "the other filters stay")
			shown := developer.get(at)
			require.Equal(t, found, strings.Contains(shown, list.row), at)
			require.Contains(t, shown, `aria-current="true">`+text+`</a>`, at)
			day := rolestest.Today(map[string]int{"Yesterday": -1}[text])
			require.Contains(t, shown, `value="`+day+`T23:59"`, "all of the day")
			typed := strings.ReplaceAll(strings.ReplaceAll(at, list.to+"="+day, list.to+"="+day+"T23:59"), list.from+"="+day, list.from+"="+day+"T00:00")
			require.Contains(t, developer.get(typed), `aria-current="true">`+text+`</a>`, "as the form sends it")
		}
		require.Contains(t, developer.get(root+list.at+"?"+list.filter+"&"+list.from+"=soon"), `id="e-`+list.from+`"`)
	}
}
