package roles

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/idempotency"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/api/loadshed"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/quota"
	"github.com/tradegrid/tradegrid/services/business/files"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/platform/requests"
	"github.com/tradegrid/tradegrid/topics"
)

// APICmd serves the external REST API.
type APICmd struct {
	Listen string `help:"Address to listen on; port 0 picks a free one." default:"127.0.0.1:8080"`
	APIFlags
	AllowInsecure bool   `help:"Accept subscriptions with http:// URLs and private addresses. For development only." same:"platform"`
	EgressProxy   string `help:"Proxy for downloads of images by URL, http://host:port or https://host:port. It is asked (CONNECT) for addresses that were resolved and checked before."`
	webhook.Policy
	FileFlags
	SecretKeysFlags
	BackendFlags
}

// APIFlags configure a node of the API.
type APIFlags struct {
	TrustedProxies []string `help:"Addresses or networks of load balancers whose X-Forwarded-For is trusted."`
	transport.Edge
	httpapi.Settings
	KeyQuota     int64 `name:"idempotency-quota" help:"Bytes of stored answers per company. Above it, new idempotency keys of the company are answered 429; known ones are still answered. 0 = no quota." default:"10737418240"`
	RequestQuota int64 `name:"request-log-quota" help:"Bytes of logged requests per company. Above it, one in a hundred of the company's requests is logged, without body and error. 0 = no request log." default:"1073741824"`
	FileQuota    int64 `help:"Bytes of files, thumbnails included, that a company may store. Above it, uploads are answered 409. 0 = no quota." default:"10737418240"`
	JobWorkers   int   `help:"Jobs, such as exports, that this process runs at a time. 0 = none; then another process has to." default:"2"`
	ShedFlags
}

// ShedFlags are the limits at which requests are rejected to protect the database and the brokers.
type ShedFlags struct {
	loadshed.Limits
	ShedDatabasePath string `help:"Folder on the disk of a PostgreSQL server on this machine, to measure how full that disk is." type:"path" placeholder:"FOLDER"`
}

// minUploadBytes is how many bytes uploads must be able to take: a company has a quarter, and a file of the greatest size begins a
// piece more.
const minUploadBytes = 4 * (files.MaxSize + 1<<20)

// gcPercent is the default of GOGC for this role. Requests allocate much and keep little, so collecting less often is
// worth the memory. GOMEMLIMIT bounds it, GOGC overrides it.
const gcPercent = 400

// Run serves until ctx is done.
func (c *APICmd) Run(ctx context.Context, log *slog.Logger, live *config.Watched[APICmd]) error {
	collectAt(gcPercent)
	keys, err := c.ReadKeys(log)
	if err != nil {
		return err
	}
	proxy, err := egressProxy(c.EgressProxy)
	if err != nil {
		return err
	}
	flags := config.Within(live, func(c *APICmd) *APIFlags { return &c.APIFlags })
	return c.serve(ctx, topics.RoleAPI, log, config.Within(live, func(c *APICmd) *OpsFlags { return &c.OpsFlags }), func(ctx context.Context, log *slog.Logger, r *role) error {
		client, err := r.outboxClient()
		if err != nil {
			return err
		}
		store, err := c.store(ctx, r.db, log)
		if err != nil {
			return err
		}
		node, err := newNode(r.db, r.broker, client, c.APIFlags, DomainConfig{Policy: c.Policy, AllowInsecure: c.AllowInsecure, Keys: keys, Files: store, EgressProxy: proxy, Log: log})
		if err != nil {
			return err
		}
		wakeups := outbox.NewWakeups(client, log)
		r.db.Listen(wakeups.Wake)
		w, err := node.work(ctx, r, c.Listen, flags, log)
		if err != nil {
			return err
		}
		w.parts = append(w.parts, wakeups.Run)
		return r.run(ctx, log, []work{w})
	})
}

// node is what an API process has besides its listeners.
type node struct {
	*Domains

	shedder *loadshed.Shedder
	api     *httpapi.API
	config  httpapi.Config                // of the API
	parts   []func(context.Context) error // that run beside it
}

// work is the work of the API.
func (n *node) work(ctx context.Context, r *role, address string, live *config.Watched[APIFlags], log *slog.Logger) (work, error) {
	live.OnChange(func(next *APIFlags) { n.shedder.SetLimits(next.Limits) }) //nolint:contextcheck // reloads do not belong to a request
	r.tel.Note("changes_refused_for", n.shedder.Active)
	ln, err := r.listen(ctx, "--listen", address)
	if err != nil {
		return work{}, err
	}
	return work{
		role:  topics.RoleAPI,
		parts: append(n.parts, func(ctx context.Context) error { return n.api.Serve(ctx, ln) }),
		started: func(ops string) {
			log.InfoContext(ctx, "api listening", "url", "http://"+ln.Addr().String()+httpapi.BasePath, "ops", ops)
		},
	}, nil
}

