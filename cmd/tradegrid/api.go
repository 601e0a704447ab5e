package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/idempotency"
	"github.com/tradegrid/tradegrid/pkg/api/loadshed"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/quota"
	"github.com/tradegrid/tradegrid/services/business/files"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/platform/requests"
)

// APICmd serves the external REST API.
type APICmd struct {
	Listen         string   `help:"Address to listen on; port 0 picks a free one." default:"127.0.0.1:8080"`
	TrustedProxies []string `help:"Addresses or networks of load balancers whose X-Forwarded-For is trusted."`
	EdgeFlags
	KeyLease      time.Duration `name:"idempotency-lease" help:"How long the idempotency key of a batch whose API node died stays blocked; must exceed the longest request." default:"60s"`
	KeyQuota      int64         `name:"idempotency-quota" help:"Bytes of stored answers per company. Above it, new idempotency keys of the company are answered 429; known ones are still answered. 0 = no quota." default:"10737418240"`
	RequestQuota  int64         `name:"request-log-quota" help:"Bytes of logged requests per company. Above it, one in a hundred of the company's requests is logged, without body and error. 0 = no request log." default:"1073741824"`
	FileQuota     int64         `help:"Bytes of files, thumbnails included, that a company may store. Above it, uploads are answered 409. 0 = no quota." default:"10737418240"`
	UploadBytes   int64         `name:"max-upload-bytes" help:"Maximum bytes of the uploads that this process receives at once. One company may hold a quarter." default:"67108864"`
	JobWorkers    int           `help:"Jobs, such as exports, that this process runs at a time. 0 = none; then another process has to." default:"2"`
	AllowInsecure bool          `help:"Accept subscriptions with http:// URLs and private addresses. For development only." same:"platform"`
	webhook.Policy
	FileFlags
	ShedFlags
	SecretKeysFlags
	BackendFlags
}

// EdgeFlags configure client connections.
type EdgeFlags struct {
	PublicURL                string `help:"Scheme and host that clients reach the API at, such as https://api.example.com, for links in answers; without it they are relative." placeholder:"URL"`
	MaxConnections           int    `help:"Open connections of this process; those above it are answered 503 and closed. 0 = no limit." default:"5000"`
	MaxConnectionsPerAddress int    `help:"Open connections from one address, or one IPv6 /64, that is not in --trusted-proxies; those above it are answered 429 and closed. 0 = no limit." default:"1000"`
}

// url is the public URL as links start with it.
func (f EdgeFlags) url() string { return strings.TrimSuffix(f.PublicURL, "/") }

