// Package operations is what operators look at and set right over all companies: the pipeline of events, dead letters, the use that
// companies make of the platform, jobs, topics, stock. `tradegrid admin` and the console stand on it.
package operations

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
	"github.com/tradegrid/tradegrid/services/delivery/match"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
	"github.com/tradegrid/tradegrid/topics"
)

// Deliveries finds and counts the deliveries of companies and sends them again.
type Deliveries interface {
	Subscribed(ctx context.Context, after tenant.ID) ([]tenant.ID, error)
	CompanyDeliveries(ctx context.Context, by access.Caller, in webhooks.DeliveryQuery) (webhooks.DeliveryPage, error)
	Subscriptions(ctx context.Context, by access.Caller, f webhooks.SubscriptionFilter) (*list.Page[webhooks.Subscription], error)
	SubscriptionsOf(ctx context.Context, keys []webhook.SubscriptionKey) (map[uuid.UUID]webhooks.Subscription, error)
	Delivered(ctx context.Context, company tenant.ID) ([]uuid.UUID, error)
	CountDeliveries(ctx context.Context, company tenant.ID, subscriptions []uuid.UUID, from, to time.Time) (webhooks.DeliveryCount, error)
	RedeliverFailed(ctx context.Context, company tenant.ID, subscription uuid.UUID, since time.Time, after uuid.UUID, limit int) (last uuid.UUID, made int, err error)
}

// Config is what a [Platform] needs.
type Config struct {
	DB         *db.DB
	Deliveries Deliveries
	Events     *event.Registry
	Components match.Components
	Stock      *warehouse.Reconciler
	Brokers    *kafka.Config // nil = none are configured: what needs them fails with [ErrNoBrokers]
	Topics     []topics.Topic
	Replicas   int16 // that the topics have
	Log        *slog.Logger
}

// Platform looks after all companies. Its methods check no rights: who calls them is an operator.
type Platform struct {
	cfg Config

	mu     sync.Mutex
	shared *kgo.Client // of requests that consume nothing; nil until the first
}

// New makes a platform.
func New(cfg Config) *Platform {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Platform{cfg: cfg}
}

// ErrNoBrokers is the error of what needs brokers in a process that has none.
var ErrNoBrokers = errors.New("no Kafka brokers are configured: give --kafka-brokers")

// HasBrokers reports whether brokers are configured.
func (p *Platform) HasBrokers() bool { return p.cfg.Brokers != nil }

// admin is a client for requests that consume nothing, which they share.
func (p *Platform) admin() (*kadm.Client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shared == nil {
		client, err := p.client()
		if err != nil {
			return nil, err
		}
		p.shared = client
	}
	return kadm.NewClient(p.shared), nil
}

// client connects to the brokers, for one request that consumes.
func (p *Platform) client() (*kgo.Client, error) {
	if p.cfg.Brokers == nil {
		return nil, ErrNoBrokers
	}
	return kafka.NewClient(*p.cfg.Brokers)
}

// Close closes the connections to the brokers.
func (p *Platform) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shared != nil {
		p.shared.Close()
		p.shared = nil
	}
}

// Recorded makes a change in a transaction and records it there, with who made it. company is zero for what concerns no company
// alone. The function returns what has changed, for the record; it may run several times.
type Recorded func(
	ctx context.Context, operation string, company tenant.ID, change func(ctx context.Context, tx *db.Tx) (any, error), opts ...db.Option,
) error
