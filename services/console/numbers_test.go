package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/platform/company"
)

var (
	notText  = regexp.MustCompile(`(?s)<(pre|script|code|svg|template)\b.*?</(pre|script|code|svg|template)>|<[^>]*>`)
	asNumber = regexp.MustCompile(`(?:^|[^\d.,:])(\d+\.\d{2})(?:[^\d.,]|$)`)
	asValue  = regexp.MustCompile(`<input [^>]*type="text"[^>]*inputmode="decimal"[^>]*>`)
)

// Pages write numbers as the language of the person does, in texts and in fields; what is typed with a comma or a point is the same amount.
func TestNumbersAreThoseOfTheLanguage(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	german := func(r *http.Request) { r.Header.Set("Accept-Language", "de") }
	product := root + "/products/" + p.call(own, p.external, http.MethodPost, "/catalog/products", `{"name":"Helm M","price":490050}`)["id"].(string)
	require.Contains(t, owner.ask(http.MethodGet, product, nil, german).body, "4.900,50")
	form := owner.ask(http.MethodGet, product+"/do/edit", nil, german).body
	require.Contains(t, form, `value="4900,50"`)
	version := 1
	for _, typed := range []string{"4.901,50", "4901.50", "4901,5"} {
		sent := url.Values{"version": {string(rune('0' + version))}, "was.price": {"4900,50"}, "price": {typed}}
		require.Equal(t, http.StatusSeeOther, owner.ask(http.MethodPost, product+"/do/edit", sent, german).status, typed)
		require.Contains(t, owner.ask(http.MethodGet, product, nil, german).body, "4.901,50", typed)
		version = 2
	}
	refused := owner.ask(http.MethodPost, product+"/do/edit", url.Values{"version": {"2"}, "was.price": {"4901,50"}, "price": {"4,9,0"}}, german)
	require.Equal(t, http.StatusUnprocessableEntity, refused.status)
	require.Contains(t, refused.body, "Bitte eine Zahl wie 1234,5.")
	for _, page := range []string{"/", "/orders", "/products", "/sales", "/shifts", "/stock", "/deals", "/clients", "/orders/report", "/sell", "/products/new", "/orders/new"} {
		got := owner.ask(http.MethodGet, root+page, nil, german)
		require.Equal(t, http.StatusOK, got.status, page)
		text := notText.ReplaceAllString(got.body, " ")
		require.Empty(t, asNumber.FindAllString(text, -1), "%s writes a number as English does", page)
		for _, field := range asValue.FindAllString(got.body, -1) {
			require.NotRegexp(t, `value="\d+\.\d+"`, field, page)
		}
	}
}