// Check validates the flags.
func (f EdgeFlags) Check() error {
	var errs []error
	if u, err := url.Parse(f.PublicURL); f.PublicURL != "" && (err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || strings.TrimSuffix(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "") {
		errs = append(errs, fmt.Errorf("--public-url %q: must be a scheme and a host, such as https://api.example.com", f.PublicURL))
	}
	for flag, v := range map[string]int{"--max-connections": f.MaxConnections, "--max-connections-per-address": f.MaxConnectionsPerAddress} {
		if v < 0 {
			errs = append(errs, fmt.Errorf("%s: must not be below 0; 0 = no limit", flag))
		}
	}
	return errors.Join(errs...)
}

// ShedFlags are the limits at which requests are rejected to protect the database and the brokers.
type ShedFlags struct {
	ShedOutboxRows   int64         `help:"Reject writes with 503 when the outbox holds this many rows; 0 = no limit, as for all --shed flags." default:"10000000" reload:"true"`
	ShedOutboxAge    time.Duration `help:"Reject writes when the oldest row of the outbox is this old." default:"0s" reload:"true"`
	ShedDisk         float64       `help:"Reject writes when the fullest disk of database or brokers is used to this share, 0 to 1, where servers report it." default:"0.85" reload:"true"`
	ShedDatabaseSize int64         `help:"Reject writes when the database holds this many bytes. For PostgreSQL, which does not report the size of its disk." default:"0" reload:"true"`
	ShedDatabasePath string        `help:"Folder on the disk of a PostgreSQL server on this machine, to measure how full that disk is." type:"path" placeholder:"FOLDER"`
	ShedKafkaSize    int64         `help:"Reject writes when one broker holds this many bytes of topics. For brokers that do not report the size of their disks." default:"0" reload:"true"`
	ShedPoolWait     time.Duration `help:"Reject writes when getting a database connection takes this long." default:"2s" reload:"true"`
	MaxInFlight      int           `help:"Maximum number of concurrent requests of this process, reads included." default:"4000" reload:"true"`
	MaxRequestBytes  int64         `help:"Maximum bytes that the large requests take that this process decodes at once, their bodies included. One company may hold a quarter." default:"134217728" reload:"true"`
	MaxResponseBytes int64         `help:"Maximum bytes of the large responses that this process builds and sends at once. One company may hold a quarter." default:"67108864" reload:"true"`
}

func (f ShedFlags) limits() loadshed.Limits {
	return loadshed.Limits{
		OutboxRows: f.ShedOutboxRows, OutboxAge: f.ShedOutboxAge, Disk: f.ShedDisk, DatabaseSize: f.ShedDatabaseSize,
		KafkaSize: f.ShedKafkaSize, PoolWait: f.ShedPoolWait, InFlight: f.MaxInFlight, ResponseBytes: f.MaxResponseBytes, RequestBytes: f.MaxRequestBytes,
	}
}

// minUploadBytes is how many bytes uploads must be able to take: a company has a quarter, and a file of the greatest size begins a
// piece more.
const minUploadBytes = 4 * (files.MaxSize + 1<<20)

// gcPercent is the default of GOGC for this role. Requests allocate much and keep little, so collecting less often is
// worth the memory. GOMEMLIMIT bounds it, GOGC overrides it.
const gcPercent = 400

// Run serves until ctx is done.
func (c *APICmd) Run(ctx context.Context, log *slog.Logger, live *config.Watched[APICmd]) error {
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(gcPercent)
	}
	proxies, err := parseProxies(c.TrustedProxies)
	if err != nil {
		return err
	}
	keys, err := c.keys(log)
	if err != nil {
		return err
	}
	return c.serve(ctx, "api", log, live, func(ctx context.Context, log *slog.Logger, r *role) error {
		live.OnChange(func(next *APICmd) { r.tel.SetSample(next.TraceSample) })
		return c.run(ctx, log, r, live, proxies, keys)
	})
}

