package transport

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
)

func TestClientIP(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		proxies, remote, forwarded, want string
	}{
		"no proxies: the header means nothing":       {"", "203.0.113.9", "198.51.100.1", "203.0.113.9"},
		"a stranger's header means nothing":          {"10.0.0.0/8", "203.0.113.9", "198.51.100.1", "203.0.113.9"},
		"one proxy":                                  {"10.0.0.0/8", "10.0.0.1", "198.51.100.1", "198.51.100.1"},
		"what the client wrote itself means nothing": {"10.0.0.0/8", "10.0.0.1", "192.0.2.7, 198.51.100.1", "198.51.100.1"},
		"two proxies":                                {"10.0.0.0/8", "10.0.0.1", "192.0.2.7, 198.51.100.1, 10.0.0.2", "198.51.100.1"},
		"garbage ends the chain":                     {"10.0.0.0/8", "10.0.0.1", "198.51.100.1, nonsense, 10.0.0.2", "10.0.0.2"},
		"no header":                                  {"10.0.0.0/8", "10.0.0.1", "", "10.0.0.1"},
		"lines are one list":                         {"10.0.0.0/8", "10.0.0.1", "192.0.2.7\n198.51.100.1, 10.0.0.3\n10.0.0.2", "198.51.100.1"},
		"the client's line means nothing":            {"10.0.0.0/8", "10.0.0.1", "192.0.2.7\n198.51.100.1", "198.51.100.1"},
		"IPv6":                                       {"2001:db8::/64", "2001:db8::1", "2001:db8:1::5", "2001:db8:1::5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &Server{}
			if row.proxies != "" {
				s.cfg.Proxies = []netip.Prefix{netip.MustParsePrefix(row.proxies)}
			}
			app := fiber.New()
			rc := &fasthttp.RequestCtx{}
			rc.Init(&fasthttp.Request{}, &net.TCPAddr{IP: net.ParseIP(row.remote)}, nil)
			for line := range strings.SplitSeq(row.forwarded, "\n") {
				rc.Request.Header.Add("X-Forwarded-For", line)
			}
			fc := app.AcquireCtx(rc)
			defer app.ReleaseCtx(fc)
			require.Equal(t, row.want, s.ClientIP(fc).String())
		})
	}
}
