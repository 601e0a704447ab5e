package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/ratelimit"
)

// APICmd serves the external REST API.
type APICmd struct {
	Listen         string   `help:"Address to listen on; port 0 picks a free one." default:"127.0.0.1:8080"`
	TrustedProxies []string `help:"Addresses or networks of the load balancers whose X-Forwarded-For is believed."`
	AllowInsecure  bool     `help:"Accept subscriptions with http:// and private receivers. For development only."`
	DatabaseFlags
	KafkaFlags
	OpsFlags
}

// Run serves until the context ends.
func (c *APICmd) Run(ctx context.Context, log *slog.Logger) error {
	t, err := c.start(ctx, "api", log, db.Metrics(), httpapi.Metrics(), ratelimit.Metrics())
	if err != nil {
		return err
	}
	defer t.Stop(ctx)
	d, err := c.open(ctx, log, t)
	if err != nil {
		return err
	}
	defer d.Close()
	broker, err := c.config("api", log)
	if err != nil {
		return err
	}
	all := newDomains(d, domainConfig{AllowInsecure: c.AllowInsecure, Log: log})
	limiter := ratelimit.New(ratelimit.Config{Node: nodeName(), Leases: ratelimit.NewDBLeases(d), Log: log})
	api := httpapi.New(httpapi.Config{DB: d, Auth: all.company, Limiter: limiter, Release: release, Proxies: c.TrustedProxies, Log: log})
	all.register(api)
	ln, err := listen(ctx, "--listen", c.Listen)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	ops, err := c.serve(ctx, g, t)
	if err != nil {
		return err
	}
	g.Go(func() error { return api.Serve(ctx, ln) })
	g.Go(func() error { return limiter.Run(ctx) })
	g.Go(func() error { return all.company.Run(ctx) })
	g.Go(func() error { return all.company.ConsumeInvalidations(ctx, broker) })
	log.InfoContext(ctx, "api listening", "url", "http://"+ln.Addr().String()+httpapi.BasePath, "ops", ops)
	return g.Wait()
}

// nodeName tells this process from all others, also from its own predecessor.
func nodeName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}
