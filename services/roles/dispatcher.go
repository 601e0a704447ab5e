package roles

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/delivery/delay"
	"github.com/tradegrid/tradegrid/services/delivery/egress"
	"github.com/tradegrid/tradegrid/services/delivery/match"
	"github.com/tradegrid/tradegrid/services/delivery/reconcile"
	"github.com/tradegrid/tradegrid/services/delivery/router"
	"github.com/tradegrid/tradegrid/services/delivery/sender"
	"github.com/tradegrid/tradegrid/services/delivery/sweeper"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/topics"
)

// DispatcherCmd routes events to subscriptions and delivers webhooks.
type DispatcherCmd struct {
	DispatcherFlags
	webhook.Policy
	SecretKeysFlags
	BackendFlags
}

// DispatcherFlags configure the parts of the dispatcher.
type DispatcherFlags struct {
	Roles            []string             `help:"Parts of the dispatcher that this process runs: router, sender, delay, sweeper." enum:"router,sender,delay,sweeper" default:"router,sender,delay,sweeper"`
	StaticMembership bool                 `help:"Keep the membership in consumer groups across a restart, under the host name. For StatefulSets."`
	MemberName       string               `help:"With --static-membership: name of this member, unique among running processes; default: the host name."`
	RetryDelays      []time.Duration      `help:"Delays of the 7 delay topics, ascending. Delay n follows failed attempt n; the last is the longest delay that a Retry-After can ask for." default:"${retry_delays}" same:"platform"`
	Egress           egress.Settings      `embed:""`
	Queues           sender.QueueConfig   `embed:""`
	Breaker          sender.BreakerConfig `embed:""`
	Sweeper          sweeper.Settings     `embed:""`
	LogSuccess       int                  `help:"Log one of this many successful attempts; 1 = all, which is also what log level debug does. Failed attempts are always logged." default:"100"`
	EgressProxy      string               `help:"Proxy for all requests to receivers, http://host:port or https://host:port. It is asked (CONNECT) for addresses that were resolved and checked before."`
	PropagateTrace   bool                 `help:"Send traceparent to receivers. Discloses internal ids."`
}

// Vars are what tags of flags name: the delays of the retries are declared with their topics.
func Vars() config.Vars {
	tiers := topics.DelayTiers()
	delays := make([]string, len(tiers))
	for i, tier := range tiers {
		delays[i] = strings.TrimPrefix(tier.Topic, topics.LinePrefix)
	}
	return config.Vars{"retry_delays": strings.Join(delays, ",")}
}

