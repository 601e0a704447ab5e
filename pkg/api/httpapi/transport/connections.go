package transport

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
)

// What a refused client still sends is read, because many write the whole request before they read, and a connection that is closed
// with unread bytes is reset, which loses the response. It is read slowly, and all connections share the rate: one that sends at full
// speed takes a processor for as long; see BenchmarkNeighbour.
const (
	lingerIdle  = 500 * time.Millisecond // without a byte
	lingerTime  = 15 * time.Second       // at most, of a connection that counts
	discardRate = 32 << 20               // bytes a second
	discardPart = 64 << 10               // bytes at a time
)

// ConnectionLimits are the limits of a [LimitedListener].
type ConnectionLimits struct {
	Total      int                        // 0 = no limit
	PerAddress int                        // 0 = no limit
	Exempt     func(netip.Addr) bool      // addresses that have no limit of their own
	Respond    func(*apierr.Error) []byte // the HTTP response to a connection that is refused
	Log        *slog.Logger
}

// LimitedListener caps the open connections, in total and per address. Connections above a cap get an error response and are closed.
type LimitedListener struct {
	net.Listener

	limits   ConnectionLimits
	refusing chan struct{} // bounds the goroutines that send refusals
	warned   time.Time

	mu        sync.Mutex
	total     int
	byNetwork map[netip.Prefix]int
}

// LimitConnections returns ln with limits.
func LimitConnections(ln net.Listener, limits ConnectionLimits) *LimitedListener {
	return &LimitedListener{Listener: ln, limits: limits, refusing: make(chan struct{}, 64), byNetwork: map[netip.Prefix]int{}}
}

// Accept implements [net.Listener].
func (l *LimitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err //nolint:wrapcheck // the server inspects its type
		}
		from := remoteAddr(c)
		if refused := l.take(from); refused != nil {
			l.refuse(c, refused)
			continue
		}
		return &conn{Conn: c, release: sync.OnceFunc(func() { l.leave(from) })}, nil
	}
}

// take counts a connection, or returns the fault to refuse it with.
func (l *LimitedListener) take(from netip.Addr) *apierr.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	network := networkOf(from)
	switch {
	case l.limits.Total > 0 && l.total >= l.limits.Total:
		connectionsRefused.WithLabelValues(limitTotal).Inc()
		return errConnections
	case l.limits.PerAddress > 0 && l.byNetwork[network] >= l.limits.PerAddress && !l.limits.Exempt(from):
		connectionsRefused.WithLabelValues(limitAddress).Inc()
		return errConnectionsOfAddress
	}
	l.total++
	l.byNetwork[network]++
	return nil
}

var errConnections = apierr.Unavailable(apierr.TooManyConnections, 1,
	"the server has too many open connections; retry after the time in Retry-After")

var errConnectionsOfAddress = &apierr.Error{
	Status: http.StatusTooManyRequests, Code: "RATE_LIMIT_EXCEEDED", RetryAfter: 1,
	Message: "this address has too many open connections; reuse connections or close some",
	Meta:    map[string]any{"retryAfter": 1},
}

func (l *LimitedListener) leave(from netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	network := networkOf(from)
	l.total--
	if l.byNetwork[network]--; l.byNetwork[network] == 0 {
		delete(l.byNetwork, network)
	}
}

func remoteAddr(c net.Conn) netip.Addr {
	from, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return netip.Addr{} // no TCP
	}
	return from.Addr().Unmap().WithZone("")
}

// networkOf is the network that counts as one address: an IPv6 host usually has a whole /64.
func networkOf(addr netip.Addr) netip.Prefix {
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	network, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{} // no TCP
	}
	return network
}

// discards is what all connections of this process may discard.
var discards = rate.NewLimiter(discardRate, discardPart) //nolint:gochecknoglobals // the processors belong to the process

// refuse responds to a connection without reading its request. Under a flood, most are closed without a response.
func (l *LimitedListener) refuse(c net.Conn, f *apierr.Error) {
	l.warn(c, f)
	select {
	case l.refusing <- struct{}{}:
	default:
		_ = c.Close() // best effort
		return
	}
	go func() {
		defer func() { <-l.refusing }()
		if err := c.SetWriteDeadline(time.Now().Add(lingerIdle)); err == nil {
			_, _ = c.Write(l.limits.Respond(f)) // best effort
		}
		_ = closeLater(c, lingerIdle) // nothing left to do about an error
	}()
}

// warn logs refused connections, at most once a minute.
func (l *LimitedListener) warn(c net.Conn, f *apierr.Error) {
	if now := time.Now(); now.Sub(l.warned) > time.Minute {
		l.warned = now
		l.limits.Log.Warn("connection refused", "reason", f.Message, "address", c.RemoteAddr().String())
	}
}

// conn is a connection counted by the listener.
type conn struct {
	net.Conn
	release func()
	ended   bool        // the client has closed its side; used only by the reading goroutine
	linger  atomic.Bool // give the client time to read the response before closing
}

// Read implements [io.Reader].
func (c *conn) Read(p []byte) (int, error) {
	resume := cputime.Wait() // for the client
	n, err := c.Conn.Read(p)
	resume()
	c.ended = c.ended || errors.Is(err, io.EOF)
	return n, err //nolint:wrapcheck // the server inspects its type
}

// Close implements [io.Closer].
func (c *conn) Close() error {
	defer c.release()
	if c.linger.Swap(false) {
		return closeLater(c.Conn, lingerTime)
	}
	return c.Conn.Close() //nolint:wrapcheck // the server inspects its type
}

// lingerOn lets the client read the response although the server does not read the rest of the request: closing a
// connection with unread bytes resets it, which would lose the response.
func lingerOn(c net.Conn) {
	if own, ok := c.(*conn); ok {
		own.linger.Store(true)
	}
}

// closeLater closes the sending side, discards what the client sends for at most so long, and then closes the connection.
func closeLater(c net.Conn, most time.Duration) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		discard(c, most)
	}
	return c.Close() //nolint:wrapcheck // the server inspects its type
}

// discard reads until the client closes its side, stops sending, or has sent for too long.
func discard(c net.Conn, most time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	part := make([]byte, discardPart)
	for ctx.Err() == nil && c.SetReadDeadline(time.Now().Add(lingerIdle)) == nil {
		n, err := c.Read(part)
		if err != nil || discards.WaitN(ctx, n) != nil {
			return
		}
	}
}
