package job

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Config configures a [Worker]. Zero values take the defaults named beside the fields.
type Config struct {
	DB       *db.DB
	Owner    string        // name of this process, unique; required
	Handlers []Handler     // jobs of other types are left to other workers
	Parallel int           // jobs at a time; 1
	Lease    time.Duration // how long a job of a dead worker waits for the next one; 30 s. A step may take half of it
	Slice    time.Duration // how long a job runs before others get their turn; 2 s
	Every    time.Duration // interval between looks for jobs; 1 s
	Retry    time.Duration // pause before the first repeat of a failed step, doubling; 1 s
	Log      *slog.Logger
}

// maxTries is how often a step may fail, or kill its worker, in a row.
const maxTries = 8

// Worker runs jobs. Jobs of different companies take turns: each runs for a slice of time, then the one goes on that has
// waited longest, of the company that has the fewest jobs running.
type Worker struct {
	cfg      Config
	handlers map[string]Handler
	log      *slog.Logger
}

// NewWorker returns a worker.
func NewWorker(cfg Config) *Worker {
	cfg.Parallel, cfg.Lease = cmp.Or(cfg.Parallel, 1), cmp.Or(cfg.Lease, 30*time.Second)
	cfg.Slice, cfg.Every, cfg.Retry = cmp.Or(cfg.Slice, 2*time.Second), cmp.Or(cfg.Every, time.Second), cmp.Or(cfg.Retry, time.Second)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	w := &Worker{cfg: cfg, handlers: map[string]Handler{}, log: cfg.Log}
	for _, h := range cfg.Handlers {
		if _, twice := w.handlers[h.Name]; twice {
			panic("two handlers for jobs of type " + h.Name)
		}
		w.handlers[h.Name] = h
	}
	return w
}

// Run runs jobs until ctx is done. It then lets the steps under way end, and releases their jobs for others.
func (w *Worker) Run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	free := make(chan struct{}, w.cfg.Parallel) // a slot of Parallel is taken while its value is in the channel
	again := make(chan struct{}, 1)             // a slot became free: look at once
	t := time.NewTimer(0)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-again:
		case <-t.C:
		}
		if err := w.fill(ctx, free, again, &running); err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "looking for jobs failed", "error", err)
		}
		t.Reset(w.cfg.Every)
	}
}

// fill starts jobs in the free slots.
func (w *Worker) fill(ctx context.Context, slots, again chan struct{}, running *sync.WaitGroup) error {
	if len(slots) == cap(slots) {
		return nil
	}
	waiting, err := w.waiting(ctx)
	if err != nil {
		return err
	}
	for len(waiting) > 0 && ctx.Err() == nil {
		select {
		case slots <- struct{}{}:
		default:
			return nil
		}
		i := next(waiting)
		job, err := w.claim(ctx, waiting[i])
		if err != nil || job == nil {
			<-slots
			waiting = append(waiting[:i], waiting[i+1:]...)
			if err != nil {
				return err
			}
			continue
		}
		for j := range waiting {
			if waiting[j].Company == job.Company {
				waiting[j].running++
			}
		}
		if waiting[i].Abandoned {
			takeovers.Inc()
		}
		waiting = append(waiting[:i], waiting[i+1:]...)
		running.Go(func() {
			w.serve(ctx, job)
			<-slots
			look := func() {
				select {
				case again <- struct{}{}:
				default:
				}
			}
			look()
			if job.wait > 0 {
				time.AfterFunc(job.wait, look) // the job is due then
			}
		})
	}
	return nil
}

// Jobs of all companies: running ones first, then those that have waited longest.
const sqlSelectOpen = `SELECT company_id, id, type, lease_until > now(), lease_owner <> '', served_at, now() FROM jobs
WHERE ended_at IS NULL AND run_at <= now() ORDER BY lease_until > now() DESC, served_at, id LIMIT 1000`

type open struct {
	Company   tenant.ID
	ID        uuid.UUID
	Type      string
	Leased    bool
	Abandoned bool // if not leased: its last worker did not release it
	Served    time.Time
	Now       time.Time
	running   int // jobs of the company
}

