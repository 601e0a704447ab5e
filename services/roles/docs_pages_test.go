package roles_test

import (
	"encoding/json"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

var aLink = regexp.MustCompile(`(?:href|src)="([^"]+)"`)

// Every link of the pages about an API leads to a page, and to a place on it.
func TestDocumentationHasNoDeadLinks(t *testing.T) {
	t.Parallel()
	for base, api := range rolestest.BothAPIs() {
		pages := map[string]string{}
		read := func(address string) string {
			if _, ok := pages[address]; !ok {
				got := rolestest.AskOf(t, api, "", "GET", address, "")
				require.Equal(t, 200, got.Status, address)
				pages[address] = got.Raw
			}
			return pages[address]
		}
		waiting, seen := []string{base + "/docs"}, map[string]bool{}
		for len(waiting) > 0 {
			from := waiting[0]
			waiting = waiting[1:]
			if seen[from] || !strings.HasPrefix(read(from), "<!doctype html>") {
				continue
			}
			seen[from] = true
			for _, m := range aLink.FindAllStringSubmatch(read(from), -1) {
				link, err := url.Parse(strings.ReplaceAll(m[1], "&amp;", "&"))
				require.NoError(t, err)
				if link.Host != "" {
					continue
				}
				to := from
				if link.Path != "" {
					to = path.Join(path.Dir(from), link.Path)
					if strings.HasPrefix(link.Path, "/") {
						to = link.Path
					}
				}
				text := read(to)
				if link.Fragment != "" && !strings.HasPrefix(link.Fragment, "/") {
					require.Contains(t, text, ` id="`+link.Fragment+`"`, "%s links to %s", from, m[1])
				}
				waiting = append(waiting, to)
			}
		}
		require.True(t, seen[base+"/docs/reference/rules.md"], "the first page leads to the reference")
		require.True(t, seen[base+"/docs/errors"])
	}
}

// The page of each tag is for its operations alone, and its description is complete.
func TestEachTagHasAPage(t *testing.T) {
	t.Parallel()
	for base, api := range rolestest.BothAPIs() {
		index := rolestest.AskOf(t, api, "", "GET", base+"/docs", "").Raw
		for _, op := range api.Ops() {
			require.Contains(t, index, `href="`+base+"/docs/"+url.PathEscape(op.Tag)+"#/"+url.PathEscape(op.Tag)+"/"+op.ID+`"`)
		}
		count := 0
		tags := map[string]bool{}
		for _, op := range api.Ops() {
			if tags[op.Tag] {
				continue
			}
			tags[op.Tag] = true
			got := rolestest.AskOf(t, api, "", "GET", base+"/docs/"+url.PathEscape(op.Tag)+".json", "")
			require.Equal(t, 200, got.Status)
			count += strings.Count(got.Raw, `"operationId":`)
			var doc struct {
				Components struct {
					Schemas map[string]json.RawMessage `json:"schemas"`
				} `json:"components"`
			}
			require.NoError(t, json.Unmarshal([]byte(got.Raw), &doc))
			used := map[string]bool{}
			for _, ref := range regexp.MustCompile(`#/components/schemas/(\w+)`).FindAllStringSubmatch(got.Raw, -1) {
				require.Contains(t, doc.Components.Schemas, ref[1], op.Tag)
				used[ref[1]] = true
			}
			require.Len(t, used, len(doc.Components.Schemas), "%s: the description has types that nothing uses", op.Tag)
		}
		require.Equal(t, len(api.Ops()), count, "each operation is on one page")
		for _, name := range []string{"Nothing", "Nothing.json", "reference/nothing.md", "..%2fLICENSE", "../LICENSE.md"} {
			require.Equal(t, 404, rolestest.AskOf(t, api, "", "GET", base+"/docs/"+name, "").Status, name)
		}
	}
}
