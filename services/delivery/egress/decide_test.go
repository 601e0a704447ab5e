package egress

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url      string
		resolves [4]byte
		insecure bool
		want     Verdict
	}{
		{"https://8.8.8.8/", [4]byte{}, false, Verdict{Address: netip.MustParseAddr("8.8.8.8")}},
		{"https://innocent.example/", [4]byte{127, 0, 0, 1}, false, Verdict{netip.MustParseAddr("127.0.0.1"), "127.0.0.0/8"}},
		{"https://innocent.example/", [4]byte{127, 0, 0, 1}, true, Verdict{Address: netip.MustParseAddr("127.0.0.1")}},
		{"https://bücher.example/", [4]byte{8, 8, 8, 8}, false, Verdict{Address: netip.MustParseAddr("8.8.8.8")}},
	} {
		got, err := Decide(t.Context(), resolverTo(t, c.resolves), c.url, c.insecure)
		require.NoError(t, err, c.url)
		require.Equal(t, []Verdict{c.want}, got, c.url)
	}
	for url, says := range map[string]string{"http://8.8.8.8/": "must begin with https://", "https://nowhere.example/": "look up the host"} {
		_, err := Decide(t.Context(), resolverTo(t, [4]byte{}), url, false)
		require.ErrorContains(t, err, says)
	}
	for address, want := range map[string]string{
		"64:ff9b::a9fe:a9fe": "169.254.0.0/16", "2001:db8::1": "2001:db8::/32", "::1": "outside of 2000::/3", "::ffff:10.1.2.3": "10.0.0.0/8", "2606:4700::1111": "",
	} {
		require.Equal(t, want, refusal(netip.MustParseAddr(address)), address)
	}
}
