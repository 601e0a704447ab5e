package console

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// TestSettings sets up what a company chooses from, with the keyboard where that is the question, and looks after the platform as an
// operator.
func TestSettings(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := open(t)
	b.run(chromedp.Navigate(d.ConsoleSignIn))
	b.submit("form.form button")
	company := d.ConsoleURL + "/c/" + d.CompanyID
	priceList(t, b, company)
	dealType(t, b, company)
	workingHours(t, b, company)
	daysOff(t, b, company)
	companySettings(t, b, company)
	for _, name := range []string{"", "/units", "/attributes", "/client-groups", "/warehouses", "/attributes/new", "/resources/new"} {
		b.look("directories"+strings.ReplaceAll(name, "/", "-"), company+"/directories"+name)
	}
	outlives(t, b, d)
	b.run(chromedp.Navigate(company + "/settings"))
	b.submit("nav .who button")
	operate(t, b, d)
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(t, b.faults, "the browser complained")
}

// outlives sends a form after its session has ended, signs in, as in another tab, and sends it again: nothing is lost.
func outlives(t *testing.T, b *browser, d dev) {
	t.Helper()
	company := d.ConsoleURL + "/c/" + d.CompanyID
	b.run(chromedp.Navigate(d.ConsoleURL + "/account"))
	b.submit("form[action='/account/password'] button", "#f-password", password)
	b.run(chromedp.Navigate(company + "/suppliers/new"))
	b.post("/sign-out", "")
	b.submit("main form.form button", "#f-name", "Outlived")
	require.Contains(t, b.text("h1"), "signed out")
	b.lookHere("signed-out")
	b.post("/sign-in", "email=anna@example.com&password="+url.QueryEscape(password))
	b.submit("#signed-out form button")
	require.Contains(t, b.text("h1"), "Outlived")

	b.run(chromedp.Navigate(company + "/orders/new"))
	b.post("/sign-out", "")
	b.run(chromedp.SendKeys(chromedp.CSS("main [role=combobox]"), "glo"), chromedp.WaitVisible(chromedp.CSS("dialog[open]")))
	b.lookHere("signed-out-dialog")
	b.post("/sign-in", "email=anna@example.com&password="+url.QueryEscape(password))
	b.run(chromedp.Click(chromedp.CSS("dialog button")))
	require.Equal(t, "glo", get(b, chromedp.Evaluate[string](`document.activeElement.value`)), "the field still has what was typed, and the focus")
}

// post sends a form as another tab would.
func (b *browser) post(path, form string) {
	b.t.Helper()
	sent := fmt.Sprintf(`fetch(%q, {method: "POST", body: new URLSearchParams(%q)}).then(r => r.ok)`, path, form)
	require.True(b.t, get(b, chromedp.Evaluate[bool](sent, chromedp.EvalAwaitPromise)), path)
}

// tabTo presses the tabulator until an element has the focus.
func (b *browser) tabTo(selector string) {
	b.t.Helper()
	for range 150 {
		b.run(chromedp.KeyEvent("\t"))
		if get(b, chromedp.Evaluate[bool](fmt.Sprintf(`document.activeElement.matches(%q)`, selector))) {
			return
		}
	}
	b.t.Fatalf("the keyboard does not reach %s at %s", selector, b.location())
}

// press sends keys to where the focus is, and waits for the page to which they lead.
func (b *browser) press(keys string) {
	b.t.Helper()
	before := get(b, chromedp.Evaluate[float64](`performance.timeOrigin`))
	b.run(chromedp.KeyEvent(keys))
	require.Eventually(b.t, func() bool {
		now, err := chromedp.Run(b.ctx, chromedp.Evaluate[float64](`document.readyState === "complete" ? performance.timeOrigin : 0`))
		return err == nil && now > before
	}, 20*time.Second, 50*time.Millisecond, "the keys lead nowhere")
}

