// Package webhooks implements the webhook API of a company: subscriptions, their deliveries, and the event log; see
// docs/reference/events.md. Matching, sending and retrying belong to package dispatch.
package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// Config is what the service needs. Registry is required; without DB only the operations can be described.
type Config struct {
	DB            *db.DB
	Registry      *event.Registry  // every event of the platform, those of [Domain] among them
	Deliveries    Deliveries       // required with DB
	Owners        ownermail.Owners // of companies, who get notices; required with DB
	Policy        webhook.Policy   // that of all processes; required with DB
	Keys          *secret.Keys     // seal the secrets of subscriptions; without them none can be made
	AllowInsecure bool             // http:// and private receivers; for development only
}

// Deliveries is the owner of the table of deliveries, which this package only reads.
type Deliveries interface {
	// Request inserts a delivery.
	Request(tx *db.Tx, d webhook.RequestedDelivery)
	// FailOpen fails the open deliveries of a subscription.
	FailOpen(tx *db.Tx, sub webhook.SubscriptionKey, now time.Time)
	// Unhold lets deliveries go that wait for others of their records.
	Unhold(tx *db.Tx, sub webhook.SubscriptionKey)
	// Skip gives up an open delivery.
	Skip(tx *db.Tx, sub webhook.SubscriptionKey, id uuid.UUID, now time.Time)
	// MakeDue makes a pending delivery due that waits; ok is false for one that does not. Its record has to be written to the outbox
	// in the same transaction.
	MakeDue(ctx context.Context, tx *db.Tx, sub webhook.SubscriptionKey, id uuid.UUID, now time.Time) (due webhook.DueDelivery, ok bool, err error)
}

// Service offers the webhooks of all companies. It is safe for concurrent use.
type Service struct{ cfg Config }

// New makes the service.
func New(cfg Config) *Service {
	if cfg.Registry == nil {
		panic("webhooks: the registry of events is required")
	}
	if err := cfg.Policy.Check(); cfg.DB != nil && err != nil {
		panic(fmt.Sprintf("webhooks: the policy of deliveries is required: %v", err))
	}
	return &Service{cfg: cfg}
}
