package console_test

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/tradegrid/tradegrid/services/platform/company"
)

// step sends the form of a document with a button other than that which saves it, and returns the form after it.
func (v *visitor) step(at string, form url.Values, do string, more ...string) (page, url.Values) {
	v.t.Helper()
	sent := maps.Clone(form)
	sent.Set("do", do)
	for i := 0; i+1 < len(more); i += 2 {
		sent.Set(more[i], more[i+1])
	}
	got := v.ask(http.MethodPost, at, sent)
	require.Equal(v.t, http.StatusOK, got.status, got.body)
	return got, v.filledIn(got)
}

// filledIn are the fields of the largest form of a page as a browser sends them.
func (v *visitor) filledIn(p page) url.Values {
	v.t.Helper()
	doc, err := html.Parse(strings.NewReader(p.body))
	require.NoError(v.t, err)
	form := url.Values{}
	for n := range doc.Descendants() {
		at := map[string]string{}
		for _, a := range n.Attr {
			at[a.Key] = a.Val
		}
		require.False(v.t, n.Data == "button" && at["hx-post"] != "" && at["hx-vals"] == "" && inherits(n, "hx-vals"),
			"the value of the button %q is overwritten by the hx-vals that it inherits, which hx-disinherit does not stop; add hx-vals=\"unset\" to the button", at["value"])
		_, checked := at["checked"]
		switch name := at["name"]; {
		case name == "" || name == "q" || (at["type"] == "checkbox" || at["type"] == "radio") && !checked:
		case n.Data == "input":
			form.Add(name, at["value"])
		case n.Data == "textarea" && n.FirstChild != nil:
			form.Add(name, strings.TrimPrefix(n.FirstChild.Data, "\n"))
		case n.Data == "select":
			form.Add(name, chosenIn(n))
		}
	}
	return form
}

// inherits reports whether an element has an attribute from one around it.
func inherits(n *html.Node, attribute string) bool {
	for around := range n.Ancestors() {
		at := map[string]string{}
		for _, a := range around.Attr {
			at[a.Key] = a.Val
		}
		if at[attribute] != "" {
			return true
		}
	}
	return false
}

// chosenIn is the value that a select sends.
func chosenIn(n *html.Node) (value string) {
	first := true
	for o := range n.Descendants() {
		var of string
		selected := first && o.Data == "option"
		for _, a := range o.Attr {
			if a.Key == "value" {
				of = a.Val
			}
			selected = selected || a.Key == "selected"
		}
		if selected {
			value, first = of, false
		}
	}
	return value
}

