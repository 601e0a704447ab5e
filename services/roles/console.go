package roles

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/operations"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/platform/requests"
	"github.com/tradegrid/tradegrid/topics"
)

// ConsoleCmd serves the admin API, by which operators set up companies, and the console, the pages for people. The relay announces
// their changes and sends their mails, so that they work without Kafka. With brokers, operators see the consumer groups, dead letters
// and topics.
type ConsoleCmd struct {
	ConsoleFlags
	TrustedProxies []string `help:"Addresses or networks of load balancers whose X-Forwarded-For is trusted."`
	webhook.Policy
	OptionalKafkaFlags
	transport.Edge
	SecretKeysFlags
	DatabaseFlags
	OpsFlags
}

// ConsoleFlags configure the admin API and the console.
type ConsoleFlags struct {
	AdminListen     string `help:"Address of the admin API; port 0 picks a free one. Reachable for operators only." default:"127.0.0.1:8081"`
	ConsoleListen   string `help:"Address of the console, the pages for people; port 0 picks a free one. Empty = it is not served."`
	ConsoleURL      string `name:"console-url" help:"Scheme and host that people reach the console at, such as https://console.example.com, for links in mails. Required with --console-listen." placeholder:"URL"`
	ConsoleTraceURL string `name:"console-trace-url" help:"Address of a trace in the viewer of traces, with {traceId} in it, such as https://traces.example.com/trace/{traceId}. The page of an event links to it. Empty = no link." placeholder:"URL"`
	AdminTokensFile string `help:"File with the tokens of operators, one per line as name:role:hash, the role read or write, the hash the SHA-256 of the token in hexadecimal. Read again when it changes." type:"path" placeholder:"FILE"`
	TopicsLocal     bool   `help:"Compare topics with the declaration that \"tradegrid topics apply --local\" applies. For development."`
	TopicsReplicas  int16  `help:"Replicas per partition that topics are declared with, as given to tradegrid topics. Default: 3, or 1 with --topics-local."`
	company.CellSettings
	ProviderFlags
}

const (
	flagAdminListen   = "--admin-listen"
	flagConsoleListen = "--console-listen"
	flagAdminTokens   = "--admin-tokens-file"
)

// operators reads the file.
func (f *ConsoleFlags) operators(log *slog.Logger) (*secret.Operators, error) {
	if f.AdminTokensFile == "" {
		return nil, errors.New(flagAdminTokens + " is required: give a file with a line name:role:hash; see docs/operations.md#operators")
	}
	return secret.ReadOperators(flagAdminTokens, f.AdminTokensFile, log)
}

// check validates the flags and reads the files.
func (f *ConsoleFlags) check() error {
	_, errOperators := f.operators(nil)
	return errors.Join(errOperators, config.NotNegative("--topics-replicas", int(f.TopicsReplicas), "the default"), f.checkURL(), f.checkProvider(f.ConsoleURL), f.checkTraceURL())
}

// Check validates the flags and reads the files.
func (c *ConsoleCmd) Check() error {
	_, errProxies := ParseProxies(c.TrustedProxies)
	_, errBrokers := c.brokers(nil)
	return errors.Join(c.check(), errProxies, errBrokers, c.CheckKeys())
}

// brokers are nil without --kafka-brokers.
func (c *ConsoleCmd) brokers(log *slog.Logger) (*kafka.Config, error) {
	if f := c.OptionalKafkaFlags; len(f.KafkaBrokers) == 0 {
		if f.KafkaTLS || f.KafkaCAFile != "" || f.KafkaCertFile != "" || f.KafkaKeyFile != "" || f.KafkaSASL != "" || f.KafkaUsername != "" || f.KafkaPasswordFile != "" {
			return nil, errors.New("--kafka-brokers is required with the other flags of the brokers: give at least one host:port, or leave all of them out")
		}
		return nil, nil //nolint:nilnil // the console works without
	}
	cfg, err := KafkaFlags(c.OptionalKafkaFlags).KafkaConfig(topics.RoleConsole, log)
	return &cfg, err
}

// checkURL refuses a console without an address: links in mails would lead nowhere, and cookies would not be bound to TLS.
func (f *ConsoleFlags) checkURL() error {
	u, err := url.Parse(f.ConsoleURL)
	switch {
	case f.ConsoleListen == "" && f.ConsoleURL == "":
		return nil
	case f.ConsoleListen == "":
		return errors.New("--console-url is given without --console-listen: give the address that the console listens on")
	case err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || strings.TrimSuffix(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("--console-url %q: must be a scheme and a host, such as https://console.example.com", f.ConsoleURL)
	case u.Scheme == "http" && !Local(u.Hostname()):
		return fmt.Errorf("--console-url %q: must be https://, because passwords go there; http:// is for this machine only", f.ConsoleURL)
	}
	return nil
}

// checkTraceURL refuses an address that leads to no trace.
func (f *ConsoleFlags) checkTraceURL() error {
	u, err := url.Parse(strings.ReplaceAll(f.ConsoleTraceURL, "{traceId}", "0af7651916cd43dd8448eb211c80319c"))
	switch {
	case f.ConsoleTraceURL == "":
		return nil
	case err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || !strings.Contains(f.ConsoleTraceURL, "{traceId}"):
		return fmt.Errorf("--console-trace-url %q: must be an address with {traceId} in it, such as https://traces.example.com/trace/{traceId}", f.ConsoleTraceURL)
	}
	return nil
}

// Local reports whether a host is this machine.
func Local(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && addr.IsLoopback())
}

