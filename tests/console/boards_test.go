package console

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// call makes a request of the external API, as an integration does.
func (d dev) call(t *testing.T, method, path string, body any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), method, d.BaseURL+path, bytes.NewReader(raw))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+d.Token)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	require.Less(t, res.StatusCode, 300, "%s %s", method, path)
	var got any
	require.NoError(t, json.NewDecoder(res.Body).Decode(&got))
	if all, ok := got.([]any); ok {
		return map[string]any{"items": all}
	}
	return got.(map[string]any)
}

// first is a field of the first record of a list.
func (d dev) first(t *testing.T, path, field string) string {
	t.Helper()
	items, _ := d.call(t, http.MethodGet, path, nil)["items"].([]any)
	require.NotEmpty(t, items, path)
	return fmt.Sprint(items[0].(map[string]any)[field])
}

// TestBoards is a day in the shop: a deal is moved, a booking made and cancelled, goods sold and refunded, a shift closed.
func TestBoards(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := open(t)
	b.run(chromedp.Navigate(d.ConsoleSignIn))
	b.submit("form.form button")
	company := d.ConsoleURL + "/c/" + d.CompanyID

	lookAtBoards(t, b, d, company)
	moveDeals(t, b, d, company)
	bookAndCancel(t, b, d, company)
	sellAndClose(t, b, d, company)
	findAnything(t, b, d, company)
	countByScanner(t, b, d, company)
	transferByScanner(t, b, d, company)
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(t, b.faults, "the browser complained")
}

func lookAtBoards(t *testing.T, b *browser, d dev, company string) {
	t.Helper()
	service := d.first(t, "/catalog/services?search=fitting", "id")
	booking := d.first(t, "/scheduling/bookings?status=confirmed&sort=startAt&dateFrom="+time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly), "id")
	product := d.first(t, "/warehouse/stocks?level=reorder", "productId")
	shift := d.first(t, "/shifts?status=open", "id")
	for name, path := range map[string]string{
		"home-day": "/", "find-several": "/find?q=lindmoor", "deals": "/deals", "bookings-day": "/bookings", "bookings-week": "/bookings?view=week", "bookings-free": "/bookings/free?service=" + service,
		"booking-move": "/bookings/" + booking + "/reschedule", "stock": "/stock?level=reorder", "stock-product": "/stock/" + product, "shift": "/shifts/" + shift,
		"shift-closed": "/shifts/" + d.first(t, "/shifts?status=closed", "id"), "shift-open": "/shifts/open",
	} {
		b.look(name, company+path)
	}
	b.run(chromedp.EmulateViewport(1280, 900))
}

// moveDeals moves a card by keyboard and by dragging, and ends it with a reason.
func moveDeals(t *testing.T, b *browser, d dev, company string) {
	t.Helper()
	// The first column has a card: whether one of the demo company is still there depends on the time of day.
	types, _ := d.call(t, http.MethodGet, "/deals/types", nil)["items"].([]any)
	at := slices.IndexFunc(types, func(v any) bool { return v.(map[string]any)["isLeadType"] == false })
	require.GreaterOrEqual(t, at, 0)
	d.call(t, http.MethodPost, "/deals", map[string]any{"typeId": types[at].(map[string]any)["id"], "customerName": "Erika Example"})
	b.run(chromedp.Navigate(company + "/deals"))
	card := get(b, chromedp.Evaluate[string](`(() => { const c = document.querySelector(".deal"); c.querySelector("a").focus(); return c.id; })()`))
	deal := strings.TrimPrefix(card, "d-")
	in := func(column int) string {
		return fmt.Sprintf(`document.querySelectorAll("[data-stage]")[%d].querySelector("[id='%s']") !== null && !document.querySelector(".htmx-added, .htmx-settling, .htmx-request")`, column, card)
	}
	b.until(in(0))
	b.run(chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(chromedp.ModifierShift)))
	b.until(in(1))
	require.Contains(t, b.text("#said"), "is in Qualification now")
	require.True(t, get(b, chromedp.Evaluate[bool](`document.activeElement.closest(".deal")?.id === "`+card+`"`)), "the card keeps the focus, to be moved on")
	b.run(chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(chromedp.ModifierShift)))
	b.until(in(2))
	require.Contains(t, fmt.Sprint(d.call(t, http.MethodGet, "/deals/"+deal+"/history", nil)["items"]), "toStageId")

	b.run(chromedp.DragAndDrop(chromedp.CSS("[id='"+card+"'] > span"), chromedp.CSS("[data-stage]:first-child h2")))
	b.until(in(0))

	b.exec(`document.querySelector("[id='` + card + `'] a").focus()`)
	b.run(chromedp.KeyEvent("l"))
	b.until(`document.activeElement.name === "lostReason"`)
	b.run(chromedp.KeyEvent(kb.Enter))
	b.until(`document.getElementById("` + card + `") === null && !document.querySelector(".htmx-added, .htmx-settling, .htmx-request")`)
	require.Contains(t, b.text("#said"), "is in Lost now")
	require.Equal(t, "lost", d.call(t, http.MethodGet, "/deals/"+deal, nil)["outcome"])
}

