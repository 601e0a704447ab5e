package console_test

import (
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// What people do in the console is said in words: every change that its source names is of a resource or a directory, or has a text.
func TestChangesHaveWords(t *testing.T) {
	t.Parallel()
	told := map[string]bool{}
	for _, res := range resources.All() {
		told[res.Create] = true
		for _, c := range res.Commands {
			told[c.Op] = true
		}
	}
	for _, dir := range resources.Directories() {
		for _, of := range append([]resources.Directory{dir}, dir.Parts...) {
			told[of.Create], told[of.Update], told[of.Remove] = true, true, true
		}
	}
	changes := map[string]bool{}
	for _, api := range rolestest.BothAPIs() {
		for _, op := range api.Ops() {
			changes[op.ID] = op.Method != http.MethodGet && !strings.HasPrefix(op.ID, "preview") // which store nothing
		}
	}
	texts, found, named := textsOf(t, "en"), map[string]bool{}, map[string]bool{}
	literal := regexp.MustCompile(`"([a-zA-Z_]+)"`)
	own := regexp.MustCompile(`(?:q\.Change\(ctx|ChangeAccount\(ctx, [^"\n]*), "([a-zA-Z_]+)",`)
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "resources") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range literal.FindAllStringSubmatch(string(source), -1) {
			named[m[1]] = true
			found[m[1]] = found[m[1]] || changes[m[1]]
		}
		for _, m := range own.FindAllStringSubmatch(string(source), -1) {
			found[m[1]] = true
		}
		return err
	}))
	var missing []string
	for id, isChange := range found {
		if isChange && !told[id] && texts["operation."+id] == "" {
			missing = append(missing, "operation."+id)
		}
	}
	require.Empty(t, missing, "there are no such texts")
	for key := range texts {
		if id, ok := strings.CutPrefix(key, "operation."); ok {
			require.True(t, (named[id] || strings.HasPrefix(id, "use_link_")) && !told[id], "nothing shows the text %s", key)
		}
	}
}

// The page of activity says who changed what from what to what, without ids, and in the words of fields; so does the page of the record.
func TestActivityInWords(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	product := p.call(own, p.external, http.MethodPost, "/catalog/products", `{"name":"Helm M","price":4900}`)
	at := root + "/products/" + product["id"].(string)
	got := owner.ask(http.MethodPost, at+"/do/edit", url.Values{"version": {"1"}, "price": {"45.00"}})
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	german := func(r *http.Request) { r.Header.Set("Accept-Language", "de") }
	for _, page := range []string{root + "/audit", root + "/audit?kind=products", at + "?tab=activity"} {
		got = owner.ask(http.MethodGet, page, nil)
		require.Contains(t, got.body, "Changed “Price” of Product Helm M from 49.00 to 45.00", page)
		require.Contains(t, owner.ask(http.MethodGet, page, nil, german).body, "„Preis“ von Produkt Helm M geändert: von 49,00 auf 45,00", page)
		shown := regexp.MustCompile(`(?s)<details>.*?</details>|href="[^"]*"|value="[^"]*"`).ReplaceAllString(got.body, "")
		main := shown[strings.Index(shown, `class="told"`):]
		require.NotRegexp(t, `[0-9a-f]{8}-[0-9a-f]{4}-7|updateProduct`, strings.Split(main, `class="card api"`)[0], page)
	}
	require.NotContains(t, owner.ask(http.MethodGet, root+"/audit?kind=orders", nil).body, "Helm M")
	require.NotContains(t, owner.ask(http.MethodGet, root+"/audit?to=2020-01-01", nil).body, "Helm M")
	other := own.people[company.RoleAdmin].ID.String()
	require.NotContains(t, owner.ask(http.MethodGet, root+"/audit?person="+other, nil).body, "Helm M")
	require.Contains(t, owner.ask(http.MethodGet, root+"/audit?person="+own.people[company.RoleOwner].ID.String(), nil).body, "Helm M")
}
