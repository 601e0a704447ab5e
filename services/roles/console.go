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
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/operations"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/platform/requests"
)

// ConsoleCmd serves the admin API, by which operators set up companies, and the console, the pages for people. The relay announces
// their changes and sends their mails, so that they work without Kafka. With brokers, operators see the consumer groups, dead letters
// and topics.
type ConsoleCmd struct {
	AdminListen     string   `help:"Address to listen on; port 0 picks a free one. Reachable for operators only." default:"127.0.0.1:8081"`
	ConsoleListen   string   `help:"Address of the console, the pages for people; port 0 picks a free one. Empty = it is not served."`
	ConsoleURL      string   `name:"console-url" help:"Scheme and host that people reach the console at, such as https://console.example.com, for links in mails. Required with --console-listen." placeholder:"URL"`
	ConsoleTraceURL string   `name:"console-trace-url" help:"Address of a trace in the viewer of traces, with {traceId} in it, such as https://traces.example.com/trace/{traceId}. The page of an event links to it. Empty = no link." placeholder:"URL"`
	AdminTokensFile string   `help:"File with the tokens of operators, one per line as name:role:hash, the role read or write, the hash the SHA-256 of the token in hexadecimal. Read again when it changes." type:"path" placeholder:"FILE"`
	TrustedProxies  []string `help:"Addresses or networks of load balancers whose X-Forwarded-For is trusted."`
	TopicsLocal     bool     `help:"Compare topics with the declaration that \"tradegrid topics apply --local\" applies. For development."`
	TopicsReplicas  int16    `help:"Replicas per partition that topics are declared with, as given to tradegrid topics. Default: 3, or 1 with --topics-local."`
	company.CellSettings
	webhook.Policy
	OptionalKafkaFlags
	ProviderFlags
	transport.Edge
	SecretKeysFlags
	DatabaseFlags
	OpsFlags
}

const flagAdminTokens = "--admin-tokens-file"

// operators reads the file.
func (c *ConsoleCmd) operators(log *slog.Logger) (*secret.Operators, error) {
	if c.AdminTokensFile == "" {
		return nil, errors.New(flagAdminTokens + " is required: give a file with a line name:role:hash; see docs/operations.md#operators")
	}
	return secret.ReadOperators(flagAdminTokens, c.AdminTokensFile, log)
}

// Check validates the flags and reads the files.
func (c *ConsoleCmd) Check() error {
	_, errProxies := ParseProxies(c.TrustedProxies)
	_, errOperators := c.operators(nil)
	_, errBrokers := c.brokers(nil)
	return errors.Join(errProxies, errOperators, errBrokers, config.NotNegative("--topics-replicas", int(c.TopicsReplicas), "the default"), c.checkURL(), c.checkProvider(c.ConsoleURL), c.checkTraceURL(), c.CheckKeys())
}

// brokers are nil without --kafka-brokers.
func (c *ConsoleCmd) brokers(log *slog.Logger) (*kafka.Config, error) {
	if f := c.OptionalKafkaFlags; len(f.KafkaBrokers) == 0 {
		if f.KafkaTLS || f.KafkaCAFile != "" || f.KafkaCertFile != "" || f.KafkaKeyFile != "" || f.KafkaSASL != "" || f.KafkaUsername != "" || f.KafkaPasswordFile != "" {
			return nil, errors.New("--kafka-brokers is required with the other flags of the brokers: give at least one host:port, or leave all of them out")
		}
		return nil, nil //nolint:nilnil // the console works without
	}
	cfg, err := KafkaFlags(c.OptionalKafkaFlags).KafkaConfig("console", log)
	return &cfg, err
}

// platform is what operators look after on its pages.
func (c *ConsoleCmd) platform(all *Domains, log *slog.Logger) (*operations.Platform, error) {
	brokers, err := c.brokers(log)
	if err != nil {
		return nil, err
	}
	cfg := operations.Config{Brokers: brokers, Log: log}
	cfg.Topics, cfg.Replicas = declaredTopics(c.TopicsLocal, c.TopicsReplicas)
	return all.NewPlatformWith(cfg), nil
}

