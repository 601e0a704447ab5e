package kafka

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
)

// selfSigned makes a certificate that is its own authority, good for servers and clients on loopback.
func selfSigned(t *testing.T) (cert tls.Certificate, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	certFile, keyFile = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(certFile, certPEM, 0o600))
	require.NoError(t, os.WriteFile(keyFile, keyPEM, 0o600))
	cert, err = tls.X509KeyPair(certPEM, keyPEM)
	require.NoError(t, err)
	return cert, certFile, keyFile
}

func TestClientProvesItselfByTLSAndScram(t *testing.T) {
	t.Parallel()
	cert, certFile, keyFile := selfSigned(t)
	pool := x509.NewCertPool()
	pool.AddCert(cert.Leaf)
	broker, err := kfake.NewCluster(kfake.NumBrokers(1),
		kfake.TLS(&tls.Config{Certificates: []tls.Certificate{cert}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12}),
		kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "relay", "s3cret"))
	require.NoError(t, err)
	t.Cleanup(broker.Close)
	passwordFile := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(passwordFile, []byte("s3cret\n"), 0o600))
	good := Config{
		Brokers: broker.ListenAddrs(),
		TLS:     TLS{Enabled: true, CAFile: certFile, CertFile: certFile, KeyFile: keyFile},
		SASL:    SASL{Mechanism: "scram-sha-512", Username: "relay", PasswordFile: passwordFile},
	}
	require.NoError(t, good.Validate())
	client, err := NewClient(good)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	require.NoError(t, client.Ping(t.Context()))

	// What the file says counts at the next handshake.
	require.NoError(t, os.WriteFile(passwordFile, []byte("guess\n"), 0o600))
	late, err := NewClient(good)
	require.NoError(t, err)
	t.Cleanup(late.Close)
	require.Error(t, late.Ping(t.Context()))
	require.NoError(t, os.WriteFile(passwordFile, []byte("s3cret\n"), 0o600))
	require.NoError(t, late.Ping(t.Context()))

	wrong := good
	wrong.SASL = SASL{Mechanism: "scram-sha-512", Username: "relay", Password: "guess"}
	client, err = NewClient(wrong)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	require.Error(t, client.Ping(t.Context()))
}

func TestValidateNamesTheFlags(t *testing.T) {
	t.Parallel()
	_, certFile, keyFile := selfSigned(t)
	brokers := []string{"a:9092"}
	for name, row := range map[string]struct {
		cfg  Config
		want []string
	}{
		"no broker":       {Config{}, []string{"--kafka-brokers is required"}},
		"no port":         {Config{Brokers: []string{"a"}}, []string{`--kafka-brokers "a" must be host:port`}},
		"tls off":         {Config{Brokers: brokers, TLS: TLS{CAFile: certFile}}, []string{"--kafka-tls is required"}},
		"ca missing":      {Config{Brokers: brokers, TLS: TLS{Enabled: true, CAFile: "/nowhere"}}, []string{"--kafka-ca-file: open /nowhere"}},
		"ca is a key":     {Config{Brokers: brokers, TLS: TLS{Enabled: true, CAFile: keyFile}}, []string{"contains no PEM certificate"}},
		"cert alone":      {Config{Brokers: brokers, TLS: TLS{Enabled: true, CertFile: certFile}}, []string{"--kafka-cert-file and --kafka-key-file must be set together"}},
		"sasl off":        {Config{Brokers: brokers, SASL: SASL{Username: "u"}}, []string{"--kafka-sasl is required"}},
		"sasl unknown":    {Config{Brokers: brokers, SASL: SASL{Mechanism: "x", Username: "u", Password: "p"}}, []string{`--kafka-sasl "x" must be`}},
		"sasl incomplete": {Config{Brokers: brokers, SASL: SASL{Mechanism: "plain"}}, []string{"--kafka-username is required", "--kafka-password-file is required"}},
		"two passwords":   {Config{Brokers: brokers, SASL: SASL{Mechanism: "plain", Username: "u", Password: "p", PasswordFile: "f"}}, []string{"mutually exclusive"}},
		"all at once":     {Config{TLS: TLS{KeyFile: "k"}, SASL: SASL{Password: "p"}}, []string{"--kafka-brokers", "--kafka-tls", "--kafka-sasl"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := row.cfg.Validate()
			for _, want := range row.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
	require.NoError(t, Config{Brokers: brokers, SASL: SASL{Mechanism: "plain", Username: "u", Password: "p"}}.Validate())
}
