package web

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWordsGoWithTheirNumbers(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		lang, text, want string
		args             []any
	}{
		{"en", "%s {record|records} so far", "1 record so far", []any{"1"}},
		{"en", "%s {record|records} so far", "1\u202f001 records so far", []any{"1\u202f001"}},
		{"en", "%d {record|records}", "0 records", []any{0}},
		{"en", "%d of %d {step|steps} {1:is|are} done, 5 %%", "1 of 3 steps is done, 5 %", []any{1, 3}},
		{"en", "{1:The row is|All %s rows are} fine", "The row is fine", []any{"1"}},
		{"en", "{1:The row is|All %s rows are} fine", "All 12 rows are fine", []any{"12"}},
		{"de", "Es {1:fehlt|fehlen} %d {Zustellung|Zustellungen}", "Es fehlt 1 Zustellung", []any{1}},
		{"ru", "%d {запись|записи|записей}", "21 запись", []any{21}},
		{"ru", "%d {запись|записи|записей}", "12 записей", []any{12}},
		{"ru", "%d {запись|записи|записей}", "104 записи", []any{int64(104)}},
		{"ru", "%s {запись|записи|записей}", "1,5 записи", []any{"1,5"}},
		{"en", "%s has %d {line|lines}", "{a|b} 1 {c|d} has 2 lines", []any{"{a|b} 1 {c|d}", 2}},
	} {
		require.Equal(t, row.want, filled(row.lang, row.text, row.args), "%s %q", row.lang, row.text)
	}
}

// A word that has two forms in one text has both after every number: no page says "1 records".
func TestNoTextCountsOneOfMany(t *testing.T) {
	t.Parallel()
	all, err := readTexts()
	require.NoError(t, err)
	never := []string{"paper.labels.many", "eventcatalog.intro"} // one of these
	forms := regexp.MustCompile(`%(?:\[\d\])?[sd] \{(\p{L}+)\|(\p{L}+)`)
	for _, lang := range []string{"en", "de"} { // Russian says a number behind the word
		words := map[string]bool{}
		for _, text := range all.byLang[lang] {
			for _, m := range forms.FindAllStringSubmatch(text, -1) {
				words[m[2]] = !slices.Contains([]string{"were", "are", "have", "wurden", "sind", "haben"}, m[2]) // of which a number tells nothing
			}
		}
		require.Greater(t, len(words), 15)
		counted := regexp.MustCompile(`%(?:\[\d\])?[sd] (\p{L}+)`)
		for key, text := range all.byLang[lang] {
			if slices.Contains(never, key) {
				continue
			}
			for _, m := range counted.FindAllStringSubmatch(text, -1) {
				many := words[m[1]] || lang == english && strings.HasSuffix(m[1], "s") && strings.Contains(m[0], "d ") && !slices.Contains([]string{"ms", "s", "is", "was", "processes"}, m[1])
				require.False(t, many && !strings.Contains(text, "|"), "%s %s: %q also says that of one; use {one|many}", lang, key, text)
			}
		}
	}
}
