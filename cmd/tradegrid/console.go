package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"

	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/secret"
)

// ConsoleCmd serves the admin API, by which operators set up companies. It needs no Kafka: the relay announces its changes.
type ConsoleCmd struct {
	AdminListen     string   `help:"Address to listen on; port 0 picks a free one. Reachable for operators only." default:"127.0.0.1:8081"`
	AdminTokensFile string   `help:"File with the tokens of operators, one per line as name:role:hash, the role read or write, the hash the SHA-256 of the token in hexadecimal. Read again when it changes." type:"path" placeholder:"FILE"`
	TrustedProxies  []string `help:"Addresses or networks of load balancers whose X-Forwarded-For is trusted."`
	EdgeFlags
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
	_, errProxies := parseProxies(c.TrustedProxies)
	_, errOperators := c.operators(nil)
	return errors.Join(errProxies, errOperators, c.check())
}

// Run serves until ctx is done.
func (c *ConsoleCmd) Run(ctx context.Context, log *slog.Logger, live *watcher) error {
	proxies, err := parseProxies(c.TrustedProxies)
	if err != nil {
		return err
	}
	keys, err := c.keys(log)
	if err != nil {
		return err
	}
	operators, err := c.operators(log)
	if err != nil {
		return err
	}
	return serveRole(ctx, "console", c.DatabaseFlags, c.OpsFlags, log, live, func(ctx context.Context, log *slog.Logger, r *role) error {
		return c.run(ctx, log, r, proxies, domainConfig{Keys: keys, Operators: operators, Log: log})
	})
}

func (c *ConsoleCmd) run(ctx context.Context, log *slog.Logger, r *role, proxies []netip.Prefix, cfg domainConfig) error {
	api := newDomains(r.db, cfg).newAdminAPI(httpapi.Config{
		Limiter: ratelimit.New(ratelimit.Config{Log: log}), Release: release, Proxies: proxies, Log: log,
		PublicURL: c.url(), MaxConnections: c.MaxConnections, MaxPerAddress: c.MaxConnectionsPerAddress,
	})
	ln, err := listen(ctx, "--admin-listen", c.AdminListen)
	if err != nil {
		return err
	}
	started := func(ops string) {
		log.InfoContext(ctx, "console listening", "url", fmt.Sprintf("http://%s%s", ln.Addr(), httpapi.AdminBasePath), "ops", ops)
	}
	return r.run(ctx, log, started, func(ctx context.Context) error { return api.Serve(ctx, ln) })
}
