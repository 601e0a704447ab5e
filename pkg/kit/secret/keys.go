package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
)

const (
	sealedPrefix = "enc1:"
	keyBytes     = 32 // AES-256
)

// Keys is a ring of keys. The first key seals; all of them open. A value is sealed by a data key of its own, which the
// ring's key encrypts, so that a change of the ring's key leaves the value itself alone. Both are AES-256-GCM and bound
// to a context, such as the record that the value belongs to.
//
// A ring from a file follows the file. It is safe for concurrent use.
type Keys struct{ in *followed[ring] }

type ring struct {
	ids   []string // the first one seals
	aeads map[string]cipher.AEAD
	macs  map[string][]byte // keys derived for signatures
}

// UnknownKeyError is the error of a value that was sealed by a key which the ring does not have.
type UnknownKeyError struct{ ID string }

// Error implements error.
func (e UnknownKeyError) Error() string {
	return fmt.Sprintf("sealed by key %q, which the key ring does not have; put it back into the file of keys", e.ID)
}

var errNoKeys = errors.New("there is no key ring; start with --secret-keys-file")

// ReadKeys reads a ring from a file with one key per line, as id:key, the key being the base64 form of 32 bytes. Blank
// lines and those that begin with # say nothing. Errors name the flag and the line, never what stands there.
func ReadKeys(flag, path string, log *slog.Logger) (*Keys, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	in, err := follow[ring]{
		flag: flag, path: path, parse: parseRing,
		changed: func(r ring) { log.Info("key ring changed", "primary", r.ids[0], "keys", r.ids) },
		failed:  func(err error) { log.Error("key ring not read; the one read before stays in use", "error", err) },
	}.start()
	if err != nil {
		return nil, err
	}
	return &Keys{in: in}, nil
}

// ParseKeys makes a fixed ring of what a file of keys could hold.
func ParseKeys(text string) (*Keys, error) {
	r, err := parseRing([]byte(text))
	if err != nil {
		return nil, err
	}
	return &Keys{in: fixed(r)}, nil
}

// NewKey makes a line of a file of keys.
func NewKey(id string) string {
	var key [keyBytes]byte
	_, _ = rand.Read(key[:]) // it never fails
	return id + ":" + base64.StdEncoding.EncodeToString(key[:])
}

// Primary is the id of the key that seals.
func (k *Keys) Primary() (string, error) {
	r, err := k.current()
	if err != nil {
		return "", err
	}
	return r.ids[0], nil
}

// Seal encrypts a value. Only the same context opens it.
func (k *Keys) Seal(value []byte, context string) (string, error) {
	r, err := k.current()
	if err != nil {
		return "", err
	}
	var data [keyBytes]byte
	_, _ = rand.Read(data[:]) // it never fails
	aead, err := newAEAD(data[:])
	if err != nil {
		return "", err
	}
	return sealed{r.ids[0], r.wrap(data[:], context), aead.Seal(nil, nil, value, []byte(context))}.String(), nil //nolint:gosec // G407: the AEAD makes its nonces itself
}

// Open decrypts a sealed value. The error is an [UnknownKeyError] when the ring does not have its key.
func (k *Keys) Open(text, context string) ([]byte, error) {
	s, data, _, err := k.unwrap(text, context)
	if err != nil {
		return nil, err
	}
	aead, err := newAEAD(data)
	if err != nil {
		return nil, err
	}
	value, err := aead.Open(nil, nil, s.value, []byte(context))
	if err != nil {
		return nil, fmt.Errorf("open value sealed by key %q: it was changed, or belongs elsewhere: %w", s.key, err)
	}
	return value, nil
}

// Sign returns a signature of a text by the first key of the ring, with the id of the key, in letters that URLs may have. context says
// what the text is, so that nothing else is taken for it.
func (k *Keys) Sign(context, text string) (string, error) {
	r, err := k.current()
	if err != nil {
		return "", err
	}
	return r.ids[0] + "." + r.mac(r.ids[0], context, text), nil
}

