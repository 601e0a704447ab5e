// Package egress makes the HTTP requests that leave the platform for places named by its users. It
// connects to public addresses only, follows nothing, keeps nothing, waits for a bounded time and reads a
// bounded answer. What the request says, and what its outcome means, is left to the caller.
package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// MaxBody is how much of an answer's body is read, in bytes.
const MaxBody = 2048

// Config bounds the requests. Zero values take the defaults named beside the fields.
type Config struct {
	AllowInsecure   bool          // let http:// through; for development only
	AllowPrivate    bool          // connect to any address; for development only
	ConnectTimeout  time.Duration // of a TCP connection; 3 s
	Timeout         time.Duration // of a request as a whole, body included; 10 s
	MaxConnsPerHost int           // 64; above the number of requests to one host at a time
	Proxy           *url.URL      // nil = direct. A proxy resolves names itself: it has to guard the addresses
	RootCAs         *x509.CertPool
	Resolver        *net.Resolver
}

// Client sends guarded requests. It is safe for concurrent use.
type Client struct {
	cfg       Config
	transport *http.Transport
}

// Answer is what a receiver replied: any status is an answer, also a redirect.
type Answer struct {
	Status     int
	Body       []byte // the first MaxBody bytes
	RetryAfter string // the header as it came
}

// New makes a client.
func New(cfg Config) *Client {
	cfg.ConnectTimeout = orDefault(cfg.ConnectTimeout, 3*time.Second)
	cfg.Timeout = orDefault(cfg.Timeout, 10*time.Second)
	cfg.MaxConnsPerHost = orDefault(cfg.MaxConnsPerHost, 64)
	dialer := &net.Dialer{Timeout: cfg.ConnectTimeout, KeepAlive: 15 * time.Second, Resolver: cfg.Resolver}
	if !cfg.AllowPrivate && cfg.Proxy == nil {
		dialer.Control = guard
	}
	t := &http.Transport{
		DialContext:       dialer.DialContext,
		ForceAttemptHTTP2: true, // a dialer of one's own turns it off otherwise
		TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: cfg.RootCAs,
			// Connections are given up early (below), so handshakes are made cheap.
			ClientSessionCache: tls.NewLRUClientSessionCache(4096),
		},
		TLSHandshakeTimeout: 5 * time.Second,
		MaxConnsPerHost:     cfg.MaxConnsPerHost,
		MaxIdleConns:        8192, MaxIdleConnsPerHost: cfg.MaxConnsPerHost,
		// Common servers close idle connections after 5 s. A request sent into such a closing one would fail
		// and use up an attempt.
		IdleConnTimeout:        4 * time.Second,
		DisableCompression:     true, // a small answer must not unfold into a big one
		MaxResponseHeaderBytes: 64 << 10,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second}, // notices dead peers
	}
	if cfg.Proxy != nil {
		t.Proxy = http.ProxyURL(cfg.Proxy)
	}
	return &Client{cfg: cfg, transport: t}
}

func orDefault[T int | time.Duration](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}

// Close ends idle connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Post sends the body with the headers and returns what was answered within the time limit. The error is
// an [*Error], or the context's when the caller gave up. An answer whose body does not arrive in time
// (of its first MaxBody bytes) is a timeout, whatever its status.
func (c *Client) Post(ctx context.Context, target *url.URL, header http.Header, body []byte) (Answer, error) {
	began := time.Now()
	answer, err := c.post(ctx, target, header, body)
	observe(began, answer, err)
	return answer, err
}

