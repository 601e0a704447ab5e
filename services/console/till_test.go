package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/platform/company"
)

// What is scanned is added up by the API, paid, and has a receipt. The shift is that of the person, and no script is needed.
func TestTheCounterSells(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	cashier := p.signedIn(own.people[company.RoleAdmin]) // the owner has a shift already
	sell := root + "/sell"
	made := p.call(own, p.external, http.MethodPost, "/catalog/products", `{"name":"Spoke","sku":"SP-1","barcode":"4006381333900","price":120}`)
	product, _ := made["id"].(string)
	client := p.call(own, p.external, http.MethodPost, "/clients", `{"kind":"individual","displayName":"Nora Field","phone":"+49 30 23125 733"}`)
	clientID, _ := client["id"].(string)
	p.call(own, p.external, http.MethodPost, "/clients/"+clientID+"/points", `{"delta":100,"reason":"a gift"}`)

	require.Contains(t, p.signedIn(own.people[company.RoleViewer]).ask(http.MethodGet, sell, nil).body, "may look at sales, not make them")
	page := cashier.ask(http.MethodGet, sell, nil)
	require.Contains(t, page.body, "Open a shift to sell")
	form := cashier.filledIn(page)
	form.Set("do", "open")
	form.Set("openingCash", "1,5x")
	page = cashier.ask(http.MethodPost, sell, form)
	require.Equal(t, http.StatusUnprocessableEntity, page.status)
	require.Contains(t, page.body, `id="e-openingCash"`)
	form.Set("openingCash", "150,00")
	page = cashier.ask(http.MethodPost, sell, form)
	require.Equal(t, http.StatusOK, page.status, page.body)
	require.Contains(t, page.body, "$150.00")

	_, form = cashier.step(sell, cashier.filledIn(page), "enter", "p", "4006381333900")
	require.Equal(t, product, form.Get("ref.0"))
	_, form = cashier.step(sell, form, "enter", "p", "sp-1")
	require.Equal(t, "2", form.Get("qty.0"), "the same again is one more")
	page, form = cashier.step(sell, form, "enter", "p", "unheard")
	require.Contains(t, page.body, "Nothing is found by “unheard”.")
	page, form = cashier.step(sell, form, "free", "p", "")
	require.Contains(t, page.body, "Is required", "a free line wants its price")
	form.Set("price.1", "5")
	page, form = cashier.step(sell, form, "client "+clientID)
	require.Contains(t, page.body, "Nora Field")
	page, form = cashier.step(sell, form, "sum", "points", "yes", "discountPercent", "10")
	require.Contains(t, page.body, "$5.66", "7.40, less 0.74, less 100 points")
	_, form = cashier.step(sell, form, "less 0")
	page, form = cashier.step(sell, form, "less 0")
	require.Equal(t, "custom", form.Get("kind.0"), "one less than one is none")
	require.Regexp(t, `<input id="p" [^>]* autofocus`, page.body, "the next thing is a scan")
	require.NotRegexp(t, `value="undo" [^>]*autofocus`, page.body, "which must not press Undo")
	_, form = cashier.step(sell, form, "undo")
	require.Equal(t, "1", form.Get("qty.1"))

	page, form = cashier.step(sell, form, "pay")
	require.Contains(t, page.body, "Take $4.58")
	require.NotContains(t, page.body, `value="sbp"`, "which moves roubles only")
	require.Contains(t, page.body, `data-pad="."`, "the separator of the language")
	page, form = cashier.step(sell, form, "sum", "given", "3")
	require.Contains(t, page.body, "At least $4.58")
	page, form = cashier.step(sell, form, "sum", "given", "10")
	require.Contains(t, page.body, "$5.42")
	form.Set("do", "take")
	page = cashier.ask(http.MethodPost, sell, form)
	require.Equal(t, http.StatusSeeOther, page.status, page.body)
	require.Equal(t, page.location, cashier.ask(http.MethodPost, sell, form).location, "sent twice, it is the same sale")
	page = cashier.ask(http.MethodGet, page.location, nil)
	for _, text := range []string{"Spoke", "Free amount", "$4.58", "5.42", "Nora Field", "$154.58"} {
		require.Contains(t, page.body, text)
	}
	require.Equal(t, cashier.ask(http.MethodGet, sell+"/last", nil).location, cashier.ask(http.MethodPost, sell, form).location)
}

