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

// The first and the last address of each special-purpose range of IANA's registries, of multicast, and of what clouds use for
// themselves are refused; those on both sides of a range are not, where they are public.
func TestSpecialPurposeRanges(t *testing.T) {
	t.Parallel()
	for prefix, beside := range map[string][]string{
		// https://www.iana.org/assignments/iana-ipv4-special-registry
		"0.0.0.0/8": {"1.0.0.0"}, "10.0.0.0/8": {"9.255.255.255", "11.0.0.0"}, "100.64.0.0/10": {"100.63.255.255", "100.128.0.0"},
		"127.0.0.0/8": {"126.255.255.255", "128.0.0.0"}, "169.254.0.0/16": {"169.253.255.255", "169.255.0.0"},
		"172.16.0.0/12": {"172.15.255.255", "172.32.0.0"}, "192.0.0.0/24": {"191.255.255.255", "192.0.1.0"},
		"192.0.2.0/24": {"192.0.1.255", "192.0.3.0"}, "192.31.196.0/24": {"192.31.195.255", "192.31.197.0"},
		"192.52.193.0/24": {"192.52.192.255", "192.52.194.0"}, "192.88.99.0/24": {"192.88.98.255", "192.88.100.0"},
		"192.168.0.0/16": {"192.167.255.255", "192.169.0.0"}, "192.175.48.0/24": {"192.175.47.255", "192.175.49.0"},
		"198.18.0.0/15": {"198.17.255.255", "198.20.0.0"}, "198.51.100.0/24": {"198.51.99.255", "198.51.101.0"},
		"203.0.113.0/24": {"203.0.112.255", "203.0.114.0"}, "224.0.0.0/4": {"223.255.255.255"}, "240.0.0.0/4": nil,
		// https://www.iana.org/assignments/iana-ipv6-special-registry
		"::/128": nil, "::1/128": nil, "64:ff9b:1::/48": nil, "100::/64": nil, "100:0:0:1::/64": nil,
		"2001::/23": {"2000:ffff::", "2001:200::"}, "2001:db8::/32": {"2001:db7:ffff::", "2001:db9::"}, "2002::/16": {"2001:ffff::", "2003::"},
		"2620:4f:8000::/48": {"2620:4f:7fff::", "2620:4f:8001::"}, "3fff::/20": {"3ffe:ffff::", "3fff:1000::"}, "5f00::/16": nil,
		"fc00::/7": nil, "fe80::/10": nil, "fec0::/10": nil, "ff00::/8": nil,
		// Metadata and hosts of clouds: Azure, Amazon, Google, Oracle, Alibaba.
		"168.63.129.16/32": {"168.63.129.15", "168.63.129.17"}, "169.254.169.254/32": nil, "fd00:ec2::254/128": nil, "fd20:ce::254/128": nil,
		"192.0.0.192/32": nil, "100.100.100.200/32": nil,
	} {
		p := netip.MustParsePrefix(prefix)
		for _, addr := range []netip.Addr{p.Addr(), last(p)} {
			require.False(t, Public(addr), "%s of %s", addr, prefix)
			if addr.Is4() {
				mapped := netip.AddrFrom16(addr.As16())
				require.False(t, Public(mapped), mapped)
				b := netip.MustParseAddr("64:ff9b::").As16()
				copy(b[12:], addr.AsSlice())
				require.False(t, Public(netip.AddrFrom16(b)), "%s behind NAT64", addr)
			}
		}
		for _, addr := range beside {
			require.True(t, Public(netip.MustParseAddr(addr)), "%s beside %s", addr, prefix)
		}
	}
	require.True(t, Public(netip.MustParseAddr("64:ff9b::8.8.8.8")))
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

// last is the last address of a range.
func last(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	addr, _ := netip.AddrFromSlice(b)
	return addr
}
