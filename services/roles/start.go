package roles

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
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
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry/export"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/migrate"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/pkg/store/processes"
	"github.com/tradegrid/tradegrid/pkg/store/quota"
	"github.com/tradegrid/tradegrid/schemas/sql"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/topics"
)

// reloader reloads the settings of a role while it runs, and names those that all processes must have alike.
type reloader interface {
	Shared() []string
	Run(ctx context.Context, ask <-chan os.Signal) error
}

// role is a running role with its connections and telemetry.
type role struct {
	name   string
	db     *db.DB
	broker kafka.Config
	tel    *export.Telemetry
	ops    string // URL of health checks and metrics
	live   reloader
	reload chan os.Signal
	up     atomic.Bool // its listeners accept and its parts run
}

var errStarting = errors.New("the process is starting")

// started is a readiness check.
func (r *role) started(context.Context) error {
	if !r.up.Load() {
		return errStarting
	}
	return nil
}

// serve is [serveRole] for a role that also uses the brokers.
func (f BackendFlags) serve(ctx context.Context, name string, log *slog.Logger, live reloader, work func(context.Context, *slog.Logger, *role) error) error {
	broker, err := f.KafkaConfig(name, log)
	if err != nil {
		return err
	}
	return serveRole(ctx, name, f.DatabaseFlags, f.OpsFlags, log, live, func(ctx context.Context, log *slog.Logger, r *role) error {
		r.broker = broker
		return work(ctx, log, r)
	})
}

// serveRole serves health checks and metrics, waits for the database, and then runs work until ctx is done.
func serveRole(
	ctx context.Context, name string, database DatabaseFlags, f OpsFlags, log *slog.Logger, live reloader, work func(context.Context, *slog.Logger, *role) error,
) error {
	tel, err := f.start(ctx, name, log, commonMetrics(), roleMetrics(name))
	if err != nil {
		return err
	}
	defer tel.Stop(ctx)
	ln, err := Listen(ctx, "--ops-listen", f.OpsListen)
	if err != nil {
		return err
	}
	r := &role{name: name, tel: tel, ops: "http://" + ln.Addr().String(), live: live, reload: make(chan os.Signal, 1)}
	tel.Ready("start", r.started)
	signal.Notify(r.reload, syscall.SIGHUP) // before waiting for the database, because SIGHUP would end the process
	defer signal.Stop(r.reload)
	return tel.ServeWhile(ctx, ln, func(ctx context.Context) error {
		if r.db, err = database.connect(ctx, log, r); err != nil {
			return err
		}
		defer r.db.Close()
		return work(ctx, log, r)
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
	r.tel.Ready("topics", watch.Check)
	return watch.Run
}

// run runs the parts until ctx is done or one of them fails. From now on the process is ready: what listens for clients has to
// be bound before.
func (r *role) run(ctx context.Context, log *slog.Logger, started func(ops string), parts ...func(context.Context) error) error {
	clock := db.NewClock(r.db, time.Now)
	r.tel.Ready("clock", clock.Check)
	epochs := outbox.NewEpochWatch(r.db, log)
	r.tel.Note("restored", epochs.Notes)
	shared := r.live.Shared()
	settings := processes.NewSettingsWatch(r.db, shared, log)
	r.tel.Note("settings_differ", settings.Notes)
	return Announced(ctx, r.db, r.name, shared, log, func(ctx context.Context) error {
		g, ctx := errgroup.WithContext(ctx)
		g.Go(func() error { return r.live.Run(ctx, r.reload) })
		g.Go(func() error { return clock.Run(ctx) })
		g.Go(func() error { return epochs.Run(ctx) })
		g.Go(func() error { return settings.Run(ctx) })
		for _, part := range parts {
			g.Go(func() error { return part(ctx) })
		}
		r.up.Store(true)
		started(r.ops)
		return g.Wait()
	})
}

// Announced does the work of this process, which is announced in the database meanwhile. A process does not begin on a schema
// that was contracted for a later release: it would misread what that release writes.
func Announced(ctx context.Context, d *db.DB, role string, settings []string, log *slog.Logger, work func(context.Context) error) error {
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
	w := &waiting{log: log, ops: r.ops}
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
	jobs := slices.Concat([]cleanup.Job{cleanup.TxMarkers, idempotency.CleanupJob, ratelimit.CleanupJob, quota.CleanupJob, processes.CleanupJob, ownermail.CleanupJob}, outbox.CleanupJobs())
	for _, d := range Declared() {
		jobs = append(jobs, d.Cleanup...)
	}
	return jobs
}