// checkURL refuses a console without an address: links in mails would lead nowhere, and cookies would not be bound to TLS.
func (c *ConsoleCmd) checkURL() error {
	u, err := url.Parse(c.ConsoleURL)
	switch {
	case c.ConsoleListen == "" && c.ConsoleURL == "":
		return nil
	case c.ConsoleListen == "":
		return errors.New("--console-url is given without --console-listen: give the address that the console listens on")
	case err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || strings.TrimSuffix(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("--console-url %q: must be a scheme and a host, such as https://console.example.com", c.ConsoleURL)
	case u.Scheme == "http" && !Local(u.Hostname()):
		return fmt.Errorf("--console-url %q: must be https://, because passwords go there; http:// is for this machine only", c.ConsoleURL)
	}
	return nil
}

// checkTraceURL refuses an address that leads to no trace.
func (c *ConsoleCmd) checkTraceURL() error {
	u, err := url.Parse(strings.ReplaceAll(c.ConsoleTraceURL, "{traceId}", "0af7651916cd43dd8448eb211c80319c"))
	switch {
	case c.ConsoleTraceURL == "":
		return nil
	case err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || !strings.Contains(c.ConsoleTraceURL, "{traceId}"):
		return fmt.Errorf("--console-trace-url %q: must be an address with {traceId} in it, such as https://traces.example.com/trace/{traceId}", c.ConsoleTraceURL)
	}
	return nil
}

// Local reports whether a host is this machine.
func Local(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && addr.IsLoopback())
}

// consoleURL is the address as links start with it.
func (c *ConsoleCmd) consoleURL() string { return strings.TrimSuffix(c.ConsoleURL, "/") }

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
	operators, err := c.operators(log)
	if err != nil {
		return err
	}
	return serveRole(ctx, "console", c.DatabaseFlags, c.OpsFlags, log, live, func(ctx context.Context, log *slog.Logger, r *role) error {
		live.OnChange(func(next *ConsoleCmd) { r.tel.SetSample(next.TraceSample) })
		return c.run(ctx, log, r, proxies, DomainConfig{Policy: c.Policy, Cell: c.Cell, Keys: keys, Operators: operators, ConsoleURL: c.consoleURL(), Provider: c.provider(c.consoleURL()), Log: log})
	})
}

func (c *ConsoleCmd) run(ctx context.Context, log *slog.Logger, r *role, proxies []netip.Prefix, cfg DomainConfig) error {
	all := NewDomains(r.db, cfg)
	limiter := ratelimit.New(ratelimit.Config{Log: log})
	api := all.NewAdminAPI(httpapi.Config{
		Limiter: limiter, Release: Release, Proxies: proxies, Log: log,
		Edge: c.Edge,
	})
	ln, err := Listen(ctx, "--admin-listen", c.AdminListen)
	if err != nil {
		return err
	}
	parts := []func(context.Context) error{func(ctx context.Context) error { return api.Serve(ctx, ln) }}
	pages := ""
	if c.ConsoleListen != "" {
		operated, err := c.platform(all, log)
		if err != nil {
			return err
		}
		defer operated.Close()
		shared := ratelimit.New(ratelimit.Config{Node: NodeName(), Leases: ratelimit.NewDBLeases(all.DB), Log: log})
		external, run := all.apiOfConsole(httpapi.Config{Limiter: shared, Release: Release, Edge: transport.Edge{PublicURL: c.PublicURL}, Log: log})
		parts = append(append(parts, run...), all.Accounts.Run)
		app, err := all.NewWeb(WebConfig{
			URL: c.consoleURL(), API: APIURL(c.Root()), Proxies: proxies, MaxConns: c.MaxConnections, MaxConnsOfAddress: c.MaxConnectionsPerAddress, Rate: shared,
			TraceURL: c.ConsoleTraceURL, Platform: operated, Log: log,
		}, external, api)
		if err != nil {
			return err
		}
		people, err := Listen(ctx, "--console-listen", c.ConsoleListen)
		if err != nil {
			return err
		}
		pages = "http://" + people.Addr().String()
		parts = append(parts, func(ctx context.Context) error { return app.Serve(ctx, people) })
	}
	started := func(ops string) {
		log.InfoContext(ctx, "console listening", "url", fmt.Sprintf("http://%s%s", ln.Addr(), httpapi.AdminBasePath), "pages", pages, "ops", ops)
	}
	return r.run(ctx, log, started, parts...)
}

// apiOfConsole is the external API behind the pages, with what has to run beside it. Requests that the explorer sends with a token of
// a company count towards the rate of the token and are logged, as on an API node.
func (all *Domains) apiOfConsole(cfg httpapi.Config) (api *httpapi.API, run []func(context.Context) error) {
	served := requests.NewLog(requests.LogConfig{DB: all.DB, Log: cfg.Log})
	cfg.Requests = served
	return all.NewAPI(cfg), []func(context.Context) error{cfg.Limiter.Run, served.Run, all.Company.Run}
}
