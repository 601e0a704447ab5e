package main

import (
	"context"
	"log/slog"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/topics"
)

// RelayCmd publishes the outbox to Kafka.
type RelayCmd struct {
	outbox.RelaySettings
	webhook.Policy
	MailFlags
	BackendFlags
}

func (c *RelayCmd) relay(log *slog.Logger) outbox.RelayConfig {
	return outbox.RelayConfig{
		RelaySettings: c.RelaySettings, Node: nodeName(), EventRetention: c.EventRetention, Owners: company.Owners, CleanupJobs: cleanupJobs(), Log: log,
	}
}

// Run publishes until ctx is done, then finishes what is in flight and releases the leases.
func (c *RelayCmd) Run(ctx context.Context, log *slog.Logger, live *config.Watched[RelayCmd]) error {
	cfg := c.relay(log)
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
