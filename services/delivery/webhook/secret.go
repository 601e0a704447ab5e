package webhook

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strings"
)

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
