package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/tradegrid/tradegrid/pkg/kit/secret"
)

// TLS configures encryption and the client certificate of connections to the brokers.
type TLS struct {
	Enabled    bool
	CAFile     string // PEM certificates of trusted authorities; empty = those of the system
	CertFile   string // PEM client certificate (mutual TLS); requires KeyFile
	KeyFile    string // PEM key of the certificate
	ServerName string // host name in the brokers' certificates; empty = the host that is dialled
}

// SASL configures authentication. Mechanism is plain, scram-sha-256 or scram-sha-512; empty = no SASL.
type SASL struct {
	Mechanism    string
	Username     string
	Password     string
	PasswordFile string // file with the password, instead of Password; read at each handshake
}

// Validate reports all invalid settings, by the name of their flag.
func (c Config) Validate() error {
	var errs []error
	if len(c.Brokers) == 0 {
		errs = append(errs, errors.New("--kafka-brokers is required: give at least one host:port"))
	}
	for _, b := range c.Brokers {
		if _, port, err := net.SplitHostPort(b); err != nil || port == "" {
			errs = append(errs, fmt.Errorf("--kafka-brokers %q must be host:port", b))
		}
	}
	_, tlsErr := c.TLS.config()
	_, saslErr := c.SASL.mechanism()
	return errors.Join(append(errs, tlsErr, saslErr)...)
}

// security returns the client options for TLS and SASL.
func (c Config) security() ([]kgo.Opt, error) {
	var opts []kgo.Opt
	conf, err := c.TLS.config()
	if err != nil {
		return nil, err
	}
	if conf != nil {
		opts = append(opts, kgo.DialTLSConfig(conf))
	}
	mechanism, err := c.SASL.mechanism()
	if err != nil {
		return nil, err
	}
	if mechanism != nil {
		opts = append(opts, kgo.SASL(mechanism))
	}
	return opts, nil
}

// config returns nil if TLS is disabled.
func (t TLS) config() (*tls.Config, error) {
	if !t.Enabled {
		if t != (TLS{}) {
			return nil, errors.New("--kafka-tls is required with --kafka-ca-file, --kafka-cert-file or --kafka-key-file")
		}
		return nil, nil
	}
	conf := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	var errs []error
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		conf.RootCAs = x509.NewCertPool()
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("--kafka-ca-file: %w", err))
		case !conf.RootCAs.AppendCertsFromPEM(pem):
			errs = append(errs, fmt.Errorf("--kafka-ca-file %s contains no PEM certificate", t.CAFile))
		}
	}
	switch {
	case (t.CertFile == "") != (t.KeyFile == ""):
		errs = append(errs, errors.New("--kafka-cert-file and --kafka-key-file must be set together"))
	case t.CertFile != "":
		if _, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile); err != nil {
			errs = append(errs, fmt.Errorf("--kafka-cert-file, --kafka-key-file: %w", err))
		}
		// Read at each connection, so that a renewed certificate needs no restart.
		conf.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			cert, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
			return &cert, err
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return conf, nil
}

// mechanism returns nil if SASL is disabled.
func (s SASL) mechanism() (sasl.Mechanism, error) {
	if s.Mechanism == "" {
		if s != (SASL{}) {
			return nil, errors.New("--kafka-sasl is required with --kafka-username or a password: plain, scram-sha-256 or scram-sha-512")
		}
		return nil, nil
	}
	_, err := s.password()
	if s.Username == "" {
		err = errors.Join(err, errors.New("--kafka-username is required with --kafka-sasl"))
	}
	if err != nil {
		return nil, err
	}
	// Read at each handshake, so that a changed password needs no restart.
	switch s.Mechanism {
	case "plain":
		return plain.Plain(func(context.Context) (plain.Auth, error) {
			password, err := s.password()
			return plain.Auth{User: s.Username, Pass: password}, err
		}), nil
	case "scram-sha-256":
		return scram.Sha256(s.scram), nil
	case "scram-sha-512":
		return scram.Sha512(s.scram), nil
	}
	return nil, fmt.Errorf("--kafka-sasl %q must be plain, scram-sha-256 or scram-sha-512", s.Mechanism)
}

func (s SASL) scram(context.Context) (scram.Auth, error) {
	password, err := s.password()
	return scram.Auth{User: s.Username, Pass: password}, err
}

func (s SASL) password() (string, error) {
	switch {
	case s.Password != "" && s.PasswordFile != "":
		return "", errors.New("a Kafka password and --kafka-password-file are mutually exclusive")
	case s.Password != "":
		return s.Password, nil
	case s.PasswordFile == "":
		return "", errors.New("--kafka-password-file is required with --kafka-sasl")
	}
	return secret.File("--kafka-password-file", s.PasswordFile)
}
