package webhook

import (
	"crypto/hmac"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Errors that [Verify] wraps.
var (
	ErrUnsigned     = errors.New("the request is not signed")
	ErrBadSignature = errors.New("the signature does not match; check the secret, and verify the raw body")
	ErrExpired      = errors.New("the timestamp is outside the tolerance; check the clock")
	ErrMismatch     = errors.New("two headers that must be equal differ")
)

// Verifier checks requests against one secret. It is safe for concurrent use.
type Verifier struct{ key *key }

// NewVerifier returns a verifier for a secret, as shown when the subscription was created.
func NewVerifier(secret string) (*Verifier, error) {
	k, err := newKey(secret)
	if err != nil {
		return nil, err
	}
	return &Verifier{key: k}, nil
}

// Verify checks a request against the secret; see [Verifier.Verify].
func Verify(secret string, h http.Header, body []byte, now time.Time, tolerance time.Duration) error {
	v, err := NewVerifier(secret)
	if err != nil {
		return err
	}
	return v.Verify(h, body, now, tolerance)
}

// Verify checks the signatures of a request over its raw body in constant time. X-Svc-Signature is
// required; during a secret rotation, either of the two secrets is sufficient. The webhook-* headers are
// checked if present: they also protect the delivery id and the timestamp. With a positive tolerance they are required,
// and the timestamp may differ from now by at most the tolerance. X-Svc-Event, -Attempt, -Webhook-Id and -Event-Id are
// not signed: trust the body instead.
func (v *Verifier) Verify(h http.Header, body []byte, now time.Time, tolerance time.Duration) error {
	if err := v.verifyWhole(h, body); err != nil {
		return err
	}
	if len(h[HeaderStandardSignature]) == 0 && len(h[HeaderStandardID]) == 0 && len(h[HeaderStandardTimestamp]) == 0 {
		if tolerance > 0 {
			return fmt.Errorf("%s is missing, so the timestamp cannot be verified: %w", HeaderStandardSignature, ErrUnsigned)
		}
		return nil
	}
	return v.verifyStandard(h, body, now, tolerance)
}

func (v *Verifier) verifyWhole(h http.Header, body []byte) error {
	given := h.Get(HeaderSignature)
	if given == "" {
		return fmt.Errorf("%s is missing: %w", HeaderSignature, ErrUnsigned)
	}
	want := []byte(v.key.signWhole(body))
	current := hmac.Equal([]byte(given), want)
	previous := hmac.Equal([]byte(h.Get(HeaderSignaturePrevious)), want)
	if !current && !previous {
		return fmt.Errorf("%s: %w", HeaderSignature, ErrBadSignature)
	}
	return nil
}

func (v *Verifier) verifyStandard(h http.Header, body []byte, now time.Time, tolerance time.Duration) error {
	id, timestamp := h.Get(HeaderStandardID), h.Get(HeaderStandardTimestamp)
	want := []byte(v.key.signStandard(id, timestamp, body))
	found := false
	for given := range strings.SplitSeq(h.Get(HeaderStandardSignature), " ") {
		if hmac.Equal([]byte(given), want) {
			found = true
		}
	}
	if !found {
		return fmt.Errorf("%s: %w", HeaderStandardSignature, ErrBadSignature)
	}
	if h.Get(HeaderDeliveryID) != id {
		return fmt.Errorf("%s and %s: %w", HeaderDeliveryID, HeaderStandardID, ErrMismatch)
	}
	if other := h.Get(HeaderTimestamp); other != "" && other != timestamp {
		return fmt.Errorf("%s and %s: %w", HeaderTimestamp, HeaderStandardTimestamp, ErrMismatch)
	}
	if tolerance <= 0 {
		return nil
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return fmt.Errorf("%s %q is not a Unix time in seconds: %w", HeaderStandardTimestamp, timestamp, ErrExpired)
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > tolerance || age < -tolerance-time.Second {
		return fmt.Errorf("%s differs from now by %s, more than %s: %w", HeaderStandardTimestamp, age.Abs().Round(time.Second), tolerance, ErrExpired)
	}
	return nil
}
