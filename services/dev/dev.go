// Package dev runs the whole platform in one process on embedded defaults, with a demo company, and receives webhooks.
package dev

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/kit/embedded"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry/export"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/migrate"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/schemas/sql"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/dev/receiver"
	"github.com/tradegrid/tradegrid/services/operations"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
	"github.com/tradegrid/tradegrid/topics"
)

// Cmd runs all roles in one process on embedded defaults.
type Cmd struct {
	State          string   `help:"Folder for the data of database and broker." default:".tradegrid" type:"path"`
	Fresh          bool     `help:"Start over: delete the data in the state folder."`
	Verbose        bool     `help:"Log normal operation, not only warnings and errors." short:"v"`
	Demo           bool     `help:"Stop after the webhook of the first order; the exit code says whether it arrived and its signature verified."`
	DemoData       string   `help:"Records of the demo company when it is made: none, small (some weeks of a bicycle shop), or large (thousands of orders, ten thousand products)." enum:"none,small,large" default:"small"`
	Listen         string   `help:"Address of the API; port 0 picks a free one." default:"127.0.0.1:8080"`
	AdminListen    string   `help:"Address of the admin API; port 0 picks a free one." default:"127.0.0.1:8081"`
	ConsoleListen  string   `help:"Address of the console; port 0 picks a free one." default:"127.0.0.1:8084"`
	ConsoleSource  string   `help:"Folder services/console of the source: the console reads templates and style from there for each page." type:"path" placeholder:"FOLDER"`
	ReceiverListen string   `help:"Address of the built-in webhook receiver; port 0 picks a free one." default:"127.0.0.1:8090"`
	OpsListen      string   `help:"Address of /livez, /readyz and /metrics; port 0 picks a free one." default:"127.0.0.1:9090"`
	Database       string   `help:"Embedded database: cockroach, postgres, or auto (what the state folder has, otherwise a cockroach on PATH, otherwise PostgreSQL)." enum:"auto,cockroach,postgres" default:"auto"`
	DatabaseURL    string   `help:"Database to use instead of an embedded one." placeholder:"URL" secret:"url"`
	KafkaBrokers   []string `help:"Brokers to use instead of an embedded one." placeholder:"HOST:PORT"`
	OTLPEndpoint   string   `name:"otlp-endpoint" help:"Endpoint for traces, metrics and logs, OTLP over HTTP; empty = traces go to the debug log." placeholder:"URL" secret:"url"`
	TraceSample    float64  `help:"Share of new traces to keep, 0 to 1." default:"1"`
	TrustedProxies []string `help:"Addresses or networks whose X-Forwarded-For is trusted, such as those of a test that calls from many addresses."`

	announced atomic.Bool // the banner was printed
}

// Check validates the settings as the roles do.
func (c *Cmd) Check() error {
	_, err := roles.ParseProxies(c.TrustedProxies)
	return errors.Join(err, roles.OpsFlags{OTLPEndpoint: c.OTLPEndpoint, OTLPInterval: time.Second, TraceSample: c.TraceSample}.Check())
}

// api are the flags of the API. It has no limit of the disk, because that of a developer's machine is often nearly full, and none of
// connections, which all come from one address.
func (c *Cmd) api() roles.APIFlags {
	f := config.Defaults[roles.APIFlags]()
	f.TrustedProxies, f.Edge = c.TrustedProxies, transport.Edge{}
	f.OutboxRows, f.Disk = 1_000_000, 0
	return f
}

