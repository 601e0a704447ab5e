package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// TestRecords looks at lists and pages of records, saves a view, exports a list, and refunds a sale by its form.
func TestRecords(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := open(t)
	b.run(chromedp.Navigate(d.ConsoleSignIn))
	b.submit("form.form button")
	company := d.ConsoleURL + "/c/" + d.CompanyID
	for name, path := range map[string]string{
		"orders": "/orders", "deals-list": "/deals/list", "bookings-list": "/bookings/list", "sales": "/sales", "shifts": "/shifts", "products": "/products", "clients": "/clients", "leads": "/leads", "leads-list": "/leads/list",
		"stock-list": "/stock/list", "receipts": "/receipts", "orders-filter": "/orders/filter", "client-new": "/clients/new",
	} {
		b.look(name, company+path)
	}
	narrow(t, b, company)
	reprice(t, b, company)
	tick(t, b, company)
	view(t, b, company)
	export(t, b, company)
	refund(t, b, company)
	importFile(t, b, company)
	pictures(t, b, company)
	compose(t, b, company)
	failAndTryAgain(t, b, company)
	printPages(t, b, d, company)
	sellAtTheCounter(t, b, d, company)

	b.run(chromedp.Navigate(company + "/orders?status=ready,new"))
	b.submit("tbody a")
	b.look("order", b.location())
	require.Contains(t, b.text("h1"), "Order")
	b.look("order-events", b.location()+"?tab=events")
	b.run(chromedp.Navigate(company + "/products"))
	b.submit("tbody a")
	product := b.location()
	for name, path := range map[string]string{"variants": "?tab=variants", "variant-new": "/do/new_variant", "variant-matrix": "/do/variant_matrix"} {
		b.look(name, product+path)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(t, b.faults, "the browser complained")
}

// view chooses a filter and a column, and saves what is shown under a name.
func view(t *testing.T, b *browser, company string) {
	t.Helper()
	b.run(chromedp.Navigate(company + "/orders/filter"))
	b.run(chromedp.Click(chromedp.CSS("input[name=status][value=new]")), chromedp.Click(chromedp.CSS("input[name=columns][value=customerPhone]")))
	b.submit(".narrow > button")
	require.Contains(t, b.location(), "status=new")
	require.Contains(t, b.text("#picks"), "new")
	require.Contains(t, b.text("thead"), "Phone")
	b.run(chromedp.Click(chromedp.CSS("#by-total")))
	b.settled(`location.search.includes("sort=total")`)
	b.run(chromedp.Click(chromedp.CSS("[popovertarget=save]")))
	b.submit("#save button", "#f-name", "New orders")
	require.Contains(t, b.text("#views"), "New orders")
	b.look("orders-view", b.location())
	b.look("views", company+"/views")
}

// narrow looks for orders while typing, adds a filter beside it, and goes back: the page is never left, and its address says what it shows.
func narrow(t *testing.T, b *browser, company string) {
	t.Helper()
	b.run(chromedp.Navigate(company+"/orders"), chromedp.KeyEvent("/"))
	b.exec(`window.same = document.activeElement.id === "f-search", document.activeElement.select()`)
	b.run(chromedp.KeyEvent("lindm"))
	b.settled(`location.search === "?search=lindm" && [...document.querySelectorAll("tbody tr")].every(r => r.innerText.includes("Lindmoor"))`)
	require.True(t, get(b, chromedp.Evaluate[bool](`document.activeElement.id === "f-search" && document.getElementById("said").textContent.includes("order")`)))
	b.run(chromedp.Click(chromedp.CSS("#add")), chromedp.Click(chromedp.CSS(".pop .item[href*='only=paymentStatus']")))
	b.settled(`!!document.querySelector("#one input[value=paid]")`)
	b.lookHere("orders-filter-add")
	b.run(chromedp.Click(chromedp.CSS("#one input[value=paid]")), chromedp.Click(chromedp.CSS("#one button")))
	b.settled(`location.search.includes("paymentStatus=paid") && location.search.includes("search=lindm")`)
	require.Contains(t, b.text("#picks"), "Payment status: paid")
	b.run(chromedp.Click(chromedp.CSS("#picks a[title='Remove the filter Search']")))
	b.settled(`location.search === "?paymentStatus=paid" && document.getElementById("f-search").value === ""`)
	require.True(t, get(b, chromedp.Evaluate[bool](`window.same`)), "the page was left")
}

// reprice raises the prices of a category by 5 %: two clicks, with the old and the new prices shown in between.
func reprice(t *testing.T, b *browser, company string) {
	t.Helper()
	b.run(chromedp.Navigate(company + "/products"))
	b.submit("header form[action$='/bulk'] button")
	b.until(`document.activeElement.id === "f-categoryId"`)
	b.run(chromedp.KeyEvent("Bicy"), chromedp.SendKeys(chromedp.CSS("#f-value"), "5"))
	b.settled(`document.querySelectorAll("#preview tbody tr").length > 3 && !document.querySelector("#preview button.primary").disabled`)
	require.Contains(t, b.text("#preview"), "New price")
	b.lookHere("products-prices")
	b.submit("#preview button.primary")
	b.until(`document.querySelector("#live").innerText.includes("The prices are changed")`)
	b.look("products-prices-done", b.location())
}

// tick chooses rows by the keyboard, hides their products and takes it back.
func tick(t *testing.T, b *browser, company string) {
	t.Helper()
	b.run(chromedp.Navigate(company + "/products"))
	b.exec(`document.querySelector("tbody .tick input").focus()`)
	b.run(chromedp.KeyEvent(" "), chromedp.KeyEvent(kb.ArrowDown, chromedp.KeyModifiers(chromedp.ModifierShift)), chromedp.KeyEvent(kb.ArrowDown, chromedp.KeyModifiers(chromedp.ModifierShift)))
	b.until(`document.getElementById("ticked").textContent === "3 selected"`)
	b.lookHere("products-ticked")
	b.submit(".bulk button[value=hide]")
	require.Contains(t, b.text("#outcome"), "Hide: 3 done")
	require.True(t, get(b, chromedp.Evaluate[bool](`document.activeElement.id === "outcome" && location.pathname.endsWith("/products")`)))
	b.lookHere("products-hidden")
	b.submit("#outcome form button")
	require.Contains(t, b.text("#outcome"), "Hide: 3 done")
	b.run(chromedp.Navigate(company + "/orders"))
	b.exec(`document.querySelector("a[data-menu]").click()`)
	b.settled(`!!document.querySelector("#row-menu:popover-open .item")`)
	b.lookHere("orders-menu")
}

// export waits on the page of an export until its file is there.
func export(t *testing.T, b *browser, company string) {
	t.Helper()
	b.run(chromedp.Navigate(company+"/orders"), chromedp.Click(chromedp.CSS("[popovertarget=export]")))
	b.submit("form[action$='/export'] button")
	b.until(`document.querySelector("#live").innerText.includes("The file is ready")`)
	b.look("export", b.location())
	require.True(t, get(b, chromedp.Evaluate[bool](`fetch(document.querySelector("a[download]").href).then(r => r.text()).then(t => t.includes("number") && t.split("\n").length > 10)`, chromedp.EvalAwaitPromise)))
	goOn(t, b, company)
}

// goOn starts an export and goes on working on another page at once, which says that it has ended until that is closed. The page of the export, which
// would say it first, is left out.
func goOn(t *testing.T, b *browser, company string) {
	t.Helper()
	b.run(chromedp.Navigate(company + "/orders"))
	id := get(b, chromedp.Evaluate[string](`(f => fetch(f.action, { method: "POST", body: new URLSearchParams(new FormData(f)) }))(document.querySelector("form[action$='/export']")).then(r => new URL(r.url).searchParams.get("started"))`, chromedp.EvalAwaitPromise))
	b.run(chromedp.Navigate(company + "/clients?started=" + id))
	require.Equal(t, company+"/clients", b.location(), "a page that is loaded again does not start anew")
	b.run(chromedp.Navigate(company + "/products"))
	b.until(`document.querySelector(".toast:popover-open")?.innerText.includes("Your export is ready")`)
	require.True(t, get(b, chromedp.Evaluate[bool](`document.querySelector(".toast a").pathname.endsWith("/clients")`)), "where the start led to")
	b.lookHere("export-ended")
	b.run(chromedp.EmulateViewport(1280, 900), chromedp.Click(chromedp.CSS(".toast button")))
	b.run(chromedp.Navigate(company + "/products"))
	require.True(t, get(b, chromedp.Evaluate[bool](`!Object.keys(sessionStorage).some(key => key.endsWith("/jobs/ended")) && !document.querySelector(".toast")`)))
}

// refund takes a sale back: the form refuses more than was sold, beside the quantity, and then makes the refund.
// compose places an order by phone for a known client with two products: three keys beside names, no click.
func compose(t *testing.T, b *browser, company string) {
	t.Helper()
	b.run(chromedp.Navigate(company + "/orders/new"))
	b.until(`document.activeElement.id === "c"`)
	b.run(chromedp.KeyEvent("nordh"))
	b.settled(`document.querySelector("#c-found").dataset.for === "nordh" && !!document.querySelector("#c-found [role=option]")`)
	b.lookHere("order-client")
	b.exec(`document.getElementById("c").focus()`)
	b.until(`document.hasFocus() && document.activeElement.id === "c"`)
	b.run(chromedp.KeyEvent(kb.Enter))
	b.until(`!!document.querySelector(".chosen") && document.activeElement.id === "p" && !document.querySelector(".htmx-added, .htmx-settling, .htmx-request")`)
	b.run(chromedp.KeyEvent("gloves, m"))
	b.until(`document.querySelector("#p-found").dataset.for === "gloves, m" && !!document.querySelector("#p-found [role=option]")`)
	b.lookHere("order-goods")
	b.exec(`document.getElementById("p").focus()`)
	b.until(`document.hasFocus() && document.activeElement.id === "p"`)
	b.run(chromedp.KeyEvent(kb.Enter))
	b.until(`!!document.querySelector("#line-0") && document.activeElement.id === "p" && !document.querySelector(".htmx-added, .htmx-settling, .htmx-request")`)
	b.run(chromedp.KeyEvent("HL-0002-0001" + kb.Enter)) // as a scanner does
	b.until(`!!document.querySelector("#line-1") && document.activeElement.id === "p" && !document.querySelector(".htmx-added, .htmx-settling, .htmx-request")`)
	for _, press := range []struct {
		button, qty string
		key         bool
	}{{"more-1", "2", false}, {"more-1", "3", true}, {"less-1", "2", false}, {"less-1", "1", true}} {
		if press.key {
			b.run(chromedp.KeyEvent(kb.Enter))
		} else {
			b.run(chromedp.Click(chromedp.CSS("#" + press.button)))
		}
		b.until(fmt.Sprintf(`document.querySelector("#qty-1").value === %q && document.activeElement.id === %q && !document.querySelector(".htmx-added, .htmx-settling, .htmx-request")`, press.qty, press.button))
	}
	b.exec(`document.querySelector("#discount-1").value = "50", document.querySelector("#discount-1").dispatchEvent(new Event("change", { bubbles: true }))`)
	b.until(`document.querySelector("#total-1").textContent.includes("59.95")`)
	require.Contains(t, b.text("#sums"), "89.85")
	b.lookHere("order-lines")
	b.run(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	require.Eventually(t, func() bool {
		at, err := chromedp.Run(b.ctx, chromedp.Location())
		return err == nil && strings.Contains(at, "done=records")
	}, 20*time.Second, 50*time.Millisecond, "the order is not made")
	require.Contains(t, b.text("main"), "89.85")
	b.look("order-made", b.location())
}

func refund(t *testing.T, b *browser, company string) {
	t.Helper()
	b.run(chromedp.Navigate(company + "/sales?kind=sale&refundStatus=none"))
	b.submit("tbody a")
	sale := b.location()
	b.submit("a[href$='/do/refund']")
	b.look("refund", b.location())
	b.run(chromedp.Navigate(sale + "/do/refund"))
	b.submit("form.form > button", ".rows input", "100000", "#f-reason", "Too large")
	require.Contains(t, b.text(".rows .fault"), "More than is left")
	b.submit("form.form > button", ".rows input", "1")
	require.NotEqual(t, sale, b.location())
	require.Contains(t, b.text("main"), "Too large")
	require.Contains(t, b.text("main"), "This is a refund")
	b.look("sale-refund", b.location())
	b.run(chromedp.Navigate(sale))
	require.Contains(t, b.text("main"), "were refunded")
}
