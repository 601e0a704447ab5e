package webhook

import (
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