// Info is the content of <state>/dev.json, which scripts use to connect to a running `tradegrid dev`.
type Info struct {
	BaseURL       string   `json:"baseUrl"`
	AdminURL      string   `json:"adminUrl"`
	AdminToken    string   `json:"adminToken"`  // of an operator who may make changes
	AdminReader   string   `json:"adminReader"` // of an operator who may only read
	ConsoleURL    string   `json:"consoleUrl"`
	ConsoleSignIn string   `json:"consoleSignIn"` // link that signs in as the owner of the demo company, once
	MetricsURL    string   `json:"metricsUrl"`
	CompanyID     string   `json:"companyId"`
	Token         string   `json:"token"`         // all scopes, no rate limit
	Token2        string   `json:"token2"`        // another company
	NarrowToken   string   `json:"narrowToken"`   // catalog:read only
	LimitedToken  string   `json:"limitedToken"`  // standard rate
	ExpiredToken  string   `json:"expiredToken"`  // 401 AUTH_API_TOKEN_EXPIRED
	ArchivedToken string   `json:"archivedToken"` // of an archived company: 401 COMPANY_ARCHIVED
	NoPlanToken   string   `json:"noPlanToken"`   // of a company whose plan has no API: 403 PLAN_API_DISABLED
	NoModuleToken string   `json:"noModuleToken"` // of a company without the component orders: 403 MODULE_ACCESS_INACTIVE there
	ReceiverURL   string   `json:"receiverUrl"`
	DatabaseURL   string   `json:"databaseUrl"`
	KafkaBrokers  []string `json:"kafkaBrokers"`
	MailDir       string   `json:"mailDir"` // folder with the notices to owners
}

// devServers are the listeners of a run, opened before their addresses are announced.
type devServers struct{ api, admin, console, receiver, ops net.Listener }

// consoleURL is the address of the console. On this machine it is a name: browsers make passkeys for names only.
func (ls devServers) consoleURL() string {
	host, port, err := net.SplitHostPort(ls.console.Addr().String())
	if err == nil && roles.Local(host) {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// Run starts everything, places one order, and runs until ctx is done.
func (c *Cmd) Run(ctx context.Context, log *slog.Logger, out io.Writer) (err error) {
	if !c.Verbose {
		log = slog.New(quiet{log.Handler()})
	}
	ls, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer ls.close()
	if err := c.prepareState(); err != nil {
		return err
	}
	backends, err := c.startBackends(ctx, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, backends.stop()) }() //nolint:contextcheck // runs after the end of ctx
	t, err := export.Start(ctx, export.Config{
		Service: "tradegrid-dev", Instance: roles.NodeName(), Release: roles.Release, Endpoint: c.OTLPEndpoint, Sample: c.TraceSample, Metrics: roles.AllMetrics(), Log: log,
	})
	if err != nil {
		return err
	}
	defer t.Stop(ctx)
	d, err := db.Open(ctx, db.Config{URL: backends.databaseURL, MaxConns: 32, Tracer: t.Provider, Log: log})
	if err != nil {
		return err
	}
	defer d.Close()
	if err := t.Register(d.PoolMetrics()); err != nil {
		return err
	}
	broker := kafka.Config{
		Brokers: backends.brokers, ClientID: "tradegrid-dev", Log: log,
		FetchWait: 2 * time.Second, // nobody floods a laptop with events of one company, but it is idle most of the time
	}
	return t.ServeWhile(ctx, ls.ops, func(ctx context.Context) error {
		if err := prepare(ctx, d, broker, log); err != nil {
			return err
		}
		return roles.Announced(ctx, d, "dev", nil, log, func(ctx context.Context) error { return c.runRoles(ctx, log, out, ls, backends, broker, d, t) })
	})
}

func (c *Cmd) runRoles(ctx context.Context, log *slog.Logger, out io.Writer, ls devServers, b *backends, broker kafka.Config, d *db.DB, t *export.Telemetry) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	hooks := receiver.New(receiver.Config{Arrived: func(d receiver.Delivery) { c.tell(out, d) }})
	keys, err := c.secretKeys(log)
	if err != nil {
		return err
	}
	writer, reader := secret.NewOperatorToken(), secret.NewOperatorToken()
	operators, err := secret.ParseOperators(secret.OperatorLine("dev", secret.RoleWrite, writer) + "\n" + secret.OperatorLine("dev-reader", secret.RoleRead, reader))
	if err != nil {
		return err
	}
	client, err := kafka.NewClient(broker)
	if err != nil {
		return err
	}
	defer client.Close()
	node, err := roles.NewNode(d, broker, client, c.api(), roles.DomainConfig{
		Policy: config.Defaults[webhook.Policy](), AllowInsecure: true, Keys: keys, Operators: operators, ConsoleURL: ls.consoleURL(), Log: log,
	})
	if err != nil {
		return err
	}
	all := node.Domains
	operated := all.NewPlatformWith(operations.Config{Brokers: &broker, Topics: topics.Local(), Replicas: 1, Log: log})
	defer operated.Close()
	g.Go(func() error { return db.NewClock(d, time.Now).Run(ctx) })
	epochs := outbox.NewEpochWatch(d, log)
	t.Note("restored", epochs.Notes)
	g.Go(func() error { return epochs.Run(ctx) })
	info := Info{
		BaseURL: "http://" + ls.api.Addr().String() + httpapi.BasePath, MetricsURL: "http://" + ls.ops.Addr().String() + "/metrics",
		AdminURL: "http://" + ls.admin.Addr().String() + httpapi.AdminBasePath, AdminToken: writer, AdminReader: reader,
		ConsoleURL:  ls.consoleURL(),
		ReceiverURL: "http://" + ls.receiver.Addr().String(), DatabaseURL: b.databaseURL, KafkaBrokers: b.brokers,
		MailDir: c.mailDir(),
	}
	dm := &demo{info: &info, domains: all, state: c.State, data: c.DemoData, now: time.Now(), out: out, settled: routed(d, client)}
	if err := dm.seed(ctx); ctx.Err() != nil {
		return g.Wait() // ends by itself, because somebody pressed Ctrl-C or a part failed
	} else if err != nil {
		stop()
		return errors.Join(fmt.Errorf("create the demo company: %w", err), g.Wait())
	}
	if err := c.serve(ctx, g, ls, hooks, node, operated, log); err != nil {
		stop()
		return errors.Join(err, g.Wait())
	}
	if err := startDelivery(ctx, g, d, broker, all, ownermail.Folder(info.MailDir), t, log); err != nil {
		stop()
		return errors.Join(err, g.Wait())
	}
	g.Go(func() error {
		err := c.show(ctx, out, dm)
		if c.Demo || err != nil {
			stop()
		}
		return err
	})
	g.Go(func() error {
		select {
		case <-b.lost():
			return errors.New("the embedded database exited unexpectedly; see its log in " + b.databaseLog)
		case <-ctx.Done():
			return nil
		}
	})
	return g.Wait()
}

