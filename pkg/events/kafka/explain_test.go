package kafka

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestExplainAddsAHint(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"--kafka-ca-file":         x509.UnknownAuthorityError{},
		"--kafka-brokers":         x509.HostnameError{Certificate: &x509.Certificate{}, Host: "a"},
		"--kafka-cert-file":       &net.OpError{Op: "remote error", Err: errors.New("tls: bad certificate")},
		"--kafka-tls":             &kgo.ErrFirstReadEOF{},
		"--kafka-password-file":   kerr.SaslAuthenticationFailed,
		"--kafka-sasl must be":    kerr.UnsupportedSaslMechanism,
		"`tradegrid topics acls`": kerr.TopicAuthorizationFailed,
		"acls` lists":             kerr.GroupAuthorizationFailed,
		"rights that each role":   kerr.ClusterAuthorizationFailed,
		"--local":                 kerr.InvalidReplicationFactor,
	} {
		explained := Explain(fmt.Errorf("list topics: %w", err))
		require.ErrorIs(t, explained, err)
		require.ErrorContains(t, explained, want)
	}
	require.NoError(t, Explain(nil))
	other := errors.New("other")
	require.Equal(t, other, Explain(other))
}
