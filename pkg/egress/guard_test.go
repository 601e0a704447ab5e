package egress

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPublic(t *testing.T) {
	t.Parallel()
	for addr, public := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "172.15.255.255": true, "172.32.0.0": true, "100.128.0.1": true,
		"10.0.0.1": false, "127.0.0.1": false, "127.255.255.254": false, "0.0.0.0": false, "0.1.2.3": false,
		"169.254.169.254": false, "169.254.0.1": false, "172.16.0.1": false, "172.31.255.255": false,
		"192.168.1.1": false, "100.64.0.1": false, "100.127.255.255": false, "198.18.0.1": false, "192.0.2.7": false,
		"224.0.0.1": false, "239.1.1.1": false, "240.0.0.1": false, "255.255.255.255": false,
		"2606:4700::1111": true, "2a00:1450::1": true, "::1": false, "::": false, "fe80::1": false, "fe80::1%eth0": false,
		"fc00::1": false, "fd12:3456::1": false, "fd00:ec2::254": false, "ff02::1": false, "fec0::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.1.2.3": false, "::ffff:8.8.8.8": true, "::ffff:169.254.169.254": false,
		"::127.0.0.1": false, "64:ff9b::8.8.8.8": true, "64:ff9b::127.0.0.1": false, "64:ff9b::a9fe:a9fe": false,
		"64:ff9b:1::7f00:1": false, "2002:7f00:1::1": false, "2001::1": false, "2001:db8::1": false, "100::1": false,
	} {
		require.Equal(t, public, Public(netip.MustParseAddr(addr)), addr)
	}
	require.False(t, Public(netip.Addr{}))
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://example.com/hook":      "",
		"https://example.com:8443/a?b":  "",
		"HTTPS://EXAMPLE.com":           "",
		"https://8.8.8.8/":              "",
		"https://[2606:4700::1111]/x":   "",
		"http://example.com/":           "must begin with https://",
		"ftp://example.com/":            "must begin with https://",
		"//example.com/":                "must begin with https://",
		"example.com":                   "must begin with https://",
		"":                              "must begin with https://",
		"javascript:alert(1)":           "must begin with https://",
		"https://":                      "must name a host",
		"https:example.com":             "must name a host",
		"https://:443/":                 "must name a host",
		"https://u:p@example.com/":      "user name or password",
		"https://example.com/#x":        "fragment",
		"https://example.com:0/":        "port",
		"https://example.com:70000/":    "port",
		"https://example.com:/":         "port",
		"https://example.com/ a":        "must be a URL",
		"https://exa\nmple.com/":        "must be a URL",
		"https://[::1":                  "must be a URL",
		"https://127.0.0.1/":            "public host",
		"https://[::1]/":                "public host",
		"https://[::ffff:10.0.0.1]/":    "public host",
		"https://169.254.169.254/":      "public host",
		"https://x.com/" + long(MaxURL): "at most 2048",
	} {
		err := CheckURL(raw, false)
		if want == "" {
			require.NoError(t, err, raw)
			continue
		}
		require.ErrorContains(t, err, want, raw)
	}
	require.NoError(t, CheckURL("http://127.0.0.1:8080/hook", true))
	require.ErrorContains(t, CheckURL("ftp://127.0.0.1/", true), "https://")
}

func long(n int) string { return strings.Repeat("a", n) }