// newNode puts a node of the API together; cfg has no quota of files and no public URL, which are those of the flags.
func newNode(d *db.DB, broker kafka.Config, client *kgo.Client, f APIFlags, cfg DomainConfig) (*node, error) {
	proxies, err := ParseProxies(f.TrustedProxies)
	if err != nil {
		return nil, err
	}
	meter := func(kind string, limit int64, beyond string) *quota.Meter {
		return quota.New(quota.Config{DB: d, Kind: kind, Limit: limit, Owners: company.Owners, Log: cfg.Log, Beyond: beyond})
	}
	answers := meter(idempotency.QuotaKind, f.KeyQuota,
		"Above the quota, requests with a new idempotency key are answered 429 IDEMPOTENCY_QUOTA_EXCEEDED, until older answers have expired after their 7 days.")
	logged := meter(requests.QuotaKind, f.RequestQuota,
		"Above the quota, the request log keeps one in a hundred requests, without error and body, until older ones have expired after their 7 days.")
	cfg.PublicURL = f.Root()
	cfg.FileQuota = meter(files.QuotaKind, f.FileQuota,
		"Above the quota, uploads are answered 409 FILE_QUOTA_EXCEEDED, until files have been deleted. Files that no record refers to are deleted after 24 hours.")
	all := NewDomains(d, cfg)
	shedder := newShedder(d, client, f.ShedFlags, cfg.Log)
	limiter := ratelimit.New(ratelimit.Config{Node: NodeName(), Leases: ratelimit.NewDBLeases(d), Log: cfg.Log})
	served := requests.NewLog(requests.LogConfig{DB: d, Quota: logged, Log: cfg.Log})
	n := &node{Domains: all, shedder: shedder, config: httpapi.Config{
		Limiter: limiter, Gate: shedder, Responses: shedder.Responses(), Bodies: shedder.Requests(), Release: Release, Proxies: proxies, KeyQuota: answers, Log: cfg.Log,
		Edge: f.Edge, Settings: f.Settings,
	}}
	if f.RequestQuota > 0 {
		n.config.Requests = served
	}
	n.api = all.NewAPI(n.config)
	n.parts = []func(context.Context) error{
		limiter.Run, shedder.Run, answers.Run, logged.Run, served.Run, all.Company.Run,
		func(ctx context.Context) error { return all.Files.Run(ctx, NodeName()) },
		func(ctx context.Context) error { return all.Scheduling.Run(ctx, NodeName()) },
		func(ctx context.Context) error { return all.Company.ConsumeInvalidations(ctx, broker) },
	}
	if f.JobWorkers > 0 {
		n.parts = append(n.parts, all.NewWorker(f.JobWorkers, cfg.Log).Run)
	}
	return n, nil
}

// newLists returns what the lists of this process share. Without a database, there is only the description of the API.
func newLists(d *db.DB) *list.Node {
	if d == nil {
		return nil
	}
	return list.NewNode(list.NodeConfig{Writes: d.WriteLog(), Conns: int(d.Pool().Config().MaxConns)})
}

// Check reads the keys.
func (c *APICmd) Check() error { return c.CheckKeys() }

// Check validates the flags besides those of the packages.
func (f *APIFlags) Check() error {
	_, err := ParseProxies(f.TrustedProxies)
	if f.JobWorkers < 0 || f.JobWorkers > 100 {
		err = errors.Join(err, fmt.Errorf("--job-workers %d: must be 0 to 100", f.JobWorkers))
	}
	err = errors.Join(err,
		config.NotNegative("--idempotency-quota", f.KeyQuota, "no quota"),
		config.NotNegative("--file-quota", f.FileQuota, "no quota"),
		config.NotNegative("--request-log-quota", f.RequestQuota, "no request log"),
	)
	if f.UploadBytes < minUploadBytes {
		err = errors.Join(err, fmt.Errorf("--max-upload-bytes %d: must be at least %d, so that one company may send a whole file", f.UploadBytes, minUploadBytes))
	}
	return err
}

func (f ShedFlags) disk() func() (float64, error) {
	if f.ShedDatabasePath == "" {
		return nil
	}
	return func() (float64, error) { return loadshed.DiskUse(f.ShedDatabasePath) }
}

// Check validates the folder.
func (f ShedFlags) Check() error {
	if info, err := os.Stat(f.ShedDatabasePath); f.ShedDatabasePath != "" && (err != nil || !info.IsDir()) {
		return fmt.Errorf("--shed-database-path %s: must be a folder on the disk of the database", f.ShedDatabasePath)
	}
	return nil
}

// newShedder makes the load shedder of a node, which measures the disk of the database if this process can access it.
func newShedder(d *db.DB, client *kgo.Client, f ShedFlags, log *slog.Logger) *loadshed.Shedder {
	return loadshed.New(loadshed.Config{
		DB: d, Node: NodeName(), Limits: f.Limits, Log: log,
		Probes: []loadshed.Probe{loadshed.OutboxProbe(d), loadshed.DatabaseProbe(d, f.disk()), loadshed.KafkaProbe(kadm.NewClient(client))},
	})
}

// ParseProxies parses addresses and networks.
func ParseProxies(texts []string) ([]netip.Prefix, error) {
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

// NodeName returns a name that is unique among all processes, including earlier ones on this host.
func NodeName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}