// Documents are made by a form with lines: Enter adds what a scanner sent, or the only thing that was found. No script is needed.
func TestDocumentsAreMadeWithLines(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	made := p.call(own, p.external, http.MethodPost, "/catalog/products", `{"name":"Spoke","sku":"SP-1","barcode":"4006381333900","price":120,"hasStock":true}`)
	product, _ := made["id"].(string)
	p.call(own, p.external, http.MethodPost, "/catalog/products", `{"name":"Spoke key","sku":"SP-10","price":700,"hasStock":true}`)

	page := owner.ask(http.MethodGet, root+"/receipts/new", nil)
	form := owner.filledIn(page)
	warehouse := regexp.MustCompile(`(?s)name="warehouseId".*?<option value="([^"]+)"`).FindStringSubmatch(page.body)
	require.NotNil(t, warehouse, page.body)
	_, form = owner.step(root+"/receipts/new", form, "enter", "p", "sp-1", "warehouseId", warehouse[1], "note", "Spring")
	require.Equal(t, product, form.Get("ref.0"), "the SKU is exactly that, though another begins with it")
	require.Equal(t, "1", form.Get("qty.0"))
	require.Equal(t, "Spring", form.Get("note"))
	page, form = owner.step(root+"/receipts/new", form, "enter", "p", "4006381333900")
	require.Equal(t, "2", form.Get("qty.0"), "the same again is one more")
	require.NotContains(t, page.body, `name="qty.1"`)
	page, form = owner.step(root+"/receipts/new", form, "enter", "p", "spoke")
	require.Contains(t, page.body, "Spoke key", "several are offered")
	require.NotContains(t, page.body, `name="qty.1"`)
	page, _ = owner.step(root+"/receipts/new", form, "enter", "p", "unheard")
	require.Contains(t, page.body, "Nothing is found by “unheard”.")

	form.Del("p")
	form.Set("qty.0", "-1")
	page = owner.ask(http.MethodPost, root+"/receipts/new", form)
	require.Equal(t, http.StatusUnprocessableEntity, page.status, page.body)
	require.Regexp(t, `id="e-qty-0"`, page.body, "what the API says stands beside the line")
	form = owner.filledIn(page)
	form.Set("qty.0", "12,5")
	form.Set("price.0", "0.75")
	page = owner.ask(http.MethodPost, root+"/receipts/new", form)
	require.Equal(t, http.StatusSeeOther, page.status, page.body)
	require.Equal(t, page.location, owner.ask(http.MethodPost, root+"/receipts/new", form).location, "sent twice, it is the same receipt")
	page = owner.ask(http.MethodGet, page.location, nil)
	require.Contains(t, page.body, "Spoke")
	require.Contains(t, page.body, "12.5")
	require.Contains(t, page.body, "9.38", "the sum of the lines")
	require.Contains(t, owner.ask(http.MethodGet, root+"/products/"+product+"?tab=stocks", nil).body, "12.5")
}

// An order is of a client who is chosen, and shows its sums before it is made.
func TestOrdersAreComposed(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	p.call(own, p.external, http.MethodPost, "/catalog/products", `{"name":"Spoke","sku":"SP-1","price":120}`)
	client, _ := p.call(own, p.external, http.MethodPost, "/clients", `{"kind":"individual","displayName":"Ada Moss","phone":"+493023125142"}`)["id"].(string)
	at := root + "/orders/new"

	page, form := owner.step(at, owner.filledIn(owner.ask(http.MethodGet, at, nil)), "enter", "c", "moss")
	require.Equal(t, client, form.Get("client"), "the only one who is found is chosen")
	require.NotContains(t, page.body, `name="customerName"`, "name and phone are those of the client")
	_, form = owner.step(at, form, "enter", "p", "SP-1")
	page, form = owner.step(at, form, "sum", "qty.0", "3", "discount.0", "50", "deliveryCost", "4.00")
	require.Contains(t, page.body, "$5.80", "3 × 1.20 less half, with delivery")
	require.Regexp(t, `id="more-0" name="do" value="more 0"`, page.body, "a button that is pressed is found again after its answer, and keeps the focus")
	_, form = owner.step(at, form, "add kind=custom&name=Gift+wrap", "price.0", "")
	require.Equal(t, "Gift wrap", form.Get("name.1"))
	_, form = owner.step(at, form, "drop 0")
	require.Equal(t, "Gift wrap", form.Get("name.0"))
	_, form = owner.step(at, form, "undo")
	require.Equal(t, "50", form.Get("discount.1"), "what was removed comes back as it was")
	page, form = owner.step(at, form, "sum", "qty.1", "many")
	require.Contains(t, page.body, `id="e-qty-1"`, "a fault stands beside the line before the order is made")
	form.Set("qty.1", "2")
	form.Set("price.0", "2")
	page = owner.ask(http.MethodPost, at, form)
	require.Equal(t, http.StatusSeeOther, page.status, page.body)
	record := owner.ask(http.MethodGet, page.location, nil)
	require.Contains(t, record.body, "$7.20", "2.00 + 1.20 + 4.00")
	require.Contains(t, record.body, client)

	edit := strings.Split(page.location, "?")[0] + "/do/edit"
	first := owner.filledIn(owner.ask(http.MethodGet, edit, nil))
	second := owner.filledIn(owner.ask(http.MethodGet, edit, nil))
	p.call(own, p.external, http.MethodPatch, "/catalog/products/"+first.Get("ref.1"), `{"price":9900}`)
	first.Set("note", "theirs")
	first.Set("qty.1", "4")
	require.Equal(t, http.StatusSeeOther, owner.ask(http.MethodPost, edit, first).status)
	require.Contains(t, owner.ask(http.MethodGet, page.location, nil).body, "$8.40", "what a line has is kept, also if the catalog has another price")

	second.Set("note", "mine")
	second.Set("deliveryCost", "5.00")
	refused := owner.ask(http.MethodPost, edit, second)
	require.Equal(t, http.StatusUnprocessableEntity, refused.status)
	require.Contains(t, refused.body, "Somebody has changed it to “theirs” meanwhile.")
	second = owner.filledIn(refused)
	require.Equal(t, []string{"mine", "5.00", "4"}, []string{second.Get("note"), second.Get("deliveryCost"), second.Get("qty.1")}, "mine, and what only they have changed")
	require.Equal(t, http.StatusSeeOther, owner.ask(http.MethodPost, edit, second).status)
	require.Contains(t, owner.ask(http.MethodGet, page.location, nil).body, "$9.40")
}