// serve serves both APIs, the console and the receiver until ctx is done.
func (c *Cmd) serve(ctx context.Context, g *errgroup.Group, ls devServers, hooks *receiver.Server, node *roles.Node, operated *operations.Platform, log *slog.Logger) error {
	api, cfg := node.NewAPI(node.Config), node.Config
	cfg.Requests, cfg.KeyQuota = nil, nil // they are of the external API
	admin := node.NewAdminAPI(cfg)
	pages, err := node.NewWeb(roles.WebConfig{
		URL: ls.consoleURL(), API: roles.APIURL("http://" + ls.api.Addr().String()), Proxies: cfg.Proxies, Source: c.ConsoleSource, Gallery: true,
		Rate: cfg.Limiter, Platform: operated, MailDir: c.mailDir(), Log: log,
	}, api, admin)
	if err != nil {
		return err
	}
	g.Go(func() error { return pages.Serve(ctx, ls.console) })
	g.Go(func() error { return api.Serve(ctx, ls.api) })
	g.Go(func() error { return admin.Serve(ctx, ls.admin) })
	g.Go(func() error { return node.Accounts.Run(ctx) })
	for _, part := range node.Parts {
		g.Go(func() error { return part(ctx) })
	}
	g.Go(func() error {
		srv := &http.Server{Handler: hooks, ReadHeaderTimeout: 10 * time.Second}
		context.AfterFunc(ctx, func() {
			hooks.Close()
			_ = srv.Close() // the receiver needs no graceful shutdown
		})
		if err := srv.Serve(ls.receiver); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve receiver: %w", err)
		}
		return nil
	})
	return nil
}

