package console

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// TestDevelopers is the way of an integrator: a token, its requests, the explorer, the catalog of events, the quick start.
func TestDevelopers(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := open(t)
	b.run(chromedp.Navigate(d.ConsoleSignIn))
	b.submit("form.form button")
	company := d.ConsoleURL + "/c/" + d.CompanyID
	lifeOfAToken(t, b, d, company)
	explore(t, b, company)
	b.look("event-catalog", company+"/event-catalog")
	b.run(chromedp.Navigate(company + "/event-catalog/client.created"))
	b.submit("form[action$='/trigger'] button")
	b.until(`document.querySelector("#live tbody a") !== null`)
	b.look("event-type", company+"/event-catalog/client.created")
	b.submit("#live tbody a")
	require.Contains(t, b.text("h1"), "client.created", "the event that was caused has its page")
	for _, lang := range []string{"curl", "go"} {
		b.look("quick-start-"+lang, company+"/quick-start?lang="+lang)
	}
	require.Contains(t, b.text("#progress"), "Your first webhook has arrived")
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(t, b.faults, "the browser complained")
}

var secretText = regexp.MustCompile(`^svc_test_\w{49}$`)

// lifeOfAToken issues a token, uses it, sees that it was used and what for, and revokes it.
func lifeOfAToken(t *testing.T, b *browser, d dev, company string) {
	t.Helper()
	b.look("tokens", company+"/tokens")
	b.look("token-new", company+"/tokens/new")
	b.run(chromedp.Navigate(company+"/tokens/new"),
		chromedp.Click(chromedp.CSS("[name='scope.orders'][value=read]")), chromedp.Click(chromedp.CSS("[name='scope.company'][value=read]")))
	b.submit(".form-end button", "#f-name", "Browser")
	token := strings.TrimSpace(b.text("#secret"))
	require.Regexp(t, secretText, token)
	require.Contains(t, b.text("#curl"), token, "the command works as it stands there")
	b.submit("p.next-links a")
	page := b.location()
	require.NotContains(t, b.text("main"), token, "the secret is shown once")

	require.Equal(t, http.StatusOK, ask(t, d, token, "/orders"))
	require.Equal(t, http.StatusForbidden, ask(t, d, token, "/clients"))
	require.Eventually(t, func() bool {
		b.run(chromedp.Navigate(page))
		return strings.Contains(b.text("#live"), "It was last used at")
	}, 20*time.Second, time.Second, "the page says when the token was last used")
	b.look("token", page)
	b.run(chromedp.Navigate(company + "/requests?tokenId=" + page[strings.LastIndex(page, "/")+1:]))
	require.Contains(t, b.text("table"), "AUTH_API_SCOPE_INSUFFICIENT")
	b.look("requests", company+"/requests")
	b.look("requests-errors", company+"/requests/errors")
	b.run(chromedp.Navigate(company + "/requests?code=AUTH_API_SCOPE_INSUFFICIENT"))
	b.submit("tbody a")
	require.Contains(t, b.text(".note"), "lacks the scope clients:read", "the page says in a sentence why it was refused")
	b.look("request", b.location())

	b.run(chromedp.Navigate(page), chromedp.Click(chromedp.CSS("[popovertarget=revoke]")))
	require.Contains(t, b.text("#revoke"), "Requests with Browser are answered 401")
	revoked := time.Now()
	b.submit("#revoke form button")
	require.Eventually(t, func() bool { return ask(t, d, token, "/token") == http.StatusUnauthorized }, 2*time.Second-time.Since(revoked), 20*time.Millisecond)
	b.until(`document.querySelector("#live").innerText.includes("have been told")`)
	b.look("token-revoked", page)
}

// ask sends a request to the API.
func ask(t *testing.T, d dev, token, path string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.BaseURL+path, nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	_, _ = io.Copy(io.Discard, res.Body)
	require.NoError(t, res.Body.Close())
	return res.StatusCode
}

// explore makes a token for the explorer and sends a request with it.
func explore(t *testing.T, b *browser, company string) {
	t.Helper()
	b.look("explorer", company+"/explorer")
	b.look("explorer-found", company+"/explorer?find=client")
	operation := company + "/explorer?operation=createClient"
	b.look("explorer-operation", operation)
	b.run(chromedp.Navigate(operation), chromedp.Click(chromedp.CSS("details.s7 > summary")), chromedp.Click(chromedp.CSS("[name='scope.clients'][value=write]")))
	b.submit("details.s7 form > button")
	require.Contains(t, b.text(".note"), "Requests are sent with the token API explorer of")
	b.submit("form[action$='/send'] .primary", "#f-json", `{"kind": "individual", "displayName": "Explored by hand"}`)
	require.Contains(t, b.text(".result"), "201 Created")
	require.Contains(t, b.text("#answer"), "Explored by hand")
	require.Contains(t, b.text(".result a"), "in the log")
	b.look("explorer-fields", operation+"&body=fields")
	b.run(chromedp.Navigate(operation))
	b.submit("form[action$='/forget'] button")
	require.Contains(t, b.text(".note"), "There is no token")
}
