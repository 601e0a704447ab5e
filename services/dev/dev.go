// Package dev runs the whole platform in one process on embedded defaults, with a demo company, and receives webhooks: all roles as
// `tradegrid run` does, with what a developer needs around them.
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

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/kit/embedded"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/services/dev/receiver"
	"github.com/tradegrid/tradegrid/services/roles"
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

// servers are the listeners by their flags, opened before their addresses are announced.
type servers map[string]net.Listener

const (
	flagListen         = "--listen"
	flagAdminListen    = "--admin-listen"
	flagConsoleListen  = "--console-listen"
	flagReceiverListen = "--receiver-listen"
)

func (c *Cmd) open(ctx context.Context) (servers, error) {
	ls := servers{}
	for flag, address := range map[string]string{
		flagListen: c.Listen, flagAdminListen: c.AdminListen, flagConsoleListen: c.ConsoleListen, flagReceiverListen: c.ReceiverListen, roles.FlagOpsListen: c.OpsListen,
	} {
		ln, err := roles.Listen(ctx, flag, address)
		if err != nil {
			ls.close()
			return nil, fmt.Errorf("%w; choose another address, port 0 picks a free one", err)
		}
		ls[flag] = ln
	}
	return ls, nil
}

func (ls servers) close() {
	for _, l := range ls {
		_ = l.Close() // its server may have closed it
	}
}

func (ls servers) url(flag string) string { return "http://" + ls[flag].Addr().String() }

// consoleURL is the address of the console. On this machine it is a name: browsers make passkeys for names only.
func (ls servers) consoleURL() string {
	host, port, err := net.SplitHostPort(ls[flagConsoleListen].Addr().String())
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
	b, err := c.startBackends(ctx, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.stop()) }() //nolint:contextcheck // runs after the end of ctx
	run, err := c.platform(ls, b)
	if err != nil {
		return err
	}
	if err := prepare(ctx, run, log); err != nil {
		return err
	}
	return c.runAll(ctx, log, out, ls, b, run)
}

// runAll runs the roles and what is around them: the receiver, which ends after them, and what a person sees.
func (c *Cmd) runAll(ctx context.Context, log *slog.Logger, out io.Writer, ls servers, b *backends, run *platform) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	hooks := receiver.New(receiver.Config{Arrived: func(d receiver.Delivery) { c.tell(out, d) }})
	srv := &http.Server{Handler: hooks, ReadHeaderTimeout: 10 * time.Second}
	g.Go(func() error { return serveHooks(srv, ls[flagReceiverListen]) })
	dm := &demo{info: run.info, state: c.State, data: c.DemoData, now: time.Now(), out: out}
	seeded := make(chan struct{})
	run.extra.Prepare = func(ctx context.Context, all *roles.Domains, client *kgo.Client) error {
		dm.domains, dm.settled = all, routed(all.DB, client)
		if err := dm.seed(ctx); err != nil {
			return fmt.Errorf("create the demo company: %w", err)
		}
		close(seeded)
		return nil
	}
	g.Go(func() error {
		defer func() {
			hooks.Close()
			_ = srv.Close() // the receiver needs no graceful shutdown
		}()
		return run.RunAs(ctx, "dev", run.extra, log, nil)
	})
	g.Go(func() error {
		select {
		case <-seeded:
		case <-ctx.Done():
			return nil
		}
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

// serveHooks serves the receiver until it is closed.
func serveHooks(srv *http.Server, ln net.Listener) error {
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve receiver: %w", err)
	}
	return nil
}

// platform is `tradegrid run` with the settings of a developer's machine.
type platform struct {
	roles.RunCmd

	extra roles.Development
	info  *Info
}

// platform makes the settings. There is no limit of the disk, because that of a developer's machine is often nearly full, and none of
// connections, which all come from one address.
func (c *Cmd) platform(ls servers, b *backends) (*platform, error) {
	run := &platform{RunCmd: config.Defaults[roles.RunCmd](roles.Vars())}
	run.DatabaseURL, run.DatabaseConns, run.KafkaBrokers = b.databaseURL, 32, b.brokers
	run.OTLPEndpoint, run.TraceSample, run.TraceSlow = c.OTLPEndpoint, c.TraceSample, 0
	run.TrustedProxies, run.Edge = c.TrustedProxies, transport.Edge{}
	run.OutboxRows, run.Disk = 1_000_000, 0
	run.TickMax = 2 * time.Second // all writers are in this process, so no wake-up is lost
	run.Egress.AllowInsecure, run.PropagateTrace, run.LogSuccess, run.TopicsLocal = true, true, 1, true
	run.ConsoleListen, run.ConsoleURL, run.MailFrom = c.ConsoleListen, ls.consoleURL(), "tradegrid@localhost"
	writer, reader := secret.NewOperatorToken(), secret.NewOperatorToken()
	operators := secret.OperatorLine("dev", secret.RoleWrite, writer) + "\n" + secret.OperatorLine("dev-reader", secret.RoleRead, reader) + "\n"
	run.AdminTokensFile, run.SecretKeysFile = filepath.Join(c.State, "admin-tokens"), filepath.Join(c.State, "secret-keys")
	if err := errors.Join(os.WriteFile(run.AdminTokensFile, []byte(operators), 0o600), c.makeKeys(run.SecretKeysFile)); err != nil {
		return nil, fmt.Errorf("--state: %w", err)
	}
	run.extra = roles.Development{
		Open:          ls,
		FetchWait:     2 * time.Second, // nobody floods a laptop with events of one company, but it is idle most of the time
		Mails:         ownermail.Folder(c.mailDir()),
		MailDir:       c.mailDir(),
		APIURL:        ls.url(flagListen),
		ConsoleSource: c.ConsoleSource,
		Gallery:       true,
	}
	run.info = &Info{
		BaseURL: ls.url(flagListen) + httpapi.BasePath, MetricsURL: ls.url(roles.FlagOpsListen) + "/metrics",
		AdminURL: ls.url(flagAdminListen) + httpapi.AdminBasePath, AdminToken: writer, AdminReader: reader, ConsoleURL: ls.consoleURL(),
		ReceiverURL: ls.url(flagReceiverListen), DatabaseURL: b.databaseURL, KafkaBrokers: b.brokers, MailDir: c.mailDir(),
	}
	return run, nil
}

// prepare migrates the database and creates the topics.
func prepare(ctx context.Context, run *platform, log *slog.Logger) error {
	m := roles.MigrateCmd{Contract: true, Force: true, DatabaseSource: run.DatabaseSource}
	if err := m.Run(ctx, log, io.Discard); err != nil {
		return err
	}
	t := roles.TopicsApplyCmd{TopicsFlags: roles.TopicsFlags{Local: true, KafkaFlags: run.KafkaFlags}}
	if err := t.Run(ctx, log, io.Discard); err != nil {
		return fmt.Errorf("create topics: %w", err)
	}
	return nil
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

// makeKeys makes the file of keys at the first start. A fresh start keeps it: a database that --database-url names may have secrets
// under its keys.
func (c *Cmd) makeKeys(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(path, []byte(secret.NewKey("dev")+"\n"), 0o600)
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
