package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
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
	Roles            []string        `help:"Parts of the dispatcher that this process runs: router, sender, delay, sweeper." enum:"router,sender,delay,sweeper" default:"router,sender,delay,sweeper"`
	StaticMembership bool            `help:"Keep the membership in consumer groups across a restart, under the host name. For StatefulSets."`
	MemberName       string          `help:"With --static-membership: name of this member, unique among running processes; default: the host name."`
	RetryDelays      []time.Duration `help:"Delays of the 7 delay topics, ascending. Delay n follows failed attempt n; the last is the longest delay that a Retry-After can ask for." default:"5s,20s,80s,320s,1280s,5120s,20480s" same:"platform"`
	AttemptTimeout   time.Duration   `help:"Timeout of one request to a receiver, from connecting to the end of the response." default:"10s"`
	ReceiverInFlight int             `help:"Maximum number of concurrent requests to one receiver." default:"4" reload:"true"`
	HostInFlight     int             `help:"Maximum number of concurrent requests to one host. One company gets at most three quarters of them, receivers that take longer than 1 s less than half." default:"16" reload:"true"`
	CompanyInFlight  int             `help:"Maximum number of concurrent requests for one company." default:"64" reload:"true"`
	InFlight         int             `help:"Maximum number of concurrent requests of this process." default:"4000" reload:"true"`
	BreakerFailures  int             `help:"Consecutive failed attempts that open the circuit breaker of a receiver." default:"10"`
	BreakerOpen      time.Duration   `help:"How long the circuit breaker stays open at first; doubles each time it opens again." default:"30s"`
	BreakerMaxOpen   time.Duration   `help:"Longest time that the circuit breaker stays open." default:"10m"`
	SweepEvery       time.Duration   `help:"Interval between sweeps for stuck deliveries." default:"5s"`
	SweepGrace       time.Duration   `help:"Inject a delivery again when its Kafka message is overdue by this much and does not wait unread." default:"10m" same:"platform"`
	DisableAfter     time.Duration   `help:"Disable a subscription after this time without a success, if --disable-failed is reached too; 0 = never." default:"120h"`
	DisableFailed    int             `help:"Minimum number of failed deliveries before a subscription is disabled." default:"20"`
	LogSuccess       int             `help:"Log one of this many successful attempts; 1 = all, which is also what log level debug does. Failed attempts are always logged." default:"100"`
	AllowInsecure    bool            `help:"Allow http:// and private addresses. For development only." same:"platform"`
	EgressProxy      string          `help:"Proxy for all requests to receivers, http://host:port or https://host:port. It is asked (CONNECT) for addresses that were resolved and checked before."`
	PropagateTrace   bool            `help:"Send traceparent to receivers. Discloses internal ids."`
	webhook.Policy
	SecretKeysFlags
	BackendFlags
}

// dispatcherOptions configure the dispatcher. Zero values take the defaults of the packages below dispatch.
type dispatcherOptions struct {
	Roles          []string // all when empty
	InstanceID     string
	Lines          []topics.Line
	Timeout        time.Duration
	Lanes          sender.LaneConfig
	Breaker        sender.BreakerConfig
	SweepEvery     time.Duration
	SweepGrace     time.Duration
	DisableAfter   time.Duration // negative = never
	DisableFailed  int
	AllowInsecure  bool
	EgressProxy    *url.URL // nil = none
	PropagateTrace bool
	LogSuccess     int
	live           *config.Watched[DispatcherCmd]           // nil = the limits stay as they are
	note           func(name string, notes func() []string) // adds notes to /readyz
}

// Check validates the flags.
func (c *DispatcherCmd) Check() error {
	var errs []error
	switch n := len(topics.Lines()); {
	case len(c.RetryDelays) != n:
		errs = append(errs, fmt.Errorf("--retry-delays: must be %d delays, one for each delay topic, not %d", n, len(c.RetryDelays)))
	case c.RetryDelays[0] <= 0 || !slices.IsSorted(c.RetryDelays):
		errs = append(errs, errors.New("--retry-delays: delays must be above 0 and ascending"))
	}
	for flag, v := range map[string]int64{
		"--attempt-timeout":    int64(c.AttemptTimeout),
		"--receiver-in-flight": int64(c.ReceiverInFlight), "--host-in-flight": int64(c.HostInFlight), "--company-in-flight": int64(c.CompanyInFlight),
		"--in-flight": int64(c.InFlight), "--breaker-failures": int64(c.BreakerFailures), "--breaker-open": int64(c.BreakerOpen),
		"--breaker-max-open": int64(c.BreakerMaxOpen), "--sweep-every": int64(c.SweepEvery), "--sweep-grace": int64(c.SweepGrace),
		"--disable-failed": int64(c.DisableFailed), "--log-success": int64(c.LogSuccess),
	} {
		if v <= 0 {
			errs = append(errs, fmt.Errorf("%s: must be above 0", flag))
		}
	}
	if _, err := c.egressProxy(); err != nil {
		errs = append(errs, fmt.Errorf("--egress-proxy: %w", err))
	}
	if c.sends() {
		errs = append(errs, c.check())
	}
	return errors.Join(errs...)
}

