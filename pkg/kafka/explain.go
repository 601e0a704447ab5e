package kafka

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Explain adds to an error of the brokers what an operator can mend: the flag, or the command that tells the rights.
// Other errors, and nil, stay as they are.
func Explain(err error) error {
	var (
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		op        *net.OpError
		eof       *kgo.ErrFirstReadEOF
	)
	is := func(codes ...*kerr.Error) bool {
		for _, code := range codes {
			if errors.Is(err, code) {
				return true
			}
		}
		return false
	}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &authority):
		return fmt.Errorf("%w; --kafka-ca-file must name the certificates that sign those of the brokers", err)
	case errors.As(err, &host):
		return fmt.Errorf("%w; --kafka-brokers must name the brokers as their certificates do", err)
	case errors.As(err, &op) && op.Op == "remote error": // an alert of TLS
		return fmt.Errorf("%w; the brokers want a certificate that they trust: --kafka-cert-file and --kafka-key-file", err)
	case errors.As(err, &eof):
		return fmt.Errorf("%w; if the brokers encrypt, set --kafka-tls; if they want a user, --kafka-sasl", err)
	case is(kerr.SaslAuthenticationFailed):
		return fmt.Errorf("%w; check --kafka-username and --kafka-password-file", err)
	case is(kerr.UnsupportedSaslMechanism, kerr.IllegalSaslState):
		return fmt.Errorf("%w; --kafka-sasl must be a mechanism that the brokers offer", err)
	case is(kerr.TopicAuthorizationFailed, kerr.GroupAuthorizationFailed, kerr.ClusterAuthorizationFailed):
		return fmt.Errorf("%w; `tradegrid topics acls` tells the rights that each role needs", err)
	}
	return err
}
