package roles

import (
	"context"
	"fmt"
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
	outbox.Settings
	EventQuota int64 `help:"Bytes of event bodies that the event log keeps per company. Above it, the company's oldest events are removed early, but none younger than 48h. 0 = no quota." default:"32212254720"`
	webhook.Policy
	MailFlags
	BackendFlags
}

// Check validates the quota.
func (c *RelayCmd) Check() error {
	if c.EventQuota < 0 {
		return fmt.Errorf("--event-quota %d: must not be below 0; 0 = no quota", c.EventQuota)
	}
	return nil
}

// Run publishes until ctx is done, then finishes what is in flight and releases the leases.
func (c *RelayCmd) Run(ctx context.Context, log *slog.Logger, live *config.Watched[RelayCmd]) error {
	mails, err := c.transport()
	if err != nil {
		return err
	}
	return c.serve(ctx, "relay", log, live, func(ctx context.Context, log *slog.Logger, r *role) error {
		live.OnChange(func(next *RelayCmd) { r.tel.SetSample(next.TraceSample) })
		all := NewDomains(r.db, DomainConfig{Policy: c.Policy, Log: log})
		return runRelay(ctx, log, r, outbox.RelayConfig{
			Settings: c.Settings, Node: NodeName(), EventRetention: c.EventRetention, EventQuota: c.EventQuota, Owners: company.Owners, CleanupJobs: CleanupJobs(),
			Jobs: []outbox.Job{all.StockReconciler(log).Run, all.NoticeSender(mails, c.MailFrom, log).Run}, Log: log,
		})
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
		func(ctx context.Context) error { return outbox.ConsumeWakeups(ctx, r.broker, relay.Wake) })
}
