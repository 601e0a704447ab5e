package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kafka"
	"github.com/tradegrid/tradegrid/pkg/outbox"
)

// RelayCmd publishes the outbox to Kafka.
type RelayCmd struct {
	RelayLeaseTTL       time.Duration `name:"relay-lease-ttl" help:"How long a relay owns a bucket without renewing: others wait so long after a crash." default:"5s"`
	RelayLeaseMargin    time.Duration `help:"How long before the end of a lease its owner stops using it; more than the clocks of the database nodes differ." default:"1s"`
	RelayRenew          time.Duration `help:"Time between renewals." default:"1s"`
	RelayTickMin        time.Duration `help:"Time between looks at the outbox while there is traffic." default:"5ms"`
	RelayTickMax        time.Duration `help:"Time between looks at the outbox when it is quiet." default:"200ms"`
	RelayBatchSize      int           `help:"Rows of one bucket that are published together." default:"500"`
	RelayParallel       int           `help:"Buckets worked on at the same time; each needs a connection to the database." default:"8"`
	RelayLookback       time.Duration `help:"How far behind the newest position scans begin; longer than any transaction." default:"120s"`
	RelayFullSweep      time.Duration `help:"Time between scans of whole buckets." default:"30s"`
	RelayPublishTimeout time.Duration `help:"How long a batch waits for Kafka before its rows are sent again." default:"10s"`
	EventRetention      time.Duration `help:"How long GET /events, redelivery and replay find an event." default:"720h"`
	BackendFlags
}

func (c *RelayCmd) relay(log *slog.Logger) outbox.RelayConfig {
	return outbox.RelayConfig{
		Node: nodeName(), LeaseTTL: c.RelayLeaseTTL, LeaseMargin: c.RelayLeaseMargin, Renew: c.RelayRenew, TickMin: c.RelayTickMin, TickMax: c.RelayTickMax,
		BatchSize: c.RelayBatchSize, Parallel: c.RelayParallel, Lookback: c.RelayLookback, FullSweep: c.RelayFullSweep,
		PublishTimeout: c.RelayPublishTimeout, EventRetention: c.EventRetention, Log: log,
	}
}

// Check tells which settings cannot work, alone or together.
func (c *RelayCmd) Check() error {
	var errs []error
	for flag, v := range map[string]int64{ // package outbox takes 0 for its own default
		"--relay-lease-ttl": int64(c.RelayLeaseTTL), "--relay-lease-margin": int64(c.RelayLeaseMargin), "--relay-renew": int64(c.RelayRenew),
		"--relay-tick-min": int64(c.RelayTickMin), "--relay-tick-max": int64(c.RelayTickMax), "--relay-batch-size": int64(c.RelayBatchSize),
		"--relay-parallel": int64(c.RelayParallel), "--relay-lookback": int64(c.RelayLookback), "--relay-full-sweep": int64(c.RelayFullSweep),
		"--relay-publish-timeout": int64(c.RelayPublishTimeout), "--event-retention": int64(c.EventRetention),
	} {
		if v <= 0 {
			errs = append(errs, fmt.Errorf("%s: must be above 0", flag))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return c.relay(nil).Validate()
}

// Run relays until the context ends, then finishes what is under way and gives the leases back.
func (c *RelayCmd) Run(ctx context.Context, log *slog.Logger, live *watcher) error {
	cfg := c.relay(log)
	if err := cfg.Validate(); err != nil {
		return err
	}
	return c.serve(ctx, "relay", log, live, func(ctx context.Context, log *slog.Logger, r *role) error { return runRelay(ctx, log, r, cfg) })
}

func runRelay(ctx context.Context, log *slog.Logger, r *role, cfg outbox.RelayConfig) error {
	client, err := outbox.NewClient(r.broker)
	if err != nil {
		return err
	}
	defer client.Close()
	r.tel.Ready("kafka", func(ctx context.Context) error { return kafka.Explain(client.Ping(ctx)) })
	relay, err := outbox.NewRelay(r.db, client, cfg)
	if err != nil {
		return err
	}
	return r.run(ctx, func(ops string) { log.InfoContext(ctx, "relay running", "node", cfg.Node, "ops", ops) }, relay.Run)
}
