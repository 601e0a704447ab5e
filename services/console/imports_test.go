package console_test

import (
	"bytes"
	"cmp"
	"html"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/charmap"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/services/console/resources"
)

// upload sends a form with a file, as browsers do: fields first.
func (v *visitor) upload(path string, form url.Values, field, name string, body []byte, opts ...func(*http.Request)) page {
	v.t.Helper()
	var sent bytes.Buffer
	w := multipart.NewWriter(&sent)
	for key, values := range form {
		for _, value := range values {
			require.NoError(v.t, w.WriteField(key, value))
		}
	}
	part, err := w.CreateFormFile(field, name)
	require.NoError(v.t, err)
	_, err = part.Write(body)
	require.NoError(v.t, err)
	require.NoError(v.t, w.Close())
	return v.ask(http.MethodPost, path, nil, append(opts, func(r *http.Request) {
		r.Body, r.ContentLength = io.NopCloser(&sent), int64(sent.Len())
		r.Header.Set("Content-Type", w.FormDataContentType())
	})...)
}

// ended is the page of an import at its end.
func (v *visitor) ended(at string) (got page) {
	v.t.Helper()
	require.Eventually(v.t, func() bool {
		got = v.ask(http.MethodGet, at, nil)
		return !strings.Contains(got.body, `hx-trigger="every 1s"`)
	}, time.Minute, 20*time.Millisecond)
	return got
}

// checkedImports starts a dry run of each resource that is imported, and returns where its page is.
func (p *pages) checkedImports(s premises) {
	p.t.Helper()
	c := p.calls(s)
	for _, res := range resources.All() {
		if !res.Import {
			continue
		}
		var started job.Record
		file := &httpapi.Sent{Media: "text/csv", Body: strings.NewReader("sku,id,name,displayName,qty,warehouseName\nX,,A,A,1,Main\n")}
		require.NoError(p.t, c.api.Call(p.t.Context(), c.by, "startImport", httpapi.Input{Query: url.Values{"resource": {res.Name}, "dryRun": {"true"}}, File: file}, &started))
		s.records[res.Address+"/import"] = started.ID.String()
	}
}

