// Package kafka connects to the brokers: one way to make a client, to consume with explicit commits of the
// finished prefix, and to bring the topics of a cluster to their declaration.
package kafka

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Config says how to reach the brokers.
type Config struct {
	Brokers  []string // host:port
	ClientID string   // shown by the brokers, such as tradegrid-relay
	TLS      TLS
	SASL     SASL
	Session  time.Duration // session timeout of consumer groups; 45 s
	Log      *slog.Logger
}

// NewClient makes a client that produces without loss: acknowledged by all in-sync replicas, idempotent,
// in order. Options of the caller come last and win.
func NewClient(cfg Config, opts ...kgo.Opt) (*kgo.Client, error) {
	secure, err := cfg.security()
	if err != nil {
		return nil, fmt.Errorf("make kafka client: %w", err)
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
		// Batches form while a request is in flight; waiting for more would only add to the latency.
		kgo.ProducerLinger(0),
		kgo.ProducerBatchCompression(kgo.Lz4Compression(), kgo.NoCompression()),
		kgo.ProducerBatchMaxBytes(1 << 20),
		// A record that cannot be delivered must fail, so that its row stays in the outbox.
		kgo.RecordDeliveryTimeout(10 * time.Second),
		// The leader of a topic that was just made hears of it a little later: some seconds on a busy cluster.
		kgo.UnknownTopicRetries(20),
		// Topics come from `topics apply` only.
		kgo.MetadataMinAge(100 * time.Millisecond),
		kgo.WithHooks(meter{}),
	}
	client, err := kgo.NewClient(slices.Concat(base, secure, opts)...)
	if err != nil {
		return nil, fmt.Errorf("make kafka client: %w", err)
	}
	renew.of(client)
	return client, nil
}
