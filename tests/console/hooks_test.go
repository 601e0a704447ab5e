package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// hooks is a browser at the pages on webhooks, and the receiver of the test.
type hooks struct {
	*browser
	d    dev
	root string // of the company
	page string // of the subscription
}

// receiver is the name of the receiver of this test.
const receiver = "second"

// TestWebhooks makes a subscription, breaks its receiver, sees why, mends it, and sends again.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	d := start(t)
	h := &hooks{browser: open(t), d: d, root: d.ConsoleURL + "/c/" + d.CompanyID}
	h.run(chromedp.Navigate(d.ConsoleSignIn))
	h.submit("form.form button")
	h.makeOne()
	h.sendTest()
	h.breakIt()
	h.mendIt()
	h.replayIt()
	h.look("events-filtered", h.root+"/events?event=order.*")
	h.mu.Lock()
	defer h.mu.Unlock()
	require.Empty(t, h.faults, "the browser complained")
}

// makeOne makes a subscription in the form, and tries its filter first.
func (h *hooks) makeOne() {
	h.t.Helper()
	behaveAs(h.t, h.d, receiver, http.StatusOK)
	h.look("hook-new", h.root+"/webhooks/new")
	h.run(chromedp.Navigate(h.root + "/webhooks/new"))
	h.tick(`input[name=events][value="order.*"]`)
	h.run(
		chromedp.SetValue(chromedp.CSS("#f-url"), h.d.ReceiverURL+"/hook/"+receiver),
		chromedp.SetValue(chromedp.CSS("#f-name"), "Second receiver"),
		chromedp.SetValue(chromedp.CSS("#f-filter"), `{"data.status":"no such status"}`),
		chromedp.Click(chromedp.CSS("#try")),
	)
	h.until(`!!document.querySelector("#preview table")`)
	require.Contains(h.t, h.text("#preview"), "data.status", "the key that fails")
	require.Equal(h.t, "Second receiver", get(h.browser, chromedp.Evaluate[string](`document.querySelector("#f-name").value`)), "the form keeps what was typed")
	h.photograph("hook-tried")
	get(h.browser, chromedp.Evaluate[string](`document.querySelector("#f-filter").value = ""`))
	h.submit("button[value=save]", "#f-ordered", "true")
	require.Contains(h.t, h.text("h1"), "Secret")
	require.NotEmpty(h.t, h.text("#secret"))
	h.photograph("hook-secret")
	h.submit("main p a.button")
	h.page = h.location()
	require.Contains(h.t, h.text("h1"), "Second receiver")
}

// sendTest sees the answer on the spot, without loading the page again.
func (h *hooks) sendTest() {
	h.t.Helper()
	h.submit("form[action$='/test'] button")
	h.mark()
	h.until(`document.querySelector("#live").innerText.includes("HTTP 200")`)
	h.same()
}

// breakIt lets the receiver fail until its circuit opens, which the open page says by itself.
func (h *hooks) breakIt() {
	h.t.Helper()
	behaveAs(h.t, h.d, receiver, http.StatusInternalServerError)
	h.run(chromedp.Navigate(h.page))
	h.mark()
	for range 12 {
		h.api("POST", "/webhooks/subscriptions/"+h.page[strings.LastIndex(h.page, "/")+1:]+"/test")
	}
	h.patiently(`document.querySelector("#live .lead")?.innerText.includes("HTTP 500")`)
	h.patiently(`document.querySelector("h1").innerText.includes("circuit open")`)
	h.same()
	h.lookAtAll("hook-broken")
	h.look("hooks-broken", h.root+"/webhooks")
	require.Contains(h.t, h.text("tbody tr"), "Second receiver", "trouble stands first")
}

// mendIt gives up one delivery, mends the receiver, and sends that one again.
func (h *hooks) mendIt() {
	h.t.Helper()
	h.run(chromedp.Navigate(h.page + "?tab=deliveries&status=pending"))
	h.submit("tbody a")
	h.look("hook-delivery", h.location())
	h.run(chromedp.Click(chromedp.CSS("button[popovertarget=skip]")))
	h.submit("#skip form button")
	h.patiently(`document.querySelector("h1").innerText.includes("failed")`)
	behaveAs(h.t, h.d, receiver, http.StatusOK)
	h.run(chromedp.Navigate(h.page + "?tab=dead"))
	h.tick("tbody input[type=checkbox]")
	h.photograph("hook-selected")
	h.submit("#chosen button")
	require.Contains(h.t, h.text(".note"), "Sent again: 1 of 1")
	h.look("hook-again", h.page+"?tab=dead")
	h.run(chromedp.Navigate(h.page))
	h.mark()
	h.patiently(`document.querySelector("h1").innerText.includes("healthy")`)
	h.same()
}

// replayIt counts what a replay would send, and watches it end.
func (h *hooks) replayIt() {
	h.t.Helper()
	h.run(chromedp.Navigate(h.page + "?tab=replay"))
	h.submit("form[action$='/replay'] button", "#f-status", "all")
	h.mark()
	h.patiently(`document.querySelector("#live").innerText.includes("would be sent")`)
	h.same()
	h.photograph("hook-counted")
	h.run(chromedp.Click(chromedp.CSS("#live td button[popovertarget^=send]")))
	h.photograph("hook-replay-asked")
	h.submit("#live .dialog form button")
	h.patiently(`/\d sent/.test(document.querySelector("#live").innerText) && document.querySelector("#live .chip").innerText.includes("done")`)
	h.look("hook-replay", h.page+"?tab=replay")
}

// lookAtAll looks at each part of the page of the subscription.
func (h *hooks) lookAtAll(name string) {
	h.t.Helper()
	h.look(name, h.page)
	for _, tab := range []string{"deliveries", "held", "dead", "settings", "edit"} {
		h.look(name+"-"+tab, h.page+"?tab="+tab)
	}
}

// mark and same show that a page has changed without being loaded again.
func (h *hooks) mark() {
	h.t.Helper()
	get(h.browser, chromedp.Evaluate[bool](`window.marked = true`))
}

func (h *hooks) same() {
	h.t.Helper()
	require.True(h.t, get(h.browser, chromedp.Evaluate[bool](`window.marked === true`)), "the page was loaded again")
}

func (h *hooks) tick(selector string) {
	h.t.Helper()
	get(h.browser, chromedp.Evaluate[bool](fmt.Sprintf(`(() => { const box = document.querySelector(%q); box.closest("details")?.setAttribute("open", ""); box.click(); return box.checked; })()`, selector)))
}

// patiently waits until an expression is true, longer than a circuit stays open at first.
func (h *hooks) patiently(expression string) {
	h.t.Helper()
	require.Eventually(h.t, func() bool {
		return get(h.browser, chromedp.Evaluate[bool]("Boolean("+expression+")"))
	}, 100*time.Second, 300*time.Millisecond, expression)
}

// photograph keeps a picture of a page that cannot be opened by its address.
func (h *hooks) photograph(name string) {
	h.t.Helper()
	h.keep(name, get(h.browser, chromedp.FullScreenshot(90)))
}

// api calls the external API as a client.
func (h *hooks) api(method, path string) {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), method, h.d.BaseURL+path, nil)
	require.NoError(h.t, err)
	req.Header.Set("Authorization", "Bearer "+h.d.Token)
	res, err := http.DefaultClient.Do(req)
	require.NoError(h.t, err)
	defer func() { _ = res.Body.Close() }()
	var answer json.RawMessage
	_ = json.NewDecoder(res.Body).Decode(&answer)
	require.Less(h.t, res.StatusCode, 300, "%s", answer)
}