// A file as shops have it is looked at, checked, and imported in three steps; its faults are said in the language of the page, and its
// refused rows come back as a file.
func TestFilesAreImportedOnPages(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	p.work()
	s := p.emptyShop()
	v, at := p.signedIn(s.people["owner"]), "/c/"+s.id.String()+"/products/import"
	german := func(r *http.Request) { r.Header.Set("Accept-Language", "de") }
	file, err := charmap.Windows1252.NewEncoder().Bytes([]byte("Art.-Nr.;Bezeichnung;VK-Preis (€);Farbe\nM-1;Müsli;1.234,50;rot\nM-2;Brot;teuer;\nM-3;Salz;0,99;\n"))
	require.NoError(t, err)

	require.Contains(t, v.ask(http.MethodGet, "/c/"+s.id.String()+"/products", nil).body, at)
	require.Equal(t, http.StatusForbidden, p.signedIn(s.people["viewer"]).upload(at, nil, "file", "a.csv", file).status)
	got := v.upload(at+"/preview", nil, "file", "liste.csv", file)
	require.Equal(t, http.StatusOK, got.status, got.body)
	for _, text := range []string{"liste.csv", "3 rows; 3 of 4 columns are known.", "Müsli", "234.50", `<option value="windows-1252" selected>`, `<option value="," selected>`, "Check 3 rows"} {
		require.Contains(t, got.body, text)
	}
	form := v.filledIn(got)
	require.Equal(t, "sku", form.Get("column.0"))
	form.Set("column.3", "brand")
	got = v.upload(at+"/preview", form, "file", "liste.csv", file)
	require.Contains(t, got.body, "4 of 4 columns")
	require.NotContains(t, got.body, `large" autofocus`, "the focus stays where something was changed")

	got = v.upload(at, form, "file", "liste.csv", file)
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	checked, _, _ := strings.Cut(got.location, "?")
	v.ended(checked)
	got = v.ask(http.MethodGet, checked, nil, german)
	for _, text := range []string{"2 von 3 Zeilen können importiert werden, 1 hat Fehler.", "VK-Preis (€)", "teuer", "Bitte eine Zahl wie 1234,5.", "2 Zeilen importieren"} {
		require.Contains(t, got.body, text)
	}
	refused := v.ask(http.MethodGet, checked+"/refused", nil, german)
	require.Equal(t, "\ufeffArt.-Nr.;Bezeichnung;VK-Preis (€);Farbe;importError\nM-2;Brot;teuer;;\"Preis: Bitte eine Zahl wie 1234,5.\"\n", refused.body)
	require.Empty(t, p.call(s, p.external, http.MethodGet, "/catalog/products", "")["items"])

	got = v.ask(http.MethodPost, checked+"/run", nil)
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	require.Equal(t, got.location, v.ask(http.MethodPost, checked+"/run", nil).location, "a second click leads to the same import")
	require.Contains(t, v.ended(got.location).body, "2 of 3 rows are imported, 1 was refused.")
	require.Len(t, p.call(s, p.external, http.MethodGet, "/catalog/products", "")["items"], 2)
	require.Equal(t, http.StatusConflict, v.ask(http.MethodPost, strings.Split(got.location, "?")[0]+"/run", nil).status)
	require.Equal(t, http.StatusNotFound, v.ask(http.MethodGet, strings.Replace(checked, "/products/", "/suppliers/", 1), nil).status)

	for body, text := range map[string]string{
		"sku;name\n":                 "no rows below the first",
		"a\n\"":                      "cannot be read",
		"\xd0\xcf\x11\xe0old":        "workbook of an old Excel",
		"Farbe;Größe\nrot;XL\n":      "None of the columns is known",
		"sku;SKU;name\nA;B;Tea\n":    "Check 1 row",
		"\xff\xfes\x00k\x00u\x00\n0": "Save the file as CSV UTF-8",
	} {
		require.Contains(t, v.upload(at+"/preview", nil, "file", "x.csv", []byte(body)).body, text, "%q", body)
	}
	require.Contains(t, v.upload(at, nil, "file", "", nil).body, "Choose a file first")
	require.Contains(t, v.upload(at+"/preview", nil, "file", "x.csv", []byte("sku;name;imageUrls\nA;Tea;red\n"), german).body, "Adressen beginnen mit https:// oder http://")
	require.Contains(t, v.upload(at+"/preview", nil, "file", "x.csv", []byte("sku;name;price\nA;Tea;1.500\n"), german).body, "Das kann 1.500 oder 1,500 bedeuten.")
}

var optionOf = regexp.MustCompile(`<option value="([^"]+)"[^>]*>([^<]*)</option>`)

// A column may be a field by a name that people know in their language, and that no other field has.
func TestFieldsOfImportsHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.emptyShop()
	v := p.signedIn(s.people["owner"])
	for _, lang := range []string{"en", "de", "ru"} {
		texts := textsOf(t, lang)
		for _, res := range resources.All() {
			if !res.Import {
				continue
			}
			got := v.upload("/c/"+s.id.String()+res.Address+"/import/preview", nil, "file", "x.csv", []byte("sku\nA\n"), func(r *http.Request) { r.Header.Set("Accept-Language", lang) })
			require.Equal(t, http.StatusOK, got.status, got.body)
			_, choices, found := strings.Cut(got.body, `name="column.0"`)
			require.True(t, found, got.body)
			choices, _, _ = strings.Cut(choices, "</select>")
			names := map[string]string{}
			for _, m := range optionOf.FindAllStringSubmatch(choices, -1) {
				field, name := m[1], html.UnescapeString(m[2])
				require.Empty(t, names[name], "%s: %s of %s has the name of another field: %s", lang, field, res.Name, name)
				require.True(t, lang == "en" || cmp.Or(texts["imports.field."+field], texts["field."+field]) != "", "%s: %s of %s has no name: %s", lang, field, res.Name, name)
				names[name] = field
			}
			require.Greater(t, len(names), 5, "the pattern has lost the fields")
		}
	}
}
