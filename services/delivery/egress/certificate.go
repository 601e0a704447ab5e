package egress

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"
)

// maxChain is how many certificates a client certificate has, those of its issuers among them.
const maxChain = 5

// ParseChain reads a client certificate, followed by those of its issuers, in PEM. It skips text between them. The error is a
// text for the user who entered them.
func ParseChain(text string) ([]*x509.Certificate, error) {
	var chain []*x509.Certificate
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if block.Type != "CERTIFICATE" || err != nil {
			return nil, errors.New("must hold certificates in PEM and nothing else; the private key has a field of its own")
		}
		chain = append(chain, cert)
	}
	if len(chain) == 0 || len(chain) > maxChain {
		return nil, fmt.Errorf("must hold the certificate, then those of its issuers, in PEM (-----BEGIN CERTIFICATE-----), at most %d in all", maxChain)
	}
	return chain, nil
}

// FormatChain is the inverse of [ParseChain].
func FormatChain(chain []*x509.Certificate) string {
	var text []byte
	for _, cert := range chain {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})...)
	}
	return strings.TrimSpace(string(text))
}

// CheckCertificate checks that a client certificate can be used at a time.
func CheckCertificate(cert *x509.Certificate, now time.Time) error {
	if now.After(cert.NotAfter) {
		return fmt.Errorf("the certificate expired at %s", cert.NotAfter.UTC().Format(time.RFC3339))
	}
	switch key := cert.PublicKey.(type) {
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits >= 2048 && bits <= 4096 {
			return nil
		}
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P224() {
			return nil
		}
	case ed25519.PublicKey:
		return nil
	}
	return errors.New("the certificate must be for an RSA key of 2048 to 4096 bits, an ECDSA key on P-256, P-384 or P-521, or an Ed25519 key")
}

// Certificate joins a client certificate with its private key, both in PEM. The error is a text for the user who entered the
// key.
func Certificate(chain, key string) (*tls.Certificate, error) {
	block, rest := pem.Decode([]byte(key))
	for block != nil && !strings.HasSuffix(block.Type, "PRIVATE KEY") {
		block, rest = pem.Decode(rest)
	}
	switch {
	case block == nil:
		return nil, errors.New("must hold a private key in PEM (-----BEGIN PRIVATE KEY-----)")
	case strings.HasPrefix(block.Type, "ENCRYPTED") || block.Headers["DEK-Info"] != "":
		return nil, errors.New("must hold the key without a passphrase; it is stored encrypted")
	}
	cert, err := tls.X509KeyPair([]byte(chain), []byte(key))
	if err != nil {
		return nil, errors.New("must be the private key of the certificate, in PKCS #8, PKCS #1 or SEC 1 form")
	}
	return &cert, nil
}
