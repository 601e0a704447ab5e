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

// NewSecret makes a signing secret: whsec_ and the base64 form of 32 random bytes.
func NewSecret() string {
	var b [secretBytes]byte
	_, _ = rand.Read(b[:]) // documented never to fail: it ends the program instead
	return secretPrefix + base64.StdEncoding.EncodeToString(b[:])
}

// SecretHint is the last four characters of a secret, for people who compare what they hold.
func SecretHint(secret string) string {
	if len(secret) <= len(secretPrefix)+8 {
		return ""
	}
	return secret[len(secret)-4:]
}

// CheckSecret says what is wrong with the form of a secret, if anything.
func CheckSecret(secret string) error {
	_, err := decodeSecret(secret)
	return err
}

func decodeSecret(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, secretPrefix)
	if !ok {
		return nil, errors.New("the webhook secret must begin with whsec_; copy it whole from where the subscription was created")
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != secretBytes {
		return nil, errors.New("the webhook secret must be whsec_ and the base64 form of 32 bytes; copy it whole from where the subscription was created")
	}
	return raw, nil
}