// egressProxy is the proxy; nil without one.
func (c *DispatcherCmd) egressProxy() (*url.URL, error) {
	if c.EgressProxy == "" {
		return nil, nil //nolint:nilnil // requests go straight to receivers
	}
	return egress.ParseProxy(c.EgressProxy)
}

// sends reports whether the process signs requests.
func (c *DispatcherCmd) sends() bool { return len(c.Roles) == 0 || slices.Contains(c.Roles, "sender") }

// lanes are the limits that can change while the process runs.
func (c *DispatcherCmd) lanes() sender.LaneConfig {
	return sender.LaneConfig{PerReceiver: c.ReceiverInFlight, PerHost: c.HostInFlight, PerCompany: c.CompanyInFlight, Total: c.InFlight}
}

func (c *DispatcherCmd) options() (dispatcherOptions, error) {
	o := dispatcherOptions{
		Roles: c.Roles, Lines: topics.Lines(), Timeout: c.AttemptTimeout,
		Lanes:      c.lanes(),
		Breaker:    sender.BreakerConfig{Failures: c.BreakerFailures, Open: c.BreakerOpen, MaxOpen: c.BreakerMaxOpen},
		SweepEvery: c.SweepEvery, SweepGrace: c.SweepGrace, DisableAfter: c.DisableAfter, DisableFailed: c.DisableFailed,
		AllowInsecure: c.AllowInsecure, PropagateTrace: c.PropagateTrace, LogSuccess: c.LogSuccess,
	}
	var err error
	if o.EgressProxy, err = c.egressProxy(); err != nil {
		return o, fmt.Errorf("--egress-proxy: %w", err)
	}
	if o.DisableAfter == 0 {
		o.DisableAfter = -1
	}
	for i := range o.Lines {
		o.Lines[i].Delay = c.RetryDelays[i]
	}
	if !c.StaticMembership {
		return o, nil
	}
	o.InstanceID = c.MemberName
	if o.InstanceID == "" {
		host, err := os.Hostname()
		if err != nil {
			return o, fmt.Errorf("--static-membership: cannot get the host name, set --member-name: %w", err)
		}
		o.InstanceID = host
	}
	return o, nil
}

// Run dispatches until ctx is done, then finishes the deliveries in flight.
func (c *DispatcherCmd) Run(ctx context.Context, log *slog.Logger, live *config.Watched[DispatcherCmd]) error {
	opts, err := c.options()
	if err != nil {
		return err
	}
	opts.live = live
	var keys *secret.Keys
	if c.sends() {
		if keys, err = c.keys(log); err != nil {
			return err
		}
	}
	return c.serve(ctx, "dispatcher", log, live, func(ctx context.Context, log *slog.Logger, r *role) error {
		live.OnChange(func(next *DispatcherCmd) { r.tel.SetSample(next.TraceSample) })
		return c.run(ctx, log, r, opts, keys)
	})
}

func (c *DispatcherCmd) run(ctx context.Context, log *slog.Logger, r *role, opts dispatcherOptions, keys *secret.Keys) error {
	probe, err := kafka.NewClient(r.broker)
	if err != nil {
		return err
	}
	defer probe.Close()
	r.tel.Ready("kafka", func(ctx context.Context) error { return kafka.Explain(probe.Ping(ctx)) })
	all := newDomains(r.db, domainConfig{Policy: c.Policy, AllowInsecure: c.AllowInsecure, Keys: keys, Log: log})
	opts.note = r.tel.Note
	parts, err := dispatcherParts(r.db, r.broker, all, opts, log)
	if err != nil {
		return err
	}
	parts = append(parts, r.watchTopics(topics.RoleDispatcher, probe, log))
	started := func(ops string) { log.InfoContext(ctx, "dispatcher running", "roles", opts.Roles, "ops", ops) }
	return r.run(ctx, log, started, parts...)
}

