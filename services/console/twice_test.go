package console_test

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// The form of a rotation that is sent twice rotates once: a second time would take the secret that receivers still have out of the
// overlap.
func TestSecretsAreRotatedOnce(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.emptyShop()
	v := p.signedIn(s.people[company.RoleOwner])
	for page, form := range map[string]url.Values{
		"/webhooks/" + s.records["/webhooks"]: {"overlapHours": {"24"}},
		"/tokens/" + s.records["/tokens"]:     {"overlap": {"24"}},
	} {
		page = "/c/" + s.id.String() + page
		version := inVersion.FindStringSubmatch(v.get(page + "?tab=settings"))
		require.NotNil(t, version, page)
		form.Set("version", version[1])
		got := v.ask(http.MethodPost, page+"/rotate", form)
		require.Equal(t, http.StatusOK, got.status, got.body)
		require.Equal(t, http.StatusPreconditionFailed, v.ask(http.MethodPost, page+"/rotate", form).status, page)
		require.NotEqual(t, version[1], inVersion.FindStringSubmatch(v.get(page + "?tab=settings"))[1])
	}
	for _, hours := range []string{"", "soon", "1e3"} {
		got := v.ask(http.MethodPost, "/c/"+s.id.String()+"/webhooks/"+s.records["/webhooks"]+"/rotate", url.Values{"overlapHours": {hours}})
		require.Equal(t, http.StatusBadRequest, got.status, "no overlap is none that anybody chose: %q", hours)
	}
}

// Who saves a form that is older than a change by somebody else does not undo that change.
func TestStaleFormsUndoNothing(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.emptyShop()
	root, v := "/c/"+s.id.String(), p.signedIn(s.people[company.RoleOwner])
	for _, c := range []struct {
		form, post, kept string
		first, stale     url.Values
	}{
		{
			"/people/" + s.people[company.RoleDeveloper].ID.String(), "", `value="viewer" selected`,
			url.Values{"name": {"Kim"}, "role": {company.RoleViewer}},
			url.Values{"name": {"Kim Lee"}, "role": {company.RoleDeveloper}},
		},
		{
			"/tokens/" + s.records["/tokens"] + "/change", "", `name="scope.clients" value="read"[^>]* checked`,
			url.Values{"name": {"Shop"}, "expires": {"keep"}, "scope.clients": {"read"}},
			url.Values{"name": {"Store"}, "expires": {"keep"}, "scope.orders": {"write"}},
		},
	} {
		version := inVersion.FindStringSubmatch(v.get(root + c.form))
		require.NotNil(t, version, c.form)
		c.first.Set("version", version[1])
		c.stale.Set("version", version[1])
		require.Equal(t, http.StatusSeeOther, v.ask(http.MethodPost, root+c.form, c.first).status, c.form)
		got := v.ask(http.MethodPost, root+c.form, c.stale)
		require.Equal(t, http.StatusUnprocessableEntity, got.status, c.form)
		require.Contains(t, got.body, "Somebody has changed it")
		require.Contains(t, got.body, c.stale.Get("name"), "what was typed stays")
		require.Equal(t, version[1], inVersion.FindStringSubmatch(got.body)[1], "the form is no newer than what it shows")
		require.Regexp(t, c.kept, v.get(root+c.form))
	}
}

// Whoever finds a browser that is signed in neither adds a second factor nor replaces it: both take the password. The same form
// again has new recovery codes, because nobody may have seen the first ones.
func TestSecondFactorIsNotReplaced(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	v := p.signedIn(p.emptyShop().people[company.RoleOwner])
	secret := regexp.MustCompile(`<span class="id">([A-Z2-7]{16,})</span>`)
	shown := func(got page) string {
		found := secret.FindStringSubmatch(got.body)
		require.NotNil(t, found, got.body)
		return found[1]
	}
	answer := func(got page) url.Values {
		code, err := totp.GenerateCode(shown(got), time.Now())
		require.NoError(t, err)
		return url.Values{"sealed": {formOf(got).Get("sealed")}, "code": {code}, "confirm": {consolePassword}}
	}
	form := v.ask(http.MethodGet, "/account/totp", nil)
	mine, other := answer(form), answer(v.ask(http.MethodGet, "/account/totp", nil))
	without := maps.Clone(mine)
	without.Del("confirm")
	refused := v.ask(http.MethodPost, "/account/totp", without)
	require.Equal(t, http.StatusUnprocessableEntity, refused.status)
	require.Contains(t, refused.body, "s not the password of this account")
	require.Equal(t, shown(form), shown(refused), "a wrong password keeps the secret")
	first := v.ask(http.MethodPost, "/account/totp", mine)
	require.Equal(t, http.StatusOK, first.status, first.body)
	require.Equal(t, http.StatusOK, v.ask(http.MethodPost, "/account/totp", mine).status)
	require.Equal(t, "/account", v.ask(http.MethodPost, "/account/totp", other).location)
	require.Equal(t, "/account", v.ask(http.MethodGet, "/account/totp", nil).location)
	require.Contains(t, v.get("/account"), "Turn off")
	require.Equal(t, http.StatusUnprocessableEntity, v.ask(http.MethodPost, "/account/totp/off", nil).status)
	require.Contains(t, v.get("/account"), "Turn off", "without the password it stays")
	for range 2 {
		require.Equal(t, "/account?done=totp_off", v.ask(http.MethodPost, "/account/totp/off", url.Values{"off": {consolePassword}}).location)
		require.NotContains(t, v.get("/account"), "Turn off")
	}
	require.Equal(t, http.StatusOK, v.ask(http.MethodGet, "/account/totp", nil).status, "another one can be set up")
}