// startDelivery runs relay and dispatcher in the group.
func startDelivery(ctx context.Context, g *errgroup.Group, d *db.DB, broker kafka.Config, all *roles.Domains, mails ownermail.Transport, t *export.Telemetry, log *slog.Logger) error {
	client, err := outbox.NewClient(broker)
	if err != nil {
		return err
	}
	relay, err := outbox.NewRelay(d, client, outbox.RelayConfig{
		Node: roles.NodeName(), EventRetention: all.Policy.EventRetention, Owners: company.Owners, CleanupJobs: roles.CleanupJobs(), Jobs: []outbox.Job{all.StockReconciler(log).Run, all.NoticeSender(mails, "tradegrid@localhost", log).Run}, Log: log,
		Settings: outbox.Settings{TickMax: 2 * time.Second}, // all writers are in this process, so no wake-up is lost
	})
	if err != nil {
		client.Close()
		return err
	}
	d.Listen(relay.Wake)
	g.Go(func() error {
		defer client.Close()
		outbox.FindRestore(ctx, d, broker, log)
		return relay.Run(ctx)
	})
	flags := config.Defaults[roles.DispatcherFlags](roles.Vars())
	flags.Egress.AllowInsecure, flags.PropagateTrace, flags.LogSuccess = true, true, 1
	dispatcher := roles.Dispatcher{DispatcherFlags: flags, Domains: all, Broker: broker, Note: t.Note, Log: log}
	parts, err := dispatcher.Parts()
	if err != nil {
		return err
	}
	for _, part := range parts {
		g.Go(func() error { return part(ctx) })
	}
	return nil
}

// prepare migrates the database and creates the topics.
func prepare(ctx context.Context, d *db.DB, broker kafka.Config, log *slog.Logger) error {
	if _, err := migrate.Up(ctx, d.Pool(), sql.Files, d.Dialect(), migrate.Contract, log); err != nil {
		return err
	}
	client, err := kafka.NewClient(broker)
	if err != nil {
		return err
	}
	defer client.Close()
	if _, err := kafka.Apply(ctx, kadm.NewClient(client), topics.Local(), 1); err != nil {
		return fmt.Errorf("create topics: %w", err)
	}
	return nil
}

func (c *Cmd) open(ctx context.Context) (ls devServers, err error) {
	for _, l := range []struct {
		to            *net.Listener
		flag, address string
	}{{&ls.api, "--listen", c.Listen}, {&ls.admin, "--admin-listen", c.AdminListen}, {&ls.console, "--console-listen", c.ConsoleListen}, {&ls.receiver, "--receiver-listen", c.ReceiverListen}, {&ls.ops, "--ops-listen", c.OpsListen}} {
		if *l.to, err = roles.Listen(ctx, l.flag, l.address); err != nil {
			ls.close()
			return ls, fmt.Errorf("%w; choose another address, port 0 picks a free one", err)
		}
	}
	return ls, nil
}

func (ls devServers) close() {
	for _, l := range []net.Listener{ls.api, ls.admin, ls.console, ls.receiver, ls.ops} {
		if l != nil {
			_ = l.Close() // its server may have closed it
		}
	}
}

func (c *Cmd) prepareState() error {
	if err := os.MkdirAll(c.State, 0o755); err != nil { //nolint:gosec // the database's user must be able to traverse it
		return fmt.Errorf("--state: %w", err)
	}
	if c.Fresh {
		if err := os.Remove(filepath.Join(c.State, seedFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("--fresh: %w", err)
		}
	}
	return nil
}

// mailDir is the folder with the notices and invitations that a mail server would get.
func (c *Cmd) mailDir() string { return filepath.Join(c.State, "mail") }

// secretKeys reads the keys in the state folder, and makes one at the first start. A fresh start keeps them: a database
// that --database-url names may have secrets under them.
func (c *Cmd) secretKeys(log *slog.Logger) (*secret.Keys, error) {
	path := filepath.Join(c.State, "secret-keys")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(path, []byte(secret.NewKey("dev")+"\n"), 0o600); err != nil {
			return nil, fmt.Errorf("--state: %w", err)
		}
	}
	return secret.ReadKeys("--state", path, log)
}