// An order that is given to another client has the name and phone of that one.
func TestOrdersChangeTheirClient(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	p.call(own, p.external, http.MethodPost, "/catalog/products", `{"name":"Spoke","sku":"SP-1","price":120}`)
	p.call(own, p.external, http.MethodPost, "/clients", `{"kind":"individual","displayName":"Ada Moss","phone":"+493023125142"}`)
	other, _ := p.call(own, p.external, http.MethodPost, "/clients", `{"kind":"individual","displayName":"Ben Fern","phone":"+493023125143"}`)["id"].(string)
	at := root + "/orders/new"
	_, form := owner.step(at, owner.filledIn(owner.ask(http.MethodGet, at, nil)), "enter", "c", "moss")
	_, form = owner.step(at, form, "enter", "p", "SP-1")
	made := owner.ask(http.MethodPost, at, form)
	require.Equal(t, http.StatusSeeOther, made.status, made.body)
	record := strings.Split(made.location, "?")[0]
	require.Contains(t, owner.ask(http.MethodGet, record, nil).body, "Ada Moss")

	_, form = owner.step(record+"/do/edit", owner.filledIn(owner.ask(http.MethodGet, record+"/do/edit", nil)), "noclient")
	page, form := owner.step(record+"/do/edit", form, "client "+other)
	require.Contains(t, page.body, "$1.20", "it is added up")
	page = owner.ask(http.MethodPost, record+"/do/edit", form)
	require.Equal(t, http.StatusSeeOther, page.status, page.body)
	now := p.call(own, p.external, http.MethodGet, "/orders/"+record[strings.LastIndex(record, "/")+1:], "")
	require.Equal(t, []any{other, "Ben Fern", "+493023125143"}, []any{now["customerId"], now["customerName"], now["customerPhone"]})
}

// Somebody without a record becomes a client without leaving the form.
func TestClientsAreMadeWithinAnOrder(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	at := root + "/orders/new"
	form := owner.filledIn(owner.ask(http.MethodGet, at, nil))
	page, form := owner.step(at, form, "newclient", "customerName", "Ada Moss", "customerEmail", "no address")
	require.Contains(t, page.body, `id="e-customerEmail"`)
	typed := maps.Clone(form)
	typed.Set("customerEmail", "ada@example.com")
	page, form = owner.step(at, typed, "newclient")
	require.NotEmpty(t, form.Get("client"))
	again := maps.Clone(typed)
	again.Set("do", "newclient")
	require.Equal(t, form.Get("client"), owner.filledIn(owner.ask(http.MethodPost, at, again)).Get("client"), "pressed twice, it is the same client")
	require.Contains(t, page.body, "ada@example.com")
	page, form = owner.step(at, form, "noclient")
	require.False(t, form.Has("client"))
	require.Contains(t, page.body, `name="customerName"`)
}

