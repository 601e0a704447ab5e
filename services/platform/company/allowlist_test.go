package company

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseRange(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"203.0.113.7": "203.0.113.7/32", "203.0.113.9/24": "203.0.113.0/24", "::": "::/128", "::/0": "::/0", "::1/128": "::1/128",
		"2001:db8::/32": "2001:db8::/32", "1:2:3:4:5:6:7:8": "1:2:3:4:5:6:7:8/128", "::ffff:192.0.2.1": "192.0.2.1/32",
	} {
		got, err := parseRange(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got.String(), text)
	}
	for _, text := range []string{
		"", "here", " 1.1.1.1", "1.1.1", "256.1.1.1", "01.1.1.1", "203.0.113.0/33", "203.0.113.0/024", "::1/129", "fe80::1%eth0", "fe80::/10%eth0", "1::2::3", "1:2:3:4:5:6:7:8::",
	} {
		_, err := parseRange(text)
		require.Error(t, err, text)
	}
}