// priceList makes a price list and sets a price, without a mouse.
func priceList(t *testing.T, b *browser, company string) {
	t.Helper()
	b.run(chromedp.Navigate(company + "/directories/price-lists"))
	b.tabTo("a[href$='/price-lists/new']")
	b.press("\r")
	b.press("Winter\r")
	require.Contains(t, b.text("h1"), "Winter")
	require.Contains(t, b.text("[role=status]"), "It is there")
	b.tabTo("#f-item")
	b.press("helmet\r")
	b.tabTo("#price-0")
	b.press("59.90\r")
	require.Contains(t, b.text("table"), "59.90")
	b.look("price-list", b.location())
	b.run(chromedp.KeyEvent("\t"))
	b.run(chromedp.Navigate(company + "/directories/price-lists"))
	require.Contains(t, b.text("table"), "Winter")
}

// dealType makes a deal type with a stage of its own, and moves the stage by keyboard and by dragging.
func dealType(t *testing.T, b *browser, company string) {
	t.Helper()
	b.run(chromedp.Navigate(company + "/directories/deal-types/new"))
	b.run(chromedp.KeyEvent("rental\tRental"))
	b.press("\r")
	require.Contains(t, b.text("h1"), "Rental")
	kind := b.location()
	b.tabTo("a[href$='/stages/new']")
	b.press("\r")
	b.press("Handover\r")
	names := func() []string {
		return get(b, chromedp.Evaluate[[]string](`[...document.querySelectorAll("[data-order] tr a")].map(a => a.innerText)`))
	}
	require.Equal(t, []string{"New", "Qualification", "Proposal", "Won", "Lost", "Handover"}, names())
	b.tabTo("button[name=up][aria-label='Move Handover up']")
	b.press(" ")
	b.press(" ") // the button has the focus again
	require.Equal(t, []string{"New", "Qualification", "Proposal", "Handover", "Won", "Lost"}, names())
	before := get(b, chromedp.Evaluate[float64](`performance.timeOrigin`))
	get(b, chromedp.Evaluate[bool](`(() => {
		const rows = [...document.querySelectorAll("[data-order] tr")], data = new DataTransfer();
		const fire = (on, type, y) => on.dispatchEvent(new DragEvent(type, {bubbles: true, cancelable: true, dataTransfer: data, clientY: y}));
		fire(rows[3], "dragstart", 0);
		fire(rows[1], "dragover", rows[1].getBoundingClientRect().top + 1);
		fire(rows[3], "drop", 0);
		fire(rows[3], "dragend", 0);
		return true;
	})()`))
	require.Eventually(t, func() bool {
		now, err := chromedp.Run(b.ctx, chromedp.Evaluate[float64](`document.readyState === "complete" ? performance.timeOrigin : 0`))
		return err == nil && now > before
	}, 20*time.Second, 50*time.Millisecond)
	require.Equal(t, []string{"New", "Handover", "Qualification", "Proposal", "Won", "Lost"}, names(), "where it was dropped")
	b.look("deal-type", kind)
	b.run(chromedp.Navigate(kind))
	b.submit("[data-order] tr a")
	b.look("stage", b.location())
}

// workingHours sets the week of a resource.
func workingHours(t *testing.T, b *browser, company string) {
	t.Helper()
	b.run(chromedp.Navigate(company + "/directories/resources"))
	b.submit("tbody a")
	resource := b.location()
	b.look("hours", resource+"/hours")
	b.run(chromedp.Navigate(resource + "/hours"))
	b.submit("form.form button.primary", "#f-day1", "18-9")
	require.Contains(t, b.text("#e-day1"), "It must end after")
	b.submit("form.form button[name=copy]", "#f-day1", "8-12, 13:00-17:30")
	get(b, chromedp.Evaluate[string](`document.getElementById("f-day6").value = ""`))
	b.submit("form.form button.primary")
	require.Contains(t, get(b, chromedp.Evaluate[string](`document.querySelector("svg.week").getAttribute("aria-label")`)), "Friday: 08:00–12:00, 13:00–17:30. Saturday: closed.")
	b.look("resource", resource)
}

