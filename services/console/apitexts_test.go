package console_test

import (
	"html"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// forDevelopers are the areas whose pages describe the API.
var forDevelopers = []web.Area{web.Explorer, web.EventCatalog, web.QuickStart}

// sentencesOfTheAPI are what the API description says of parameters and of fields of requests, with where it does.
func sentencesOfTheAPI() map[string]string {
	said := map[string]string{}
	var add func(op string, s httpapi.Shape)
	add = func(op string, s httpapi.Shape) {
		if strings.Count(s.Doc, " ") > 1 {
			said[s.Doc] = op + " " + s.Name
		}
		if s.Item != nil {
			add(op, *s.Item)
		}
		for _, f := range s.Fields {
			add(op, f)
		}
	}
	for _, api := range rolestest.BothAPIs() {
		for _, o := range api.Ops() {
			op, _ := api.Operation(o.ID)
			for _, p := range op.Params {
				if p.In != "path" {
					add(o.ID, p)
				}
			}
			if op.Body != nil {
				add(o.ID, *op.Body)
			}
		}
	}
	return said
}

var (
	shownHelp = regexp.MustCompile(`<span class="help"[^>]*>([^<]*)</span>`)
	folded    = regexp.MustCompile(`(?s)<section class="card api">.*?</section>`)
)

// What a field means is said in the language of the person and in words of a shop. The API description speaks to developers, and stands
// where the API is shown.
func TestNoPageShowsASentenceOfTheAPIDescription(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shop()
	maps.Copy(own.records, p.entries(own.id))
	said := sentencesOfTheAPI()
	require.Greater(t, len(said), 200, "the walk has lost the operations")
	owner := p.signedIn(own.people[company.RoleOwner])
	english, seen := textsOf(t, "en"), map[string]bool{}
	for _, route := range p.app.Pages() {
		method, path := address(route.Pattern(), own.id, own.records)
		if method != http.MethodGet || route.Streams() || route.Audience == web.Operators || slices.Contains(forDevelopers, route.Area) {
			continue
		}
		got := owner.ask(method, path, nil, func(r *http.Request) { r.Header.Set("Accept-Language", "de") })
		body := html.UnescapeString(folded.ReplaceAllString(got.body, ""))
		for doc, of := range said {
			require.False(t, strings.Contains(body, doc), "%s shows the description of %s: %s", path, of, doc)
		}
		for _, m := range shownHelp.FindAllStringSubmatch(body, -1) {
			seen[m[1]] = true
		}
	}
	require.Greater(t, len(seen), 50, "forms show what fields mean")
	for _, text := range english {
		require.False(t, seen[text] && strings.Contains(text, " "), "German pages show: %s", text)
	}
}

// A text about a field is of an operation and of a field that there are.
func TestHelpIsOfFieldsThatThereAre(t *testing.T) {
	t.Parallel()
	fields, ofOperations := map[string]bool{}, map[string]bool{}
	for _, api := range rolestest.BothAPIs() {
		for _, o := range api.Ops() {
			op, _ := api.Operation(o.ID)
			for _, name := range (web.Fields{Op: op}).Names() {
				fields[name], ofOperations[o.ID+"."+name] = true, true
			}
		}
	}
	for key := range textsOf(t, "en") {
		if name, ok := strings.CutPrefix(key, "help."); ok {
			require.True(t, fields[name] || ofOperations[name], "no form has the field of the text %s", key)
		}
	}
}
