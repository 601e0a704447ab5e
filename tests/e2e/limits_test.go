package e2e

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/tests/role"
)

const sqlOrders = `SELECT count(*) FROM orders WHERE company_id = $1`

// An outbox over its limit refuses changes before anything breaks: reads and repeats go on, nothing is half-done, and
// once the relay has emptied it the refused request is taken under the key that it had.
func TestFullOutbox(t *testing.T) {
	t.Parallel()
	r := newKit(t)
	api := r.client(r.role(nil, "api", "--shed-outbox-rows=5"))
	product := api.product()
	var kept answer
	var taken, refused string
	role.Eventually(t, func() bool {
		key := uuid.NewString()
		a, err := api.do(http.MethodPost, "/orders", key, orderOf(product))
		require.NoError(t, err)
		if a.status == http.StatusCreated {
			kept, taken = a, key
			return false
		}
		require.Equal(t, http.StatusServiceUnavailable, a.status, "%s", a.body)
		require.Equal(t, "SERVICE_UNAVAILABLE", a.code())
		require.NotEmpty(t, a.header.Get("Retry-After"))
		refused = key
		return true
	}, "changes are refused")

	stored := r.count(sqlOrders, r.company)
	again, err := api.do(http.MethodPost, "/orders", taken, orderOf(product))
	require.NoError(t, err)
	require.Equal(t, string(kept.body), string(again.body), "the stored answer of a change that was done")
	require.Equal(t, stored, r.count(`SELECT max(number) FROM orders WHERE company_id = $1`, r.company), "no gap")
	require.Zero(t, r.count(`SELECT count(*) FROM idempotency_keys WHERE company_id = $1 AND key = $2`, r.company, refused), "a refused key is free")

	r.role(nil, "relay")
	var a answer
	role.Eventually(t, func() bool {
		a, err = api.do(http.MethodPost, "/orders", refused, orderOf(product))
		require.NoError(t, err)
		return a.status != http.StatusServiceUnavailable
	}, "changes are taken again")
	require.EqualValues(t, stored+1, a.order(t).Number)
	const logged = `SELECT count(*) FROM events WHERE company_id = $1 AND event = 'order.created'`
	role.Eventually(t, func() bool { return r.count(logged, r.company) >= stored+1 }, "all orders are in the event log")
	require.Equal(t, stored+1, r.count(logged, r.company), "one event for each order")
}

// link is a network path to the database that can be cut.
type link struct {
	net.Listener
	to string

	mu      sync.Mutex
	cut     bool
	hangs   bool
	lost    int64 // bytes that never arrived
	refused int   // connections that were not let through
	open    map[net.Conn]bool
}

func newLink(t *testing.T, to string) *link {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := &link{Listener: ln, to: to, open: map[net.Conn]bool{}}
	t.Cleanup(func() { _ = ln.Close(); l.setCut(true) })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go l.serve(c)
		}
	}()
	return l
}

func (l *link) serve(client net.Conn) {
	server, err := net.Dial("tcp", l.to)
	if err != nil || !l.add(client, server) {
		_ = client.Close()
		return
	}
	go func() { _, _ = io.Copy(passage{l, server}, client); _ = server.Close() }()
	_, _ = io.Copy(client, server)
	_ = client.Close()
}

func (l *link) add(conns ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range conns {
		l.open[c] = true
		if l.cut {
			_ = c.Close()
		}
	}
	if l.cut {
		l.refused++
	}
	return !l.cut
}

func (l *link) refusals() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused
}

// passage is the way to the server, which may swallow what is sent.
type passage struct {
	*link
	to io.Writer
}

func (p passage) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hangs {
		p.lost += int64(len(b))
		return len(b), nil
	}
	return p.to.Write(b)
}

// hang lets nothing through from now on, without a word.
func (l *link) hang() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hangs = true
}

func (l *link) swallowed() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// setCut breaks all connections and lets no new one through, or ends that.
func (l *link) setCut(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
	for c := range l.open {
		if cut {
			_ = c.Close()
		}
	}
	if cut {
		clear(l.open)
	}
}

// throughLink puts a link between the roles and the database.
func (r *kit) throughLink() *link {
	r.t.Helper()
	var l *link
	r.changeURL(func(u *url.URL) {
		l = newLink(r.t, u.Host)
		u.Host = l.Addr().String()
	})
	return l
}

// changeURL changes the address of the database that the roles get.
func (r *kit) changeURL(change func(*url.URL)) {
	r.t.Helper()
	i := slices.IndexFunc(r.env, func(v string) bool { return strings.HasPrefix(v, "TRADEGRID_DATABASE_URL=") })
	name, text, _ := strings.Cut(r.env[i], "=")
	u, err := url.Parse(text)
	require.NoError(r.t, err)
	change(u)
	r.env[i] = name + "=" + u.String()
}

// The database is gone for a while: clients are told to come back, and whoever does gets one order per key, all of
// whose webhooks arrive. Senders wait; nothing is lost.
func TestDatabaseIsGoneForAWhile(t *testing.T) {
	t.Parallel()
	const n = 40
	r := newKit(t)
	l := r.throughLink()
	api := r.platform()
	api.subscribe("all", "order.created")
	product := api.product()
	var refused int
	for i := range n {
		if i == n/2 {
			l.setCut(true)
			heal := time.AfterFunc(3*time.Second, func() { l.setCut(false) })
			t.Cleanup(func() { heal.Stop() })
		}
		key := uuid.NewString()
		role.Eventually(t, func() bool {
			a, err := api.do(http.MethodPost, "/orders", key, orderOf(product))
			require.NoError(t, err)
			if a.status == http.StatusCreated {
				return true
			}
			refused++
			require.Contains(t, []string{"SERVICE_UNAVAILABLE", "REQUEST_TIMEOUT", "IDEMPOTENCY_IN_FLIGHT"}, a.code(), "%s", a.body)
			return false
		}, "order %d is taken", i)
	}
	require.Positive(t, refused, "the outage was noticed")
	require.Equal(t, gapless(n), api.numbers())
	role.Eventually(t, func() bool {
		seen := map[string]bool{}
		for _, d := range r.deliveries("all") {
			require.True(t, d.Verified, d.Error)
			seen[d.DataID] = true
		}
		return len(seen) == n
	}, "the webhook of every order arrives")
	r.accounted()
}