// Check validates the flags besides those of the packages.
func (f *DispatcherFlags) Check() error {
	errs := []error{config.Positive("--log-success", f.LogSuccess)}
	switch n := len(topics.DelayTiers()); {
	case len(f.RetryDelays) != n:
		errs = append(errs, fmt.Errorf("--retry-delays: must be %d delays, one for each delay topic, not %d", n, len(f.RetryDelays)))
	case f.RetryDelays[0] <= 0 || !slices.IsSorted(f.RetryDelays):
		errs = append(errs, errors.New("--retry-delays: delays must be above 0 and ascending"))
	}
	if _, err := egressProxy(f.EgressProxy); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Check reads the keys of a process that signs requests.
func (c *DispatcherCmd) Check() error {
	if !c.runs("sender") {
		return nil
	}
	return c.CheckKeys()
}

// egressProxy is the proxy; nil without one.
func egressProxy(flag string) (*url.URL, error) {
	if flag == "" {
		return nil, nil //nolint:nilnil // requests go straight to their hosts
	}
	proxy, err := egress.ParseProxy(flag)
	if err != nil {
		return nil, fmt.Errorf("--egress-proxy: %w", err)
	}
	return proxy, nil
}

// runs reports whether the process runs a part.
func (f *DispatcherFlags) runs(part string) bool {
	return len(f.Roles) == 0 || slices.Contains(f.Roles, part)
}

// tiers are the delay topics with the delays of the flags.
func (f *DispatcherFlags) tiers() []topics.DelayTier {
	tiers := topics.DelayTiers()
	for i := range tiers {
		tiers[i].Delay = f.RetryDelays[i]
	}
	return tiers
}

// member is the name of the process in consumer groups; empty without static membership.
func (f *DispatcherFlags) member() (string, error) {
	if !f.StaticMembership || f.MemberName != "" {
		return f.MemberName, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("--static-membership: cannot get the host name, set --member-name: %w", err)
	}
	return host, nil
}

// Run dispatches until ctx is done, then finishes the deliveries in flight.
func (c *DispatcherCmd) Run(ctx context.Context, log *slog.Logger, live *config.Watched[DispatcherCmd]) (err error) {
	var keys *secret.Keys
	if c.runs("sender") {
		if keys, err = c.ReadKeys(log); err != nil {
			return err
		}
	}
	flags := config.Within(live, func(c *DispatcherCmd) *DispatcherFlags { return &c.DispatcherFlags })
	return c.serve(ctx, topics.RoleDispatcher, log, config.Within(live, func(c *DispatcherCmd) *OpsFlags { return &c.OpsFlags }), func(ctx context.Context, log *slog.Logger, r *role) error {
		all := NewDomains(r.db, DomainConfig{Policy: c.Policy, AllowInsecure: c.Egress.AllowInsecure, Keys: keys, Log: log})
		w, err := c.work(r, all, flags, log)
		if err != nil {
			return err
		}
		return r.run(ctx, log, []work{w})
	})
}

// work is the work of a dispatcher.
func (f *DispatcherFlags) work(r *role, all *Domains, live *config.Watched[DispatcherFlags], log *slog.Logger) (work, error) {
	probe, err := kafka.NewClient(r.broker)
	if err != nil {
		return work{}, err
	}
	r.atEnd(probe.Close)
	r.ready(topics.RoleDispatcher, "kafka", func(ctx context.Context) error { return kafka.Explain(probe.Ping(ctx)) })
	d := Dispatcher{DispatcherFlags: *f, Domains: all, Broker: r.broker, Note: r.tel.Note, Log: log, live: live}
	parts, err := d.Parts()
	return work{
		role:    topics.RoleDispatcher,
		parts:   append(parts, r.watchTopics(topics.RoleDispatcher, probe, log)),
		started: func(ops string) { log.Info("dispatcher running", "roles", f.Roles, "ops", ops) },
	}, err
}

// Dispatcher makes the parts of a dispatcher.
type Dispatcher struct {
	DispatcherFlags
	*Domains

	Broker kafka.Config
	Note   func(name string, notes func() []string) // adds notes to /readyz
	Log    *slog.Logger

	live   *config.Watched[DispatcherFlags] // nil = the limits stay as they are
	member string                           // in consumer groups
}

// Parts are the parts that the flags name.
func (d *Dispatcher) Parts() (runs []func(context.Context) error, err error) {
	if d.member, err = d.DispatcherFlags.member(); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		name string
		make func() (func(context.Context) error, error)
	}{{"router", d.router}, {"sender", d.sender}, {"delay", d.delay}, {"sweeper", d.sweeper}} {
		if !d.runs(part.name) {
			continue
		}
		run, err := part.make()
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", part.name, err)
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// componentAge is how long a company's components are cached without an invalidation.
const componentAge = 5 * time.Second

func (d *Dispatcher) router() (func(context.Context) error, error) {
	r, err := router.New(d.DB, d.Events, newComponents(d.Domains), router.Config{Kafka: d.Broker, InstanceID: d.member, TTL: d.Policy.DeliveryTTL, Log: d.Log})
	if err != nil {
		return nil, err
	}
	return r.Run, nil
}

func newComponents(all *Domains) match.Components {
	return match.NewComponents(componentAge, all.ComponentsOf)
}

// ComponentsOf reads the components of companies. A deleted company counts as having all, so that the events raised
// before its deletion are still delivered.
func (all *Domains) ComponentsOf(ctx context.Context, ids []tenant.ID) (map[tenant.ID]access.Components, error) {
	found, err := all.Company.ComponentsOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if _, exists := found[id]; !exists {
			found[id] = all.Access.Components()
		}
	}
	return found, nil
}

func (d *Dispatcher) sender() (func(context.Context) error, error) {
	client, err := kafka.NewClient(d.Broker)
	if err != nil {
		return nil, err
	}
	proxy, err := egressProxy(d.EgressProxy)
	if err != nil {
		return nil, err
	}
	receivers := sender.NewReceiverCache(d.DB, 0, d.Keys, d.Log)
	s := sender.New(d.senderConfig(proxy), d.DB, client, receivers)
	d.live.OnChange(func(next *DispatcherFlags) { s.SetLimits(next.Queues) })
	return func(ctx context.Context) error {
		defer client.Close()
		g, ctx := errgroup.WithContext(ctx)
		g.Go(func() error { return s.Run(ctx) })
		g.Go(func() error { return receivers.Watch(ctx, d.Broker) })
		return g.Wait()
	}, nil
}

func (d *Dispatcher) senderConfig(proxy *url.URL) sender.Config {
	return sender.Config{
		Client: d.Broker, InstanceID: d.member, Queues: d.Queues, Breaker: d.Breaker,
		// The sweeper injects a delivery that kept its last attempt when it is overdue by its grace; then there must be time left.
		Retry:          sender.RetryConfig{MaxAttempts: d.Policy.MaxAttempts, Tiers: d.tiers(), LastChance: d.Sweeper.Grace + 20*time.Minute},
		Egress:         egress.Config{Settings: d.Egress, AllowPrivate: d.Egress.AllowInsecure, Proxy: proxy},
		PropagateTrace: d.PropagateTrace, LogSuccess: d.LogSuccess, Log: d.Log,
	}
}

func (d *Dispatcher) delay() (func(context.Context) error, error) {
	l, err := delay.New(delay.Config{Kafka: d.Broker, InstanceID: d.member, Tiers: d.tiers(), Log: d.Log})
	if err != nil {
		return nil, err
	}
	return l.Run, nil
}

func (d *Dispatcher) sweeper() (func(context.Context) error, error) {
	s, err := sweeper.New(d.DB, sweeper.Config{
		Settings: d.Sweeper, Kafka: d.Broker, Owner: NodeName(), Policy: d.Policy, Tiers: d.tiers(), Subscriptions: d.Webhooks,
		Reconcile: &reconcile.Config{Group: topics.Routers, Events: d.Events, Components: newComponents(d.Domains), CompaniesChanged: company.ChangedAt, Log: d.Log}, Log: d.Log,
	})
	if err != nil {
		return nil, err
	}
	d.Note("partitions", s.PartitionNotes)
	d.Note("deliveries_stuck", s.StuckNotes)
	return s.Run, nil
}
