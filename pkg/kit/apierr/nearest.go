package apierr

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// maxName bounds the names that are compared, because a client may send a long one.
const maxName = 64

// Nearest returns the name that was probably meant by an unknown one: the most similar, ignoring case. It returns "" if none is
// similar: at most one letter in three may differ.
func Nearest(unknown string, names []string) string {
	if len(unknown) > maxName {
		return ""
	}
	best, least := "", 1+len(unknown)/3
	for _, n := range names {
		if d := levenshtein.ComputeDistance(strings.ToLower(unknown), strings.ToLower(n)); d <= least && (best == "" || d < least) {
			best, least = n, d
		}
	}
	return best
}
