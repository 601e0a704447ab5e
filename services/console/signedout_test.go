package console_test

import (
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/platform/company"
)

var keptField = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// A form that is sent after the session has ended comes back with all that was filled in, and is carried out when it is sent again after
// signing in.
func TestAFormOutlivesItsSession(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	product := root + "/products/" + p.call(own, p.external, http.MethodPost, "/catalog/products", `{"name":"Helm M","price":4900}`)["id"].(string)
	sent := url.Values{"version": {"1"}, "description": {"two\nlines \"and\" <more>"}, "price": {"45.00"}}

	owner.cookies = map[string]*http.Cookie{}
	got := owner.ask(http.MethodPost, product+"/do/edit", sent)
	require.Equal(t, http.StatusUnauthorized, got.status, got.body)
	require.Contains(t, got.body, `<form method="post" action="`+product+`/do/edit">`)
	require.Contains(t, got.body, `href="/sign-in?next=%2Fsign-in%2Fback" target="_blank"`)
	kept := url.Values{}
	for _, m := range keptField.FindAllStringSubmatch(got.body, -1) {
		kept.Add(html.UnescapeString(m[1]), html.UnescapeString(m[2]))
	}
	require.Equal(t, sent, kept)

	again := p.signedIn(own.people[company.RoleOwner])
	require.Equal(t, http.StatusOK, again.ask(http.MethodGet, "/sign-in/back", nil).status)
	require.Equal(t, http.StatusSeeOther, again.ask(http.MethodPost, product+"/do/edit", kept).status)
	require.Contains(t, again.ask(http.MethodGet, product, nil).body, "45.00")

	for _, secret := range []string{"password", "code", "confirm", "clientKey", "headers"} {
		got = owner.ask(http.MethodPost, product+"/do/edit", url.Values{"version": {"1"}, secret: {"s3cret"}})
		require.Equal(t, http.StatusSeeOther, got.status, "no page keeps what is secret: %s", secret)
		require.NotContains(t, got.body+got.location, "s3cret")
	}
	got = owner.ask(http.MethodPost, product+"/do/edit", sent, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") })
	require.Equal(t, http.StatusForbidden, got.status)
	require.NotContains(t, got.body, "45.00", "a page of another site makes no form of the console")
}

// Each field in which a password is typed is one that no page keeps.
func TestPasswordsAreNotKept(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("web/signedout.go")
	require.NoError(t, err)
	files, err := filepath.Glob("*/*.go")
	require.NoError(t, err)
	field := regexp.MustCompile(`Name: +"(\w+)",[^\n]*Type: "password"|(?:CurrentPassword\(q|OneTimeCode\(q), "(\w+)"`)
	found := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range field.FindAllStringSubmatch(string(raw), -1) {
			found++
			require.Contains(t, string(source), `"`+m[1]+m[2]+`"`, file)
		}
	}
	require.Greater(t, found, 4, "the pattern has lost the source")
}