// A sum is paid in part by card; what is refused stays, with what is wrong.
func TestTheCounterTakesSeveralPayments(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	cashier := p.signedIn(own.people[company.RoleAdmin]) // the owner has a shift already
	sell := root + "/sell"
	_, form := cashier.step(sell, url.Values{"openingCash": {"0"}}, "open")
	_, form = cashier.step(sell, form, "free")
	_, form = cashier.step(sell, form, "sum", "price.0", "20")
	_, form = cashier.step(sell, form, "pay")
	page, form := cashier.step(sell, form, "sum", "method", "mixed", "card", "15")
	require.Contains(t, page.body, "$5.00")
	form.Set("do", "take")
	form.Set("card", "25")
	page = cashier.ask(http.MethodPost, sell, form)
	require.Equal(t, http.StatusUnprocessableEntity, page.status)
	require.Contains(t, page.body, "Free amount", "the cart stays")
	form = cashier.filledIn(page)
	form.Set("do", "take")
	form.Set("card", "15")
	page = cashier.ask(http.MethodPost, sell, form)
	require.Equal(t, http.StatusSeeOther, page.status, page.body)
	page = cashier.ask(http.MethodGet, page.location, nil)
	require.Contains(t, page.body, "15.00")
	require.Contains(t, page.body, "$5.00")
}

// A cart is put aside at one till and taken up at another, once, with the client and the names of its goods.
func TestTheCounterParks(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	cashier, other := p.signedIn(own.people[company.RoleAdmin]), p.signedIn(own.people[company.RoleOwner])
	sell := root + "/sell"
	p.call(own, p.external, http.MethodPost, "/catalog/products", `{"name":"Spoke","sku":"SP-1","price":120}`)
	client := p.call(own, p.external, http.MethodPost, "/clients", `{"kind":"individual","displayName":"Nora Field"}`)
	clientID, _ := client["id"].(string)
	_, form := cashier.step(sell, url.Values{"openingCash": {"0"}}, "open")
	_, form = cashier.step(sell, form, "enter", "p", "sp-1")
	_, form = cashier.step(sell, form, "client "+clientID)
	_, form = cashier.step(sell, form, "sum", "qty.0", "3", "discount.0", "5", "discountPercent", "10")
	page, form := cashier.step(sell, form, "park")
	require.Contains(t, page.body, "“Nora Field” is parked for 7 days.")
	require.Empty(t, form.Get("ref.0"), "the next sale begins")

	page = other.ask(http.MethodGet, sell, nil)
	id := between(page.body, `value="unpark `, `"`)
	require.NotEmpty(t, id, page.body)
	page, form = other.step(sell, other.filledIn(page), "unpark "+id)
	require.Contains(t, page.body, "Spoke")
	require.Equal(t, []string{"3", "5", "10", clientID}, []string{form.Get("qty.0"), form.Get("discount.0"), form.Get("discountPercent"), form.Get("client")})
	require.Contains(t, page.body, "$3.08", "3.60, less 5 and 10 percent")
	page, _ = cashier.step(sell, url.Values{}, "unpark "+id)
	require.Contains(t, page.body, "taken up at another till")
}

