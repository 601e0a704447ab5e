package webhook

import (
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

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
