package egress

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

func open() Config {
	return Config{Settings: Settings{AllowInsecure: true, Timeout: 500 * time.Millisecond}, AllowPrivate: true}
}

func serve(t *testing.T, h http.HandlerFunc) *url.URL {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return mustParse(t, s.URL)
}

func mustParse(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	require.NoError(t, err)
	return u
}

func post(t *testing.T, cfg Config, target *url.URL) (Answer, error) {
	t.Helper()
	c := New(cfg)
	t.Cleanup(c.Close)
	return c.Post(t.Context(), target, http.Header{"X-Test": {"1"}}, []byte(`{"a":1}`))
}

func requireKind(t *testing.T, err error, kind Kind, text string) {
	t.Helper()
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, kind, e.Kind, "%v: %v", e, e.Cause)
	require.Contains(t, e.Message, text)
}

// A request is what a browser would send, whatever characters the URL was typed with.
func TestPostEncodesTheURL(t *testing.T) {
	t.Parallel()
	var got string
	u := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.RequestURI })
	for typed, want := range map[string]string{
		"/?я=ж":                    "/?%D1%8F=%D0%B6",
		"/хук?a=%d0%b6&b[]=1+2#":   "/%D1%85%D1%83%D0%BA?a=%d0%b6&b[]=1+2",
		`/?a="<b>"&c='&d=%&e=?/:@`: "/?a=%22%3Cb%3E%22&c=%27&d=%&e=?/:@",
		"/a%2Fb?":                  "/a%2Fb?",
		"/":                        "/",
	} {
		_, err := post(t, open(), mustParse(t, u.String()+typed))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestPostSendsAndReads(t *testing.T) {
	t.Parallel()
	var got string
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = r.Method + " " + r.Header.Get("X-Test") + " " + string(body) + " " + r.Header.Get("Accept-Encoding")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short and stout")
	})
	a, err := post(t, open(), u)
	require.NoError(t, err)
	require.Equal(t, Answer{Status: 418, Body: []byte("short and stout"), RetryAfter: "7"}, a)
	require.Equal(t, `POST 1 {"a":1} `, got)
}

func TestPostCutsHugeBodies(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	u := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(done)
		chunk := []byte(strings.Repeat("x", 64<<10))
		for range 1 << 14 { // 1 GiB, if anybody read it
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	a, err := post(t, open(), u)
	require.NoError(t, err)
	require.Len(t, a.Body, MaxBody)
	<-done
}

func TestPostFollowsNothing(t *testing.T) {
	t.Parallel()
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		require.Empty(t, r.Header.Get("Cookie"))
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	})
	c := New(open())
	for range 2 {
		a, err := c.Post(t.Context(), u, http.Header{}, []byte("x"))
		require.NoError(t, err)
		require.Equal(t, http.StatusTemporaryRedirect, a.Status)
	}
}

func TestPostIsBounded(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"hangs": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		},
		"drips": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte("."))
				_ = http.NewResponseController(w).Flush()
				<-tick.C
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := serve(t, handler)
			start := time.Now()
			_, err := post(t, open(), u)
			requireKind(t, err, Timeout, "no complete answer within 500ms")
			require.Less(t, time.Since(start), 3*time.Second)
		})
	}
}

// The transport may report the connection that it closed itself at the end of the time.
func TestWhatBreaksAfterTheTimeIsATimeout(t *testing.T) {
	t.Parallel()
	c := New(open())
	t.Cleanup(c.Close)
	over, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	requireKind(t, c.explain(t.Context(), over, net.ErrClosed), Timeout, "no complete answer within 500ms")
	requireKind(t, c.explain(t.Context(), t.Context(), net.ErrClosed), Broken, "connection broke")
}

func TestPostBrokenAnswers(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"closes at once": "", "half a body": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", "nonsense": "SMTP ready\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := serve(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				conn, _, err := http.NewResponseController(w).Hijack()
				require.NoError(t, err)
				_, _ = io.WriteString(conn, raw)
				_ = conn.Close()
			})
			_, err := post(t, open(), u)
			requireKind(t, err, Broken, "connection broke")
		})
	}
}

func TestPostRefusesAddresses(t *testing.T) {
	t.Parallel()
	u := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the request must not arrive") })
	_, err := post(t, Config{Settings: Settings{AllowInsecure: true}}, u)
	requireKind(t, err, Refused, "not public")
	_, err = post(t, Config{Settings: Settings{AllowInsecure: true}}, mustParse(t, "http://localhost:"+u.Port()+"/"))
	requireKind(t, err, Refused, "not public")
	_, err = post(t, Config{}, u)
	requireKind(t, err, Refused, "https://")
	_, err = post(t, Config{Settings: Settings{AllowInsecure: true}, resolver: resolverTo(t, [4]byte{127, 0, 0, 1})},
		mustParse(t, "http://innocent.example:"+u.Port()+"/"))
	requireKind(t, err, Refused, "not public")
}

func TestPostDNS(t *testing.T) {
	t.Parallel()
	_, err := post(t, Config{resolver: resolverTo(t, [4]byte{})}, mustParse(t, "https://nowhere.example/"))
	requireKind(t, err, DNS, "could not be resolved")
}

// resolverTo answers every question for an IPv4 address with addr, or with "no such name" for the zero address.
func resolverTo(t *testing.T, addr [4]byte) *net.Resolver {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = pc.Close() })
	go answerDNS(pc, addr)
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", pc.LocalAddr().String())
	}}
}

func answerDNS(pc net.PacketConn, addr [4]byte) {
	buf := make([]byte, 1500)
	for {
		n, from, err := pc.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) == 0 {
			continue
		}
		q := m.Questions[0]
		m.Response, m.Additionals = true, nil
		if addr == [4]byte{} {
			m.RCode = dnsmessage.RCodeNameError
		} else if q.Type == dnsmessage.TypeA {
			m.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 1}, Body: &dnsmessage.AResource{A: addr},
			}}
		}
		if out, err := m.Pack(); err == nil {
			_, _ = pc.WriteTo(out, from)
		}
	}
}

func TestPostVerifiesTLS(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	_, err := post(t, Config{AllowPrivate: true}, mustParse(t, s.URL))
	requireKind(t, err, TLS, "certificate")

	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	a, err := post(t, Config{AllowPrivate: true, RootCAs: pool}, mustParse(t, s.URL))
	require.NoError(t, err)
	require.Equal(t, "HTTP/2.0", string(a.Body))

	plain := serve(t, func(http.ResponseWriter, *http.Request) {})
	_, err = post(t, Config{AllowPrivate: true}, mustParse(t, "https://"+plain.Host))
	requireKind(t, err, TLS, "TLS")
}

func TestPostConnectionRefused(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := l.Addr().String()
	require.NoError(t, l.Close())
	_, err = post(t, open(), mustParse(t, "http://"+addr))
	requireKind(t, err, Connect, "refused the connection")
}

func TestPostCancelledByCaller(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	u := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(arrived)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	_, err := New(open()).Post(ctx, u, http.Header{}, []byte("x"))
	require.ErrorIs(t, err, context.Canceled)
}
