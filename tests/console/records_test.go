package console

import (
	"testing"

	"github.com/chromedp/chromedp"
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
		"orders": "/orders", "deals-list": "/deals/list", "bookings-list": "/bookings/list", "sales": "/sales", "shifts": "/shifts", "products": "/products", "clients": "/clients", "leads": "/leads",
		"stock-list": "/stock/list", "receipts": "/receipts", "orders-filter": "/orders/filter", "client-new": "/clients/new",
	} {
		b.look(name, company+path)
	}
	view(t, b, company)
	export(t, b, company)
	refund(t, b, company)

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
	require.Contains(t, b.text(".set"), "new")
	require.Contains(t, b.text("thead"), "Phone")
	b.submit("thead a[href*='sort=total']")
	require.Contains(t, b.location(), "sort=")
	b.run(chromedp.Click(chromedp.CSS(".save summary")))
	b.submit(".save button", "#f-name", "New orders")
	require.Contains(t, b.text("nav.views"), "New orders")
	b.look("orders-view", b.location())
	b.look("views", company+"/views")
}

// export waits on the page of an export until its file is there.
func export(t *testing.T, b *browser, company string) {
	t.Helper()
	b.run(chromedp.Navigate(company + "/orders"))
	b.submit("form[action$='/export'] button")
	b.until(`document.querySelector("#live").innerText.includes("The file is ready")`)
	b.look("export", b.location())
	require.True(t, get(b, chromedp.Evaluate[bool](`fetch(document.querySelector("a[download]").href).then(r => r.text()).then(t => t.includes("number") && t.split("\n").length > 10)`, chromedp.EvalAwaitPromise)))
}

// refund takes a sale back: the form refuses more than was sold, beside the quantity, and then makes the refund.
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
