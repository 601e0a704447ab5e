package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// sellAtTheCounter opens a shift and sells three scanned goods for cash with two clicks; then it loses the connection, sells, and comes back
// with each sale exactly once.
func sellAtTheCounter(t *testing.T, b *browser, d dev, company string) {
	t.Helper()
	b.look("till-open", company+"/sell")
	b.run(chromedp.Navigate(company+"/sell"), chromedp.Click(chromedp.CSS(".open-shift .primary")))
	b.settled(`document.activeElement.id === "p"`)
	for i, code := range []string{"HL-0002-0001", "HL-0002-0001", "HL-0002-0002"} { // as a scanner does
		b.run(chromedp.KeyEvent(code + kb.Enter))
		b.settled(fmt.Sprintf(`[...document.querySelectorAll("[name^='qty.']")].reduce((n, at) => n + Number(at.value), 0) === %d`, i+1))
	}
	b.lookHere("till-cart")
	b.run(chromedp.EmulateViewport(1024, 768), chromedp.Click(chromedp.CSS("button[value=pay]")))
	b.settled(`document.activeElement.value === "take"`)
	b.lookHere("till-pay")
	b.run(chromedp.EmulateViewport(1024, 768), chromedp.Click(chromedp.CSS("section button[value=take]")))
	b.settled(`!!document.querySelector(".receipt") && document.activeElement.value === "next"`)
	require.Contains(t, b.text(".receipt"), "359.70")
	require.Equal(t, 1, get(b, chromedp.Evaluate[int](`document.querySelectorAll(".cart-foot a[href*=\"/paper/sales/receipt?ids=\"]").length`)))
	b.lookHere("till-receipt")
	b.run(chromedp.EmulateViewport(1024, 768), chromedp.KeyEvent(kb.Enter))
	b.settled(`!document.querySelector(".receipt")`)
	b.look("till-returns", company+"/sell/returns?number=1")
	sellAlone(t, b, d, company)
}

// sellAlone sells without a connection.
func sellAlone(t *testing.T, b *browser, d dev, company string) {
	t.Helper()
	b.run(chromedp.EmulateViewport(1024, 768), chromedp.Navigate(company+"/sell"))
	b.until(`Object.keys(localStorage).some(key => key.endsWith(":goods"))`)
	before := countSales(t, d)
	b.run(chromedp.Click(chromedp.CSS(".tile[data-unit]")))
	b.settled(`!!document.querySelector("#line-0")`)
	b.offline(true)
	b.run(chromedp.Click(chromedp.CSS(".tile[data-unit]"))) // which finds out
	b.until(`!!document.querySelector("[data-alone-pay]") && document.querySelector("#cart [name^='qty.']").value === "2"`)
	b.run(chromedp.Click(chromedp.CSS("#p")), chromedp.KeyEvent("HL-0002-0001"+kb.Enter))
	b.until(`document.querySelectorAll("#cart li").length === 2`)
	b.run(chromedp.Click(chromedp.CSS("[data-alone-pay=cash]")))
	b.run(chromedp.Click(chromedp.CSS(".tile[data-unit]")), chromedp.Click(chromedp.CSS("[data-alone-pay=card]")))
	require.Contains(t, b.text("#unsent"), "2 sales are not sent yet")
	b.lookHere("till-alone")
	require.Equal(t, before, countSales(t, d))

	b.offline(false)
	b.run(chromedp.Navigate(company + "/sell")) // while the first is on its way, perhaps
	b.settled(`document.getElementById("unsent").hidden`)
	require.Equal(t, before+2, countSales(t, d), "each is stored once")
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = nil // what failed without a connection
}

// offline cuts the connection of the browser.
func (b *browser) offline(cut bool) {
	b.t.Helper()
	b.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
			MatchedNetworkConditions: []*network.Conditions{{Offline: cut, DownloadThroughput: -1, UploadThroughput: -1}},
		})
		return err
	}))
}

// countSales is how many sales the company has.
func countSales(t *testing.T, d dev) (total int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.BaseURL+"/sales?pageSize=1&kind=sale", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+d.Token)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	var page struct{ Total int }
	require.NoError(t, json.NewDecoder(res.Body).Decode(&page))
	return page.Total
}
