package console_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/services/roles"
)

// serve serves the console on a port until the test ends.
func (p *pages) serve(cfg roles.WebConfig) (address string) {
	p.t.Helper()
	app := p.newApp(cfg)
	ln, err := (&net.ListenConfig{}).Listen(p.t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(p.t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- app.Serve(ctx, ln) }()
	p.t.Cleanup(func() {
		stop()
		require.NoError(p.t, <-done)
	})
	return ln.Addr().String()
}

// A connection that is one too many is answered at once, as the API does.
func TestConsoleLimitsConnections(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	for name, tc := range map[string]struct {
		cfg    roles.WebConfig
		status int
	}{
		"of an address": {roles.WebConfig{MaxConns: 100, MaxConnsOfAddress: 10}, http.StatusTooManyRequests},
		"in all":        {roles.WebConfig{MaxConns: 10, MaxConnsOfAddress: 100}, http.StatusServiceUnavailable},
	} {
		address := p.serve(tc.cfg)
		dial := func() net.Conn {
			c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
			require.NoError(t, err)
			return c
		}
		ask := func(c net.Conn) *http.Response {
			require.NoError(t, c.SetDeadline(time.Now().Add(time.Minute)))
			_, _ = io.WriteString(c, "GET /sign-in HTTP/1.1\r\nHost: console.example.com\r\n\r\n")
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			require.NoError(t, err, name)
			_, err = io.Copy(io.Discard, res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			return res
		}
		var open []net.Conn
		for range 10 {
			open = append(open, dial())
			require.Equal(t, http.StatusOK, ask(open[len(open)-1]).StatusCode, name)
		}
		refused := ask(dial())
		require.Equal(t, tc.status, refused.StatusCode, name)
		require.NotEmpty(t, refused.Header.Get("Retry-After"))
		for _, c := range open {
			require.NoError(t, c.Close())
		}
		require.Eventually(t, func() bool { return ask(dial()).StatusCode == http.StatusOK }, time.Minute, 50*time.Millisecond, name)
	}
}

// A person with many requests under way, or many within a short time, is told so at once, in all sessions. Others are not.
func TestConsoleLimitsPeople(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	rate := ratelimit.New(ratelimit.Config{})
	p.app = p.newApp(roles.WebConfig{URL: "https://console.example.com", Rate: rate})
	s := p.emptyShop()
	busy, same, other := p.signedIn(s.people["owner"]), p.signedIn(s.people["owner"]), p.signedIn(s.people["viewer"])
	answers := make(chan int, 21)
	var ends []func() error
	for range 21 { // forms that do not arrive
		body, form := io.Pipe()
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://console.example.com/account/sessions/"+uuid.NewString()+"/end", body)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		for _, c := range busy.cookies {
			req.AddCookie(c)
		}
		go func() {
			rec := httptest.NewRecorder()
			p.app.ServeHTTP(rec, req)
			answers <- rec.Code
		}()
		ends = append(ends, form.Close)
	}
	require.Eventually(t, func() bool { return len(answers) == 1 }, time.Minute, 10*time.Millisecond, "the others wait for their forms")
	require.Equal(t, http.StatusTooManyRequests, <-answers)
	got := same.ask(http.MethodGet, "/account", nil)
	require.Equal(t, http.StatusTooManyRequests, got.status)
	require.Equal(t, "1", got.header.Get("Retry-After"))
	require.Contains(t, got.body, "ask for more pages at once")
	require.Equal(t, http.StatusOK, other.ask(http.MethodGet, "/account", nil).status)
	for _, end := range ends {
		require.NoError(t, end())
	}
	for range 20 {
		require.NotEqual(t, http.StatusTooManyRequests, <-answers)
	}
	require.Equal(t, http.StatusOK, same.ask(http.MethodGet, "/account", nil).status)

	rate.Charge(&access.Principal{Company: s.id, TokenID: s.people["owner"].ID, Rate: access.Rate{Limit: 300, RefillPerSecond: 30}}, 3000)
	for _, v := range []*visitor{busy, same} {
		got = v.ask(http.MethodGet, "/account", nil)
		require.Equal(t, http.StatusTooManyRequests, got.status)
		require.NotEmpty(t, got.header.Get("Retry-After"))
	}
	require.Equal(t, http.StatusTooManyRequests, busy.ask(http.MethodGet, "/c/"+s.id.String()+"/live/webhooks/"+uuid.NewString(), nil).status)
	require.Equal(t, http.StatusOK, other.ask(http.MethodGet, "/account", nil).status)
}
