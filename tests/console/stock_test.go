package console

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// skus are those of some goods with a stock record, and their products.
func (d dev) skus(t *testing.T, most int) (skus, products []string) {
	t.Helper()
	items, _ := d.call(t, http.MethodGet, "/catalog/products?include=variants&pageSize=100", nil)["items"].([]any)
	for _, item := range items {
		p, _ := item.(map[string]any)
		if p["hasStock"] == true && p["hasVariants"] == false && len(skus) < most {
			skus, products = append(skus, fmt.Sprint(p["sku"])), append(products, fmt.Sprint(p["id"]))
		}
	}
	require.Len(t, skus, most)
	return skus, products
}

// scan types a code as a scanner does, which ends with Enter.
func scan(code string) chromedp.Action[chromedp.Void] { return chromedp.KeyEvent(code + kb.Enter) }

// countByScanner counts goods faster than the server answers, across a reload, and takes the last number back.
func countByScanner(t *testing.T, b *browser, d dev, company string) {
	t.Helper()
	skus, products := d.skus(t, 2)
	warehouse := fmt.Sprint(d.call(t, http.MethodPost, "/warehouse/warehouses", map[string]any{"name": "Attic"})["id"])
	items := []any{map[string]any{"productId": products[0]}, map[string]any{"productId": products[1]}}
	count := fmt.Sprint(d.call(t, http.MethodPost, "/warehouse/counts", map[string]any{"warehouseId": warehouse, "items": items})["id"])
	b.run(chromedp.Navigate(company + "/counts/" + count))
	b.submit("header.page a.primary")
	require.Contains(t, b.location(), "/scan")
	b.run(scan(skus[0]), scan(skus[0]), scan(skus[0]))
	b.settled(`document.querySelector(".last .big")?.innerText === "3"`)
	b.run(chromedp.Navigate(b.location()))
	b.until(`document.querySelector("#counted").innerText.includes("+3") && document.activeElement.id === "code"`)
	b.click("[name=mode][value=number]")
	b.exec(`document.getElementById("code").focus()`)
	b.run(scan(skus[1]))
	b.settled(`document.activeElement.id === "qty"`)
	b.run(chromedp.KeyEvent("7" + kb.Enter))
	b.settled(`document.querySelector(".last .big")?.innerText === "7" && document.activeElement.id === "code"`)
	b.lookHere("count-scan")
	b.run(chromedp.EmulateViewport(1280, 900))
	b.click(".last button")
	b.settled(`document.querySelector(".last .big")?.innerText === "–"`)
	lines, _ := d.call(t, http.MethodGet, "/warehouse/counts/"+count, nil)["lines"].([]any)
	require.Len(t, lines, 2)
	for _, line := range lines {
		l, _ := line.(map[string]any)
		require.Equal(t, map[string]any{products[0]: 3.0, products[1]: nil}[fmt.Sprint(l["productId"])], l["countedQty"])
	}
}

// transferByScanner moves ten goods to another warehouse with three clicks: for the form, to make it, and to send it. A reload loses nothing.
func transferByScanner(t *testing.T, b *browser, d dev, company string) {
	t.Helper()
	skus, _ := d.skus(t, 10)
	to := d.first(t, "/warehouse/warehouses?search=Attic", "id")
	clicks := 0
	submit := func(selector string) {
		t.Helper()
		clicks++
		b.submit(selector)
	}
	b.run(chromedp.Navigate(company + "/transfers"))
	submit("header.page a.primary")
	for i, sku := range skus {
		b.run(scan(sku))
		b.settled(fmt.Sprintf(`document.querySelector("#line-%d")`, i))
	}
	b.run(chromedp.Navigate(b.location()))
	b.until(`document.querySelector("#draft") && !document.querySelector("#draft").hidden`)
	b.lookHere("draft-offered")
	b.run(chromedp.EmulateViewport(1280, 900))
	b.click("[data-draft-take]") // only because the page was loaded again
	b.settled(`document.querySelector("#line-9")`)
	b.run(chromedp.SetValue(chromedp.CSS("#f-toWarehouseId"), to))
	submit(".acts button.primary")
	require.Equal(t, "[]", get(b, chromedp.Evaluate[string](`JSON.stringify(Object.keys(sessionStorage).filter(k => k.startsWith("draft ")))`)), "what was made is no draft")
	submit("header.page form button.primary")
	require.Contains(t, b.text("h1"), "sent")
	require.Equal(t, 3, clicks)
}
