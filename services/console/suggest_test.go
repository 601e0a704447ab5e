package console_test

import (
	"net/http"
	"net/url"
	"testing"

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