// consoleURL is the address as links start with it.
func (f *ConsoleFlags) consoleURL() string { return strings.TrimSuffix(f.ConsoleURL, "/") }

// Run serves until ctx is done.
func (c *ConsoleCmd) Run(ctx context.Context, log *slog.Logger, live *config.Watched[ConsoleCmd]) error {
	proxies, err := ParseProxies(c.TrustedProxies)
	if err != nil {
		return err
	}
	keys, err := c.ReadKeys(log)
	if err != nil {
		return err
	}
	cfg, err := c.domains(DomainConfig{Policy: c.Policy, Keys: keys, Log: log})
	if err != nil {
		return err
	}
	brokers, err := c.brokers(log)
	if err != nil {
		return err
	}
	p := process{name: topics.RoleConsole, roles: []string{topics.RoleConsole}, database: c.DatabaseFlags, ops: c.OpsFlags, live: config.Within(live, func(c *ConsoleCmd) *OpsFlags { return &c.OpsFlags })}
	return p.serve(ctx, log, func(ctx context.Context, log *slog.Logger, r *role) error {
		all := NewDomains(r.db, cfg)
		at := consoleAt{brokers: brokers, proxies: proxies, edge: c.Edge, apiURL: APIURL(c.Root())}
		var beside []func(context.Context) error
		if c.ConsoleListen != "" {
			at.api, at.rate, beside = all.apiOfConsole(c.PublicURL, log)
		}
		w, err := c.work(ctx, r, all, at, log)
		if err != nil {
			return err
		}
		w.parts = append(w.parts, beside...)
		return r.run(ctx, log, []work{w})
	})
}

// domains adds what the domains know of operators and of the console.
func (f *ConsoleFlags) domains(cfg DomainConfig) (DomainConfig, error) {
	operators, err := f.operators(cfg.Log)
	cfg.Cell, cfg.Operators, cfg.ConsoleURL, cfg.Provider = f.Cell, operators, f.consoleURL(), f.provider(f.consoleURL())
	return cfg, err
}

// consoleAt is what the admin API and the console have around them.
type consoleAt struct {
	brokers *kafka.Config // nil = there are none
	proxies []netip.Prefix
	edge    transport.Edge
	api     *httpapi.API       // the external API, which pages call
	apiURL  string             // where clients reach it, with its path
	rate    *ratelimit.Limiter // of its tokens, and of the requests of people
	dev     Development
}

// work is the work of the admin API and, if they are served, of the pages.
func (f *ConsoleFlags) work(ctx context.Context, r *role, all *Domains, at consoleAt, log *slog.Logger) (work, error) {
	admin := all.NewAdminAPI(httpapi.Config{Limiter: ratelimit.New(ratelimit.Config{Log: log}), Release: Release, Proxies: at.proxies, Edge: at.edge, Log: log})
	ln, err := r.listen(ctx, flagAdminListen, f.AdminListen)
	if err != nil {
		return work{}, err
	}
	w := work{role: topics.RoleConsole, parts: []func(context.Context) error{func(ctx context.Context) error { return admin.Serve(ctx, ln) }}}
	pages := ""
	if f.ConsoleListen != "" {
		app, err := f.pages(r, all, admin, at, log)
		if err != nil {
			return work{}, err
		}
		people, err := r.listen(ctx, flagConsoleListen, f.ConsoleListen)
		if err != nil {
			return work{}, err
		}
		pages = "http://" + people.Addr().String()
		w.parts = append(w.parts, all.Accounts.Run, func(ctx context.Context) error { return app.Serve(ctx, people) })
	}
	w.started = func(ops string) {
		log.InfoContext(ctx, "console listening", "url", fmt.Sprintf("http://%s%s", ln.Addr(), httpapi.AdminBasePath), "pages", pages, "ops", ops)
	}
	return w, nil
}

// pages are the pages for people.
func (f *ConsoleFlags) pages(r *role, all *Domains, admin *httpapi.API, at consoleAt, log *slog.Logger) (*web.App, error) {
	cfg := operations.Config{Brokers: at.brokers, Log: log}
	cfg.Topics, cfg.Replicas = declaredTopics(f.TopicsLocal, f.TopicsReplicas)
	operated := all.NewPlatformWith(cfg)
	r.atEnd(operated.Close)
	return all.NewWeb(WebConfig{
		URL: f.consoleURL(), API: at.apiURL, Proxies: at.proxies, MaxConns: at.edge.MaxConnections, MaxConnsOfAddress: at.edge.MaxConnectionsPerAddress, Rate: at.rate,
		TraceURL: f.ConsoleTraceURL, Platform: operated, Source: at.dev.ConsoleSource, Gallery: at.dev.Gallery, MailDir: at.dev.MailDir, Log: log,
	}, at.api, admin)
}

// apiOfConsole is the external API behind the pages of a console without an API of its own, with what has to run beside it. Requests
// that the explorer sends with a token of a company count towards the rate of the token and are logged, as on an API node.
func (all *Domains) apiOfConsole(publicURL string, log *slog.Logger) (api *httpapi.API, rate *ratelimit.Limiter, run []func(context.Context) error) {
	rate = ratelimit.New(ratelimit.Config{Node: NodeName(), Leases: ratelimit.NewDBLeases(all.DB), Log: log})
	served := requests.NewLog(requests.LogConfig{DB: all.DB, Log: log})
	api = all.NewAPI(httpapi.Config{Limiter: rate, Release: Release, Edge: transport.Edge{PublicURL: publicURL}, Requests: served, Log: log})
	return api, rate, []func(context.Context) error{rate.Run, served.Run, all.Company.Run}
}
