package webhook

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// StoredSecret is the secret of a subscription as its column holds it: sealed and followed by its hint. Clients see only the
// hint.
type StoredSecret string

const hintSeparator = "."

// SealSecret encrypts the secret of a subscription.
func SealSecret(keys *secret.Keys, company tenant.ID, subscription uuid.UUID, text string) (StoredSecret, error) {
	sealed, err := keys.Seal([]byte(text), secretContext(company, subscription))
	if err != nil {
		return "", err
	}
	return StoredSecret(sealed + hintSeparator + SecretHint(text)), nil
}

// Open gives the secret itself.
func (s StoredSecret) Open(keys *secret.Keys, company tenant.ID, subscription uuid.UUID) (string, error) {
	sealed, _ := s.split()
	text, err := keys.Open(sealed, secretContext(company, subscription))
	return string(text), err
}

// Reseal brings the secret under the first key of the ring. What is there already stays as it is.
func (s StoredSecret) Reseal(keys *secret.Keys, company tenant.ID, subscription uuid.UUID) (StoredSecret, error) {
	sealed, hint := s.split()
	sealed, _, err := keys.Rewrap(sealed, secretContext(company, subscription))
	if err != nil {
		return s, err
	}
	return StoredSecret(sealed + hintSeparator + hint), nil
}

// MarshalText shows the hint.
func (s StoredSecret) MarshalText() ([]byte, error) {
	_, hint := s.split()
	return []byte(hint), nil
}

// split parts a sealed secret from its hint.
func (s StoredSecret) split() (sealed, hint string) {
	at := strings.LastIndex(string(s), hintSeparator)
	if at < 0 {
		return string(s), ""
	}
	return string(s[:at]), string(s[at+len(hintSeparator):])
}

// secretContext binds what is sealed to its subscription.
func secretContext(company tenant.ID, subscription uuid.UUID) string {
	return "webhook secret " + company.String() + "/" + subscription.String()
}

// StoredKey is the sealed private key of a subscription's client certificate; empty without one.
type StoredKey string

// SealKey encrypts a private key.
func SealKey(keys *secret.Keys, company tenant.ID, subscription uuid.UUID, text string) (StoredKey, error) {
	sealed, err := keys.Seal([]byte(text), keyContext(company, subscription))
	return StoredKey(sealed), err
}

// Open gives the key itself.
func (s StoredKey) Open(keys *secret.Keys, company tenant.ID, subscription uuid.UUID) (string, error) {
	if s == "" {
		return "", nil
	}
	text, err := keys.Open(string(s), keyContext(company, subscription))
	return string(text), err
}

// Reseal brings the key under the first key of the ring. What is there already stays as it is.
func (s StoredKey) Reseal(keys *secret.Keys, company tenant.ID, subscription uuid.UUID) (StoredKey, error) {
	if s == "" {
		return "", nil
	}
	sealed, _, err := keys.Rewrap(string(s), keyContext(company, subscription))
	return StoredKey(sealed), err
}

// keyContext binds what is sealed to its subscription.
func keyContext(company tenant.ID, subscription uuid.UUID) string {
	return "webhook client key " + company.String() + "/" + subscription.String()
}

// SubscriptionKey names a subscription. As text, company/subscription, it is the key of the records on
// topics.Subscriptions.
type SubscriptionKey struct {
	Company tenant.ID
	ID      uuid.UUID
}

// String is the key of a record.
func (k SubscriptionKey) String() string { return k.Company.String() + "/" + k.ID.String() }

// Compare orders keys as the database does.
func (k SubscriptionKey) Compare(other SubscriptionKey) int {
	return cmp.Or(bytes.Compare(k.Company[:], other.Company[:]), bytes.Compare(k.ID[:], other.ID[:]))
}

// ParseSubscriptionKey reads the key of a record.
func ParseSubscriptionKey(key []byte) (SubscriptionKey, error) {
	company, id, ok := strings.Cut(string(key), "/")
	if !ok {
		return SubscriptionKey{}, fmt.Errorf("record key %q: expected company/subscription", key)
	}
	c, err := tenant.Parse(company)
	if err != nil {
		return SubscriptionKey{}, fmt.Errorf("record key %q: %w", key, err)
	}
	s, err := uuid.Parse(id)
	if err != nil {
		return SubscriptionKey{}, fmt.Errorf("record key %q: subscription: %w", key, err)
	}
	return SubscriptionKey{Company: c, ID: s}, nil
}
