package dispatchtest

import (
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// Request is one request that reached a receiver.
type Request struct {
	ID      string // of the delivery
	Attempt int
	Header  http.Header
	Body    []byte
}

// Receiver keeps what it got and answers as it is told.
type Receiver struct {
	*httptest.Server
	mu       sync.Mutex
	requests []Request
	answer   http.HandlerFunc
}

// NewReceiver starts a receiver.
func NewReceiver(t testing.TB, answer http.HandlerFunc) *Receiver {
	r := &Receiver{answer: answer}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		n, _ := strconv.Atoi(req.Header.Get(webhook.HeaderAttempt))
		r.mu.Lock()
		r.requests = append(r.requests, Request{req.Header.Get(webhook.HeaderDeliveryID), n, req.Header.Clone(), body})
		answer := r.answer
		r.mu.Unlock()
		answer(w, req)
	}))
	t.Cleanup(r.Close)
	return r
}

// Requests are all requests so far.
func (r *Receiver) Requests() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

// Answer changes the answer.
func (r *Receiver) Answer(answer http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// Status answers with a status.
func Status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// Certificate makes a client certificate that is its own issuer. Both texts are PEM.
func Certificate(t testing.TB, key crypto.Signer, name string, until time.Time) (certificate, privateKey string) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: until.Add(-24 * time.Hour), NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}
