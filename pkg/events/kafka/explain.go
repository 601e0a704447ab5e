package kafka

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Explain adds a hint to an error of the brokers: the flag to set, or the command that lists the required rights.
// It returns other errors, and nil, unchanged.
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
		return fmt.Errorf("%w; --kafka-ca-file must name the certificate authority of the brokers", err)
	case errors.As(err, &host):
		return fmt.Errorf("%w; --kafka-brokers must use the host names in the brokers' certificates", err)
	case errors.As(err, &op) && op.Op == "remote error": // a TLS alert
		return fmt.Errorf("%w; the brokers require a client certificate that they trust: set --kafka-cert-file and --kafka-key-file", err)
	case errors.As(err, &eof):
		return fmt.Errorf("%w; if the brokers use TLS, set --kafka-tls; if they require SASL, set --kafka-sasl", err)
	case is(kerr.SaslAuthenticationFailed):
		return fmt.Errorf("%w; check --kafka-username and --kafka-password-file", err)
	case is(kerr.UnsupportedSaslMechanism, kerr.IllegalSaslState):
		return fmt.Errorf("%w; --kafka-sasl must be a mechanism that the brokers support", err)
	case is(kerr.TopicAuthorizationFailed, kerr.GroupAuthorizationFailed, kerr.ClusterAuthorizationFailed):
		return fmt.Errorf("%w; `tradegrid topics acls` lists the rights that each role needs", err)
	case is(kerr.InvalidReplicationFactor):
		return fmt.Errorf("%w; the cluster has fewer brokers than replicas: give --local for development on one broker, or --replication", err)
	}
	return err
}
