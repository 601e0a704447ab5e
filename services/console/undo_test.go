package console_test

import (
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/platform/company"
)

// takeBack sends the form of the toast on a page, and returns the address that it leads to.
func (v *visitor) takeBack(p page) string {
	v.t.Helper()
	_, shown, found := strings.Cut(p.body, `id="outcome"`)
	require.True(v.t, found, p.body)
	shown, _, found = strings.Cut(shown, "</form>")
	require.True(v.t, found, shown)
	_, post, _ := strings.Cut(shown, `action="`)
	post, _, _ = strings.Cut(post, `"`)
	form := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(shown, -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	back := v.ask(http.MethodPost, post, form)
	require.Equal(v.t, http.StatusSeeOther, back.status, back.body)
	return back.location
}

// A command that can be taken back offers it in a toast, whose form leaves the record as it was before.
func TestCommandsOfRecordsAreTakenBack(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner, viewer := p.signedIn(own.people[company.RoleOwner]), p.signedIn(own.people[company.RoleViewer])
	made := func(path, body string) string {
		return path + "/" + p.call(own, p.external, http.MethodPost, path, body)["id"].(string)
	}
	read := func(at string) map[string]any {
		record := p.call(own, p.external, http.MethodGet, at, "")
		for _, moves := range []string{"version", "updatedAt", "archivedAt"} {
			delete(record, moves)
		}
		return record
	}
	give := func(at, command, field, value string) (location string) {
		t.Helper()
		version := p.call(own, p.external, http.MethodGet, at, "")["version"]
		form := url.Values{"version": {strconv.Itoa(int(version.(float64)))}, field: {value}}
		got := owner.ask(http.MethodPost, root+at+"/do/"+command, form)
		require.Equal(t, http.StatusSeeOther, got.status, got.body)
		return got.location
	}
	user := own.people[company.RoleViewer].ID.String()
	order := made("/orders", `{"items":[{"kind":"custom","name":"Bell","unitPrice":900}]}`)
	p.call(own, p.external, http.MethodPost, order+"/status/in_progress", `{}`)
	p.call(own, p.external, http.MethodPost, order+"/status/ready", `{}`)
	lead := made("/leads", `{"name":"Ada"}`)
	for _, one := range []struct{ at, command, field, value string }{
		{made("/clients", `{"kind":"individual","displayName":"Ada"}`), "archive", "part", ""},
		{order, "move", "part", "in_progress"},
		{lead, "assign", "assigneeId", user},
		{lead, "lead_status", "status", "spam"},
	} {
		before := read(one.at)
		location := give(one.at, one.command, one.field, one.value)
		require.NotEqual(t, before, read(one.at), one.command)
		shown := owner.ask(http.MethodGet, location, nil)
		require.NotContains(t, viewer.get(location), `>Undo</button>`, "who may not give the command is not offered it")
		again := owner.takeBack(shown)
		require.Equal(t, before, read(one.at), one.command)
		require.NotContains(t, owner.get(location), `id="outcome"`, "the record has moved on")
		owner.takeBack(owner.ask(http.MethodGet, again, nil))
		require.NotEqual(t, before, read(one.at), "taking back can be taken back")
	}

	location := give(order, "move", "part", "ready")
	require.Contains(t, owner.get(location), `>Undo</button>`)
	require.NotContains(t, owner.get(strings.Replace(location, "was=in_progress", "was=completed", 1)), `>Undo</button>`, "an address offers nothing that asks first")
}
