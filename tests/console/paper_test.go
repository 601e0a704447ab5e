package console

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// printPages prints what is ordered by phone: two clicks from the order open the dialog for its delivery note, two for its receipt. What comes
// out has the size of its paper, and no line is cut.
func printPages(t *testing.T, b *browser, d dev, company string) {
	t.Helper()
	product := d.first(t, "/catalog/products?pageSize=1&search=lock", "id")
	items := make([]any, 70)
	for i := range items {
		items[i] = map[string]any{"kind": "product", "refId": product, "qty": 1, "note": "Line " + strings.Repeat("x", i)}
	}
	order := company + "/orders/" + d.call(t, http.MethodPost, "/orders", map[string]any{"customerName": "Ada Nordhagen", "customerPhone": "+49 30 23125 142", "items": items})["id"].(string)
	b.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: "window.printed = 0; window.print = () => { window.printed++ }"})
		return err
	}))
	for _, name := range []string{"delivery-note", "receipt"} {
		b.run(chromedp.Navigate(order))
		b.run(chromedp.Click(chromedp.CSS("details.menu summary")))
		if name == "receipt" {
			b.lookHere("order-print")
		}
		b.submit(".menu a[href*='/paper/orders/" + name + "?']")
		b.until(`window.printed === 1`)
		require.Contains(t, b.text(".sheet h2"), "Auftrag")
		b.run(chromedp.Click(chromedp.CSS("[data-print]")))
		b.until(`window.printed === 2`)
		b.look("paper-"+name, b.location())
	}
	pages, width := printed(b)
	require.InDelta(t, 226.8, width, 1, "80 mm in points")
	require.Greater(t, pages, 1)
	b.run(chromedp.Navigate(company + "/paper/orders/confirmation?ids=" + order[strings.LastIndex(order, "/")+1:]))
	pages, width = printed(b)
	require.InDelta(t, 595.3, width, 2, "210 mm in points")
	require.Greater(t, pages, 2)
	require.Less(t, pages, 12)
	require.True(t, get(b, chromedp.Evaluate[bool](`fetch(document.querySelector(".actions a[href*='format=pdf']").href).then(r => r.blob()).then(f => f.type === "application/pdf" && f.size > 5000)`, chromedp.EvalAwaitPromise)))
	b.look("paper-labels", company+"/paper/products/labels?ids="+product+"&copies=3")
}

// printed prints the page as the browser does, and returns the number of pages and their width in points.
func printed(b *browser) (pages, width int) {
	b.t.Helper()
	raw := get(b, func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
		made, err := cdp.Call(ctx, t, page.PrintToPDF, page.PrintToPDFParams{PreferCSSPageSize: new(true)})
		return made.Data, err
	})
	text := string(raw)
	_, box, found := strings.Cut(text, "/MediaBox [0 0 ")
	require.True(b.t, found)
	for _, digit := range box {
		if digit < '0' || digit > '9' {
			break
		}
		width = width*10 + int(digit-'0')
	}
	return strings.Count(text, "/Type /Page\n"), width
}
