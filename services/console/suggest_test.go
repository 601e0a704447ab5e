package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/platform/company"
)

// While somebody types, the find field shows what its page would: a name with its words in any order, links to the pages of the records.
func TestFindSuggests(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	client, _ := p.call(own, p.external, http.MethodPost, "/clients", `{"kind":"individual","displayName":"Ada Moss","phone":"+493023125142"}`)["id"].(string)
	suggest := func(v *visitor, text, of string) string {
		got := v.ask(http.MethodGet, root+"/find/suggest?"+url.Values{"q": {text}, "of": {of}}.Encode(), nil)
		require.Equal(t, http.StatusOK, got.status, text)
		return got.body
	}
	link := `href="` + root + "/clients/" + client + `" role="option"`
	for _, text := range []string{"Ada Moss", "moss", "Moss Ada", "Moss, Ada", "+49 30 23125142"} {
		require.Contains(t, suggest(owner, text, ""), link, text)
	}
	require.Equal(t, root+"/clients/"+client, owner.ask(http.MethodGet, root+"/find?q=Moss+Ada", nil).location)
	for _, text := range []string{"", "m", "Moss Eve", "\x00", "<b>"} {
		require.NotContains(t, suggest(owner, text, ""), `role="option"`, text)
	}
	require.Contains(t, suggest(owner, "moss", "clients"), `data-id="`+client+`" data-name="Ada Moss"`, "a field takes the id")
	require.NotContains(t, suggest(owner, "moss", "products"), `role="option"`)
	require.NotContains(t, suggest(owner, "moss", "unheard"), `role="option"`)
}

// A field for the id of a record shows its name, and finds others; without a script, it takes the id.
func TestFieldsPickRecords(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	id := func(name string) string {
		made, _ := p.call(own, p.external, http.MethodPost, "/clients", `{"kind":"individual","displayName":"`+name+`"}`)["id"].(string)
		return made
	}
	client, twin := id("Ada Moss"), id("Ada Mos")

	page := owner.ask(http.MethodGet, root+"/orders/filter?only=customerId&customerId="+client, nil)
	require.Contains(t, page.body, `value="Ada Moss"`)
	require.Contains(t, page.body, `hx-get="`+root+`/find/suggest?of=clients"`)
	require.Contains(t, page.body, `name="customerId" value="`+client+`"`)
	require.Contains(t, owner.ask(http.MethodGet, root+"/orders", nil).body, "only=customerId", "it is among the filters that can be added")

	merge := root + "/clients/" + twin + "/do/merge"
	page = owner.ask(http.MethodGet, merge, nil)
	require.Contains(t, page.body, `hx-get="`+root+`/find/suggest?of=clients"`)
	form := owner.filledIn(page)
	form.Set("intoId", client)
	page = owner.ask(http.MethodPost, merge, form)
	require.Equal(t, http.StatusSeeOther, page.status, page.body)
}

// What has no name is found by what people know of it: a variant by its product, a shift by its day or number, a return by its order.
func TestFieldsPickWhatHasNoName(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	create := func(path, body string) map[string]any { return p.call(own, p.external, http.MethodPost, path, body) }
	text := func(made map[string]any, name string) string { s, _ := made[name].(string); return s }
	hits := func(of, typed string) string {
		got := owner.ask(http.MethodGet, root+"/find/suggest?"+url.Values{"q": {typed}, "of": {of}}.Encode(), nil)
		require.Equal(t, http.StatusOK, got.status, typed)
		return got.body
	}
	product := text(create("/catalog/products", `{"name":"Rain cape","price":4900,"hasVariants":true}`), "id")
	variant := text(create("/catalog/products/"+product+"/variants", `{"sku":"RC-L"}`), "id")
	ordered := create("/orders", `{"items":[{"kind":"custom","name":"Workshop hour","unitPrice":7200,"qty":3}]}`)
	lines, _ := ordered["lines"].([]any)
	line, _ := lines[0].(map[string]any)
	for _, next := range []string{"confirmed", "in_progress", "ready", "completed"} {
		create("/orders/"+text(ordered, "id")+"/status/"+next, "{}")
	}
	var returned []string
	for range 2 {
		returned = append(returned, text(create("/orders/"+text(ordered, "id")+"/returns", `{"items":[{"orderLineId":"`+text(line, "id")+`","qty":1}]}`), "id"))
	}
	shift := p.call(own, p.external, http.MethodGet, "/shifts/current", "")

	for _, typed := range []string{"rain cape", "RC-L"} {
		require.Contains(t, hits("variants", typed), `data-id="`+variant+`" data-name="RC-L"`, typed)
	}
	for _, id := range returned {
		require.Contains(t, hits("returns", fmt.Sprint(ordered["number"])), `data-id="`+id+`"`, "a return by its order")
	}
	today, err := time.Parse(time.RFC3339, text(shift, "openedAt")) // companies of tests are in UTC
	require.NoError(t, err)
	for _, typed := range []string{fmt.Sprint(shift["number"]), today.Format("2.1.2006"), today.Format("2.1."), today.Format(time.DateOnly)} {
		require.Contains(t, hits("shifts", typed), `data-id="`+text(shift, "id")+`"`, typed)
	}
	require.NotContains(t, hits("shifts", today.AddDate(0, 0, -3).Format("2.1.2006")), `data-id="`+text(shift, "id")+`"`)
	require.Contains(t, owner.ask(http.MethodGet, root+"/movements/filter?only=variantId&variantId="+variant, nil).body, `value="RC-L"`)
	require.Contains(t, owner.ask(http.MethodGet, root+"/sales", nil).body, "only=shiftId", "it is among the filters that can be added")
}

// An address is chosen among those of the client whom the list is filtered by.
func TestAddressesAreThoseOfTheClient(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	id := func(path, body string) string {
		s, _ := p.call(own, p.external, http.MethodPost, path, body)["id"].(string)
		return s
	}
	client := id("/clients", `{"kind":"individual","displayName":"Ada Moss"}`)
	address := id("/clients/"+client+"/addresses", `{"label":"Home","text":"Lindenstr. 5, Berlin"}`)

	page := owner.ask(http.MethodGet, root+"/deals/list/filter?clientId="+client, nil)
	require.Contains(t, page.body, `<option value="`+address+`">Home, Lindenstr. 5, Berlin</option>`)
	require.NotContains(t, owner.ask(http.MethodGet, root+"/deals/list/filter", nil).body, `name="addressId"`)
	require.Contains(t, owner.ask(http.MethodGet, root+"/deals/list?clientId="+client+"&addressId="+address, nil).body, "Home, Lindenstr. 5, Berlin")
	require.Contains(t, owner.ask(http.MethodGet, root+"/orders/new?client="+client, nil).body, `<option value="`+address+`">Home, Lindenstr. 5, Berlin</option>`)
}