// A new password ends the sessions of other browsers, and so does blocking, for good.
func TestSessionsEndWithWhatTheyStoodOn(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.emptyShop()
	root, owner, viewer := "/c/"+s.id.String(), p.signedIn(s.people[company.RoleOwner]), s.people[company.RoleViewer]
	one, other := p.signedIn(viewer), p.signedIn(viewer)
	got := one.ask(http.MethodPost, "/account/password", url.Values{"current": {consolePassword}, "password": {"another four small words"}})
	require.Equal(t, "/account?done=password", got.location, got.body)
	require.Equal(t, http.StatusOK, one.ask(http.MethodGet, root+"/", nil).status)
	require.Equal(t, http.StatusSeeOther, other.ask(http.MethodGet, root+"/", nil).status)
	for _, command := range []string{"block", "activate"} {
		require.Equal(t, http.StatusSeeOther, owner.ask(http.MethodPost, root+"/people/"+viewer.ID.String()+"/"+command, nil).status)
	}
	require.Equal(t, http.StatusSeeOther, one.ask(http.MethodGet, root+"/", nil).status, "the session does not come back with the user")
}

// Deliveries that are selected twice are sent once, and an id is nothing else.
func TestSelectedDeliveriesAreSentOnce(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.emptyShop()
	code := 500
	failed := p.delivery(s, s.records["/events"], 3, &code)
	v := p.signedIn(s.people[company.RoleOwner])
	at := "/c/" + s.id.String() + "/webhooks/deliveries/redeliver"
	require.Contains(t, v.ask(http.MethodPost, at, url.Values{"id": {failed, failed, strings.ToUpper(failed)}}).body, "Sent again: 1 of 1")
	for _, id := range []string{"..", "../../orders", "x", "\x00", ""} {
		require.Equal(t, http.StatusNotFound, v.ask(http.MethodPost, at, url.Values{"id": {id}}).status, "%q", id)
	}
}

// hostile are values that no form of the console sends.
func hostile() map[string][]string {
	return map[string][]string{
		"no UTF-8": {"\xff\xfe"}, "NUL": {"a\x00b"}, "markup": {`"><script>alert(1)</script>`}, "huge": {strings.Repeat("9", 40_000)}, "twice": {"x", "y"}, "formatted": {"%s%d%n"},
	}
}

// Whatever stands in the fields of a page, the page answers, and nothing of it becomes markup.
func TestPagesTakeAnyInput(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.shop()
	maps.Copy(s.records, p.entries(s.id))
	v := p.signedIn(s.people[company.RoleOwner])
	names := []string{
		"actor", "address", "addresses", "answer", "before", "body", "code", "credential", "cursor", "dateFrom", "do", "email", "entity", "entityId", "event", "events", "expires", "filter", "find", "from", "headers", "id", "json",
		"method", "name", "next", "operation", "otherEvents", "overlap", "overlapHours", "q", "request", "requestId", "role", "search", "show", "status", "subscription", "tab", "to", "token", "tokenId", "until", "url", "version",
	}
	walked := 0
	for _, route := range p.app.Pages() {
		if route.Audience == web.Operators || route.Streams() || strings.HasPrefix(route.Path, "/account") || strings.HasPrefix(route.Path, "/sign-") {
			continue
		}
		if route.Method == http.MethodPost && (strings.HasSuffix(route.Path, "/delete") || strings.HasSuffix(route.Path, "/revoke")) {
			continue
		}
		method, path := address(route.Pattern(), s.id, s.records)
		for name, values := range hostile() {
			form := url.Values{}
			for _, n := range names {
				form[n] = values
			}
			if name == "huge" && method == http.MethodGet {
				continue // a server refuses the address
			}
			at := path
			if method == http.MethodGet {
				at, form = path+"?"+form.Encode(), nil
			}
			walked++
			got := v.ask(method, at, form)
			require.NotContains(t, []int{500, 503}, got.status, "%s %s: %s", name, route.Pattern(), got.body)
			require.NotContains(t, got.body, "<script>alert", "%s %s", name, route.Pattern())
			require.False(t, strings.HasPrefix(got.location, "//") || strings.Contains(got.location, "://"), "%s leads to %s", route.Pattern(), got.location)
		}
	}
	require.Greater(t, walked, 300)
}