// What a client had last is had again with one button, at the prices of today, and a new order leads to its payment.
func TestOrdersAreRepeatedAndPaid(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	product, _ := p.call(own, p.external, http.MethodPost, "/catalog/products", `{"name":"Spoke","sku":"SP-1","price":120,"hasStock":true}`)["id"].(string)
	warehouse := p.calls(own).first("/warehouse/warehouses")
	p.call(own, p.external, http.MethodPost, "/warehouse/stocks/adjust", `{"productId":"`+product+`","warehouseId":"`+warehouse+`","targetQty":7,"reason":"counted"}`)
	client, _ := p.call(own, p.external, http.MethodPost, "/clients", `{"kind":"individual","displayName":"Ada Moss","phone":"+493023125142"}`)["id"].(string)
	p.call(own, p.external, http.MethodPost, "/orders", `{"customerId":"`+client+`","items":[{"kind":"product","refId":"`+product+`","qty":3},{"kind":"custom","name":"Gift wrap","qty":1,"unitPrice":150}]}`)
	p.call(own, p.external, http.MethodPatch, "/catalog/products/"+product, `{"price":200}`)
	at := root + "/orders/new"

	page := owner.ask(http.MethodGet, at+"?client="+client, nil)
	require.Contains(t, page.body, "Ada Moss", "an address can say whom an order is for")
	require.Contains(t, page.body, `value="repeat"`)
	page, form := owner.step(at, owner.filledIn(page), "repeat")
	require.Equal(t, []string{product, "3", "Gift wrap", "1"}, []string{form.Get("ref.0"), form.Get("qty.0"), form.Get("name.1"), form.Get("qty.1")})
	require.Contains(t, page.body, "$7.50", "3 × 2.00 + 1.50")
	require.NotContains(t, page.body, `value="repeat"`)
	page, _ = owner.step(at, form, "find", "p", "SP-1")
	require.Contains(t, page.body, `class="sub">Main −3 · Annex 7<`, "the warehouses that have it, with what is available beside the order")
	form.Set("then", "yes")
	form.Del("p")
	page = owner.ask(http.MethodPost, at, form)
	require.Equal(t, http.StatusSeeOther, page.status, page.body)
	require.Regexp(t, `/orders/[0-9a-f-]{36}/do/pay\?done=records$`, page.location)
	require.Contains(t, owner.ask(http.MethodGet, page.location, nil).body, "7.50", "the amount is filled in")

	page = owner.ask(http.MethodGet, at+"?customerName=Kim&kind.0=product&ref.0="+product+"&name.0=Spoke&qty.0=2", nil)
	form = owner.filledIn(page)
	require.Equal(t, []string{"Kim", product, "2"}, []string{form.Get("customerName"), form.Get("ref.0"), form.Get("qty.0")})
}

