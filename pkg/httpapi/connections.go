package httpapi

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tradegrid/tradegrid/pkg/fault"
)

const lingerTime = 500 * time.Millisecond

// listener caps the open connections, in all and per address. What is above a cap gets an answer and is closed.
type listener struct {
	net.Listener
	maxTotal, maxPerAddress int
	exempt                  func(netip.Addr) bool // from the cap per address
	answer                  func(*fault.Error) []byte
	log                     *slog.Logger
	refusing                chan struct{} // bounds the goroutines that refuse
	warned                  time.Time

	mu        sync.Mutex
	total     int
	byNetwork map[netip.Prefix]int
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err //nolint:wrapcheck // the server looks at what it is
		}
		from := remoteAddr(c)
		if refused := l.take(from); refused != nil {
			l.refuse(c, refused)
			continue
		}
		return &conn{Conn: c, release: sync.OnceFunc(func() { l.leave(from) })}, nil
	}
}

// take counts a connection in, or says why not.
func (l *listener) take(from netip.Addr) *fault.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	network := networkOf(from)
	switch {
	case l.maxTotal > 0 && l.total >= l.maxTotal:
		connectionsRefused.WithLabelValues(limitTotal).Inc()
		return errConnections
	case l.maxPerAddress > 0 && l.byNetwork[network] >= l.maxPerAddress && !l.exempt(from):
		connectionsRefused.WithLabelValues(limitAddress).Inc()
		return errConnectionsOfAddress
	}
	l.total++
	l.byNetwork[network]++
	return nil
}

var errConnections = fault.Unavailable(fault.TooManyConnections, 1,
	"the server has too many open connections; repeat the request after the time in Retry-After")

var errConnectionsOfAddress = &fault.Error{
	Status: http.StatusTooManyRequests, Code: "RATE_LIMIT_EXCEEDED", RetryAfter: 1,
	Message: "this address has too many open connections; reuse them, or close some",
	Meta:    map[string]any{"retryAfter": 1},
}

func (l *listener) leave(from netip.Addr) {
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

// networkOf is what counts as one address: a single IPv6 host usually has a whole /64.
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

// refuse answers a connection without reading its request. Under a flood, most are closed without an answer.
func (l *listener) refuse(c net.Conn, f *fault.Error) {
	l.warn(c, f)
	select {
	case l.refusing <- struct{}{}:
	default:
		_ = c.Close() // nothing was promised
		return
	}
	go func() {
		defer func() { <-l.refusing }()
		if err := c.SetWriteDeadline(time.Now().Add(lingerTime)); err == nil {
			_, _ = c.Write(l.answer(f)) // whether it arrives is up to the client
		}
		_ = closeLater(c) // nobody is left to tell
	}()
}

// warn logs refused connections, at most once a minute.
func (l *listener) warn(c net.Conn, f *fault.Error) {
	if now := time.Now(); now.Sub(l.warned) > time.Minute {
		l.warned = now
		l.log.Warn("connection refused", "reason", f.Message, "address", c.RemoteAddr().String())
	}
}

// conn is a connection that the listener counts.
type conn struct {
	net.Conn
	release func()
	ended   bool        // the client has sent all it will send; only for the goroutine that reads
	linger  atomic.Bool // close only after the client had time to read the answer
}

// Read implements [io.Reader].
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.ended = c.ended || errors.Is(err, io.EOF)
	return n, err //nolint:wrapcheck // the server looks at what it is
}

// Close implements [io.Closer].
func (c *conn) Close() error {
	defer c.release()
	if c.linger.Swap(false) {
		return closeLater(c.Conn)
	}
	return c.Conn.Close() //nolint:wrapcheck // the server looks at what it is
}

// lingerOn lets the client read the answer although the server does not read the rest of the request: to close a
// connection with unread bytes resets it, and the answer is lost.
func lingerOn(c net.Conn) {
	if own, ok := c.(*conn); ok {
		own.linger.Store(true)
	}
}

// closeLater ends the sending side, drops what still comes for a moment, and closes.
func closeLater(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		if err := c.SetReadDeadline(time.Now().Add(lingerTime)); err == nil {
			_, _ = io.Copy(io.Discard, c) // ends with the client, or with the time
		}
	}
	return c.Close() //nolint:wrapcheck // the server looks at what it is
}
