// Package egress sends HTTP requests to URLs given by users. It connects only to public addresses, follows no redirects,
// keeps no cookies, and limits the duration of a request and the size of its response. The content of requests and the
// interpretation of responses are left to the caller.
package egress

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/config"
)

// MaxBody is the maximum number of bytes read of a response body.
const MaxBody = 2048

// connectTimeout is that of the TCP connection.
const connectTimeout = 3 * time.Second

// Settings are those of a client. A timeout of zero is the default.
type Settings struct {
	AllowInsecure bool          `help:"Allow http:// and private addresses. For development only." same:"platform"`
	Timeout       time.Duration `name:"attempt-timeout" help:"Timeout of one request to a receiver, from connecting to the end of the response." default:"10s"`
}

// Check validates the settings.
func (s Settings) Check() error {
	return config.Positive("--attempt-timeout", s.Timeout)
}

// Config configures a client. Zero values take the defaults given beside the fields.
type Config struct {
	Settings

	AllowPrivate    bool     // allow non-public addresses; for development only
	MaxConnsPerHost int      // 64; must exceed the number of concurrent requests to one host
	Proxy           *url.URL // for all requests; nil = direct
	RootCAs         *x509.CertPool
	resolver        *net.Resolver
}

// Client sends requests to public addresses. It is safe for concurrent use.
type Client struct {
	cfg       Config
	transport *http.Transport
}

// Answer is the response of a receiver, of any status, including redirects.
type Answer struct {
	Status     int
	Body       []byte // the first MaxBody bytes
	RetryAfter string // unparsed header
}

// New creates a client.
func New(cfg Config) *Client {
	config.Complete(&cfg.Settings)
	cfg.MaxConnsPerHost = cmp.Or(cfg.MaxConnsPerHost, 64)
	return &Client{cfg: cfg, transport: newTransport(cfg)}
}

// With creates a client with connections of its own, which identifies itself by a certificate.
func (c *Client) With(cert *tls.Certificate) *Client {
	t := newTransport(c.cfg)
	// Unlike Certificates, this shows the certificate also to a server that names other issuers, which then says what it misses.
	t.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return cert, nil }
	return &Client{cfg: c.cfg, transport: t}
}

func newTransport(cfg Config) *http.Transport {
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: 15 * time.Second, Resolver: cfg.resolver}
	dial := dialer.DialContext
	switch {
	case cfg.Proxy != nil:
		tlsConfig := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.RootCAs, ServerName: cfg.Proxy.Hostname()}
		dial = (&proxyDialer{proxy: cfg.Proxy, tls: tlsConfig, dialer: dialer, allowPrivate: cfg.AllowPrivate}).dial
	case !cfg.AllowPrivate:
		dialer.Control = guard
	}
	t := &http.Transport{
		DialContext:       dial,
		ForceAttemptHTTP2: true, // a custom DialContext disables it otherwise
		TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: cfg.RootCAs,
			// Idle connections are closed early (see below), so make handshakes cheap.
			ClientSessionCache: tls.NewLRUClientSessionCache(4096),
		},
		TLSHandshakeTimeout: 5 * time.Second,
		MaxConnsPerHost:     cfg.MaxConnsPerHost,
		MaxIdleConns:        8192, MaxIdleConnsPerHost: cfg.MaxConnsPerHost,
		// Common servers close idle connections after 5 s. A request on a connection that is being closed would fail
		// and use up an attempt.
		IdleConnTimeout:        4 * time.Second,
		DisableCompression:     true, // prevents decompression bombs
		MaxResponseHeaderBytes: 64 << 10,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second}, // detects dead peers
	}
	return t
}

// Close closes idle connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Post sends a request and returns the response. The error is an [*Error], or that of ctx if ctx is done. If the first
// MaxBody bytes of the response body do not arrive in time, the request has timed out, whatever its status.
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
		Method: http.MethodPost, URL: WithEncodedQuery(target), Host: target.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(body)),
		Body:    io.NopCloser(bytes.NewReader(body)),
		GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
	}).WithContext(limited)
	// Unlike http.Client, the transport follows no redirects and keeps no cookies.
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

// WithEncodedQuery is the URL with a query as browsers send it. Unlike the host and the path, net/http sends what was typed.
func WithEncodedQuery(u *url.URL) *url.URL {
	if !strings.ContainsFunc(u.RawQuery, mustEncode) {
		return u
	}
	var query strings.Builder
	for i := range len(u.RawQuery) {
		if c := u.RawQuery[i]; mustEncode(rune(c)) {
			fmt.Fprintf(&query, "%%%02X", c)
		} else {
			query.WriteByte(c)
		}
	}
	encoded := *u
	encoded.RawQuery = query.String()
	return &encoded
}

// mustEncode is the set of https://url.spec.whatwg.org/#special-query-percent-encode-set.
func mustEncode(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"#<>'`, r) }

var buffers = sync.Pool{New: func() any { return new([MaxBody + 1]byte) }}

// readSome reads up to MaxBody bytes. It tries to read one more, so that the connection of a body of that size can be reused.
func readSome(r io.Reader) ([]byte, error) {
	buf := buffers.Get().(*[MaxBody + 1]byte) //nolint:errcheck // the pool contains nothing else
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

// Kind classifies why there was no response.
type Kind string

// The kinds, as in the error.type of spans and in logs.
const (
	Timeout Kind = "timeout"
	Refused Kind = "address_refused"
	TLS     Kind = "tls"
	DNS     Kind = "dns"
	Connect Kind = "connect"
	Broken  Kind = "connection_broken"
)

// Error describes in one short sentence why there was no response.
type Error struct {
	Kind    Kind
	Message string
	Cause   error
}

// Error implements error. It omits the cause, which may contain internal addresses.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the error of net/http.
func (e *Error) Unwrap() error { return e.Cause }

// explain converts the transport's error. Cancellation by the caller is returned unchanged. When the limited context times
// out, the transport closes the connection, and which of the resulting errors it returns is random.
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
		return &Error{Timeout, "no connection to the receiver within " + connectTimeout.String(), err}
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

// tlsDetail returns the innermost error text, which is about the certificate and contains no addresses.
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
