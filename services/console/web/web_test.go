package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
)

// dynamic are the beginnings of keys that the source puts together.
var dynamic = []string{
	"fault.",
	"activity.",
	"answer.",
	"area.",
	"bookings.do.",
	"bookings.status.",
	"bookings.view.",
	"companies.",
	"date.",
	"delivery.",
	"directory.",
	"done.",
	"error.",
	"events.kind.",
	"delivery_summary.",
	"field.",
	"find.kind.",
	"find.what.",
	"group.",
	"health.",
	"help.",
	"notice.",
	"leads.state.",
	"home.begin.",
	"hooktab.",
	"job.",
	"link.",
	"operation.",
	"outcome.",
	"overlap.",
	"paper.",
	"platform.",
	"quickstart.lang.",
	"range.",
	"records.begin.",
	"records.bulk.",
	"records.compose.then.",
	"records.confirm.",
	"records.count.",
	"records.day.",
	"records.did.",
	"records.do.",
	"records.export.",
	"records.job.",
	"records.gauge.",
	"records.rows.",
	"records.compose.group.",
	"records.tab.",
	"refusal.",
	"replay.",
	"requests.filter.",
	"resource.",
	"role.",
	"scope.",
	"scopes.",
	"sentence.",
	"settings.",
	"shifts.cash.",
	"shifts.method.",
	"shifts.refunded.",
	"signin.provider.",
	"stock.count.mode.",
	"stock.level.",
	"imports.field.",
	"imports.key.",
	"imports.kinds.",
	"files.fault.",
	"files.type.",
	"pictures.fault.",
	"till.receipt.tax.",
	"till.sum.tax.",
	"tokens.expires.",
	"tokens.overlap.",
	"pick.hint.",
	"records.changed.",
	"records.lacks.",
	"tokens.sentence.",
	"tokens.state.",
	"user.",
	"visit.",
	"letter.",
	"value.",
	"waiting.",
	"weekday.",
	"why.",
}

// keys are those that templates and handlers name.
func keys(t *testing.T) map[string]string {
	t.Helper()
	named := regexp.MustCompile(`(?:q\.T\(|\{\{t |\(t |refusal\{[\w.]+, |StatusNotFound, )"([a-z_]+\.[a-z_.0-9]*[a-z_0-9])"`)
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || !slices.Contains([]string{".go", ".html"}, filepath.Ext(path)) {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range named.FindAllStringSubmatch(string(source), -1) {
			found[m[1]] = path
		}
		return err
	}))
	require.Greater(t, len(found), 200, "the pattern has lost the source")
	return found
}

// Every text that a page names is in the catalog, in each language, and the catalog has no others.
func TestTextsAreComplete(t *testing.T) {
	t.Parallel()
	all, err := readTexts()
	require.NoError(t, err)
	used := keys(t)
	for key, path := range used {
		require.True(t, all.has(key), "%s names the text %s, which texts/en.json lacks", path, key)
	}
	verb := regexp.MustCompile(`%[a-z]`)
	for key, text := range all.byLang[english] {
		if _, ok := used[key]; !ok && !slices.ContainsFunc(dynamic, func(begin string) bool { return strings.HasPrefix(key, begin) }) {
			t.Errorf("nothing shows the text %s", key)
		}
		for lang, others := range all.byLang {
			require.NotEmpty(t, others[key], "texts/%s.json lacks %s", lang, key)
			require.Equal(t, verb.FindAllString(text, -1), verb.FindAllString(others[key], -1), "%s in texts/%s.json", key, lang)
		}
	}
	for lang, others := range all.byLang {
		for key := range others {
			made := slices.ContainsFunc([]string{"field.", "value.", "resource."}, func(kind string) bool { return strings.HasPrefix(key, kind) }) // English makes most of these of their names
			require.True(t, made || all.has(key), "texts/%s.json has the key %s, which English lacks", lang, key)
		}
	}
	for value, want := range map[string]string{"suppliers": "Lieferanten", "startAt": "Beginn", "cash": "bar"} {
		text, _ := all.word("de", value)
		require.Equal(t, want, text, "a value is called as the list or the field of its name, unless it has a text of its own")
	}
	for accept, want := range map[string]string{"de-AT": "de", "ru-RU,ru;q=0.9,en;q=0.5": "ru", "uk,en;q=0.8": english, "uk,ru;q=0.8": "ru", "uk": english, "fr,ru;q=0.3": "ru"} {
		require.Equal(t, want, all.choose(accept), accept)
	}
	require.Equal(t, english, all.choose(""))
	require.Equal(t, english, all.choose("tlh;q=1"))
	require.Equal(t, english, all.choose(strings.Repeat("x", 10_000)))
}

// spoiled is a area with a template that cannot be parsed.
type spoiled struct{}

func (spoiled) Folder() Folder {
	return Folder{Name: "spoiled", Templates: fstest.MapFS{"one.html": {Data: []byte(`{{define "content"}}{{end`)}}}
}

// A page whose template is wrong keeps the console from serving, not only the page.
func TestNothingIsServedWithATemplateThatIsWrong(t *testing.T) {
	t.Parallel()
	a, err := New(Config{}, spoiled{})
	require.NoError(t, err)
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, ln.Close()) }()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	require.ErrorContains(t, a.Serve(ctx, ln), "parse spoiled/one.html: ")
}

