// Package webhooks is what a company does with its webhooks over the API: subscriptions, the deliveries that followed from
// them, and the log of its events; see docs/reference/events.md. Matching, sending and retrying belong to package dispatch,
// which works on the same tables.
package webhooks

import (
	"time"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/secret"
)

// Config is what the service needs. Registry is required; without DB only the operations can be described. Zero values
// of the rest take the defaults named beside them.
type Config struct {
	DB             *db.DB
	Registry       *event.Registry // every event of the platform, those of [Domain] among them
	Keys           *secret.Keys    // seal the secrets of subscriptions; without them none can be made
	AllowInsecure  bool            // http:// and private receivers; for development only
	DeliveryTTL    time.Duration   // life of a delivery that is asked for here; 22 h
	MaxAttempts    int             // shown with deliveries; 7
	EventRetention time.Duration   // how long the event log keeps an event; 30 days
}

// Service offers the webhooks of all companies. It is safe for concurrent use.
type Service struct {
	db        *db.DB
	events    *event.Registry
	keys      *secret.Keys
	insecure  bool
	ttl       time.Duration
	attempts  int
	retention time.Duration
}

// New makes the service.
func New(cfg Config) *Service {
	if cfg.Registry == nil {
		panic("webhooks: the registry of events is required")
	}
	return &Service{
		db: cfg.DB, events: cfg.Registry, keys: cfg.Keys, insecure: cfg.AllowInsecure,
		ttl: orDefault(cfg.DeliveryTTL, 22*time.Hour), attempts: orDefault(cfg.MaxAttempts, 7),
		retention: orDefault(cfg.EventRetention, 30*24*time.Hour),
	}
}

func orDefault[T int | time.Duration](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}
