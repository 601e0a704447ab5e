package sender

import (
	"log/slog"
	"testing"
	"time"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/egress"
	"github.com/tradegrid/tradegrid/topics"
)

// kit is a kit with a running sender, whose delays are short.
type kit struct {
	*dispatchtest.Kit
	cache  *ReceiverCache
	sender *Sender
	stop   func() // ends the sender and waits for it
}

func quickConfig(client kafka.Config) Config {
	tiers := topics.DelayTiers()
	delays := make([]time.Duration, len(tiers))
	for i := range tiers {
		tiers[i].Delay = 10 * time.Millisecond
		delays[i] = tiers[i].Delay
	}
	return Config{
		Client:  client,
		Retry:   RetryConfig{MaxAttempts: dispatchtest.Policy().MaxAttempts, Tiers: tiers, delays: delays[:6], Jitter: -1, MaxWait: time.Hour},
		Results: ResultsConfig{Linger: 5 * time.Millisecond},
		Egress:  egress.Config{Settings: egress.Settings{AllowInsecure: true, Timeout: 2 * time.Second}, AllowPrivate: true},
		Breaker: BreakerConfig{Failures: 1000},
		Log:     slog.New(slog.DiscardHandler),
	}
}

func newKit(t testing.TB, d *db.DB, configure func(*Config)) *kit {
	t.Helper()
	k := &kit{Kit: dispatchtest.New(t, d)}
	k.cache = k.receivers()
	cfg := quickConfig(k.Kafka)
	if configure != nil {
		configure(&cfg)
	}
	k.run(cfg)
	return k
}

// receivers is an empty cache of the subscriptions.
func (k *kit) receivers() *ReceiverCache {
	return NewReceiverCache(k.DB, time.Second, k.Keys, slog.New(slog.DiscardHandler))
}

// run starts a sender; the one before must have been stopped.
func (k *kit) run(cfg Config) {
	k.sender = New(cfg, k.DB, k.Client, k.cache)
	k.stop = k.Run(k.sender.Run)
}