func TestAssets(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("assets/vendor.sh")
	require.NoError(t, err)
	htmx, err := os.ReadFile("assets/htmx.min.js")
	require.NoError(t, err)
	sum := sha256.Sum256(htmx)
	require.Contains(t, string(script), "sum="+hex.EncodeToString(sum[:]), "htmx.min.js is not the one that vendor.sh fetches")

	a, err := newAssets("")
	require.NoError(t, err)
	total := 0
	for name := range a.byName {
		for accepted, encoding := range map[string]string{"gzip, deflate, br": "br", "gzip": "gzip", "": ""} {
			req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/assets/"+name, nil)
			req.Header.Set("Accept-Encoding", accepted)
			rec := httptest.NewRecorder()
			a.ServeHTTP(rec, req)
			require.Equal(t, 200, rec.Code)
			require.Equal(t, encoding, rec.Header().Get("Content-Encoding"))
			require.Contains(t, rec.Header().Get("Cache-Control"), "immutable")
			if encoding == "br" {
				total += rec.Body.Len()
			}
		}
	}
	require.Less(t, total, 50<<10, "pages are small because this is small")
	rec := httptest.NewRecorder()
	a.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/assets/style.css", nil))
	require.Equal(t, 404, rec.Code, "only names with a hash")
}

func TestMomentsAreInTheZoneOfTheCompany(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	now := time.Date(2026, 11, 24, 23, 30, 0, 0, time.UTC) // the 25th in Berlin
	at := func(d time.Duration) Moment { return Moment{At: now.Add(d), zone: berlin, now: now} }
	require.Equal(t, "00:29:00", at(-time.Minute).Short())
	require.Equal(t, "24 Nov 22:30", at(-2*time.Hour).Short())
	require.Equal(t, "24 Nov 2025 00:30", at(-366*24*time.Hour).Short())
	require.Equal(t, "Wed 25 Nov 2026 00:30:00.000 CET", at(0).Exact())
	require.Equal(t, "2026-11-24T23:30:00Z", at(0).ISO())
}

func TestDurationsHaveTheUnitsOfTheLanguage(t *testing.T) {
	t.Parallel()
	q := asker(t)
	for d, want := range map[time.Duration][2]string{
		-time.Second:                   {"0 ms", "0 мс"},
		999 * time.Millisecond:         {"999 ms", "999 мс"},
		59900 * time.Millisecond:       {"59 s", "59 с"},
		15 * time.Minute:               {"15 min", "15 мин"},
		47*time.Hour + 125*time.Second: {"47 h 2 min", "47 ч 2 мин"},
		75 * time.Hour:                 {"3 days 3 h", "3 дн. 3 ч"},
	} {
		for i, lang := range []string{english, "ru"} {
			q.lang = lang
			require.Equal(t, want[i], q.Duration(d))
		}
	}
}

func TestDatesHaveTheNamesOfTheLanguage(t *testing.T) {
	t.Parallel()
	all, err := readTexts()
	require.NoError(t, err)
	for lang := range all.byLang {
		require.Len(t, all.dates[lang].months, 12)
		require.Len(t, all.dates[lang].shortMonths, 12)
		require.Len(t, all.dates[lang].days, 7)
		require.Len(t, all.dates[lang].shortDays, 7)
	}
	at := time.Date(2026, time.March, 4, 9, 5, 0, 0, time.UTC)
	for layout, want := range map[string][3]string{
		"Monday, 2 January 2006": {"Wednesday, 4 March 2026", "Mittwoch, 4. März 2026", "среда, 4 марта 2026"},
		"Mon 2 Jan":              {"Wed 4 Mar", "Mi 4. Mär", "ср 4 мар"},
		"15:04":                  {"09:05", "09:05", "09:05"},
	} {
		for i, lang := range []string{english, "de", "ru"} {
			require.Equal(t, want[i], all.dates[lang].format(at, layout))
		}
	}
}

// A role sees an area of the menu exactly if it may open it, because both are read from one table.
func TestEveryAreaIsInTheMenuOnce(t *testing.T) {
	t.Parallel()
	all, err := readTexts()
	require.NoError(t, err)
	icons, err := assetFiles.ReadFile("assets/icons.svg")
	require.NoError(t, err)
	for _, a := range pictured {
		require.Contains(t, string(icons), fmt.Sprintf(`<symbol id=%q`, a))
	}
	seen := map[Area]bool{}
	for _, e := range slices.Concat(menu, operatorMenu) {
		require.False(t, seen[e.Area], e.Area)
		seen[e.Area] = true
		require.True(t, all.has("area."+string(e.Area)), e.Area)
		require.True(t, e.Group == "" || all.has("group."+e.Group), e.Group)
	}
	for role, g := range grants {
		require.True(t, all.has("role."+role), role)
		for _, a := range g.Areas {
			require.True(t, seen[a], "%s sees %s, which is nowhere in the menu", role, a)
		}
	}
}

// After the sign-in a person comes back to a page of the console and to none of another site.
func TestNextIsAPageOfTheConsole(t *testing.T) {
	t.Parallel()
	require.Equal(t, "/c/1/orders?status=new", Next("/c/1/orders?status=new"))
	for _, away := range []string{"", "//evil.example", "///evil.example", `/\evil.example`, "https://evil.example", "javascript:alert(1)", "/\t/evil.example", "evil"} {
		require.Equal(t, "/", Next(away), away)
	}
}
