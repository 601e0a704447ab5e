package egress

import (
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// counting is a receiver that counts the connections made to it.
type counting struct {
	*httptest.Server
	url   *url.URL
	conns atomic.Int64
	major atomic.Int64 // version of the protocol of the last request
}

// newCounting starts a receiver that answers after a moment, so that requests overlap.
func newCounting(t *testing.T, start func(*httptest.Server)) *counting {
	t.Helper()
	s := &counting{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.major.Store(int64(r.ProtoMajor))
		_, _ = io.Copy(io.Discard, r.Body)
		<-time.After(5 * time.Millisecond)
		_, _ = io.WriteString(w, "thanks")
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.conns.Add(1)
		}
	}
	start(s.Server)
	t.Cleanup(s.Close)
	s.url = mustParse(t, s.URL)
	return s
}

// post sends requests from some goroutines, each one after the other.
func (s *counting) post(t *testing.T, c *Client, goroutines, each int) {
	t.Helper()
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range each {
				a, err := c.Post(t.Context(), s.url, http.Header{}, []byte(`{"a":1}`))
				if err != nil || a.Status != http.StatusOK || string(a.Body) != "thanks" {
					t.Errorf("answer %d %q, error %v", a.Status, a.Body, err)
				}
			}
		})
	}
	all.Wait()
}

func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	s := newCounting(t, (*httptest.Server).Start)
	c := New(Config{Settings: Settings{AllowInsecure: true}, AllowPrivate: true})
	t.Cleanup(c.Close)
	s.post(t, c, 4, 50)
	require.Less(t, s.conns.Load(), int64(20), "of 200 requests: one for each under way, and few more, as the transport has one back a moment after its response")
	require.EqualValues(t, 1, s.major.Load())
}

// A receiver that offers HTTP/2 gets the requests under way on one connection.
func TestHTTP2SharesAConnection(t *testing.T) {
	t.Parallel()
	s := newCounting(t, func(s *httptest.Server) {
		s.EnableHTTP2 = true
		s.StartTLS()
	})
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	c := New(Config{AllowPrivate: true, RootCAs: roots})
	t.Cleanup(c.Close)
	s.post(t, c, 1, 1)
	require.EqualValues(t, 2, s.major.Load())
	s.post(t, c, 16, 20)
	require.EqualValues(t, 1, s.conns.Load())

	_, err := post(t, Config{RootCAs: roots}, s.url)
	requireKind(t, err, Refused, "not public")
}

// One that takes few requests at a time on a connection holds nobody up: others open another. The transport does not count
// those towards its limit, so what bounds them is the caller's limit of requests under way. Its strict mode, in which
// requests wait for a connection that exists, stalls here.
func TestHTTP2WithFewStreams(t *testing.T) {
	t.Parallel()
	s := newCounting(t, func(s *httptest.Server) {
		s.EnableHTTP2 = true
		s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 2}
		s.StartTLS()
	})
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	c := New(Config{AllowPrivate: true, RootCAs: roots})
	t.Cleanup(c.Close)
	s.post(t, c, 1, 1)
	s.post(t, c, 16, 20)
	require.EqualValues(t, 2, s.major.Load())
	require.Less(t, s.conns.Load(), int64(160), "of 321 requests")
}
