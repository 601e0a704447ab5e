//go:build kafka

package kafka

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/tests/kafka/brokers"
	"github.com/tradegrid/tradegrid/tests/role"
	"github.com/tradegrid/tradegrid/topics"
)

// authority signs certificates, which it writes as PEM files.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // its certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.cert, a.key = a.sign(template, nil, nil)
	a.file = a.write("ca.pem", block("CERTIFICATE", a.cert.Raw))
	return a
}

// sign makes a key and its certificate; without a parent it signs itself.
func (a *authority) sign(template, parent *x509.Certificate, by *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
	if parent == nil {
		parent, by = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	require.NoError(a.t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(a.t, err)
	return cert, key
}

// issue makes a certificate for a name, which is good for servers and clients on loopback.
func (a *authority) issue(name string) (certFile, keyFile, both string) {
	a.t.Helper()
	cert, key := a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}, a.cert, a.key)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(a.t, err)
	certPEM, keyPEM := block("CERTIFICATE", cert.Raw), block("PRIVATE KEY", der)
	return a.write(name+".crt", certPEM), a.write(name+".key", keyPEM), a.write(name+".pem", keyPEM+certPEM)
}

func (a *authority) write(name, text string) string {
	a.t.Helper()
	path := filepath.Join(a.dir, name)
	require.NoError(a.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// secured is a platform on a broker that wants encryption, proof and rights of its clients.
type secured struct {
	*kit
	ca      *authority
	cluster *brokers.Cluster
}

func newSecured(t *testing.T) *secured {
	t.Helper()
	ca := newAuthority(t)
	_, _, server := ca.issue("broker")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	// Rights do not depend on the number of brokers.
	c, err := brokers.Start(ctx, brokers.Config{Dir: t.TempDir(), Nodes: 1, TLS: &brokers.TLS{KeyStore: server, TrustStore: ca.file}})
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(c.Log())
		}
		require.NoError(t, c.Stop())
	})
	return &secured{newRigAt(t, c.Internal(), c.Internal()), ca, c}
}

// scram makes a user and gives the flags of a client that uses it.
func (s *secured) scram(user, mechanism string) []string {
	s.t.Helper()
	password := user + "'s secret"
	kind := kadm.ScramSha512
	if mechanism == "scram-sha-256" {
		kind = kadm.ScramSha256
	}
	_, err := s.admin.AlterUserSCRAMs(s.t.Context(), nil, []kadm.UpsertSCRAM{{User: user, Mechanism: kind, Iterations: 4096, Password: password}})
	require.NoError(s.t, err)
	return []string{
		"--kafka-brokers=" + strings.Join(s.cluster.Brokers(), ","), "--kafka-tls", "--kafka-ca-file=" + s.ca.file,
		"--kafka-sasl=" + mechanism, "--kafka-username=" + user, "--kafka-password-file=" + s.ca.write(user+".password", password+"\n"),
	}
}

// certified gives the flags of a client that proves itself by a certificate.
func (s *secured) certified(user string) []string {
	s.t.Helper()
	cert, key, _ := s.ca.issue(user)
	return []string{
		"--kafka-brokers=" + strings.Join(s.cluster.Mutual(), ","), "--kafka-tls", "--kafka-ca-file=" + s.ca.file,
		"--kafka-cert-file=" + cert, "--kafka-key-file=" + key,
	}
}

// Each role works with its own user and just the rights that `topics acls` names: by SCRAM over TLS, or by a certificate.
func TestRolesWorkWithTheirLeastRights(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	out, err := run(t, s.env, "topics", "acls", "--grant")
	require.NoError(t, err, out)
	out, err = run(t, s.env, append([]string{"topics", "apply", "--local"}, s.scram("tradegrid-topics", "scram-sha-512")...)...)
	require.NoError(t, err, out)
	out, err = run(t, s.env, append([]string{"topics", "diff", "--local"}, s.scram("tradegrid-topics", "scram-sha-512")...)...)
	require.NoError(t, err, out)

	api := s.role(append([]string{"api"}, s.scram("tradegrid-api", "scram-sha-512")...)...)
	relay := s.role(append([]string{"relay"}, s.certified("tradegrid-relay")...)...)
	dispatcher := s.role(append([]string{"dispatcher"}, s.scram("tradegrid-dispatcher", "scram-sha-256")...)...)
	s.subscribe("order.*")
	l := s.start(20)
	l.more(20)

	// A right that is taken away stops the relay, which says why and goes on once it is back.
	right := kadm.NewACLs().Allow("User:tradegrid-relay").AllowHosts("*").Operations(kadm.OpWrite).ResourcePatternType(kadm.ACLPatternLiteral).Topics(topics.Events)
	deleted, err := s.admin.DeleteACLs(t.Context(), right)
	require.NoError(t, err)
	require.Len(t, deleted[0].Deleted, 1)
	role.Eventually(t, func() bool { return strings.Contains(relay.Said(), "TOPIC_AUTHORIZATION_FAILED") }, "the relay says what it may not do")
	require.Contains(t, relay.Said(), "to topic "+topics.Events)
	l.more(20)
	_, err = s.admin.CreateACLs(t.Context(), right)
	require.NoError(t, err)
	l.stop()
	l.settled()
	for _, p := range []*role.Process{api, dispatcher} {
		require.NotContains(t, p.Said(), "AUTHORIZATION_FAILED", p.Name)
	}
	users := 0
	described, err := s.admin.DescribeACLs(t.Context(), kadm.NewACLs().AnyResource().Allow().AllowHosts().Operations().ResourcePatternType(kadm.ACLPatternAny))
	require.NoError(t, err)
	for _, d := range described {
		users += len(d.Described)
	}
	facts.add(t, "4 users (3 by SCRAM over TLS, 1 by certificate) with %d access control entries; the relay waited for the one that was taken away", users)
}

// What keeps a client out is said at once and in a way that tells what to mend.
func TestClientsThatMayNotAreToldWhy(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	good := s.scram("tradegrid-topics", "scram-sha-512")
	cert := s.certified("tradegrid-topics")
	stranger := newAuthority(t)
	_, foreign, _ := stranger.issue("tradegrid-topics")
	foreignCert := strings.TrimSuffix(foreign, ".key") + ".crt"
	for name, c := range map[string]struct {
		flags []string
		want  string
	}{
		"no rights":           {good, "`tradegrid topics acls`"},
		"wrong password":      {append(good, "--kafka-password-file="+s.ca.write("wrong", "guess")), "--kafka-password-file"},
		"wrong mechanism":     {append(good, "--kafka-sasl=plain"), "--kafka-sasl must be"},
		"wrong authority":     {append(good, "--kafka-ca-file="+stranger.file), "--kafka-ca-file must name"},
		"no encryption":       {[]string{good[0]}, "is this a plaintext connection speaking to a tls endpoint"},
		"no certificate":      {cert[:3], "--kafka-cert-file"},
		"foreign certificate": {append(cert, "--kafka-cert-file="+foreignCert, "--kafka-key-file="+foreign), "--kafka-cert-file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			out, err := run(t, s.env, append([]string{"topics", "apply", "--local"}, c.flags...)...)
			require.Error(t, err)
			t.Logf("%s: %s", time.Since(began), out)
			require.Contains(t, out, c.want)
			require.Less(t, time.Since(began), 30*time.Second)
		})
	}
}
