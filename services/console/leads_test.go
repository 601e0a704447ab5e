package console_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/platform/company"
)

// The inbox says who waits, shows what they wrote, and makes of them what the API makes; a phone shows the lead that the address names.
func TestInboxOfLeads(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.emptyShop()
	c, at := p.calls(s), "/c/"+s.id.String()+"/leads"
	owner, viewer := p.signedIn(s.people[company.RoleOwner]), p.signedIn(s.people[company.RoleViewer])
	require.Contains(t, owner.load(at).body, "Nobody waits for an answer.")
	greta := c.id("POST", "/leads", map[string]any{"name": "Greta <b>Grau</b>", "phone": "+49 30 23125 111", "email": "greta@example.com", "message": "Do you lease cargo bikes?\nTwo of them.", "source": "web form"})
	simon := c.id("POST", "/leads", map[string]any{"phone": "+49 30 23125 222", "source": "phone"})
	client := c.id("POST", "/clients", map[string]any{"kind": "individual", "displayName": "Simon Raven", "phone": "+49 (30) 23125-222"})

	body := owner.load(at).body
	require.Contains(t, body, "2 people wait for an answer")
	require.Contains(t, body, "Greta &lt;b&gt;Grau")
	require.Regexp(t, `class="inbox"`, body, "a phone begins with the list")
	body = owner.load(at + "?open=" + greta).body
	require.Contains(t, body, `class="inbox open"`)
	require.Contains(t, body, `href="tel:&#43;493023125111"`)
	require.Contains(t, body, `href="mailto:greta@example.com"`)
	require.Contains(t, body, "Do you lease cargo bikes?\nTwo of them.")
	require.NotContains(t, body, "Same phone number as client")
	require.Contains(t, body, `name="do" value="deal"`)
	seen := viewer.load(at + "?open=" + greta).body
	require.NotContains(t, seen, `name="do"`, "a viewer changes nothing")
	require.Equal(t, 403, viewer.submit(at+"/"+greta+"/command", "do", "spam").status)

	body = owner.load(at + "?open=" + simon).body
	require.Regexp(t, `Same phone number as client <a href="[^"]*/clients/`+client+`">Simon Raven`, body)
	got := owner.submit(at+"/"+simon+"/command", "do", "client", "version", "1", "status", "all")
	require.Equal(t, at+"?open="+simon+"&status=all", got.location, got.body)
	require.Equal(t, client, c.do("GET", "/leads/"+simon, nil)["clientId"])
	note := func(body string) page {
		return owner.submit(at+"/"+simon+"/command", "do", "note", "type", "call", "body", body, "key", uuid.NewString())
	}
	require.Equal(t, 400, note(" ").status)
	require.Equal(t, 303, note("Wants eight e-bikes").status)
	body = owner.load(at + "?status=all&open=" + simon).body
	require.Regexp(t, `class="says out"><p>Wants eight e-bikes`, body)
	require.Equal(t, 404, owner.submit(at+"/"+greta+"/command", "do", "note", "type", "call", "body", "x").status, "there is no client yet")

	got = owner.submit(at+"/"+greta+"/command", "do", "in_progress", "version", "1")
	require.Equal(t, 303, got.status, got.body)
	require.Contains(t, owner.load(at).body, "Nobody waits for an answer.")
	got = owner.submit(at+"/"+greta+"/command", "do", "spam", "version", "1")
	require.Equal(t, 422, got.status, "somebody else has changed it")
	require.Contains(t, got.body, `class="note bad" role="alert"`)
	require.Equal(t, 422, owner.submit(at+"/"+greta+"/command", "do", "explode").status)
	got = owner.submit(at+"/"+greta+"/command", "do", "deal", "version", "2")
	require.Contains(t, got.location, "/deals/"+c.do("GET", "/leads/"+greta, nil)["dealId"].(string), got.body)
	require.Contains(t, owner.load(at+"?open="+greta).body, "Open the deal")

	require.Equal(t, 404, owner.load(at+"?open="+uuid.NewString()).status)
	require.Equal(t, 404, owner.load(at+"?open=x").status)
	require.Equal(t, 200, owner.load(at+"?status=nothing&mine=1").status)
	require.Contains(t, owner.load(at+"?cursor=x").body, `class="note bad"`)
	require.Equal(t, 1, strings.Count(owner.load(at+"?status=all&search="+url.QueryEscape("lease cargo")).body, "<li "), "the search of the API")
}
