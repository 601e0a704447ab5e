package list

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/tradegrid/tradegrid/pkg/kit/phone"
)

// SearchText returns the normalized text of a record that search= matches, one line per field. Fields whose letters differ when case is
// folded are added a second time: ς is σ then, and ß is ss. Phones are added a second time as digits only.
func SearchText(fields []string, phones ...string) string {
	lines := make([]string, 0, len(fields)+len(phones))
	for _, f := range append(fields, phones...) {
		if f != "" {
			lines = append(lines, forms(f)...)
		}
	}
	for _, p := range phones {
		if d := phone.Digits(p); d != "" && d != p {
			lines = append(lines, d)
		}
	}
	return strings.Join(lines, "\n")
}

// likePatterns returns the LIKE patterns of a search: the text, and the digits that the spellings of a phone number have in common, if
// it may be one. callingCode is that of the company.
func likePatterns(search, callingCode string) []string {
	both := forms(strings.TrimSpace(search))
	patterns := make([]string, len(both))
	for i, form := range both {
		patterns[i] = likeEscape(form)
	}
	text := both[0]
	if strings.TrimFunc(text, func(r rune) bool { return unicode.IsDigit(r) || strings.ContainsRune("+()-./ ", r) }) != "" {
		return patterns
	}
	digits := phone.Digits(text)
	if national := phone.CountryOf(callingCode).National(text); national != "" {
		digits = national
	}
	if digits != text && len(digits) >= 3 {
		patterns = append(patterns, likeEscape(digits))
	}
	return patterns
}

// Patterns are the patterns of LIKE that the search of the request is made of; none without a search.
func (p *Params) Patterns() []string {
	if p.Search == "" {
		return nil
	}
	return likePatterns(p.Search, p.callingCode)
}

func likeEscape(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
}

// forms are the forms in which a text is kept and looked for: in lower case, and with folded case if that differs.
func forms(s string) []string {
	lower, folded := Lower(s), strings.ReplaceAll(Fold(s), "ё", "е")
	if lower == folded {
		return []string{lower}
	}
	return []string{lower, folded}
}

// Lower returns a text in lower case, without regard to the forms of its characters.
func Lower(s string) string {
	return strings.ReplaceAll(strings.ToLower(norm.NFKC.String(s)), "ё", "е")
}

// Fold returns the form in which texts are compared that differ in case or in the forms of characters only: Straße and STRASSE, ΚΑΦΕΣ and
// καφες, ＡＢ and ab.
func Fold(s string) string {
	if isPlain(s) {
		return s
	}
	return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(s)))
}

// Key returns the form in which keys that people write, such as SKUs and barcodes, are compared: Straße-1, STRASSE-1 and ＳＴＲＡＳＳＥ－１
// are the same, with or without space around them.
func Key(text string) string { return Fold(strings.TrimSpace(text)) }

// isPlain reports whether a text has ASCII only, and no capital letters.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' {
			return false
		}
	}
	return true
}

// From is the inclusive lower bound of an interval filter: a time, or a date that means its start.
type From time.Time

// UnmarshalText parses RFC 3339 or YYYY-MM-DD.
func (f *From) UnmarshalText(b []byte) error {
	t, _, err := parseBound(string(b))
	*f = From(t)
	return err
}

// String is the bound as a parameter.
func (f From) String() string { return time.Time(f).UTC().Format(time.RFC3339Nano) }

// Schema implements [huma.SchemaProvider].
func (From) Schema(huma.Registry) *huma.Schema {
	return boundSchema("a date means its start in UTC")
}

// To is the inclusive upper bound of an interval filter: a time, or a date that means its last millisecond.
type To time.Time

// UnmarshalText parses RFC 3339 or YYYY-MM-DD.
func (t *To) UnmarshalText(b []byte) error {
	v, day, err := parseBound(string(b))
	if day {
		v = v.Add(24*time.Hour - time.Millisecond)
	}
	*t = To(v)
	return err
}

// String is the bound as a parameter.
func (t To) String() string { return time.Time(t).UTC().Format(time.RFC3339Nano) }

// Schema implements [huma.SchemaProvider].
func (To) Schema(huma.Registry) *huma.Schema {
	return boundSchema("a date means its end in UTC")
}

func boundSchema(doc string) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeString, OneOf: []*huma.Schema{{Format: "date"}, {Format: "date-time"}}, Description: "RFC 3339 date-time or YYYY-MM-DD; " + doc, Examples: []any{"2026-11-20"},
	}
}

func parseBound(s string) (t time.Time, day bool, err error) {
	if t, err = time.Parse(time.DateOnly, s); err == nil {
		return t, true, nil
	}
	if t, err = time.Parse(time.RFC3339, s); err != nil {
		return t, false, fmt.Errorf("must be an RFC 3339 date-time such as 2026-11-20T09:30:00Z, or a date YYYY-MM-DD")
	}
	return t.UTC(), false, nil
}
