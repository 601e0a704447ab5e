package web

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sources are the files of the console that can name a class or a picture, by their path below services/console.
func sources(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(".."), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "htmx") || !slices.Contains([]string{".html", ".go", ".js"}, path.Ext(name)) {
			return err
		}
		text, err := os.ReadFile(filepath.Join("..", name))
		all[name] = string(text)
		return err
	}))
	require.Greater(t, len(all), 200)
	return all
}

// sheets are the parts of the style sheet without comments.
func sheets(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("assets/style/*.css")
	require.NoError(t, err)
	all := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all[filepath.Base(file)] = regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(string(text), "")
	}
	require.Greater(t, len(all), 10)
	return all
}

var (
	selectors  = regexp.MustCompile(`([^{}]+)\{`)
	className  = regexp.MustCompile(`\.([A-Za-z][\w-]*)`)
	classes    = regexp.MustCompile(`class="([^"]*)"`)
	action     = regexp.MustCompile(`\{\{.*?\}\}`)
	numbered   = regexp.MustCompile(`^(lanes?|at|for)-\d+$|^[pw]\d+$`) // made of a name and a number
	parens     = regexp.MustCompile(`\([^()]*\)`)
	bareShared = regexp.MustCompile(`^\.([A-Za-z][\w-]*)(:|$|[ >+~]+[a-z.*:\[])`)
)

// Nothing is sent to browsers that no page shows: each class of the sheet is that of something, each picture stands somewhere.
func TestNoStyleOrIconIsLeftOver(t *testing.T) {
	t.Parallel()
	words := strings.Join(slices.Collect(maps.Values(sources(t))), "\n")
	for file, text := range sheets(t) {
		for _, s := range selectors.FindAllStringSubmatch(text, -1) {
			for _, c := range className.FindAllStringSubmatch(s[1], -1) {
				used := numbered.MatchString(c[1]) || regexp.MustCompile(`(^|[^\w-])`+c[1]+`($|[^\w-])`).MatchString(words)
				require.True(t, used, "%s styles .%s, which nothing has", file, c[1])
			}
		}
	}
	icons, err := os.ReadFile("assets/icons.svg")
	require.NoError(t, err)
	ids := regexp.MustCompile(`<symbol id="([^"]+)"`).FindAllStringSubmatch(string(icons), -1)
	require.Greater(t, len(ids), 10)
	for _, id := range ids {
		inMenu := slices.Contains(pictured, Area(id[1]))
		require.True(t, inMenu || strings.Contains(words, `"icon" "`+id[1]+`"`) || regexp.MustCompile(`Icon:\s+"`+id[1]+`"`).MatchString(words), "nothing shows the picture %s", id[1])
	}
}

// The sheet of an area styles what the area has: what several areas have is a piece, in a sheet that begins with a lower digit, so that a
// rule for one page changes no other.
func TestSheetsOfAreasDoNotLeak(t *testing.T) {
	t.Parallel()
	areas := map[string]map[string]bool{} // by class
	for name, text := range sources(t) {
		if path.Ext(name) != ".html" {
			continue
		}
		for _, m := range classes.FindAllStringSubmatch(text, -1) {
			for _, c := range strings.Fields(action.ReplaceAllString(m[1], " ")) {
				if areas[c] == nil {
					areas[c] = map[string]bool{}
				}
				areas[c][path.Dir(name)] = true
			}
		}
	}
	for file, text := range sheets(t) {
		if !strings.HasPrefix(file, "5-") {
			continue
		}
		for _, s := range selectors.FindAllStringSubmatch(text, -1) {
			for one := range strings.SplitSeq(parens.ReplaceAllString(s[1], ""), ",") {
				m := bareShared.FindStringSubmatch(strings.TrimSpace(one))
				if m == nil || slices.ContainsFunc(className.FindAllStringSubmatch(one, -1), func(c []string) bool { return len(areas[c[1]]) < 2 }) || strings.Contains(one, "#") || strings.Contains(one, ":has") {
					continue
				}
				in := slices.Sorted(maps.Keys(areas[m[1]]))
				require.Less(t, len(in), 2, "%s styles %q everywhere; %v have it: name the page, or make it a piece", file, strings.TrimSpace(one), in)
			}
		}
	}
}

// What is hidden is not shown, whatever a rule says of how it is shown.
func TestHiddenIsHidden(t *testing.T) {
	t.Parallel()
	all := sheets(t)
	require.Regexp(t, `\[hidden\] \{\s*display: none !important;`, all["1-base.css"])
	for file, text := range all {
		if file != "1-base.css" {
			require.NotContains(t, text, "[hidden] {", "%s: the rule of 1-base.css does it", file)
		}
	}
}

// What a page loads behind itself keeps its title: htmx takes that of the answer.
func TestLoadedPartsKeepTheTitle(t *testing.T) {
	t.Parallel()
	tag := regexp.MustCompile(`<[a-z][^>]*hx-trigger="load"[^>]*>`)
	var found int
	for name, text := range sources(t) {
		for _, one := range tag.FindAllString(text, -1) {
			found++
			require.Contains(t, one, "ignoreTitle:true", "in %s: a part that is loaded gives the page its title; write hx-swap=\"outerHTML ignoreTitle:true\"", name)
		}
	}
	require.NotZero(t, found)
}