// Goods come back by the number of their receipt.
func TestTheCounterTakesGoodsBack(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	cashier := p.signedIn(own.people[company.RoleAdmin]) // the owner has a shift already
	sell := root + "/sell"
	_, form := cashier.step(sell, url.Values{"openingCash": {"0"}}, "open")
	_, form = cashier.step(sell, form, "free")
	_, form = cashier.step(sell, form, "pay", "price.0", "20", "qty.0", "3")
	form.Set("do", "take")
	sold := cashier.ask(http.MethodGet, cashier.ask(http.MethodPost, sell, form).location, nil)
	number := between(sold.body, "Receipt ", "<")
	back := sell + "/returns"
	require.Contains(t, cashier.ask(http.MethodGet, back+"?number=99999", nil).body, "There is no receipt 99999.")
	page := cashier.ask(http.MethodGet, back+"?number="+number, nil)
	require.Contains(t, page.body, "up to 3 at 20.00 each")
	form = cashier.filledIn(page)
	page = cashier.ask(http.MethodPost, back, form)
	require.Equal(t, http.StatusUnprocessableEntity, page.status)
	require.Contains(t, page.body, "Say how much comes back")
	line := "qty." + between(page.body, `name="qty.`, `"`)
	form.Set(line, "4")
	page = cashier.ask(http.MethodPost, back, form)
	require.Equal(t, http.StatusUnprocessableEntity, page.status)
	require.Contains(t, page.body, `role="alert"`)
	form = cashier.filledIn(page)
	form.Set(line, "2")
	form.Set("reason", "Too long")
	page = cashier.ask(http.MethodPost, back, form)
	require.Equal(t, http.StatusSeeOther, page.status, page.body)
	require.Equal(t, page.location, cashier.ask(http.MethodPost, back, form).location, "sent twice, it is the same refund")
	page = cashier.ask(http.MethodGet, page.location, nil)
	require.Contains(t, page.body, "$40.00")
	require.Contains(t, page.body, "$20.00")
}

// A sale that was made without a connection is told later, with its key and its time: once, however often it is sent. What is refused says why.
func TestTheCounterIsToldOfSalesLater(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	cashier := p.signedIn(own.people[company.RoleAdmin])
	sell := root + "/sell"
	made := p.call(own, p.external, http.MethodPost, "/catalog/products", `{"name":"Spoke","sku":"SP-1","barcode":"4006381333900","price":120}`)
	_, form := cashier.step(sell, url.Values{"openingCash": {"0"}}, "open")
	goods := cashier.ask(http.MethodGet, sell+"/goods", nil).body
	require.Contains(t, goods, `"codes":"SP-1 4006381333900"`)
	require.Contains(t, goods, `"unit":"1.20"`)

	product, _ := made["id"].(string)
	at := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	for name, value := range map[string]string{"kind.0": "product", "ref.0": product, "qty.0": "3", "price.0": "1.10", "method": "cash", "soldAt": at} {
		form.Set(name, value)
	}
	told := cashier.ask(http.MethodPost, sell+"/sent", form)
	id := between(told.body, `{"sale":"`, `"`)
	require.NotEmpty(t, id, told.body)
	require.Equal(t, told.body, cashier.ask(http.MethodPost, sell+"/sent", form).body, "sent twice, it is the same sale")
	sale := p.call(own, p.external, http.MethodGet, "/sales/"+id, "")
	require.Equal(t, []any{330.0, at, own.people[company.RoleAdmin].ID.String()}, []any{sale["total"], sale["soldAt"], sale["cashierId"]}, "what was shown was taken")

	form.Set("key", "0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55")
	form.Set("ref.0", "0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55")
	told = cashier.ask(http.MethodPost, sell+"/sent", form)
	require.Equal(t, http.StatusOK, told.status)
	require.Contains(t, told.body, "Mend that and send the sale again")
	form.Set("key", "")
	require.Equal(t, http.StatusBadRequest, cashier.ask(http.MethodPost, sell+"/sent", form).status)
}

// between is what stands between two texts.
func between(text, from, to string) string {
	_, after, _ := strings.Cut(text, from)
	found, _, _ := strings.Cut(after, to)
	return found
}
