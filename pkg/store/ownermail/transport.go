package ownermail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/wneessen/go-mail"
)

// errRefused wraps the answer of a server that will never take a message.
var errRefused = errors.New("refused for good")

// errUnavailable wraps what concerns the server rather than the message: no other message would get through either.
var errUnavailable = errors.New("the server takes no mail")

// SMTP sends through a server.
type SMTP struct {
	client func() (*mail.Client, error) // for one message
}

// smtpTimeout bounds connecting, and then the transfer of a message. Twice that must fit into the time that a process has to stop.
const smtpTimeout = 10 * time.Second

// NewSMTP makes a transport of a URL: smtp://user:password@host:587 requires STARTTLS, smtps://host:465 begins with TLS. With
// ?tls=none a server next door is used in the clear.
func NewSMTP(address string) (*SMTP, error) { return newSMTP(address, nil) }

func newSMTP(address string, trust *tls.Config) (*SMTP, error) {
	client, err := smtpClient(address, trust)
	if err != nil {
		return nil, err
	}
	return &SMTP{func() (*mail.Client, error) { return client, nil }}, nil
}

// NewSMTPFrom is [NewSMTP] with a URL that is read for each message: its password may change.
func NewSMTPFrom(address func() (string, error)) (*SMTP, error) {
	s := &SMTP{func() (*mail.Client, error) {
		text, err := address()
		if err != nil {
			return nil, err
		}
		return smtpClient(text, nil)
	}}
	_, err := s.client()
	return s, err
}

func smtpClient(address string, trust *tls.Config) (*mail.Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Path != "" && u.Path != "/" {
		return nil, errors.New("must be a URL such as smtp://user:password@mail.example.com:587") // err would show the password
	}
	port, policy := 587, mail.TLSMandatory
	opts := []mail.Option{mail.WithTimeout(smtpTimeout)}
	switch u.Scheme {
	case "smtp":
	case "smtps":
		port, opts = 465, append(opts, mail.WithSSL())
	default:
		return nil, fmt.Errorf("the scheme must be smtp (STARTTLS) or smtps (TLS), not %q", u.Scheme)
	}
	switch query := u.Query(); {
	case u.Scheme == "smtp" && query.Encode() == "tls=none":
		policy = mail.NoTLS
	case len(query) > 0:
		return nil, errors.New("the only parameter is tls=none, of smtp")
	}
	if text := u.Port(); text != "" {
		if port, err = strconv.Atoi(text); err != nil {
			return nil, fmt.Errorf("%q is not a port", text)
		}
	}
	if u.User != nil {
		password, _ := u.User.Password()
		opts = append(opts, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(u.User.Username()), mail.WithPassword(password))
	}
	if trust != nil {
		opts = append(opts, mail.WithTLSConfig(trust))
	}
	client, err := mail.NewClient(u.Hostname(), append(opts, mail.WithPort(port), mail.WithTLSPolicy(policy))...)
	if err != nil {
		return nil, fmt.Errorf("set up SMTP: %w", err)
	}
	return client, nil
}

// Send sends a message. What it has begun it finishes, also when ctx ends: a message that is cut off may have arrived.
func (s *SMTP) Send(ctx context.Context, m *mail.Msg) error {
	client, err := s.client()
	if err != nil {
		return fmt.Errorf("%w: %w", errUnavailable, err)
	}
	conn, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnavailable, err)
	}
	defer func() { _ = client.CloseWithSMTPClient(conn) }() // what counts is the answer to the message
	err = client.SendWithSMTPClient(conn, m)
	if err == nil || m.IsDelivered() {
		return nil
	}
	var answer *mail.SendError
	if errors.As(err, &answer) && answer.ErrorCode() >= 500 && answer.Reason != mail.ErrSMTPMailFrom {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	if answer != nil && answer.ErrorCode() >= 400 && answer.Reason != mail.ErrSMTPMailFrom {
		return err
	}
	return fmt.Errorf("%w: %w", errUnavailable, err)
}

// Folder keeps messages as files with the ending .eml, for development.
type Folder string

// Send writes a message to a file that is named by its id.
func (f Folder) Send(_ context.Context, m *mail.Msg) error {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return fmt.Errorf("%w: %w", errUnavailable, err)
	}
	name, _, _ := strings.Cut(strings.Trim(m.GetMessageID(), "<>"), "@")
	if err := m.WriteToFile(filepath.Join(string(f), name+".eml")); err != nil {
		return fmt.Errorf("%w: %w", errUnavailable, err)
	}
	return nil
}