func (c *Client) post(ctx context.Context, target *url.URL, header http.Header, body []byte) (Answer, error) {
	if target.Scheme != "https" && !c.cfg.AllowInsecure {
		return Answer{}, &Error{Kind: Refused, Message: "the receiver's URL must begin with https://"}
	}
	limited, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	req := (&http.Request{
		Method: http.MethodPost, URL: target, Host: target.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(body)),
		Body:    io.NopCloser(bytes.NewReader(body)),
		GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
	}).WithContext(limited)
	// The transport alone follows no redirects and has no cookies.
	res, err := c.transport.RoundTrip(req)
	if err != nil {
		return Answer{}, c.explain(ctx, limited, err)
	}
	defer func() { _ = res.Body.Close() }()
	answer := Answer{Status: res.StatusCode, RetryAfter: res.Header.Get("Retry-After")}
	if answer.Body, err = readSome(res.Body); err != nil {
		return answer, c.explain(ctx, limited, err)
	}
	return answer, nil
}

var buffers = sync.Pool{New: func() any { return new([MaxBody + 1]byte) }}

// readSome reads up to MaxBody bytes. It asks for one more: a body that ends there leaves its connection usable.
func readSome(r io.Reader) ([]byte, error) {
	buf := buffers.Get().(*[MaxBody + 1]byte) //nolint:errcheck // the pool makes nothing else
	defer buffers.Put(buf)
	for n := 0; ; {
		k, err := r.Read(buf[n:])
		n += k
		if err == nil && n < len(buf) {
			continue
		}
		if errors.Is(err, io.EOF) || n == len(buf) {
			err = nil
		}
		return bytes.Clone(buf[:min(n, MaxBody)]), err
	}
}

// Kind classifies why there was no answer.
type Kind string

// The kinds, used as error.type of spans and in logs.
const (
	Timeout Kind = "timeout"
	Refused Kind = "address_refused"
	TLS     Kind = "tls"
	DNS     Kind = "dns"
	Connect Kind = "connect"
	Broken  Kind = "connection_broken"
)

// Error says in one short sentence why there was no answer.
type Error struct {
	Kind    Kind
	Message string
	Cause   error
}

// Error implements error; the cause is left out, for it may name addresses of the platform.
func (e *Error) Error() string { return e.Message }

// Unwrap returns what net/http said.
func (e *Error) Unwrap() error { return e.Cause }

// explain maps the transport's error. The caller's own cancellation stays what it is. When the time of the limited context
// is over, the transport closes the connection, and which error of that comes first is chance.
func (c *Client) explain(ctx, limited context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var (
		own  *Error
		dns  *net.DNSError
		op   *net.OpError
		nerr net.Error
	)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &dns) && !dns.IsTimeout:
		return &Error{DNS, "the name of the receiver's host could not be resolved", err}
	case isTLS(err):
		return &Error{TLS, "the receiver's TLS certificate or handshake was not accepted: " + tlsDetail(err), err}
	case errors.As(err, &op) && op.Op == "dial" && op.Timeout():
		return &Error{Timeout, "no connection to the receiver within " + c.cfg.ConnectTimeout.String(), err}
	case limited.Err() != nil || errors.Is(err, context.DeadlineExceeded) || (errors.As(err, &nerr) && nerr.Timeout()):
		return &Error{Timeout, "no complete answer within " + c.cfg.Timeout.String(), err}
	case errors.As(err, &op) && op.Op == "dial":
		return &Error{Connect, "the receiver refused the connection", err}
	}
	return &Error{Broken, "the connection broke before the answer was complete", err}
}

func isTLS(err error) bool {
	var (
		cert   *tls.CertificateVerificationError
		record tls.RecordHeaderError
		alert  tls.AlertError
		op     *net.OpError
	)
	return errors.As(err, &cert) || errors.As(err, &record) || errors.As(err, &alert) ||
		(errors.As(err, &op) && op.Op == "remote error") || strings.Contains(err.Error(), "tls: ") ||
		strings.Contains(err.Error(), "TLS handshake timeout")
}

// tlsDetail is the innermost text, which is about the certificate and not about addresses.
func tlsDetail(err error) string {
	var cert *tls.CertificateVerificationError
	if errors.As(err, &cert) {
		return cert.Err.Error()
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err.Error()
}
