package roles

import (
	"context"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/operations"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/topics"
)

// RelayCmd publishes the outbox to Kafka.
type RelayCmd struct {
	RelayFlags
	webhook.Policy
	BackendFlags
}

// RelayFlags configure a relay.
type RelayFlags struct {
	outbox.Settings
	EventQuota int64 `help:"Bytes of event bodies that the event log keeps per company. Above it, the company's oldest events are removed early, but none younger than 48h. 0 = no quota." default:"32212254720"`
	MailFlags
}

// Check validates the quota.
func (f *RelayFlags) Check() error {
	return config.NotNegative("--event-quota", f.EventQuota, "no quota")
}

// Run publishes until ctx is done, then finishes what is in flight and releases the leases.
func (c *RelayCmd) Run(ctx context.Context, log *slog.Logger, live *config.Watched[RelayCmd]) error {
	return c.serve(ctx, topics.RoleRelay, log, config.Within(live, func(c *RelayCmd) *OpsFlags { return &c.OpsFlags }), func(ctx context.Context, log *slog.Logger, r *role) error {
		client, err := r.outboxClient()
		if err != nil {
			return err
		}
		mails, err := c.transport()
		if err != nil {
			return err
		}
		_, w, err := c.work(r, NewDomains(r.db, DomainConfig{Policy: c.Policy, Log: log}), client, mails, log)
		if err != nil {
			return err
		}
		return r.run(ctx, log, []work{w})
	})
}

// work is the work of a relay that publishes through client.
func (f *RelayFlags) work(r *role, all *Domains, client *kgo.Client, mails ownermail.Transport, log *slog.Logger) (*outbox.Relay, work, error) {
	cfg := outbox.RelayConfig{
		Settings: f.Settings, Node: NodeName(), EventRetention: all.Policy.EventRetention, EventQuota: f.EventQuota, Stamp: store.ChangesOfSubscriptions, Owners: company.Owners, CleanupJobs: CleanupJobs(),
		Jobs: []outbox.Job{all.StockReconciler(log).Run, all.StockAnnouncer(log).Run, all.NoticeSender(mails, f.MailFrom, log).Run, operations.NewSampler(r.db, log).Run}, Log: log,
	}
	relay, err := outbox.NewRelay(r.db, client, cfg)
	if err != nil {
		return nil, work{}, err
	}
	r.ready(topics.RoleRelay, "kafka", func(ctx context.Context) error { return kafka.Explain(client.Ping(ctx)) })
	return relay, work{
		role: topics.RoleRelay,
		parts: []func(context.Context) error{
			func(ctx context.Context) error {
				outbox.FindRestore(ctx, r.db, r.broker, log)
				return relay.Run(ctx)
			},
			r.watchTopics(topics.RoleRelay, client, log),
			func(ctx context.Context) error { return outbox.ConsumeWakeups(ctx, r.broker, relay.Wake) },
		},
		started: func(ops string) { log.Info("relay running", "node", cfg.Node, "ops", ops) },
	}, nil
}
