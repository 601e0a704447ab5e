// Package translation checks texts in several languages.
package translation

import (
	"maps"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/tradegrid/tradegrid/pkg/apierr"
)

const maxLocale = 16 // characters

var locale = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)

// Check adds the faults of a map of texts by locale. A text has at most limit characters.
func Check(faults *apierr.Fields, field string, texts map[string]string, limit int) {
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		path := field + "." + key
		if len(key) > maxLocale || !locale.MatchString(key) {
			faults.Add(path, apierr.Format, "the key must be a BCP 47 locale of at most %d characters, such as de or pt-BR", maxLocale)
		}
		if n := utf8.RuneCountInString(texts[key]); n == 0 || n > limit {
			faults.Add(path, apierr.Length, "must have 1 to %d characters, has %d; omit the locale to remove it", limit, n)
		}
	}
}
