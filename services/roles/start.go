package roles

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/idempotency"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry/export"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/migrate"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/pkg/store/processes"
	"github.com/tradegrid/tradegrid/pkg/store/quota"
	"github.com/tradegrid/tradegrid/schemas/sql"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/operations"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/topics"
)

// collectAt sets the default of GOGC.
func collectAt(percent int) {
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(percent)
	}
}

// process is a process of one or several roles, as its flags make it.
type process struct {
	name     string   // the role, or the command that runs several
	roles    []string // whose metrics it has
	database DatabaseFlags
	ops      OpsFlags
	live     *config.Watched[OpsFlags]
	open     map[string]net.Listener // that are open already, by flag
}

// role is a running role with its connections and telemetry, or several roles that share them.
type role struct {
	process

	db     *db.DB
	broker kafka.Config
	tel    *export.Telemetry
	opsURL string // of health checks and metrics
	reload chan os.Signal
	up     atomic.Bool // its listeners accept and its parts run
	ends   []func()
}

var errStarting = errors.New("the process is starting")

// started is a readiness check.
func (r *role) started(context.Context) error {
	if !r.up.Load() {
		return errStarting
	}
	return nil
}

// atEnd closes something when the role has ended, before its database.
func (r *role) atEnd(end func()) { r.ends = append(r.ends, end) }

// close closes what the role has opened.
func (r *role) close() {
	for _, end := range slices.Backward(r.ends) {
		end()
	}
}

// ready adds a readiness check of one of the roles. /readyz names the role where the process has several.
func (r *role) ready(name, check string, is export.Check) {
	if len(r.roles) == 1 {
		name = ""
	}
	r.tel.ReadyOf(name, check, is)
}

// listen listens on the address that a flag gives, unless that has been done.
func (r *role) listen(ctx context.Context, flag, address string) (net.Listener, error) {
	if ln, open := r.open[flag]; open {
		return ln, nil
	}
	return Listen(ctx, flag, address)
}

// outboxClient makes the client of a role that writes to or publishes the outbox.
func (r *role) outboxClient() (*kgo.Client, error) {
	client, err := outbox.NewClient(r.broker)
	if err == nil {
		r.atEnd(client.Close)
	}
	return client, err
}

// serve is [process.serve] for a role that also uses the brokers.
func (f BackendFlags) serve(ctx context.Context, name string, log *slog.Logger, live *config.Watched[OpsFlags], do func(context.Context, *slog.Logger, *role) error) error {
	broker, err := f.KafkaConfig(name, log)
	if err != nil {
		return err
	}
	p := process{name: name, roles: []string{name}, database: f.DatabaseFlags, ops: f.OpsFlags, live: live}
	return p.serve(ctx, log, func(ctx context.Context, log *slog.Logger, r *role) error {
		r.broker = broker
		return do(ctx, log, r)
	})
}

// serve serves health checks and metrics, waits for the database, and then does its work until ctx is done.
func (p process) serve(ctx context.Context, log *slog.Logger, do func(context.Context, *slog.Logger, *role) error) error {
	r := &role{process: p, reload: make(chan os.Signal, 1)}
	tel, err := p.ops.start(ctx, p.name, log, metricsOf(p.roles...))
	if err != nil {
		return err
	}
	defer tel.Stop(ctx)
	ln, err := r.listen(ctx, FlagOpsListen, p.ops.OpsListen)
	if err != nil {
		return err
	}
	r.tel, r.opsURL = tel, "http://"+ln.Addr().String()
	p.live.OnChange(func(next *OpsFlags) { tel.SetSample(next.TraceSample) })
	tel.Ready("start", r.started)
	signal.Notify(r.reload, syscall.SIGHUP) // before waiting for the database, because SIGHUP would end the process
	defer signal.Stop(r.reload)
	return tel.ServeWhile(ctx, ln, func(ctx context.Context) error {
		if r.db, err = p.database.connect(ctx, log, r); err != nil {
			return err
		}
		defer r.db.Close()
		defer r.close()
		return do(ctx, log, r)
	})
}

// watchTopics makes /readyz, a metric and the log name the missing ones of the topics to which the role has rights.
func (r *role) watchTopics(name string, client *kgo.Client, log *slog.Logger) (run func(context.Context) error) {
	var needed []string
	for _, right := range topics.Rights()[name] {
		if right.Kind == "topic" {
			needed = append(needed, right.Name)
		}
	}
	watch := kafka.NewTopicWatch(client, log, needed...)
	r.ready(name, "topics", watch.Check)
	return watch.Run
}

// run does the works until ctx is done or a part of one of them fails; then they stop in turn. From now on the process is ready: what listens for clients
// has to be bound before.
func (r *role) run(ctx context.Context, log *slog.Logger, turns ...[]work) error {
	clock := db.NewClock(r.db, time.Now)
	r.tel.Ready("clock", clock.Check)
	epochs := outbox.NewEpochWatch(r.db, log)
	r.tel.Note("restored", epochs.Notes)
	shared := r.live.Shared()
	settings := processes.NewSettingsWatch(r.db, shared, log)
	r.tel.Note("settings_differ", settings.Notes)
	return announced(ctx, r.db, r.name, shared, log, func(ctx context.Context) error {
		g, ctx := errgroup.WithContext(ctx)
		g.Go(func() error { return r.live.Run(ctx, r.reload) })
		g.Go(func() error { return clock.Run(ctx) })
		g.Go(func() error { return epochs.Run(ctx) })
		g.Go(func() error { return settings.Run(ctx) })
		inTurn(ctx, g, turns)
		r.up.Store(true)
		for _, w := range slices.Concat(turns...) {
			w.started(r.opsURL)
		}
		return g.Wait()
	})
}