// daysOff closes a day, and looks at the pages.
func daysOff(t *testing.T, b *browser, company string) {
	t.Helper()
	b.look("day-off-new", company+"/directories/exceptions/new")
	b.run(chromedp.Navigate(company + "/directories/exceptions/new"))
	b.submit("form.form button", "#f-name", "Stocktaking", "#f-dateFrom", "2040-12-31", "#f-hours", "14-9")
	require.Contains(t, b.text("#e-hours"), "14:00–09:00: Each end comes after its beginning")
	b.submit("form.form button", "#f-hours", "9-14")
	require.Contains(t, b.text("tbody"), "09:00–14:00")
	b.look("days-off", company+"/directories/exceptions")
}

// companySettings tries a value that is refused, and one that is not.
func companySettings(t *testing.T, b *browser, company string) {
	t.Helper()
	b.look("company-settings", company+"/settings")
	b.run(chromedp.Navigate(company + "/settings"))
	b.submit("form.form button.primary", "#f-timeZone", "Mars/Olympus", "#f-name", "Demo Wheels")
	require.Contains(t, b.text("#e-timeZone"), "time zone")
	require.Equal(t, "Demo Wheels", get(b, chromedp.Evaluate[string](`document.getElementById("f-name").value`)), "what was typed stays")
	b.submit("form.form button.primary", "#f-timeZone", "Europe/Oslo")
	require.Contains(t, b.text("[role=status]"), "saved")
	require.Equal(t, "Demo Wheels", get(b, chromedp.Evaluate[string](`document.querySelector(".rail .brand").getAttribute("aria-label")`)))
}

// operate makes a company with an owner, and looks at the pages of the platform.
func operate(t *testing.T, b *browser, d dev) {
	t.Helper()
	b.run(chromedp.Navigate(d.ConsoleURL + "/sign-in/operator"))
	b.submit("form.form button", "#f-token", d.AdminToken)
	b.look("companies", d.ConsoleURL+"/companies")
	b.look("company-new", d.ConsoleURL+"/companies/new")
	b.run(chromedp.Navigate(d.ConsoleURL + "/companies/new"))
	b.submit("form.form button", "#f-name", "Fjord Boats", "#f-email", "kim@example.com", "#f-isTest", "true")
	require.Contains(t, b.text("h1"), "Fjord Boats")
	made := b.location()
	made, _, _ = strings.Cut(made, "?")
	b.look("company", made)
	b.look("usage", made+"/usage?days=1")

	for _, name := range []string{"pipeline", "deliveries?status=failed", "dead-letters", "dead-letters?source=deliveries", "jobs", "nodes", "topics", "checks?check=events&last=1h", "mail"} {
		b.look("platform-"+strings.NewReplacer("?", "-", "=", "-", "&", "-").Replace(name), d.ConsoleURL+"/platform/"+name)
	}
	b.run(chromedp.Navigate(d.ConsoleURL + "/platform/pipeline"))
	require.Contains(t, b.text("#live"), "tradegrid-router")
	stream := get(b, chromedp.Evaluate[string](`document.getElementById("live").dataset.live.split("?")[0]`))
	opened := get(b, chromedp.Evaluate[bool](fmt.Sprintf(`new EventSource(%q).addEventListener("changed", () => { window.told = true; }); true`, stream)))
	require.True(t, opened)
	b.until(`window.told`) // the stream says how it is at once to a page that has seen nothing
	b.run(chromedp.Navigate(d.ConsoleURL + "/platform/topics"))
	require.Contains(t, b.text(".note"), "as declared")

	require.Eventually(t, func() bool {
		b.run(chromedp.Navigate(d.ConsoleURL + "/platform/mail"))
		return strings.Contains(b.text("main"), "Invitation to Fjord Boats")
	}, 30*time.Second, time.Second, "the invitation is in the mailbox")
	b.submit("tbody a")
	b.look("mail", b.location())
	link := get(b, chromedp.Evaluate[string](`document.querySelector("main li a").href`))
	u, err := url.Parse(link)
	require.NoError(t, err)
	b.run(chromedp.Navigate(d.ConsoleURL + u.Path))
	require.Contains(t, b.text("main"), "kim@example.com", "the link of the mail leads to where the owner sets a password")
}