// run serves with the connections of the role.
func (c *APICmd) run(ctx context.Context, log *slog.Logger, r *role, live *config.Watched[APICmd], proxies []netip.Prefix, keys *secret.Keys) error {
	client, err := outbox.NewClient(r.broker)
	if err != nil {
		return err
	}
	defer client.Close()
	nudges := outbox.NewNudges(client, log)
	r.db.Listen(nudges.Nudge)
	shedder := newShedder(r.db, client, c.disk(), c.limits(), log)
	live.OnChange(func(next *APICmd) { shedder.SetLimits(next.limits()) }) //nolint:contextcheck // reloads do not belong to a request
	r.tel.Note("changes_refused_for", shedder.Active)
	store, err := c.store(ctx, r.db, log)
	if err != nil {
		return err
	}
	stored := quota.New(quota.Config{
		DB: r.db, Kind: files.QuotaKind, Limit: c.FileQuota, Log: log, Owners: company.Owners,
		Beyond: "Above the quota, uploads are answered 409 FILE_QUOTA_EXCEEDED, until files have been deleted. Files that no record refers to are deleted after 24 hours.",
	})
	all := newDomains(r.db, domainConfig{
		Policy: c.Policy, AllowInsecure: c.AllowInsecure, PublicURL: strings.TrimSuffix(c.PublicURL, "/"), Keys: keys, Files: store, FileQuota: stored, Log: log,
	})
	limiter := ratelimit.New(ratelimit.Config{Node: nodeName(), Leases: ratelimit.NewDBLeases(r.db), Log: log})
	answers := quota.New(quota.Config{
		DB: r.db, Kind: idempotency.QuotaKind, Limit: c.KeyQuota, Log: log, Owners: company.Owners,
		Beyond: "Above the quota, requests with a new idempotency key are answered 429 IDEMPOTENCY_QUOTA_EXCEEDED, until older answers have expired after their 7 days.",
	})
	logged := quota.New(quota.Config{
		DB: r.db, Kind: requests.QuotaKind, Limit: c.RequestQuota, Log: log, Owners: company.Owners,
		Beyond: "Above the quota, the request log keeps one in a hundred requests, without error and body, until older ones have expired after their 7 days.",
	})
	served := requests.NewLog(requests.LogConfig{DB: r.db, Quota: logged, Log: log})
	cfg := httpapi.Config{
		Limiter: limiter, Gate: shedder, Responses: shedder.Responses(), Bodies: shedder.Requests(), Release: release, Proxies: proxies, KeyLease: c.KeyLease, KeyQuota: answers, Log: log,
		PublicURL: c.url(), MaxConnections: c.MaxConnections, MaxPerAddress: c.MaxConnectionsPerAddress,
		UploadBytes: c.UploadBytes,
	}
	if c.RequestQuota > 0 {
		cfg.Requests = served
	}
	api := all.newAPI(cfg)
	ln, err := listen(ctx, "--listen", c.Listen)
	if err != nil {
		return err
	}
	started := func(ops string) {
		log.InfoContext(ctx, "api listening", "url", "http://"+ln.Addr().String()+httpapi.BasePath, "ops", ops)
	}
	parts := []func(context.Context) error{
		func(ctx context.Context) error { return api.Serve(ctx, ln) },
		limiter.Run,
		shedder.Run,
		answers.Run,
		logged.Run,
		served.Run,
		nudges.Run,
		all.company.Run,
		func(ctx context.Context) error { return all.files.Run(ctx, nodeName()) },
		func(ctx context.Context) error { return all.company.ConsumeInvalidations(ctx, r.broker) },
	}
	if c.JobWorkers > 0 {
		parts = append(parts, all.newWorker(c.JobWorkers, log).Run)
	}
	return r.run(ctx, log, started, parts...)
}

// newLists returns what the lists of this process share. Without a database, there is only the description of the API.
func newLists(d *db.DB) *list.Node {
	if d == nil {
		return nil
	}
	return list.NewNode(list.NodeConfig{Writes: d.Writes(), Conns: int(d.Pool().Config().MaxConns)})
}

// Check validates the flags of the API.
func (c *APICmd) Check() error {
	_, err := parseProxies(c.TrustedProxies)
	err = errors.Join(err, c.check())
	if c.JobWorkers < 0 || c.JobWorkers > 100 {
		err = errors.Join(err, fmt.Errorf("--job-workers %d: must be 0 to 100", c.JobWorkers))
	}
	if c.KeyQuota < 0 {
		err = errors.Join(err, fmt.Errorf("--idempotency-quota %d: must not be below 0; 0 = no quota", c.KeyQuota))
	}
	if c.RequestQuota < 0 {
		err = errors.Join(err, fmt.Errorf("--request-log-quota %d: must not be below 0; 0 = no request log", c.RequestQuota))
	}
	if c.FileQuota < 0 {
		err = errors.Join(err, fmt.Errorf("--file-quota %d: must not be below 0; 0 = no quota", c.FileQuota))
	}
	if c.UploadBytes < minUploadBytes {
		err = errors.Join(err, fmt.Errorf("--max-upload-bytes %d: must be at least %d, so that one company may send a whole file", c.UploadBytes, minUploadBytes))
	}
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

// Check validates the limits.
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
		"--shed-kafka-size": f.ShedKafkaSize, "--shed-pool-wait": int64(f.ShedPoolWait), "--max-in-flight": int64(f.MaxInFlight), "--max-response-bytes": f.MaxResponseBytes,
		"--max-request-bytes": f.MaxRequestBytes,
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

// parseProxies parses addresses and networks.
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

// nodeName returns a name that is unique among all processes, including earlier ones on this host.
func nodeName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}
