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

// What Verify may find. Each error wraps one of these.
var (
	ErrUnsigned     = errors.New("the request is not signed")
	ErrBadSignature = errors.New("the signature does not fit; check the secret and that the raw body is verified")
	ErrExpired      = errors.New("the timestamp is too far from now; check the clock")
	ErrMismatch     = errors.New("two headers that must agree do not")
)

// Verifier checks requests against one secret. It is safe for concurrent use.
type Verifier struct{ key *key }

// NewVerifier prepares a secret as shown when the subscription was created.
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
// required; during a secret overlap either of the two secrets is enough. The webhook-* trio is checked
// when present: it also protects the delivery id and the timestamp. With a positive tolerance the trio
// is required and its timestamp may differ from now by at most that much. X-Svc-Event, -Attempt,
// -Webhook-Id and -Event-Id are not signed: trust the body instead.
func (v *Verifier) Verify(h http.Header, body []byte, now time.Time, tolerance time.Duration) error {
	if err := v.verifyWhole(h, body); err != nil {
		return err
	}
	if len(h[HeaderStandardSignature]) == 0 && len(h[HeaderStandardID]) == 0 && len(h[HeaderStandardTimestamp]) == 0 {
		if tolerance > 0 {
			return fmt.Errorf("%s is missing, so the time of the request is not proven: %w", HeaderStandardSignature, ErrUnsigned)
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
		return fmt.Errorf("%s %q is not a number of seconds: %w", HeaderStandardTimestamp, timestamp, ErrExpired)
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > tolerance || age < -tolerance-time.Second {
		return fmt.Errorf("%s is %s away, more than %s: %w", HeaderStandardTimestamp, age.Abs().Round(time.Second), tolerance, ErrExpired)
	}
	return nil
}
