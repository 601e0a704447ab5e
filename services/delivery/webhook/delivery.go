package webhook

import (
	"time"

	"github.com/google/uuid"
)

// RequestedDelivery is a delivery that somebody asked for: a test message, or one that is sent again.
type RequestedDelivery struct {
	Subscription SubscriptionKey
	ID           uuid.UUID
	EventID      uuid.UUID
	Event        string
	CreatedAt    time.Time // due at once
	ExpiresAt    time.Time
	IsTest       bool
	RedeliveryOf *uuid.UUID
	RedeliveryNo int
	Payload      []byte // only where the event log has no body
}
