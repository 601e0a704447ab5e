package console_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// shownTexts are the keys of the texts for fields and for values of enums that pages may show of the operations of both APIs, each with
// one of the operations.
func shownTexts() map[string]string {
	keys := map[string]string{}
	var add func(op string, s httpapi.Shape)
	add = func(op string, s httpapi.Shape) {
		for _, v := range s.Enum {
			if web.Wordy(v) {
				keys["value."+v] = op
			}
		}
		if s.Item != nil {
			add(op, *s.Item)
		}
		for _, f := range s.Fields {
			keys["field."+f.Name] = op
			add(op, f)
		}
	}
	for _, api := range rolestest.BothAPIs() {
		for _, o := range api.Ops() {
			op, _ := api.Operation(o.ID)
			for _, p := range op.Params {
				if p.In == "query" {
					keys["field."+p.Name] = o.ID
				}
				add(o.ID, p)
			}
			for _, s := range []*httpapi.Shape{op.Body, op.Answer} {
				if s != nil {
					add(o.ID, *s)
				}
			}
			for _, name := range (web.Fields{Op: op}).Names() {
				keys["field."+name] = o.ID
			}
		}
	}
	for _, code := range []string{"manual", "public_link", "phone", "pickup", "courier", "post"} { // entries of directories that are built in
		keys["value."+code] = "listChannels"
	}
	return keys
}

// English makes what it has no text for of the names in the API. Every other language needs a text; for a value that is the name of a
// field or of a list, the one of that will do.
func TestConsoleTextsNameAllFieldsAndValues(t *testing.T) {
	t.Parallel()
	keys := shownTexts()
	require.Greater(t, len(keys), 500, "the walk has lost the operations")
	files, err := filepath.Glob("web/texts/*.json")
	require.NoError(t, err)
	require.Greater(t, len(files), 1)
	for _, file := range files {
		texts := textsOf(t, strings.TrimSuffix(filepath.Base(file), ".json"))
		for key := range texts {
			if strings.HasPrefix(key, "field.") || strings.HasPrefix(key, "value.") {
				require.Contains(t, keys, key, "%s has a text for what no operation has", file)
			}
		}
		if filepath.Base(file) == "en.json" {
			continue
		}
		for key, op := range keys {
			_, value, _ := strings.Cut(key, "value.")
			require.NotEmpty(t, cmp.Or(texts[key], texts["field."+value], texts["resource."+value]), "%s lacks %s, for the operation %s", file, key, op)
		}
	}
}

// textsOf is the catalog of a language.
func textsOf(t *testing.T, lang string) (texts map[string]string) {
	t.Helper()
	raw, err := os.ReadFile("web/texts/" + lang + ".json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &texts))
	return texts
}