// backends are the database and the broker of this run.
type backends struct {
	databaseURL string
	brokers     []string
	database    database // nil with --database-url
	databaseLog string
	kafka       *embedded.Kafka
}

func (c *Cmd) startBackends(ctx context.Context, log *slog.Logger) (_ *backends, err error) {
	b := &backends{databaseURL: c.DatabaseURL, brokers: c.KafkaBrokers}
	defer func() { //nolint:contextcheck // ctx may be what ended the start
		if err != nil {
			err = errors.Join(err, b.stop())
		}
	}()
	if b.databaseURL == "" {
		if b.database, b.databaseURL, b.databaseLog, err = c.startDatabase(ctx, log); err != nil {
			return nil, err
		}
	}
	if len(b.brokers) > 0 {
		return b, nil
	}
	dir := filepath.Join(c.State, "kafka")
	if c.Fresh {
		if err := os.RemoveAll(dir); err != nil {
			return nil, fmt.Errorf("--fresh: %w", err)
		}
	}
	if b.kafka, err = embedded.StartKafka(embedded.KafkaConfig{Dir: dir, Log: log}); err != nil {
		return nil, err
	}
	b.brokers = b.kafka.Brokers()
	return b, nil
}

// lost is closed when the embedded database exits; nil if there is none.
func (b *backends) lost() <-chan struct{} {
	if b.database == nil {
		return nil
	}
	return b.database.Done()
}

func (b *backends) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if b.kafka != nil {
		b.kafka.Close()
	}
	if b.database != nil {
		return b.database.Stop(ctx)
	}
	return nil
}

// show subscribes the receiver, places the first order, prints the banner, and keeps dev.json until ctx is done.
func (c *Cmd) show(ctx context.Context, out io.Writer, dm *demo) error {
	if err := dm.subscribe(ctx); err != nil {
		return fmt.Errorf("subscribe the receiver: %w", err)
	}
	arrival, err := dm.placeOrder(ctx)
	if err != nil {
		return fmt.Errorf("place the first order: %w", err)
	}
	if err := dm.signInLink(ctx); err != nil {
		return fmt.Errorf("make a link to sign in: %w", err)
	}
	path := filepath.Join(c.State, "dev.json")
	raw, err := json.MarshalIndent(dm.info, "", "  ")
	if err != nil {
		return fmt.Errorf("write dev.json: %w", err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		return fmt.Errorf("write dev.json: %w", err)
	}
	defer func() { _ = os.Remove(path) }() // the next start writes it again
	if c.Demo {
		fmt.Fprintf(out, "%s\nThat was the demo. `tradegrid dev`, or `make dev`, keeps it running.\n", arrival)
		return nil
	}
	dm.banner(out, arrival)
	c.announced.Store(true)
	<-ctx.Done()
	return nil
}

// tell prints each webhook as it arrives, once the banner was printed.
func (c *Cmd) tell(out io.Writer, d receiver.Delivery) {
	if !c.announced.Load() {
		return
	}
	signature := "verified"
	if !d.Verified {
		signature = "NOT verified"
	}
	fmt.Fprintf(out, "%s  %-24s attempt %d, %s, delivery %s\n", d.ReceivedAt.Format(time.TimeOnly), d.Event, d.Attempt, signature, d.ID)
}

// quiet passes on only warnings and errors.
type quiet struct{ slog.Handler }

func (q quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}

func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }
func (q quiet) WithGroup(name string) slog.Handler       { return quiet{q.Handler.WithGroup(name)} }
