package webhook

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

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
