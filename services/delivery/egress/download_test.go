package egress

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// site is a host that is reached at the address pictures.example, as one of the public internet is, and what it redirects to.
func site(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c := New(Config{})
	guarded := c.transport.DialContext
	c.transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasPrefix(address, "pictures.example:") {
			return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
		}
		return guarded(ctx, network, address)
	}
	t.Cleanup(c.Close)
	return c
}

func TestDownload(t *testing.T) {
	t.Parallel()
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a private address was asked") }))
	defer inner.Close()
	_, port, err := net.SplitHostPort(inner.Listener.Addr().String())
	require.NoError(t, err)
	c := site(t, func(w http.ResponseWriter, r *http.Request) {
		to := map[string]string{
			"/moved": "/picture", "/relative": "picture?x", "/loop": "/loop", "/ftp": "ftp://pictures.example/", "/user": "http://a:b@pictures.example/",
			"/inner": inner.URL, "/rebound": "http://localhost:" + port, "/meta": "http://169.254.169.254/latest", "/mapped": "http://[::ffff:127.0.0.1]:" + port,
		}[r.URL.Path]
		switch {
		case to != "":
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		case r.URL.Path == "/nowhere":
			w.WriteHeader(http.StatusFound)
		case r.URL.Path == "/large": // without a length
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, strings.Repeat("x", 11))
		case r.URL.Path == "/picture":
			_, _ = io.WriteString(w, "0123456789")
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	for path, want := range map[string]any{
		"/picture": nil, "/moved": nil, "/relative": nil,
		"/none": Status, "/large": TooLarge, "/loop": Redirects, "/nowhere": Redirects, "/ftp": Refused, "/user": Refused,
		"/inner": Refused, "/rebound": Refused, "/meta": Refused, "/mapped": Refused,
	} {
		body, err := c.Download(t.Context(), "http://pictures.example"+path, 10)
		if want == nil {
			require.NoError(t, err, path)
			require.Equal(t, "0123456789", string(body))
			continue
		}
		text, kind, ok := Reason(err)
		require.True(t, ok, path)
		require.Equal(t, want, kind, path)
		require.NotContains(t, text, "127.0.0.1")
	}
	_, err = c.Download(t.Context(), "http://pictures.example/picture", 9)
	_, kind, _ := Reason(err)
	require.Equal(t, TooLarge, kind, "by its length")
	for _, address := range []string{inner.URL, "http://localhost:" + port, "file:///etc/passwd", "pictures.example", "https://", "http://a b", "http://x/" + strings.Repeat("a", MaxURL)} {
		_, err := c.Download(t.Context(), address, 10)
		_, kind, _ := Reason(err)
		require.Equal(t, Refused, kind, address)
	}
}

// The time is that of all redirects and the body together.
func TestDownloadEndsInTime(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	c := site(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, "01234")
		w.(http.Flusher).Flush()
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	})
	defer close(stop)
	c.cfg.Timeout = 50 * time.Millisecond
	_, err := c.Download(t.Context(), "http://pictures.example/", 10)
	_, kind, _ := Reason(err)
	require.Equal(t, Timeout, kind)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Download(ctx, "http://pictures.example/", 10)
	_, _, ok := Reason(err)
	require.False(t, ok)
}
