package ownermail

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
)

const (
	mailUser     = "tradegrid"
	mailPassword = "p@ss:word"
)

// server is an SMTP server that takes mail only over TLS from a user who has logged in.
type server struct {
	address string
	trust   *tls.Config

	mu       sync.Mutex
	open     bool // takes mail from anybody
	hangUp   bool // closes the connection once a message was taken
	password string
	rcpt     func(to string) error // answers RCPT; nil = accepted
	data     func() error          // answers DATA; nil = accepted; errDie closes the connection in place of an answer
	got      []received
}

type received struct {
	to     string
	header mail.Header
	body   string
	raw    string
}

var errDie = errors.New("die")

// startServer starts a server on a loopback port, with STARTTLS or with TLS from the first byte.
func startServer(t *testing.T, implicit bool) *server {
	t.Helper()
	certificate, roots := newCertificate(t)
	s := serve(t, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}, implicit)
	s.trust = &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}
	return s
}

func serve(t *testing.T, offers *tls.Config, implicit bool) *server {
	t.Helper()
	s := &server{password: mailPassword}
	srv := smtp.NewServer(s)
	srv.Domain, srv.TLSConfig, srv.ErrorLog = "127.0.0.1", offers, discard{}
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.address = ln.Addr().String()
	if implicit {
		ln = tls.NewListener(ln, srv.TLSConfig)
	}
	go func() { _ = srv.Serve(ln) }()
	t.Cleanup(func() { _ = srv.Close() })
	return s
}

type discard struct{}

func (discard) Printf(string, ...any) {}
func (discard) Println(...any)        {}

func newCertificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	like := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, like, like, &key.PublicKey, key)
	require.NoError(t, err)
	made, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(made)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}

func (s *server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *server) mails() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]received(nil), s.got...)
}

// NewSession implements [smtp.Backend].
func (s *server) NewSession(c *smtp.Conn) (smtp.Session, error) {
	return &session{server: s, conn: c}, nil
}

type session struct {
	*server

	conn   *smtp.Conn
	authed bool
	to     string
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.authed = user == mailUser && password == s.password; !s.authed {
			return smtp.ErrAuthFailed
		}
		return nil
	}), nil
}

func (s *session) Mail(string, *smtp.MailOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, encrypted := s.conn.TLSConnectionState(); !s.open && (!encrypted || !s.authed) {
		return smtp.ErrAuthRequired
	}
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = to
	if s.rcpt != nil {
		return s.rcpt(to)
	}
	return nil
}

func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	m, err := mail.ReadMessage(strings.NewReader(string(raw)))
	if err != nil {
		return err
	}
	body, err := io.ReadAll(m.Body)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.data != nil {
		if err = s.data(); errors.Is(err, errDie) {
			s.got = append(s.got, received{s.to, m.Header, string(body), string(raw)})
			_ = s.conn.Conn().Close()
		}
		if err != nil {
			return err
		}
	}
	s.got = append(s.got, received{s.to, m.Header, string(body), string(raw)})
	return nil
}

func (s *session) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hangUp && s.to != "" {
		_ = s.conn.Conn().Close()
	}
}

func (s *session) Logout() error { return nil }

func temporary(text string) error {
	return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: text}
}

func permanent(text string) error {
	return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: text}
}
