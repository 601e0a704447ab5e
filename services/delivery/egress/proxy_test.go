package egress

import (
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// connector is a proxy that connects what asks for any address to one.
type connector struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newConnector(t *testing.T, to string, secure bool) *connector {
	c := &connector{}
	c.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.asked = append(c.asked, r.Method+" "+r.Host)
		c.mu.Unlock()
		if to == "" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		there, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		defer func() { _ = there.Close() }()
		here, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = here.Close() }()
		_, _ = io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n")
		go func() { _, _ = io.Copy(there, here) }()
		_, _ = io.Copy(here, there)
	}))
	if secure {
		c.StartTLS()
	} else {
		c.Start()
	}
	t.Cleanup(c.Close)
	return c
}

func (c *connector) requests() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.asked)
}

// Requests go through the proxy, which is asked for the address that was checked, not for the name. The receiver's TLS ends at
// the receiver.
func TestProxy(t *testing.T) {
	t.Parallel()
	for name, secure := range map[string]bool{"http": false, "https": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			receiver := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				require.Equal(t, "example.com", r.Host)
			}))
			t.Cleanup(receiver.Close)
			p := newConnector(t, receiver.Listener.Addr().String(), secure)
			cfg := Config{Settings: Settings{Timeout: 5 * time.Second}, RootCAs: x509.NewCertPool(), resolver: resolverTo(t, [4]byte{8, 8, 8, 8}), Proxy: mustParse(t, p.URL)}
			cfg.RootCAs.AddCert(receiver.Certificate())
			if secure {
				cfg.RootCAs.AddCert(p.Certificate())
			}
			answer, err := post(t, cfg, mustParse(t, "https://example.com/hook"))
			require.NoError(t, err)
			require.Equal(t, 200, answer.Status)
			require.Equal(t, []string{"CONNECT 8.8.8.8:443"}, p.requests())
		})
	}
}

// The proxy is not even asked for an address that is not public.
func TestProxyGetsOnlyPublicAddresses(t *testing.T) {
	t.Parallel()
	receiver := serve(t, func(http.ResponseWriter, *http.Request) {})
	p := newConnector(t, receiver.Host, false)
	for _, target := range []string{"https://name.example/", "https://127.0.0.1/", "https://169.254.169.254/latest", "https://[::1]:8443/"} {
		_, err := post(t, Config{resolver: resolverTo(t, [4]byte{10, 0, 0, 1}), Proxy: mustParse(t, p.URL)}, mustParse(t, target))
		requireKind(t, err, Refused, "not public")
	}
	require.Empty(t, p.requests())
}

func TestProxyFaults(t *testing.T) {
	t.Parallel()
	refusing := newConnector(t, "", false)
	gone := newConnector(t, "", false)
	gone.Close()
	for _, p := range []*connector{refusing, gone} {
		_, err := post(t, Config{Settings: Settings{AllowInsecure: true}, resolver: resolverTo(t, [4]byte{8, 8, 8, 8}), Proxy: mustParse(t, p.URL)}, mustParse(t, "http://example.com/"))
		requireKind(t, err, Connect, "through the platform's proxy")
	}
	for raw, ok := range map[string]bool{
		"http://proxy.example:3128": true, "https://10.0.0.1:443": true,
		"proxy.example:3128": false, "http://proxy.example": false, "socks5://proxy.example:1080": false, "http://u:p@proxy.example:3128": false,
		"http://proxy.example:3128/x": false, "http://:3128": false, "": false,
	} {
		u, err := ParseProxy(raw)
		require.Equal(t, ok, err == nil, raw)
		if ok {
			require.Equal(t, raw, u.String())
		}
	}
}
