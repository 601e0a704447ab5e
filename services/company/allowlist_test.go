package company

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The description of the API and the service agree on what a range is.
func TestFormOfRanges(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(rangeForm)
	agree := func(t require.TestingT, text string) {
		_, err := parseRange(text)
		require.Equal(t, err == nil, form.MatchString(text), "%q: %v", text, err)
	}
	for _, text := range []string{
		"", "203.0.113.7", "203.0.113.0/24", "203.0.113.0/33", "203.0.113.0/024", "256.1.1.1", "01.1.1.1", "1.1.1", "::", "::/0", "::1/128", "::1/129", "fe80::1%eth0",
		"2001:db8::/32", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:8::", "::ffff:192.0.2.1", "::ffff:192.0.2.0/120", "1::2::3", "1:2:3:4:5:6:192.0.2.1", "here", " 1.1.1.1",
	} {
		agree(t, text)
	}
	pieces := []string{"0", "1", "12", "25", "255", "256", "ffff", "fffff", "a", "::", ":", ".", "/", "/8", "/32", "/128", "%"}
	rapid.Check(t, func(rt *rapid.T) {
		agree(rt, rapid.StringMatching(rangeForm).Draw(rt, "range"))
		agree(rt, strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 17).Draw(rt, "pieces"), ""))
	})
}
