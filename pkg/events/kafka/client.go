// Package kafka creates clients, consumes with explicit commits of the finished prefix, and creates and updates the
// declared topics.
package kafka

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/kit/config"
)

// Settings are those of a client. Zero values take the default.
type Settings struct {
	Session time.Duration `name:"kafka-session" help:"Session timeout of consumers: after a crash, others wait this long to take over its partitions." default:"45s"`
}

// Check validates the settings.
func (s Settings) Check() error {
	return config.Positive("--kafka-session", s.Session)
}

// Config configures the connection to the brokers.
type Config struct {
	Settings

	Brokers  []string // host:port
	ClientID string   // client id in the brokers' logs and metrics, such as tradegrid-relay
	TLS      TLS
	SASL     SASL
	// FetchWait is how long the brokers hold an empty fetch of a consumer group; 500 ms. New records end it, but a partition whose
	// window was full joins the next one, so a long wait limits what one busy partition among idle ones can do.
	FetchWait time.Duration
	DrainWait time.Duration // how long a member of a consumer group waits for its records in flight at shutdown; 25 s
	Log       *slog.Logger
}

// NewClient creates a client that produces without loss: idempotent, in order, and acknowledged by all in-sync replicas.
// opts override the defaults.
func NewClient(cfg Config, opts ...kgo.Opt) (*kgo.Client, error) {
	secure, err := cfg.security()
	if err != nil {
		return nil, fmt.Errorf("create kafka client: %w", err)
	}
	log := cfg.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	renew := &renewal{log: log, last: map[string]time.Time{}}
	base := []kgo.Opt{
		kgo.WithHooks(renew),
		kgo.SeedBrokers(cfg.Brokers...),
		kgo.ClientID(cfg.ClientID),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		// Batches form while a request is in flight; lingering would only add latency.
		kgo.ProducerLinger(0),
		kgo.ProducerBatchCompression(kgo.Lz4Compression(), kgo.NoCompression()),
		kgo.ProducerBatchMaxBytes(1 << 20),
		// A record that cannot be delivered must fail, so that its row stays in the outbox.
		kgo.RecordDeliveryTimeout(10 * time.Second),
		// The leader of a newly created topic learns of it with a delay: some seconds on a busy cluster.
		kgo.UnknownTopicRetries(20),
		// Only `topics apply` creates topics.
		kgo.MetadataMinAge(100 * time.Millisecond),
		kgo.MetadataMaxAge(metadataAge),
		kgo.RecordPartitioner(newPartitioner()),
		kgo.WithHooks(meter{}),
		// The meter reports to the metrics of this process; brokers need no second copy, for which each client would ask them
		// again and again.
		kgo.DisableClientMetrics(),
	}
	client, err := kgo.NewClient(slices.Concat(base, secure, opts)...)
	if err != nil {
		return nil, fmt.Errorf("create kafka client: %w", err)
	}
	renew.of(client)
	return client, nil
}