// An order offers ways to pay in its currency, says which of its taxes went back, and what is paid for it is no credit of its client.
func TestOrdersSayWhatIsPaidAndTaxed(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	rate, _ := p.call(own, p.external, http.MethodPost, "/catalog/tax-rates", `{"name":"Full","percent":12.5}`)["id"].(string)
	client, _ := p.call(own, p.external, http.MethodPost, "/clients", `{"kind":"individual","displayName":"Ada Moss"}`)["id"].(string)
	made := p.call(own, p.external, http.MethodPost, "/orders", `{"customerId":"`+client+`","items":[{"kind":"custom","name":"Gift wrap","qty":4,"unitPrice":450,"taxRateId":"`+rate+`"}]}`)
	order, _ := made["id"].(string)
	lines, _ := made["lines"].([]any)
	line, _ := lines[0].(map[string]any)["id"].(string)
	form := owner.ask(http.MethodGet, root+"/orders/"+order+"/do/pay", nil)
	require.Contains(t, form.body, `<option value="cash"`)
	require.NotContains(t, form.body, `<option value="sbp"`, "which moves roubles only")

	p.call(own, p.external, http.MethodPost, "/orders/"+order+"/payments", `{"amount":1800,"method":"sbp"}`)
	require.Contains(t, owner.ask(http.MethodGet, root+"/orders/"+order+"?tab=payments", nil).body, "SBP", "the API takes it, and pages show it")
	card := owner.ask(http.MethodGet, root+"/clients/"+client+"/view/card", nil)
	require.Regexp(t, `<dt>Paid ahead</dt><dd>\$18\.00</dd>`, card.body)
	require.NotContains(t, card.body, "<dt>Credit</dt>")
	page := owner.ask(http.MethodGet, root+"/orders/"+order, nil)
	require.Contains(t, page.body, "<h2>Taxes</h2>")
	require.Contains(t, page.body, ">12.5%<")

	for _, next := range []string{"confirmed", "in_progress", "ready", "completed"} {
		p.call(own, p.external, http.MethodPost, "/orders/"+order+"/status/"+next, "{}")
	}
	p.call(own, p.external, http.MethodPost, "/orders/"+order+"/returns", `{"items":[{"orderLineId":"`+line+`","qty":1}]}`)
	page = owner.ask(http.MethodGet, root+"/orders/"+order, nil)
	require.Contains(t, page.body, "<h2>Taxes before returns</h2>")
	require.Contains(t, page.body, "Of this, $0.50 is for what was returned.")
	require.Regexp(t, `<span class="sub">.*Returned: 1 · .*Tax rate: Full</span>`, page.body, "what was done of a line stands below its name")
	require.Regexp(t, `<td class="num foremost">18\.00</td>`, page.body, "the total stays on the first line of a row on a phone")
	card = owner.ask(http.MethodGet, root+"/clients/"+client+"/view/card", nil)
	require.Regexp(t, `<dt>Credit</dt><dd>\$4\.50</dd>`, card.body, "what is to be refunded is owed back")
	require.NotContains(t, card.body, "Paid ahead")
}

// An order that was paid beyond what it costs leads to its payments, and a refund begins with what is due back.
func TestOrdersSayWhatIsToRefund(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	made := p.call(own, p.external, http.MethodPost, "/orders", `{"customerName":"Ada Moss","items":[{"kind":"custom","name":"Gift wrap","qty":5,"unitPrice":400}]}`)
	order, _ := made["id"].(string)
	lines, _ := made["lines"].([]any)
	line, _ := lines[0].(map[string]any)["id"].(string)
	payments := owner.ask(http.MethodGet, root+"/orders/"+order+"?tab=payments", nil)
	require.Contains(t, payments.body, "/do/pay", "the empty table leads to the first payment")
	payment, _ := p.call(own, p.external, http.MethodPost, "/orders/"+order+"/payments", `{"amount":2000,"method":"cash"}`)["id"].(string)
	for _, next := range []string{"confirmed", "in_progress", "ready", "completed"} {
		p.call(own, p.external, http.MethodPost, "/orders/"+order+"/status/"+next, "{}")
	}
	p.call(own, p.external, http.MethodPost, "/orders/"+order+"/returns", `{"items":[{"orderLineId":"`+line+`","qty":2}]}`)

	page := owner.ask(http.MethodGet, root+"/orders/"+order, nil)
	require.Regexp(t, `(?s)to refund</span>.*<b class="big">\$8\.00</b>.*href="[^"]*tab=payments">Refund`, page.body)
	page = owner.ask(http.MethodGet, root+"/orders/"+order+"/do/refund_payment?part="+payment, nil)
	require.Regexp(t, `name="amount" value="8\.00"`, page.body)
	told := owner.ask(http.MethodGet, root+"/audit", nil)
	require.NotContains(t, told.body, ">2000<", "amounts are not in minor units")
}
