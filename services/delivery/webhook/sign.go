package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Attempt holds the values of the headers of one request.
type Attempt struct {
	Event      string    // event name
	EventID    string    // id of the event
	DeliveryID string    // id of the delivery, the same on every attempt
	WebhookID  string    // id of the subscription
	Number     int       // number of the attempt, from 1
	At         time.Time // time of the attempt
}

// Signer signs the requests of one subscription. It is safe for concurrent use. Reuse it: the keyed hash states are
// prepared once.
type Signer struct {
	current  *key
	previous *key // nil unless the secret is being rotated
}

// key is one secret in its two forms. The pools hold keyed HMACs.
type key struct {
	whole   sync.Pool // keyed with the secret string as shown
	decoded sync.Pool // keyed with the decoded secret
}

// state is one keyed HMAC with buffers that would otherwise be allocated per signature.
type state struct {
	mac     hash.Hash
	sum     [sha256.Size]byte
	scratch [128]byte
}

// NewSigner returns a signer for a subscription's secret. previous is the old secret during a rotation, otherwise empty.
// It returns an error for a malformed secret.
func NewSigner(secret, previous string) (*Signer, error) {
	current, err := newKey(secret)
	if err != nil {
		return nil, err
	}
	s := &Signer{current: current}
	if previous != "" {
		if s.previous, err = newKey(previous); err != nil {
			return nil, fmt.Errorf("previous secret: %w", err)
		}
	}
	return s, nil
}

func newKey(secret string) (*key, error) {
	raw, err := decodeSecret(secret)
	if err != nil {
		return nil, err
	}
	k := &key{}
	k.whole.New = func() any { return &state{mac: hmac.New(sha256.New, []byte(secret))} }
	k.decoded.New = func() any { return &state{mac: hmac.New(sha256.New, raw)} }
	return k, nil
}

// Header values that are the same on every request. They are shared: net/http only reads them, and
// Set and Add on a header replace a one-element slice instead of writing into it.
var (
	contentType = []string{ContentType}
	userAgent   = []string{UserAgent}
)

// Sign sets all headers of a webhook request in h. The body must be the exact bytes that are sent.
func (s *Signer) Sign(h http.Header, a Attempt, body []byte) {
	timestamp := strconv.FormatInt(a.At.Unix(), 10)
	standard := s.current.signStandard(a.DeliveryID, timestamp, body)
	values := [...]string{
		a.Event, a.DeliveryID, a.WebhookID, strconv.Itoa(a.Number), a.EventID, timestamp,
		s.current.signWhole(body), standard, "",
	}
	if s.previous != nil {
		values[7] = standard + " " + s.previous.signStandard(a.DeliveryID, timestamp, body)
		values[8] = s.previous.signWhole(body)
	}
	v := values[:] // one allocation holds every value; full slice expressions keep Add from overwriting a neighbour
	h["Content-Type"] = contentType
	h["User-Agent"] = userAgent
	h[HeaderEvent] = v[0:1:1]
	h[HeaderDeliveryID] = v[1:2:2]
	h[HeaderStandardID] = v[1:2:2]
	h[HeaderWebhookID] = v[2:3:3]
	h[HeaderAttempt] = v[3:4:4]
	h[HeaderEventID] = v[4:5:5]
	h[HeaderTimestamp] = v[5:6:6]
	h[HeaderStandardTimestamp] = v[5:6:6]
	h[HeaderSignature] = v[6:7:7]
	h[HeaderStandardSignature] = v[7:8:8]
	if s.previous != nil {
		h[HeaderSignaturePrevious] = v[8:9:9]
	} else {
		delete(h, HeaderSignaturePrevious)
	}
}

// signWhole returns the value of X-Svc-Signature.
func (k *key) signWhole(body []byte) string {
	st := k.whole.Get().(*state) //nolint:errcheck // the pool makes nothing else
	defer k.whole.Put(st)
	st.mac.Reset()
	st.mac.Write(body)
	out := append(st.scratch[:0], "sha256="...)
	return string(hex.AppendEncode(out, st.mac.Sum(st.sum[:0])))
}

// signStandard returns one entry of webhook-signature.
func (k *key) signStandard(id, timestamp string, body []byte) string {
	st := k.decoded.Get().(*state) //nolint:errcheck // the pool makes nothing else
	defer k.decoded.Put(st)
	st.mac.Reset()
	head := append(append(st.scratch[:0], id...), '.')
	head = append(append(head, timestamp...), '.')
	st.mac.Write(head)
	st.mac.Write(body)
	out := append(st.scratch[:0], "v1,"...)
	return string(base64.StdEncoding.AppendEncode(out, st.mac.Sum(st.sum[:0])))
}

const (
	secretPrefix = "whsec_"
	secretBytes  = 32
)

// NewSecret returns a new signing secret: whsec_ followed by 32 random bytes in base64.
func NewSecret() string {
	var b [secretBytes]byte
	_, _ = rand.Read(b[:]) // never returns an error
	return secretPrefix + base64.StdEncoding.EncodeToString(b[:])
}

// SecretHint returns the last four characters of a secret, for people to compare.
func SecretHint(secret string) string {
	if len(secret) <= len(secretPrefix)+8 {
		return ""
	}
	return secret[len(secret)-4:]
}

// CheckSecret returns an error if a secret is malformed.
func CheckSecret(secret string) error {
	_, err := decodeSecret(secret)
	return err
}

func decodeSecret(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, secretPrefix)
	if !ok {
		return nil, errors.New("the webhook secret must start with whsec_; copy it completely, as shown when the subscription was created")
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != secretBytes {
		return nil, errors.New("the webhook secret must be whsec_ followed by 32 bytes in base64; copy it completely, as shown when the subscription was created")
	}
	return raw, nil
}
