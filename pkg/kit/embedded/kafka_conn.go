package embedded

import (
	"encoding/binary"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// owedFor bounds how long the end of a connection is kept from the broker: longer than any group waits for its members.
const owedFor = 5 * time.Minute

// listen is [net.Listen] whose connections end, for the broker, only once it has answered what it was asked.
//
// It works around a fault of kfake. When a group has waited for its members, kfake answers each parked JoinGroup and starts the
// session timer of a member only if its answer could be handed to the connection (group.reply in groups.go). For a member whose
// process has died meanwhile, a select between the answer and the end of the connection decides that, which is as good as
// a coin (clientReq.reply in client_conn.go). Without the timer, the member owns its partitions until the broker is restarted.
// TestKafkaForgetsMembersThatDieWhileTheyJoin fails without listen; with a kfake that starts the timer in both cases, listen can go.
func listen(network, address string) (net.Listener, error) {
	ln, err := net.Listen(network, address) //nolint:noctx // kfake's hook has no context
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return answeringListener{ln}, nil
}

type answeringListener struct{ net.Listener }

// Accept implements [net.Listener].
func (l answeringListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &answeringConn{Conn: conn, answered: make(chan struct{}, 1), closed: make(chan struct{})}, nil
}

// answeringConn counts requests and answers. Its Read does not fail while an answer is owed.
type answeringConn struct {
	net.Conn
	frame frame
	owed  atomic.Int64

	answered  chan struct{} // capacity 1
	closed    chan struct{}
	closeOnce sync.Once
}

// Read implements [net.Conn] for one reader.
func (c *answeringConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.owed.Add(c.frame.ends(p[:n]))
	if err != nil {
		c.awaitAnswers()
	}
	return n, err
}

func (c *answeringConn) awaitAnswers() {
	limit := time.NewTimer(owedFor)
	defer limit.Stop()
	for c.owed.Load() > 0 {
		select {
		case <-c.answered:
		case <-c.closed:
			return
		case <-limit.C: // a request without an answer, such as a JoinGroup that was asked again on another connection
			return
		}
	}
}

// Write implements [net.Conn]. The broker writes each answer by one call.
func (c *answeringConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.owed.Add(-1)
	select {
	case c.answered <- struct{}{}:
	default:
	}
	return n, err
}

// Close implements [net.Conn].
func (c *answeringConn) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// frame follows requests in a stream: four bytes of length, then so many bytes.
type frame struct {
	length []byte // what was read of the four bytes
	left   int    // bytes that are missing of the request
}

// ends counts the requests that end in the bytes read.
func (f *frame) ends(p []byte) (n int64) {
	for len(p) > 0 {
		if f.left == 0 {
			take := min(4-len(f.length), len(p))
			f.length, p = append(f.length, p[:take]...), p[take:]
			if len(f.length) < 4 {
				return n
			}
			f.left, f.length = int(binary.BigEndian.Uint32(f.length)), f.length[:0]
		} else {
			take := min(f.left, len(p))
			f.left, p = f.left-take, p[take:]
		}
		if f.left == 0 {
			n++
		}
	}
	return n
}
