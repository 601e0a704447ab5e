package roles

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// RunCmd runs API, relay, dispatcher and console in one process, for those who fit on one machine. They share its connections, and
// its relay is woken in memory. Others of its kind, or roles in processes of their own, may run beside it.
type RunCmd struct {
	Listen string `help:"Address of the API; port 0 picks a free one." default:"127.0.0.1:8080"`
	ConsoleFlags
	APIFlags
	RelayFlags
	DispatcherFlags
	webhook.Policy
	FileFlags
	SecretKeysFlags
	BackendFlags
}

// Development is what `tradegrid dev` does besides, for which there are no flags here.
type Development struct {
	Open          map[string]net.Listener // listeners that are open already, by flag
	FetchWait     time.Duration           // of consumer groups; 0 = the default
	Prepare       func(ctx context.Context, all *Domains, client *kgo.Client) error
	Mails         ownermail.Transport
	MailDir       string // folder of the mails, which operators see in the console
	APIURL        string // where people of the console reach the API, without its path
	ConsoleSource string
	Gallery       bool
}

// Check validates the flags besides those of the packages.
func (c *RunCmd) Check() error {
	if c.AdminTokensFile != "" {
		return errors.Join(c.CheckKeys(), c.check())
	}
	if c.ConsoleListen != "" || c.ConsoleURL != "" || c.OIDCIssuer != "" {
		return errors.Join(c.CheckKeys(), errors.New("--console-listen, --console-url or --oidc-issuer is given without "+flagAdminTokens+": give the file, or leave them out for a process without console"))
	}
	return c.CheckKeys()
}

// runGCPercent is the default of GOGC for all roles together: with that of the API, garbage would take four times what all of them
// keep. The peak of BenchmarkCost is 247 MB with it.
const runGCPercent = 200

// Run runs all roles until ctx is done.
func (c *RunCmd) Run(ctx context.Context, log *slog.Logger, live *config.Watched[RunCmd]) error {
	collectAt(runGCPercent)
	return c.RunAs(ctx, "run", Development{}, log, live)
}

// RunAs is Run for a command of another name.
func (c *RunCmd) RunAs(ctx context.Context, name string, dev Development, log *slog.Logger, live *config.Watched[RunCmd]) error {
	broker, err := c.KafkaConfig(name, log)
	if err != nil {
		return err
	}
	broker.FetchWait, broker.DrainWait = dev.FetchWait, lastDrain
	p := process{
		name: name, roles: c.roles(), database: c.DatabaseFlags, ops: c.OpsFlags, open: dev.Open,
		live: config.Within(live, func(c *RunCmd) *OpsFlags { return &c.OpsFlags }),
	}
	return p.serve(ctx, log, func(ctx context.Context, log *slog.Logger, r *role) error {
		r.broker = broker
		turns, err := c.turns(ctx, r, dev, log, live)
		if err != nil {
			return err
		}
		return r.run(ctx, log, turns...)
	})
}

// roles are the roles of the process. Without operators there is no console.
func (c *RunCmd) roles() []string {
	all := []string{topics.RoleAPI, topics.RoleRelay, topics.RoleDispatcher}
	if c.AdminTokensFile != "" {
		all = append(all, topics.RoleConsole)
	}
	return all
}

// turns are the works of all roles, in the order in which they stop.
func (c *RunCmd) turns(ctx context.Context, r *role, dev Development, log *slog.Logger, live *config.Watched[RunCmd]) ([][]work, error) {
	client, err := r.outboxClient()
	if err != nil {
		return nil, err
	}
	n, err := c.node(ctx, r, client, log)
	if err != nil {
		return nil, err
	}
	if dev.Prepare != nil {
		if err := dev.Prepare(ctx, n.Domains, client); err != nil {
			return nil, err
		}
	}
	api, err := n.work(ctx, r, c.Listen, config.Within(live, func(c *RunCmd) *APIFlags { return &c.APIFlags }), log)
	if err != nil {
		return nil, ofRole(topics.RoleAPI, err)
	}
	relay, wakeups, err := c.relay(r, n.Domains, client, dev.Mails, log)
	if err != nil {
		return nil, ofRole(topics.RoleRelay, err)
	}
	api.parts = append(api.parts, wakeups)
	dispatcher, err := c.DispatcherFlags.work(r, n.Domains, config.Within(live, func(c *RunCmd) *DispatcherFlags { return &c.DispatcherFlags }), log)
	if err != nil {
		return nil, ofRole(topics.RoleDispatcher, err)
	}
	first := []work{api.named()}
	if c.AdminTokensFile != "" {
		console, err := c.ConsoleFlags.work(ctx, r, n.Domains, consoleAt{
			brokers: &r.broker, proxies: n.config.Proxies, edge: c.Edge, api: n.api, apiURL: APIURL(cmp.Or(c.Root(), dev.APIURL)), rate: n.config.Limiter, dev: dev,
		}, log)
		if err != nil {
			return nil, ofRole(topics.RoleConsole, err)
		}
		first = append(first, console.named())
	}
	return [][]work{first, {relay.named()}, {dispatcher.named()}}, nil
}

// node is that of the API; its domains are those of all roles.
func (c *RunCmd) node(ctx context.Context, r *role, client *kgo.Client, log *slog.Logger) (*node, error) {
	keys, err := c.ReadKeys(log)
	if err != nil {
		return nil, err
	}
	store, err := c.store(ctx, r.db, log)
	if err != nil {
		return nil, err
	}
	proxy, err := egressProxy(c.EgressProxy)
	if err != nil {
		return nil, err
	}
	cfg := DomainConfig{Policy: c.Policy, AllowInsecure: c.Egress.AllowInsecure, Keys: keys, Files: store, EgressProxy: proxy, Log: log}
	if c.AdminTokensFile != "" {
		if cfg, err = c.domains(cfg); err != nil {
			return nil, err
		}
	}
	return newNode(r.db, r.broker, client, c.APIFlags, cfg)
}

// relay is the work of the relay, and what has to run beside the API. Whatever this process writes wakes its relay in memory, or
// those of other processes through Kafka.
func (c *RunCmd) relay(r *role, all *Domains, client *kgo.Client, mails ownermail.Transport, log *slog.Logger) (w work, wakeups func(context.Context) error, err error) {
	if mails == nil {
		if mails, err = c.transport(); err != nil {
			return work{}, nil, err
		}
	}
	relay, w, err := c.RelayFlags.work(r, all, client, mails, log)
	if err != nil {
		return work{}, nil, err
	}
	far := outbox.NewWakeups(client, log)
	r.db.Listen(outbox.NewNearWakeups(relay, far).Wake)
	return w, far.Run, nil
}