// waiting lists the jobs that this worker could run.
func (w *Worker) waiting(ctx context.Context) ([]open, error) {
	rows, err := w.cfg.DB.Query(telemetry.Untraced(ctx), sqlSelectOpen)
	if err != nil {
		return nil, fmt.Errorf("select open jobs: %w", err)
	}
	var all []open
	running := map[tenant.ID]int{}
	var o open
	total, wait := 0, time.Duration(0)
	_, err = pgx.ForEachRow(rows, []any{&o.Company, &o.ID, &o.Type, &o.Leased, &o.Abandoned, &o.Served, &o.Now}, func() error {
		total++
		if o.Leased {
			running[o.Company]++
			return nil
		}
		wait = max(wait, o.Now.Sub(o.Served))
		if _, known := w.handlers[o.Type]; known {
			o.running = running[o.Company] // running ones come first
			all = append(all, o)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("select open jobs: %w", err)
	}
	openJobs.Set(float64(total))
	oldestWait.Set(wait.Seconds())
	return all, nil
}

// next picks the job to run: of the companies with the fewest running jobs, the one that has waited longest.
func next(waiting []open) (best int) {
	for i := range waiting {
		if waiting[i].running < waiting[best].running {
			best = i
		}
	}
	return best
}

var sqlClaimJob = jobs.Update(`SET status = 'processing', lease_owner = $3, lease_epoch = lease_epoch + 1,
 lease_until = now() + $4::BIGINT * INTERVAL '1 millisecond', tries = tries + 1
WHERE company_id = $1 AND id = $2 AND ended_at IS NULL AND lease_until <= now() AND run_at <= now()
RETURNING lease_epoch, type, caller, input, state, steps, done, total, result_bytes, tries, expires_at, now()`)

const sqlClaimed = `SELECT EXISTS (SELECT 1 FROM jobs WHERE company_id = $1 AND id = $2 AND lease_owner = $3 AND lease_epoch = $4)`

// held is a job under the lease of this worker.
type held struct {
	Task
	handler Handler
	epoch   int64
	tries   int
	expires time.Time     // when the record is deleted
	now     time.Time     // of the database, at the claim
	wait    time.Duration // before the next step
}

// claim takes the lease of a job; nil means that another worker was faster.
func (w *Worker) claim(ctx context.Context, o open) (*held, error) {
	h := &held{Task: Task{Company: o.Company, ID: o.ID}}
	var name string
	var by []byte
	claimed := func(ctx context.Context, q db.Querier) (done bool, err error) {
		err = q.QueryRow(ctx, sqlClaimed, o.Company, o.ID, w.cfg.Owner, h.epoch).Scan(&done)
		return done, err
	}
	err := w.cfg.DB.RunTx(telemetry.Untraced(ctx), "job.claim", func(ctx context.Context, tx *db.Tx) error {
		return tx.ReturningRow(ctx, sqlClaimJob, o.Company, o.ID, w.cfg.Owner, w.cfg.Lease.Milliseconds()).
			Scan(&h.epoch, &name, &by, &h.input, &h.state, &h.Steps, &h.Done, &h.Total, &h.Bytes, &h.tries, &h.expires, &h.now)
	}, db.ReadCommitted(), db.WithCommitCheck(claimed))
	if db.IsNoRows(err) {
		return nil, nil //nolint:nilnil // somebody else has it
	}
	if err != nil {
		return nil, fmt.Errorf("claim job %s: %w", o.ID, err)
	}
	var c caller
	if err := json.Unmarshal(by, &c); err != nil {
		return nil, fmt.Errorf("decode caller of job %s: %w", o.ID, err)
	}
	h.By, h.handler, h.Tries = c.of(o.Company), w.handlers[name], h.tries
	return h, nil
}

var (
	errLost    = errors.New("the job was taken over by another worker")
	errTimeout = apierr.New(http.StatusGatewayTimeout, "JOB_TIMEOUT", "the job did not end in time; start a smaller one")
	errGaveUp  = apierr.New(http.StatusInternalServerError, "INTERNAL_ERROR", "internal error; start the job again later, and quote its id to support if it persists")
)

// serve runs steps of a job for one slice.
func (w *Worker) serve(ctx context.Context, h *held) {
	work := context.WithoutCancel(ctx)
	log := w.log.With("job", h.ID, "type", h.handler.Name, "company_id", h.Company)
	defer func() {
		if p := recover(); p != nil {
			log.ErrorContext(work, "job panicked", "panic", p)
			w.end(work, log, w.retry(work, h))
		}
	}()
	switch {
	case !h.now.Before(h.expires.Add(-recordKept)):
		w.end(work, log, w.fail(work, h, errTimeout))
		return
	case h.tries > maxTries:
		w.end(work, log, w.fail(work, h, errGaveUp))
		return
	}
	for began := time.Now(); ; {
		ended, err := w.step(work, h)
		switch {
		case errors.Is(err, errLost):
			log.WarnContext(work, "job lost to another worker")
			return
		case err != nil:
			log.WarnContext(work, "step of a job failed", "tries", h.tries, "error", err)
			w.end(work, log, w.failed(work, h, err))
			return
		case ended:
			log.InfoContext(work, "job done", "processed", h.Done)
			return
		}
		if h.wait > 0 {
			return
		}
		if ctx.Err() != nil || time.Since(began) >= w.cfg.Slice {
			w.end(work, log, w.release(work, h, 0))
			return
		}
	}
}

// end logs that the outcome of a slice could not be stored; the lease expires then.
func (w *Worker) end(ctx context.Context, log *slog.Logger, err error) {
	if err != nil && !errors.Is(err, errLost) {
		log.WarnContext(ctx, "job not released; its lease will expire", "error", err)
	}
}

const sqlStepDone = `SELECT EXISTS (SELECT 1 FROM jobs WHERE company_id = $1 AND id = $2 AND steps > $3 AND lease_epoch = $4)`

// The lease of a job is extended by each step. Whoever took it over has another epoch.
var (
	sqlStoreStep = jobs.Update(`SET state = $4, done = $5, total = $6, result_bytes = result_bytes + $7, result_media = $8, steps = steps + 1, tries = 0,
 lease_until = now() + $9::BIGINT * INTERVAL '1 millisecond', updated_at = $10, summary = $11
WHERE company_id = $1 AND id = $2 AND lease_epoch = $3 AND ended_at IS NULL`)
	sqlEndJob = jobs.Update(`SET status = $4, error = $5, ended_at = $6, updated_at = $6, lease_until = $6
WHERE company_id = $1 AND id = $2 AND lease_epoch = $3 AND ended_at IS NULL`)
	sqlReleaseJob = jobs.Update(`SET lease_owner = '', lease_until = now(), served_at = now(), run_at = now() + $4::BIGINT * INTERVAL '1 millisecond'
WHERE company_id = $1 AND id = $2 AND lease_epoch = $3 AND ended_at IS NULL`)
)

// step runs and stores one step. It ends within half of the lease, so the lease holds until it is stored.
func (w *Worker) step(ctx context.Context, h *held) (ended bool, err error) {
	ctx, cancel := context.WithTimeout(tenant.With(ctx, h.Company), w.cfg.Lease/2)
	defer cancel()
	began := time.Now()
	store, err := h.handler.Step(ctx, h.Task)
	if err != nil {
		return false, err
	}
	failpoint.Pass("job.prepared")
	var p Progress
	check := func(ctx context.Context, q db.Querier) (done bool, err error) {
		err = q.QueryRow(ctx, sqlStepDone, h.Company, h.ID, h.Steps, h.epoch).Scan(&done)
		return done, err
	}
	opts := append([]db.Option{db.WithCommitCheck(check)}, h.handler.Tx...)
	if h.handler.TxOf != nil {
		opts = append(opts, h.handler.TxOf(h.Task)...)
	}
	for {
		err = w.cfg.DB.RunTx(ctx, "job.step", func(ctx context.Context, tx *db.Tx) error {
			var err error
			if p, err = store(ctx, tx); err != nil {
				return err
			}
			return w.queueStep(tx, h, p)
		}, opts...)
		var other *Otherwise
		if !errors.As(err, &other) {
			break
		}
		if store, err = other.Then(err); err != nil {
			break
		}
	}
	if err != nil {
		return false, err
	}
	failpoint.Pass("job.stored")
	stepDuration.WithLabelValues(h.handler.Name).Observe(time.Since(began).Seconds())
	h.Steps, h.Done, h.Total, h.Bytes, h.tries, h.wait = h.Steps+1, p.Done, p.Total, h.Bytes+int64(len(p.Result)), 0, p.Wait
	h.Tries = 1
	if p.End {
		countEnd(h, Done)
		return true, nil
	}
	h.state, err = json.Marshal(p.State)
	return false, err
}

func countEnd(h *held, status string) { ended.WithLabelValues(h.handler.Name, status).Inc() }

// queueStep stores the progress of a step with its effect.
func (w *Worker) queueStep(tx *db.Tx, h *held, p Progress) error {
	state, err := json.Marshal(p.State)
	if err != nil {
		return fmt.Errorf("encode state of job: %w", err)
	}
	var summary []byte
	if p.Summary != nil {
		if summary, err = json.Marshal(p.Summary); err != nil {
			return fmt.Errorf("encode summary of job: %w", err)
		}
	}
	var media *string
	if p.Media != "" {
		media = &p.Media
	}
	if len(p.Result) > 0 {
		addResult(tx, h.Task, p.Result)
	}
	tx.Queue(sqlStoreStep, h.Company, h.ID, h.epoch, state, p.Done, p.Total, len(p.Result), media, w.cfg.Lease.Milliseconds(), tx.Now(), summary).Expect(1, errLost)
	switch {
	case p.End:
		tx.Queue(sqlEndJob, h.Company, h.ID, h.epoch, Done, nil, tx.Now()).Expect(1, errLost)
		if !p.KeepParts {
			tx.Queue(sqlDeleteParts, h.Company, h.ID)
		}
	case p.Wait > 0:
		tx.Queue(sqlReleaseJob, h.Company, h.ID, h.epoch, p.Wait.Milliseconds()).Expect(1, errLost)
	}
	return nil
}

// failed ends a job with the error of a rule, and has the step repeated after any other error.
func (w *Worker) failed(ctx context.Context, h *held, err error) error {
	var rule *apierr.Error
	if errors.As(err, &rule) && rule.Status < http.StatusInternalServerError {
		return w.fail(ctx, h, rule)
	}
	return w.retry(ctx, h)
}

func (w *Worker) retry(ctx context.Context, h *held) error {
	stepFailures.WithLabelValues(h.handler.Name).Inc()
	if h.tries >= maxTries {
		return w.fail(ctx, h, errGaveUp)
	}
	return w.release(ctx, h, w.cfg.Retry<<max(h.tries-1, 0))
}

func (w *Worker) fail(ctx context.Context, h *held, why *apierr.Error) error {
	meta := why.Meta
	if meta == nil {
		meta = map[string]any{}
	}
	raw, err := json.Marshal(Failure{Code: why.Code, Message: why.Message, Meta: FailureMeta{meta}})
	if err != nil {
		return fmt.Errorf("encode error of job: %w", err)
	}
	return w.update(ctx, "job.fail", func(tx *db.Tx) {
		tx.Queue(sqlEndJob, h.Company, h.ID, h.epoch, Failed, raw, tx.Now()).Expect(1, errLost)
		tx.Queue(sqlDeleteParts, h.Company, h.ID)
	}, func() { countEnd(h, Failed) })
}

// release lets any worker go on with the job after a pause.
func (w *Worker) release(ctx context.Context, h *held, pause time.Duration) error {
	return w.update(ctx, "job.release", func(tx *db.Tx) {
		tx.Queue(sqlReleaseJob, h.Company, h.ID, h.epoch, pause.Milliseconds()).Expect(1, errLost)
	}, func() {})
}

func (w *Worker) update(ctx context.Context, name string, queue func(*db.Tx), done func()) error {
	ctx, cancel := context.WithTimeout(ctx, w.cfg.Lease/2)
	defer cancel()
	err := w.cfg.DB.RunTx(ctx, name, func(_ context.Context, tx *db.Tx) error { queue(tx); return nil }, db.ReadCommitted())
	if err == nil {
		done()
	}
	return err
}
