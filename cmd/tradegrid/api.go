package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"runtime/debug"
	"time"

	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/numbering"
	"github.com/tradegrid/tradegrid/pkg/ratelimit"
)

// APICmd serves the external REST API.
type APICmd struct {
	Listen         string        `help:"Address to listen on; port 0 picks a free one." default:"127.0.0.1:8080"`
	TrustedProxies []string      `help:"Addresses or networks of the load balancers whose X-Forwarded-For is believed."`
	KeyLease       time.Duration `name:"idempotency-lease" help:"How long a request whose API node died blocks its idempotency key; longer than any request." default:"60s"`
	AllowInsecure  bool          `help:"Accept subscriptions with http:// and private receivers. For development only."`
	BackendFlags
}

// gcPercent is the garbage that may pile up before it is collected, in percent of what is in use. Requests leave much
// behind and keep little: collecting less often is worth the memory. GOMEMLIMIT bounds it, GOGC replaces it.
const gcPercent = 400

// Run serves until the context ends.
func (c *APICmd) Run(ctx context.Context, log *slog.Logger) error {
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(gcPercent)
	}
	r, err := c.open(ctx, "api", log, httpapi.Metrics(), ratelimit.Metrics(), numbering.Metrics())
	if err != nil {
		return err
	}
	defer r.close(ctx)
	proxies, err := parseProxies(c.TrustedProxies)
	if err != nil {
		return err
	}
	all := newDomains(r.db, domainConfig{AllowInsecure: c.AllowInsecure, Log: log})
	limiter := ratelimit.New(ratelimit.Config{Node: nodeName(), Leases: ratelimit.NewDBLeases(r.db), Log: log})
	api := httpapi.New(httpapi.Config{DB: r.db, Auth: all.company, Limiter: limiter, Release: release, Proxies: proxies, KeyLease: c.KeyLease, Log: log})
	all.register(api)
	ln, err := listen(ctx, "--listen", c.Listen)
	if err != nil {
		return err
	}
	started := func(ops string) {
		log.InfoContext(ctx, "api listening", "url", "http://"+ln.Addr().String()+httpapi.BasePath, "ops", ops)
	}
	return r.run(ctx, started,
		func(ctx context.Context) error { return api.Serve(ctx, ln) },
		limiter.Run,
		all.company.Run,
		func(ctx context.Context) error { return all.company.ConsumeInvalidations(ctx, r.broker) },
	)
}

// parseProxies reads addresses and networks.
func parseProxies(texts []string) ([]netip.Prefix, error) {
	proxies := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		if addr, err := netip.ParseAddr(text); err == nil {
			proxies = append(proxies, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("--trusted-proxies %q: must be an address or a network such as 10.0.0.0/8", text)
		}
		proxies = append(proxies, network)
	}
	return proxies, nil
}

// nodeName tells this process from all others, also from its own predecessor.
func nodeName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}
