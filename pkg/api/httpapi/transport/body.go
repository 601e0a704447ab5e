package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

const (
	firstBuffer = 32 << 10              // bytes allocated for a body before any of it has arrived
	growth      = 4                     // times as much is allocated when all of that has arrived
	maxSkip     = 16 << 10              // bytes of an unread body to discard in order to keep the connection
	skipTime    = 50 * time.Millisecond // time limit for discarding
)

var continueLine = []byte("HTTP/1.1 100 Continue\r\n\r\n")

// Body is the body of a request that has not been read yet. It takes no memory until Read is called.
type Body struct {
	rc      *fasthttp.RequestCtx // nil for a body that has arrived
	stream  io.Reader
	length  int  // Content-Length; -1 if chunked
	expects bool // the client waits for 100 Continue
	done    bool // the connection is at the start of the next request
	broken  bool // reading has failed: the start of the next request is unknown
}

// ErrBodyTooLarge is the error of a body above the limit.
var ErrBodyTooLarge = errors.New("the body exceeds the limit")

// BodyOf returns the body of a request.
func BodyOf(fc *fiber.Ctx) *Body { return &incomingOf(fc).body }

// Whole is a body that has arrived.
func Whole(raw []byte) *Body {
	return &Body{stream: bytes.NewReader(raw), length: len(raw), done: len(raw) == 0}
}

// Stream is a body of unknown length from a part of this process.
func Stream(from io.Reader) *Body { return &Body{stream: from, length: -1} }

// Length is the declared length in bytes; -1 if the body is chunked.
func (b *Body) Length() int { return b.length }

// Read reads at most limit bytes of the body until the context ends. Memory grows with the bytes received, not with Content-Length.
func (b *Body) Read(ctx context.Context, limit int) ([]byte, error) {
	if b.done {
		return nil, nil
	}
	buf := &growing{most: limit + 1}
	if b.length >= 0 {
		buf.most = b.length + 1 // and the end
	}
	if err := b.CopyTo(ctx, buf, limit); err != nil {
		return nil, err
	}
	return buf.bytes, nil
}

// growing is a buffer that never takes more than most, unlike one that doubles.
type growing struct {
	bytes []byte
	most  int
}

// ReadFrom implements [io.ReaderFrom].
func (g *growing) ReadFrom(src io.Reader) (n int64, err error) {
	for {
		if len(g.bytes) == cap(g.bytes) {
			larger := make([]byte, len(g.bytes), max(len(g.bytes)+1, min(max(growth*cap(g.bytes), firstBuffer), g.most)))
			copy(larger, g.bytes)
			g.bytes = larger
		}
		read, err := src.Read(g.bytes[len(g.bytes):cap(g.bytes)])
		g.bytes, n = g.bytes[:len(g.bytes)+read], n+int64(read)
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err //nolint:wrapcheck // of the connection, as CopyTo tells it from others
		}
	}
}

// CopyTo is [Body.Read] into a buffer of the caller, whose errors it returns as they are.
func (b *Body) CopyTo(ctx context.Context, buf io.ReaderFrom, limit int) error {
	if b.done {
		return nil
	}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	stream := &source{r: io.LimitReader(b.stream, int64(limit)+1)}
	n, err := buf.ReadFrom(stream)
	b.broken = err != nil
	switch {
	case n > int64(limit):
		return ErrBodyTooLarge
	case stream.err != nil:
		return readError(stream.err)
	case err != nil:
		return err //nolint:wrapcheck // of the caller's buffer
	case b.length > int(n) || (b.length < 0 && b.rc != nil && hasEnded(b.rc.Conn())):
		return errIncomplete
	}
	b.done = true
	return nil
}

// prepare has the client send the body before the context ends.
func (b *Body) prepare(ctx context.Context) error {
	if b.rc == nil {
		return nil
	}
	deadline, _ := ctx.Deadline() // without a deadline, the zero time clears that of the connection
	if err := b.rc.Conn().SetDeadline(deadline); err != nil {
		return errIncomplete
	}
	if b.expects {
		if _, err := b.rc.Conn().Write(continueLine); err != nil {
			return errIncomplete
		}
		b.expects = false
	}
	return nil
}

// source remembers the error of the stream, to tell it from one of what it is copied to.
type source struct {
	r   io.Reader
	err error
}

// Read implements [io.Reader].
func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// hasEnded reports whether the client closed the connection, which the stream does not distinguish from the last chunk.
func hasEnded(c net.Conn) bool {
	own, ok := c.(*conn)
	return ok && own.ended
}

func readError(err error) error {
	var network net.Error
	if errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errIncomplete
	}
	return malformed("the body is not valid chunked encoding")
}

// finish advances the connection to the next request, or closes it.
func (b *Body) finish() {
	if b.done || b.skip() {
		return
	}
	b.rc.SetConnectionClose()
	lingerOn(b.rc.Conn())
}

// skip discards the rest of a small body that has already arrived.
func (b *Body) skip() bool {
	if b.broken || b.length > maxSkip || b.expects || b.stream == nil || b.rc.Response.ConnectionClose() {
		return false
	}
	if err := b.rc.Conn().SetReadDeadline(time.Now().Add(skipTime)); err != nil {
		return false
	}
	n, err := io.Copy(io.Discard, io.LimitReader(b.stream, maxSkip+1))
	return err == nil && n <= maxSkip && (b.length < 0 || int(n) == b.length)
}

// drop detaches the body from the request, for handlers that would read it whole.
func (b *Body) drop() {
	if !b.done && b.rc != nil {
		b.stream = nil
		_ = b.rc.Request.CloseBodyStream() // never fails for a server's stream
	}
}
