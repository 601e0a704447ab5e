package console_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// unmet are codes that no page of the console gets: of requests that are not well formed, and of tokens, signed addresses and cursors,
// which it has none of.
var unmet = []string{
	"AUTH_API_TOKEN_INVALID", "AUTH_API_TOKEN_EXPIRED", "ROUTE_NOT_FOUND", "METHOD_NOT_ALLOWED", "UNSUPPORTED_MEDIA_TYPE", "HEADERS_TOO_LARGE",
	"EVENTS_CURSOR_EXPIRED", "FILE_URL_INVALID", "FILE_URL_EXPIRED",
}

// codesOf are all error codes of an API, as its page of them lists them.
func codesOf(t *testing.T, api *httpapi.API, base string) (codes []string) {
	t.Helper()
	res, err := api.App().Test(httptest.NewRequestWithContext(t.Context(), http.MethodGet, base+"/docs/errors", nil), -1)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`id="([A-Z][A-Z_]+)"`).FindAllStringSubmatch(string(raw), -1) {
		codes = append(codes, m[1])
	}
	return codes
}

// Every code that a call of the console can get has a text, and every text is of a code.
func TestRefusalsHaveTexts(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	codes := append(codesOf(t, p.external, httpapi.BasePath), codesOf(t, p.admin, httpapi.AdminBasePath)...)
	require.Greater(t, len(codes), 150, "the pattern has lost the page")
	texts := textsOf(t, "en")
	family := func(code string) bool {
		return strings.HasSuffix(code, "_NOT_FOUND") || strings.HasSuffix(code, "_EXTERNAL_ID_TAKEN")
	}
	for _, code := range codes {
		require.True(t, texts["refusal."+code] != "" || family(code) || slices.Contains(unmet, code), "no text refusal.%s", code)
	}
	for key := range texts {
		if rest, ok := strings.CutPrefix(key, "refusal."); ok && !strings.HasPrefix(rest, "other.") {
			code, _, _ := strings.Cut(rest, ".")
			require.Contains(t, codes, code, "no API has the code of the text %s", key)
		}
	}
	detail := regexp.MustCompile(`\{\w+(:\w+)?\}`)
	for _, lang := range []string{"de", "ru"} {
		others := textsOf(t, lang)
		for key, text := range texts {
			if strings.HasPrefix(key, "refusal.") {
				require.ElementsMatch(t, detail.FindAllString(text, -1), detail.FindAllString(others[key], -1), "the details of %s in %s.json", key, lang)
			}
		}
	}
}

// A refusal is said in the language of the person, with amounts as people read them and names in place of ids.
func TestRefusalsAreSaidForPeople(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	german := func(r *http.Request) { r.Header.Set("Accept-Language", "de") }
	order := p.call(own, p.external, http.MethodPost, "/orders", `{"items":[{"kind":"custom","name":"Glocke","qty":2,"unitPrice":123450}]}`)
	at := root + "/orders/" + order["id"].(string)

	got := owner.ask(http.MethodPost, at+"/do/pay", url.Values{"version": {"1"}, "amount": {"9999"}, "method": {"cash"}}, german)
	require.Equal(t, http.StatusUnprocessableEntity, got.status, got.body)
	require.Contains(t, got.body, "Offen sind 2.469,00\u00a0")
	require.Contains(t, got.body, `tabindex="-1" autofocus>Offen sind`, "the focus goes to what is wrong")

	line := order["lines"].([]any)[0].(map[string]any)["id"].(string)
	got = owner.ask(http.MethodPost, at+"/do/ship", url.Values{"version": {"1"}, "qty." + line: {"5"}}, german)
	require.Equal(t, http.StatusUnprocessableEntity, got.status, got.body)
	require.Contains(t, got.body, "Davon ist weniger übrig: Glocke: 2. Verringern Sie die Mengen.")
	require.NotContains(t, got.body, "meta.")

	got = owner.ask(http.MethodPost, at+"/do/pay", url.Values{"version": {"1"}, "amount": {"viel"}, "method": {"cash"}}, german)
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.body, `<a href="#f-amount">Betrag`, "the list of faults leads to the field")
}