func bookAndCancel(t *testing.T, b *browser, d dev, company string) {
	t.Helper()
	resource := d.first(t, "/scheduling/resources?activeOnly=true&type=unit,equipment", "id")
	day := time.Now().UTC().AddDate(0, 0, 21).Format(time.DateOnly)
	b.run(chromedp.Navigate(company + "/bookings/free?resource=" + resource + "&day=" + day))
	b.submit(".slots a")
	b.run(chromedp.SetValue(chromedp.CSS("#f-customerName"), "Ada Winter"), chromedp.SetValue(chromedp.CSS("#f-customerPhone"), "+49 30 555 0177"), chromedp.Click(chromedp.CSS("#panel form.form button")))
	b.until(`document.querySelector("#said")?.innerText.includes("was made")`)
	require.Contains(t, b.text(".calendar"), "Ada Winter")
	b.look("bookings-with", b.location())
	b.run(chromedp.EmulateViewport(1280, 900))
	b.run(chromedp.Click(chromedp.CSS("button[popovertarget=cancel-booking]")))
	b.until(`document.querySelector("#cancel-booking").matches(":popover-open")`)
	b.run(chromedp.Click(chromedp.CSS(".dialog:popover-open form button")))
	b.until(`document.querySelector("#said")?.innerText.includes("is cancelled")`)
	require.Equal(t, "cancelled", d.first(t, "/scheduling/bookings?search=Ada+Winter", "status"))
}

func sellAndClose(t *testing.T, b *browser, d dev, company string) {
	t.Helper()
	product := d.first(t, "/catalog/products?search=Patch", "id")
	shift := fmt.Sprint(d.call(t, http.MethodPost, "/shifts/open", map[string]any{"openingCash": 10000})["id"])
	sale := d.call(t, http.MethodPost, "/sales", map[string]any{"shiftId": shift, "paymentMethod": "cash", "items": []any{map[string]any{"kind": "product", "refId": product, "qty": 2}}})
	b.run(chromedp.Navigate(company + "/shifts/" + shift))
	require.Contains(t, b.text(".note"), "The shift is open")
	b.exec(`document.querySelector("details:has(form[action$='/cash'])").open = true`)
	b.run(chromedp.SetValue(chromedp.CSS("#f-type"), "out"))
	b.submit("form[action$='/cash'] button", "#f-amount", "5000", "#f-reason", "bank")
	require.Contains(t, b.text("form[action$='/cash']"), "drawer", "more than the drawer holds cannot be taken out")
	b.submit("form[action$='/cash'] button", "#f-amount", "20.00", "#f-reason", "bank deposit")
	require.Contains(t, b.text("main > [role=status]"), "recorded")
	d.call(t, http.MethodPost, fmt.Sprintf("/sales/%s/refund", sale["id"]), map[string]any{})
	b.run(chromedp.Navigate(company + "/shifts/" + shift))
	require.Contains(t, b.text(".figures"), "Refunds\n1")
	b.submit("form[action$='/close'] button", "#f-closingCash", "79.50")
	require.Contains(t, b.text("main > [role=status]"), "closed")
	require.Contains(t, b.text("main > .note:not([role])"), "0.50")
	b.look("shift-counted", company+"/shifts/"+shift)
	b.run(chromedp.EmulateViewport(1280, 900))
}

func findAnything(t *testing.T, b *browser, d dev, company string) {
	t.Helper()
	find := func(text string) string {
		b.run(chromedp.Navigate(company + "/stock"))
		b.run(chromedp.KeyEvent("/"))
		b.submitKey("#find", text)
		return b.location()
	}
	delivery := d.first(t, "/webhooks/deliveries?limit=1", "id")
	require.Equal(t, company+"/webhooks/deliveries/"+delivery, find(delivery))
	sale := d.call(t, http.MethodGet, "/sales?sort=number&order=desc", nil)["items"].([]any)[0].(map[string]any)
	require.Equal(t, company+"/sales/"+fmt.Sprint(sale["id"]), find(fmt.Sprint("№ ", sale["number"])), "only sales have come so far")
	require.Contains(t, find("030 23125 707"), "/find?q=", "a client and a lead have this number")
	require.Contains(t, b.text("table"), "Peter Lindmoor")
}

// submitKey types into a field and sends its form with the enter key.
func (b *browser) submitKey(selector, text string) {
	b.t.Helper()
	b.run(chromedp.SetValue(chromedp.CSS(selector), text))
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	_, err := chromedp.RunResponse(ctx, chromedp.SendKeys(chromedp.CSS(selector), "\r"))
	b.must(err)
}

// exec runs a script in the page.
func (b *browser) exec(script string) {
	b.t.Helper()
	get(b, chromedp.Evaluate[bool]("("+script+", true)"))
}
