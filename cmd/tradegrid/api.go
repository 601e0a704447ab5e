package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"runtime/debug"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kafka"
	"github.com/tradegrid/tradegrid/pkg/loadshed"
	"github.com/tradegrid/tradegrid/pkg/ratelimit"
)

// APICmd serves the external REST API.
type APICmd struct {
	Listen         string        `help:"Address to listen on; port 0 picks a free one." default:"127.0.0.1:8080"`
	TrustedProxies []string      `help:"Addresses or networks of the load balancers whose X-Forwarded-For is believed."`
	KeyLease       time.Duration `name:"idempotency-lease" help:"How long a request whose API node died blocks its idempotency key; longer than any request." default:"60s"`
	AllowInsecure  bool          `help:"Accept subscriptions with http:// and private receivers. For development only."`
	ShedFlags
	BackendFlags
}

// ShedFlags are the limits at which writes are rejected.
type ShedFlags struct {
	ShedOutboxRows   int64         `help:"Reject writes with 503 when the outbox holds this many rows; for this and the other limits 0 = no limit." default:"10000000" reload:"true"`
	ShedOutboxAge    time.Duration `help:"Reject writes when the oldest row of the outbox is this old." default:"0s" reload:"true"`
	ShedDisk         float64       `help:"Reject writes when this share of the fullest disk of the database or the brokers is used, if they report it." default:"0.85" reload:"true"`
	ShedDatabaseSize int64         `help:"Reject writes when the database has this size in bytes; for PostgreSQL, which does not report the size of its disk." default:"0" reload:"true"`
	ShedDatabasePath string        `help:"Folder on the disk of the database, if it is on this machine; PostgreSQL does not report its disk usage." type:"path" placeholder:"FOLDER"`
	ShedKafkaSize    int64         `help:"Reject writes when the topics on one broker have this size in bytes; for brokers that do not report the size of their disks." default:"0" reload:"true"`
	ShedPoolWait     time.Duration `help:"Reject writes when it takes this long to get a database connection from the pool." default:"2s" reload:"true"`
	MaxInFlight      int           `help:"Maximum number of requests in flight in this process, including reads." default:"4000" reload:"true"`
}

func (f ShedFlags) limits() loadshed.Limits {
	return loadshed.Limits{
		OutboxRows: f.ShedOutboxRows, OutboxAge: f.ShedOutboxAge, Disk: f.ShedDisk, DatabaseSize: f.ShedDatabaseSize,
		KafkaSize: f.ShedKafkaSize, PoolWait: f.ShedPoolWait, InFlight: f.MaxInFlight,
	}
}

// gcPercent is the default of GOGC for this role. Requests allocate much and keep little, so collecting less often is
// worth the memory. GOMEMLIMIT bounds it, GOGC overrides it.
const gcPercent = 400

// Run serves until the context ends.
func (c *APICmd) Run(ctx context.Context, log *slog.Logger, live *watcher) error {
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(gcPercent)
	}
	proxies, err := parseProxies(c.TrustedProxies)
	if err != nil {
		return err
	}
	return c.serve(ctx, "api", log, live, func(ctx context.Context, log *slog.Logger, r *role) error { return c.run(ctx, log, r, proxies) })
}

// run serves with the connections of the role.
func (c *APICmd) run(ctx context.Context, log *slog.Logger, r *role, proxies []netip.Prefix) error {
	client, err := kafka.NewClient(r.broker)
	if err != nil {
		return err
	}
	defer client.Close()
	shedder := newShedder(r.db, client, c.disk(), c.limits(), log)
	r.live.OnChange(func(next *CLI) { shedder.SetLimits(next.API.limits()) }) //nolint:contextcheck // a reload belongs to no request
	r.tel.Note("changes_refused_for", shedder.Active)
	all := newDomains(r.db, domainConfig{AllowInsecure: c.AllowInsecure, Log: log})
	limiter := ratelimit.New(ratelimit.Config{Node: nodeName(), Leases: ratelimit.NewDBLeases(r.db), Log: log})
	api := httpapi.New(httpapi.Config{DB: r.db, Auth: all.company, Limiter: limiter, Gate: shedder, Release: release, Proxies: proxies, KeyLease: c.KeyLease, Log: log})
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
		shedder.Run,
		all.company.Run,
		func(ctx context.Context) error { return all.company.ConsumeInvalidations(ctx, r.broker) },
	)
}

// Check checks what is the API's alone.
func (c *APICmd) Check() error {
	_, err := parseProxies(c.TrustedProxies)
	if c.KeyLease <= 0 {
		err = errors.Join(err, fmt.Errorf("--idempotency-lease %s: must be above 0, such as 60s", c.KeyLease))
	}
	return err
}

func (f ShedFlags) disk() func() (float64, error) {
	if f.ShedDatabasePath == "" {
		return nil
	}
	return func() (float64, error) { return loadshed.DiskUse(f.ShedDatabasePath) }
}

// Check checks the limits.
func (f ShedFlags) Check() error {
	var errs []error
	if f.ShedDisk < 0 || f.ShedDisk > 1 {
		errs = append(errs, fmt.Errorf("--shed-disk: must be a share from 0 to 1, such as 0.85, not %v; 0 = no limit", f.ShedDisk))
	}
	if info, err := os.Stat(f.ShedDatabasePath); f.ShedDatabasePath != "" && (err != nil || !info.IsDir()) {
		errs = append(errs, fmt.Errorf("--shed-database-path %s: must be a folder on the disk of the database", f.ShedDatabasePath))
	}
	for flag, v := range map[string]int64{
		"--shed-outbox-rows": f.ShedOutboxRows, "--shed-outbox-age": int64(f.ShedOutboxAge), "--shed-database-size": f.ShedDatabaseSize,
		"--shed-kafka-size": f.ShedKafkaSize, "--shed-pool-wait": int64(f.ShedPoolWait), "--max-in-flight": int64(f.MaxInFlight),
	} {
		if v < 0 {
			errs = append(errs, fmt.Errorf("%s: must not be below 0; 0 = no limit", flag))
		}
	}
	return errors.Join(errs...)
}

// newShedder makes the load shedder of an API node. disk measures the disk of the database if this process can access it,
// and may be nil.
func newShedder(d *db.DB, client *kgo.Client, disk func() (float64, error), limits loadshed.Limits, log *slog.Logger) *loadshed.Shedder {
	return loadshed.New(loadshed.Config{
		DB: d, Node: nodeName(), Limits: limits, Log: log,
		Probes: []loadshed.Probe{loadshed.OutboxProbe(d), loadshed.DatabaseProbe(d, disk), loadshed.KafkaProbe(kadm.NewClient(client))},
	})
}

// parseProxies reads addresses and networks.
func parseProxies(texts []string) ([]netip.Prefix, error) {
	proxies := make([]netip.Prefix, 0, len(texts))
	var errs []error
	for _, text := range texts {
		if addr, err := netip.ParseAddr(text); err == nil {
			proxies = append(proxies, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		network, err := netip.ParsePrefix(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("--trusted-proxies %q: must be an address or a network such as 10.0.0.0/8", text))
			continue
		}
		proxies = append(proxies, network)
	}
	return proxies, errors.Join(errs...)
}

// nodeName tells this process from all others, also from its own predecessor.
func nodeName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}
