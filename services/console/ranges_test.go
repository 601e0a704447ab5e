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
