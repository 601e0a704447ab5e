package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/topics"
)

// RelayCmd publishes the outbox to Kafka.
type RelayCmd struct {
	RelayLeaseTTL       time.Duration `name:"relay-lease-ttl" help:"How long a lease on a bucket lasts without renewal; after a crash, others wait this long." default:"5s"`
	RelayLeaseMargin    time.Duration `help:"How long before its expiry the owner stops using a lease; must exceed the clock skew between database nodes." default:"1s"`
	RelayRenew          time.Duration `help:"Interval between renewals of leases; free buckets are looked for twice as often." default:"2s"`
	RelayTickMin        time.Duration `help:"Poll interval of the outbox while writers send no nudges, and interval between batches under traffic, up to four times as long while several are in flight." default:"5ms"`
	RelayTickMax        time.Duration `help:"Poll interval of the outbox while nudges tell of its rows, or when idle." default:"500ms"`
	RelayBatchSize      int           `help:"Maximum number of rows of one bucket published together." default:"500"`
	RelayParallel       int           `help:"Maximum number of buckets processed concurrently; each needs a database connection." default:"8"`
	RelayLookback       time.Duration `help:"How far behind the newest position scans start; must exceed the longest transaction." default:"120s"`
	RelayFullSweep      time.Duration `help:"Interval between scans of whole buckets." default:"30s"`
	RelayPublishTimeout time.Duration `help:"How long to wait for Kafka to acknowledge a batch before sending its rows again." default:"10s"`
	EventQuota          int64         `help:"Bytes of event bodies that the event log keeps per company. Above it, the company's oldest events are removed early, but none younger than 48h. 0 = no quota." default:"32212254720"`
	webhook.Policy
	MailFlags
	BackendFlags
}

func (c *RelayCmd) relay(log *slog.Logger) outbox.RelayConfig {
	return outbox.RelayConfig{
		Node: nodeName(), LeaseTTL: c.RelayLeaseTTL, LeaseMargin: c.RelayLeaseMargin, Renew: c.RelayRenew, TickMin: c.RelayTickMin, TickMax: c.RelayTickMax,
		BatchSize: c.RelayBatchSize, Parallel: c.RelayParallel, Lookback: c.RelayLookback, FullSweep: c.RelayFullSweep,
		PublishTimeout: c.RelayPublishTimeout, EventRetention: c.EventRetention, EventQuota: c.EventQuota, Owners: company.Owners, CleanupJobs: cleanupJobs(), Log: log,
	}
}

// Check reports settings that are invalid, alone or together.
func (c *RelayCmd) Check() error {
	var errs []error
	for flag, v := range map[string]int64{ // package outbox treats 0 as its default
		"--relay-lease-ttl": int64(c.RelayLeaseTTL), "--relay-lease-margin": int64(c.RelayLeaseMargin), "--relay-renew": int64(c.RelayRenew),
		"--relay-tick-min": int64(c.RelayTickMin), "--relay-tick-max": int64(c.RelayTickMax), "--relay-batch-size": int64(c.RelayBatchSize),
		"--relay-parallel": int64(c.RelayParallel), "--relay-lookback": int64(c.RelayLookback), "--relay-full-sweep": int64(c.RelayFullSweep),
		"--relay-publish-timeout": int64(c.RelayPublishTimeout),
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

// Run publishes until ctx is done, then finishes what is in flight and releases the leases.
func (c *RelayCmd) Run(ctx context.Context, log *slog.Logger, live *config.Watched[RelayCmd]) error {
	cfg := c.relay(log)
	if err := cfg.Validate(); err != nil {
		return err
	}
	mails, err := c.transport()
	if err != nil {
		return err
	}
	return c.serve(ctx, "relay", log, live, func(ctx context.Context, log *slog.Logger, r *role) error {
		live.OnChange(func(next *RelayCmd) { r.tel.SetSample(next.TraceSample) })
		all := newDomains(r.db, domainConfig{Policy: c.Policy, Log: log})
		cfg.Jobs = []outbox.Job{all.stockReconciler(log).Run, all.noticeSender(mails, c.MailFrom, log).Run}
		return runRelay(ctx, log, r, cfg)
	})
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
	return r.run(ctx, log, func(ops string) { log.InfoContext(ctx, "relay running", "node", cfg.Node, "ops", ops) },
		func(ctx context.Context) error {
			outbox.FindRestore(ctx, r.db, r.broker, log)
			return relay.Run(ctx)
		},
		r.watchTopics(topics.RoleRelay, client, log),
		func(ctx context.Context) error { return outbox.ConsumeNudges(ctx, r.broker, relay.Nudge) })
}
