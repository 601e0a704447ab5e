package webhooks

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/services/delivery/egress"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// ClientCertificate is what is shown of the certificate with which the platform identifies itself to a receiver.
type ClientCertificate struct {
	Subject     string        `json:"subject"`
	NotAfter    jsontype.Time `json:"notAfter" doc:"end of its validity"`
	Fingerprint string        `json:"fingerprint" doc:"SHA-256 of the certificate, in hexadecimal"`
}

// showCertificate describes the certificate.
func (s *Subscription) showCertificate() {
	s.ClientCertificate = nil
	if chain, err := egress.ParseChain(s.CertificateChain); err == nil {
		sum := sha256.Sum256(chain[0].Raw)
		s.ClientCertificate = &ClientCertificate{Subject: chain[0].Subject.String(), NotAfter: jsontype.At(chain[0].NotAfter), Fingerprint: hex.EncodeToString(sum[:])}
	}
}

// checkCertificate checks a client certificate with its key, if there is one, and brings it into its normal form.
func (s *Service) checkCertificate(faults *apierr.Fields, certificate, key *string) *string {
	switch {
	case certificate == nil && key == nil:
		return nil
	case certificate == nil:
		faults.Add("clientCertificate", apierr.Required, "a clientKey needs its certificate, in the same request")
		return nil
	case key == nil:
		faults.Add("clientKey", apierr.Required, "a clientCertificate needs its private key, in the same request")
		return nil
	}
	chain, err := egress.ParseChain(*certificate)
	if err == nil {
		err = egress.CheckCertificate(chain[0], s.cfg.DB.Now())
	}
	if err != nil {
		faults.Add("clientCertificate", apierr.Format, "%s", err.Error())
		return nil
	}
	normal := egress.FormatChain(chain)
	if _, err := egress.Certificate(normal, *key); err != nil {
		faults.Add("clientKey", apierr.Format, "%s", err.Error())
	}
	return &normal
}

// setCertificate replaces the client certificate of a subscription. An equal one stays as it is.
func (s *Service) setCertificate(sub *Subscription, certificate, key *string) error {
	if certificate == nil || key == nil {
		sub.CertificateChain, sub.ClientKey = "", ""
		return nil
	}
	old, err := sub.ClientKey.Open(s.cfg.Keys, sub.CompanyID, sub.ID)
	if err == nil && sub.CertificateChain == *certificate && old == *key {
		return nil
	}
	sub.CertificateChain = *certificate
	sub.ClientKey, err = webhook.SealKey(s.cfg.Keys, sub.CompanyID, sub.ID, *key)
	return err
}

// needsTLS refuses a certificate that no connection would show.
func (s *Subscription) needsTLS() error {
	if s.CertificateChain != "" && !strings.HasPrefix(strings.ToLower(s.URL), "https:") {
		return apierr.InvalidField("clientCertificate", apierr.Conflict, "a receiver with a client certificate needs a url that begins with https://")
	}
	return nil
}
