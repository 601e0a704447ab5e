// Package webhooks is what a company does with its webhooks over the API: subscriptions, the deliveries that followed from
// them, and the log of its events (specification, section 6). Matching, sending and retrying belong to package dispatch,
// which works on the same tables.
package webhooks

import (
	"context"
	"time"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
)

const component = "core"

// Config is what the service needs. Registry is required; without DB only the operations can be described. Zero values
// of the rest take the defaults named beside them.
type Config struct {
	DB             *db.DB
	Registry       *event.Registry  // every event of the platform, those of [Events] among them
	AllowInsecure  bool             // http:// and private receivers; for development only
	DeliveryTTL    time.Duration    // life of a delivery that is asked for here; 22 h
	MaxAttempts    int              // shown with deliveries; 7
	EventRetention time.Duration    // how long the event log keeps an event; 30 days
	Now            func() time.Time // time.Now
}

// Service offers the webhooks of all companies. It is safe for concurrent use.
type Service struct {
	db        *db.DB
	events    *event.Registry
	insecure  bool
	ttl       time.Duration
	attempts  int
	retention time.Duration
	clock     func() time.Time
}

// New makes the service.
func New(cfg Config) *Service {
	if cfg.Registry == nil {
		panic("webhooks: the registry of events is required")
	}
	s := &Service{
		db: cfg.DB, events: cfg.Registry, insecure: cfg.AllowInsecure, clock: cfg.Now,
		ttl: orDefault(cfg.DeliveryTTL, 22*time.Hour), attempts: orDefault(cfg.MaxAttempts, 7),
		retention: orDefault(cfg.EventRetention, 30*24*time.Hour),
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	return s
}

func orDefault[T int | time.Duration](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}

// now is the time of a change, as precise as the database keeps it.
func (s *Service) now() time.Time { return s.clock().UTC().Truncate(time.Microsecond) }

// mutate is [httpapi.Mutate] for changes that take the locks they need. The dispatcher writes to the same rows all the time:
// under one snapshot per transaction a change of a busy subscription would be run again and again.
func mutate[T any](ctx context.Context, s *Service, call *httpapi.Call, name string, change func(context.Context, *db.Tx) (T, error)) (*httpapi.Reply[T], error) {
	var reply *httpapi.Reply[T]
	err := s.db.RunTx(ctx, name, func(ctx context.Context, tx *db.Tx) error {
		body, err := change(ctx, tx)
		if err != nil {
			return err
		}
		reply, err = httpapi.StoreResponse(tx, call, body)
		return err
	}, append(call.TxOptions(), db.ReadCommitted())...)
	if err != nil {
		return nil, err
	}
	call.Committed()
	return reply, nil
}