// announced does the work of this process, which is announced in the database meanwhile. A process does not begin on a schema
// that was contracted for a later release: it would misread what that release writes.
func announced(ctx context.Context, d *db.DB, role string, settings []string, log *slog.Logger, work func(context.Context) error) error {
	if err := migrate.Usable(ctx, d.Pool(), sql.Files, d.Dialect()); err != nil {
		return err
	}
	contracts, err := migrate.Contracts(sql.Files, d.Dialect())
	if err != nil {
		return err
	}
	return processes.Process{Node: NodeName(), Role: role, Release: Release, Contracts: contracts, Settings: settings}.Announce(ctx, d, log, work)
}

// connect waits for the database. Until it is connected, the process is not ready, and /readyz has the reason.
func (f DatabaseFlags) connect(ctx context.Context, log *slog.Logger, r *role) (*db.DB, error) {
	cfg := f.DatabaseConfig()
	cfg.MaxConns, cfg.SavepointRetry, cfg.Log, cfg.Tracer = f.DatabaseConns, f.DatabaseSavepoint, log, r.tel.Provider
	w := &waiting{log: log, ops: r.opsURL}
	r.tel.Ready("database", w.check)
	d, err := db.OpenWhenUp(ctx, cfg, func(err error) { w.failed(ctx, err) })
	if err != nil {
		return nil, err
	}
	w.over(ctx)
	r.tel.Ready("database", func(ctx context.Context) error { return d.Pool().Ping(ctx) })
	r.tel.Ready("schema", schemaCheck(d))
	return d, r.tel.Register(d.PoolMetrics())
}

// waitingEvery is the interval at which the same reason is logged again.
const waitingEvery = time.Minute

// waiting logs why a process waits for its database: immediately if the reason changes, otherwise every waitingEvery.
type waiting struct {
	log *slog.Logger
	ops string

	mu   sync.Mutex
	last error
	hint string
	said time.Time
}

var errConnecting = errors.New("not connected yet")

// check is a readiness check.
func (w *waiting) check(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		return errConnecting
	}
	return w.last
}

func (w *waiting) failed(ctx context.Context, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	hint := db.Misconfigured(err)
	same := w.last != nil && hint == w.hint && time.Since(w.said) < waitingEvery
	w.last, w.hint = err, hint
	if same {
		return
	}
	w.said = time.Now()
	if hint != "" {
		w.log.ErrorContext(ctx, "waiting for the database, which refuses this process", "error", err, "mend", hint, "ops", w.ops)
		return
	}
	w.log.WarnContext(ctx, "waiting for the database", "error", err, "ops", w.ops)
}

// over logs the end of a wait that was logged.
func (w *waiting) over(ctx context.Context) {
	if w.last != nil {
		w.log.InfoContext(ctx, "the database is up")
	}
}

// Change makes one change of a company in a transaction of its own, for an operator.
func Change[T any](
	ctx context.Context, d *db.DB, name string, id tenant.ID, run func(context.Context, *db.Tx, access.Caller) (T, error),
) (v T, err error) {
	err = d.RunTx(ctx, name, func(ctx context.Context, tx *db.Tx) (err error) {
		v, err = run(ctx, tx, access.System(id))
		return err
	})
	return v, err
}

// ChangeWith is [Change] with an input.
func ChangeWith[F, T any](
	ctx context.Context, d *db.DB, name string, id tenant.ID, run func(context.Context, *db.Tx, access.Caller, F) (T, error), in F,
) (T, error) {
	return Change(ctx, d, name, id, func(ctx context.Context, tx *db.Tx, by access.Caller) (T, error) { return run(ctx, tx, by, in) })
}

// CreateCompany makes a company in a transaction of its own.
func (all *Domains) CreateCompany(ctx context.Context, in company.NewCompany) (c company.Company, err error) {
	err = all.DB.RunTx(ctx, "company.create", func(ctx context.Context, tx *db.Tx) (err error) {
		c, err = all.Company.Create(ctx, tx, in)
		return err
	})
	return c, err
}

// CleanupJobs are the rows of all tables that expire.
func CleanupJobs() []cleanup.Job {
	jobs := slices.Concat([]cleanup.Job{cleanup.TxMarkers, idempotency.CleanupJob, ratelimit.CleanupJob, quota.CleanupJob, processes.CleanupJob, ownermail.CleanupJob, operations.SamplesExpire, store.AttemptCountsExpire}, outbox.CleanupJobs())
	for _, d := range Declared() {
		jobs = append(jobs, d.Cleanup...)
	}
	return jobs
}
