package console_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
)

// A list says which orders are late: those that somebody still waits for, with a date in the past.
func TestLateOrdersAreMarked(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	made := func(body string) string {
		return p.call(own, p.external, http.MethodPost, "/orders", body)["id"].(string)
	}
	const late = `<span class="late"><span class="hidden">late: </span><time`
	line := `"items":[{"kind":"custom","name":"Bell","qty":1,"unitPrice":900}]`
	made(`{"dueAt":"2037-01-01T10:00:00Z",` + line + `}`)
	overdue := made(`{"customerName":"Ada Moss","dueAt":"2020-01-01T10:00:00Z",` + line + `}`)
	list := root + "/orders?search=Ada+Moss"
	owner := p.signedIn(own.people[company.RoleOwner])
	require.Contains(t, owner.get(list), late)
	require.Contains(t, owner.get(list), `<span aria-hidden="true">AM</span>`)
	require.NotContains(t, owner.get(root+"/orders?dueFrom=2037-01-01"), late)
	p.call(own, p.external, http.MethodPost, "/orders/"+overdue+"/status/cancelled", `{"reason":"test"}`)
	require.NotContains(t, owner.get(list), late)
}

// Beside a document stands who it is for: how to reach the client, what it has bought and what it owes. The page does not wait for it.
func TestDocumentsSayWhoTheyAreFor(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	client := p.call(own, p.external, http.MethodPost, "/clients", `{"kind":"individual","displayName":"Ada <Moss>","phone":"+493023125142"}`)["id"].(string)
	order := p.call(own, p.external, http.MethodPost, "/orders", `{"customerId":"`+client+`","items":[{"kind":"custom","name":"Bell","qty":1,"unitPrice":123456}]}`)["id"].(string)
	card := root + "/clients/" + client + "/view/card"
	require.Contains(t, owner.get(root+"/orders/"+order), `hx-get="`+card+`"`)
	shown := owner.get(card)
	for _, want := range []string{"Ada &lt;Moss&gt;", `href="tel:&#43;493023125142"`, "$1,234.56 in 1 order<", root + "/orders/" + order} {
		require.Contains(t, shown, want)
	}
	require.NotContains(t, shown, "Owes")
	for _, next := range []string{"confirmed", "in_progress", "ready", "completed"} {
		p.call(own, p.external, http.MethodPost, "/orders/"+order+"/status/"+next, `{}`)
	}
	require.Contains(t, owner.get(card), "Owes")
	require.Equal(t, http.StatusNotFound, owner.ask(http.MethodGet, root+"/clients/"+order+"/view/card", nil).status)
}

// A credit note takes its invoice back: its amounts are below 0 in the list and on its page, as in files.
func TestCreditNotesAreBelowZero(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	order := p.call(own, p.external, http.MethodPost, "/orders", `{"items":[{"kind":"custom","name":"Bell","qty":1,"unitPrice":123456}]}`)["id"].(string)
	invoice := p.call(own, p.external, http.MethodPost, "/orders/"+order+"/invoices", `{}`)["id"].(string)
	require.Contains(t, owner.get(root+"/invoices/"+invoice), `href="`+root+`/settings#f-documentAddress"`, "what it does not say leads to where that is filled in")
	note := p.call(own, p.external, http.MethodPost, "/invoices/"+invoice+"/cancel", `{"reason":"wrong address"}`)["creditNoteId"].(string)
	const above, below, credited = ">1,234.56", ">−1,234.56", ">−$1,234.56"
	list := owner.get(root + "/invoices")
	require.Contains(t, list, above)
	require.Contains(t, list, below)
	require.Contains(t, owner.get(root+"/invoices/"+note), credited)
	require.NotContains(t, owner.get(root+"/invoices/"+invoice), credited)
}

// A record that a token has made says which, to whoever may see tokens: the API names no technical users.
func TestRecordsNameTheTokenThatMadeThem(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	token, err := roles.ChangeWith(t.Context(), p.DB, "test", own.id, p.Company.IssueToken, company.NewToken{Name: "Web shop", Scopes: []string{"*:write"}})
	require.NoError(t, err)
	reached, err := p.Company.Access(t.Context(), own.id)
	require.NoError(t, err)
	c := p.calls(own)
	c.by.Principal = reached.Principal(token.ActorID, "Web shop", access.Scopes{"*:write"})
	order := c.id(http.MethodPost, "/orders", map[string]any{"items": []map[string]any{{"kind": "custom", "name": "Bell", "unitPrice": 900}}})
	invoice := c.id(http.MethodPost, "/orders/"+order+"/invoices", map[string]any{})
	deal := c.id(http.MethodPost, "/deals", map[string]any{"typeId": c.first("/deals/types")})

	owner, viewer := p.signedIn(own.people[company.RoleOwner]), p.signedIn(own.people[company.RoleViewer])
	for _, at := range []string{"/invoices/" + invoice, "/deals/" + deal} {
		page := owner.get(root + at)
		require.Regexp(t, `<dt>Created by</dt><dd>Web shop \(token\)</dd>`, page, at)
		require.NotContains(t, page, "<dd><span class=\"id\">"+token.ActorID.String(), at)
		require.NotContains(t, viewer.get(root+at), "Web shop", "who may see no tokens sees no names of them")
	}
}