// dispatcherParts creates the parts of the dispatcher named in the options.
func dispatcherParts(d *db.DB, broker kafka.Config, all *domains, o dispatcherOptions, log *slog.Logger) ([]func(context.Context) error, error) {
	var runs []func(context.Context) error
	for _, role := range []struct {
		name string
		make func() (func(context.Context) error, error)
	}{
		{"router", func() (func(context.Context) error, error) { return o.router(d, broker, all, log) }},
		{"sender", func() (func(context.Context) error, error) { return o.sender(d, broker, all, log) }},
		{"delay", func() (func(context.Context) error, error) { return o.delay(broker, log) }},
		{"sweeper", func() (func(context.Context) error, error) { return o.sweeper(d, broker, all, log) }},
	} {
		if len(o.Roles) > 0 && !slices.Contains(o.Roles, role.name) {
			continue
		}
		run, err := role.make()
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", role.name, err)
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// componentAge is how long a company's components are cached without an invalidation.
const componentAge = 5 * time.Second

func (o dispatcherOptions) router(d *db.DB, broker kafka.Config, all *domains, log *slog.Logger) (func(context.Context) error, error) {
	r, err := router.New(d, all.events, newComponents(all), router.Config{Kafka: broker, InstanceID: o.InstanceID, TTL: all.policy.DeliveryTTL, Log: log})
	if err != nil {
		return nil, err
	}
	return r.Run, nil
}

func newComponents(all *domains) match.Components {
	return match.NewComponents(componentAge, all.componentsOf)
}

// componentsOf reads the components of companies. A deleted company counts as having all, so that the events raised
// before its deletion are still delivered.
func (all *domains) componentsOf(ctx context.Context, ids []tenant.ID) (map[tenant.ID]access.Components, error) {
	found, err := all.company.ComponentsOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if _, exists := found[id]; !exists {
			found[id] = all.access.Components()
		}
	}
	return found, nil
}

func (o dispatcherOptions) sender(d *db.DB, broker kafka.Config, all *domains, log *slog.Logger) (func(context.Context) error, error) {
	client, err := kafka.NewClient(broker)
	if err != nil {
		return nil, err
	}
	receivers := sender.NewReceiverCache(d, 0, all.keys, log)
	s := sender.New(sender.Config{
		Client: broker, InstanceID: o.InstanceID, Lanes: o.Lanes, Breaker: o.Breaker,
		// The sweeper injects a delivery that kept its last attempt when it is overdue by its grace; then there must be time left.
		Retry:          sender.RetryConfig{MaxAttempts: all.policy.MaxAttempts, Lines: o.Lines, LastChance: cmp.Or(o.SweepGrace, 10*time.Minute) + 20*time.Minute},
		Egress:         egress.Config{AllowInsecure: o.AllowInsecure, AllowPrivate: o.AllowInsecure, Timeout: o.Timeout, Proxy: o.EgressProxy},
		PropagateTrace: o.PropagateTrace, LogSuccess: o.LogSuccess, Log: log,
	}, d, client, receivers)
	o.live.OnChange(func(next *DispatcherCmd) { s.SetLimits(next.lanes()) })
	return func(ctx context.Context) error {
		defer client.Close()
		g, ctx := errgroup.WithContext(ctx)
		g.Go(func() error { return s.Run(ctx) })
		g.Go(func() error { return receivers.Watch(ctx, broker) })
		return g.Wait()
	}, nil
}

func (o dispatcherOptions) delay(broker kafka.Config, log *slog.Logger) (func(context.Context) error, error) {
	l, err := delay.New(delay.Config{Kafka: broker, InstanceID: o.InstanceID, Lines: o.Lines, Log: log})
	if err != nil {
		return nil, err
	}
	return l.Run, nil
}

func (o dispatcherOptions) sweeper(d *db.DB, broker kafka.Config, all *domains, log *slog.Logger) (func(context.Context) error, error) {
	s, err := sweeper.New(d, sweeper.Config{
		Kafka: broker, Owner: nodeName(), Every: o.SweepEvery, Grace: o.SweepGrace, Policy: all.policy, Lines: o.Lines,
		DisableAfter: o.DisableAfter, DisableFailed: o.DisableFailed, DisableNever: o.DisableAfter < 0, Subscriptions: all.webhooks,
		Reconcile: &reconcile.Config{Group: topics.Routers, Events: all.events, Components: newComponents(all), CompaniesChanged: company.ChangedAt, Log: log}, Log: log,
	})
	if err != nil {
		return nil, err
	}
	o.note("partitions", s.PartitionNotes)
	o.note("deliveries_stuck", s.StuckNotes)
	return s.Run, nil
}