// Verify reports whether a key of the ring has made the signature.
func (k *Keys) Verify(context, text, signature string) (bool, error) {
	r, err := k.current()
	if err != nil {
		return false, err
	}
	at := strings.LastIndexByte(signature, '.')
	if at < 0 || r.macs[signature[:at]] == nil {
		return false, nil
	}
	return hmac.Equal([]byte(signature[at+1:]), []byte(r.mac(signature[:at], context, text))), nil
}

func (r ring) mac(id, context, text string) string {
	h := hmac.New(sha256.New, r.macs[id])
	fmt.Fprintf(h, "%d:%s%s", len(context), context, text)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// Rewrap brings a sealed value under the first key. changed is false when it was there already.
func (k *Keys) Rewrap(text, context string) (out string, changed bool, err error) {
	s, data, r, err := k.unwrap(text, context)
	if err != nil || s.key == r.ids[0] {
		return text, false, err
	}
	s.key, s.wrapped = r.ids[0], r.wrap(data, context)
	return s.String(), true, nil
}

// unwrap decrypts the data key of a sealed value.
func (k *Keys) unwrap(text, context string) (s sealed, data []byte, r ring, err error) {
	if s, err = parseSealed(text); err != nil {
		return s, nil, r, err
	}
	if r, err = k.current(); err != nil {
		return s, nil, r, err
	}
	aead, ok := r.aeads[s.key]
	if !ok {
		return s, nil, r, UnknownKeyError{s.key}
	}
	if data, err = aead.Open(nil, nil, s.wrapped, []byte(context)); err != nil {
		return s, nil, r, fmt.Errorf("open value sealed by key %q: it was changed, belongs elsewhere, or the key is another under the same id: %w", s.key, err)
	}
	return s, data, r, nil
}

func (r ring) wrap(data []byte, context string) []byte {
	return r.aeads[r.ids[0]].Seal(nil, nil, data, []byte(context)) //nolint:gosec // G407: as in Seal
}

// sealed are the parts of a sealed value.
type sealed struct {
	key            string
	wrapped, value []byte
}

// String is the text form: enc1, the id of the key, the encrypted data key and the encrypted value, parted by colons.
func (s sealed) String() string {
	return sealedPrefix + s.key + ":" + base64.RawURLEncoding.EncodeToString(s.wrapped) + ":" + base64.RawURLEncoding.EncodeToString(s.value)
}

func parseSealed(text string) (s sealed, err error) {
	text, ok := strings.CutPrefix(text, sealedPrefix)
	parts := strings.Split(text, ":")
	if !ok || len(parts) != 3 {
		return s, errors.New("the value is not sealed, or was cut off")
	}
	s.key = parts[0]
	var err2 error
	s.wrapped, err = base64.RawURLEncoding.DecodeString(parts[1])
	s.value, err2 = base64.RawURLEncoding.DecodeString(parts[2])
	return s, errors.Join(err, err2)
}

// current is the ring as the file has it. A file that cannot be used leaves the ring as it was.
func (k *Keys) current() (ring, error) {
	if k == nil {
		return ring{}, errNoKeys
	}
	return k.in.current(), nil
}

var keyID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

func parseRing(text []byte) (ring, error) {
	r := ring{aeads: map[string]cipher.AEAD{}, macs: map[string][]byte{}}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, encoded, _ := strings.Cut(line, ":")
		key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
		switch {
		case err != nil || len(key) != keyBytes || !keyID.MatchString(id):
			return r, fmt.Errorf("line %d: must be id:key, the id of letters, digits, dots, dashes and underscores, the key the base64 form of 32 bytes (openssl rand -base64 32)", n)
		case slices.Contains(r.ids, id):
			return r, fmt.Errorf("line %d: the id %q is there twice", n, id)
		}
		if r.aeads[id], err = newAEAD(key); err != nil {
			return r, err
		}
		if r.macs[id], err = hkdf.Key(sha256.New, key, nil, "tradegrid signatures", keyBytes); err != nil {
			return r, fmt.Errorf("derive key for signatures: %w", err)
		}
		r.ids = append(r.ids, id)
	}
	if len(r.ids) == 0 {
		return r, errors.New("has no key; add a line id:key, the key being the base64 form of 32 bytes (openssl rand -base64 32)")
	}
	return r, nil
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("make cipher: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("make cipher: %w", err)
	}
	return aead, nil
}
