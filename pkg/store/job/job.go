// Package job runs work that takes longer than a request. A domain starts a job in the transaction of a request with
// [Start], and says by a [Handler] how the work is done, in steps. A [Worker] runs the steps of the jobs of all companies.
//
// Each step stores its effect and the place where the next one goes on in one transaction, which commits only while the
// worker holds the lease of the job. So a job survives the death of its worker: another one takes it over when the lease
// expires and goes on behind the last step that was stored, and every step takes effect exactly once.
//
// Large input goes into parts ([Options].Parts, [Task.Part]), a result grows by what the steps add to it and is read by [Result]. [Pause],
// [Resume] and [Cancel] act between two steps.
package job

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// MaxOpen is how many jobs of a company may be unfinished at a time; see docs/reference/limits.md#jobs.
const MaxOpen = 20

const (
	// ResultKept is how long the result of a job can be downloaded.
	ResultKept = 24 * time.Hour
	maxAge     = 24 * time.Hour     // a job that is not finished by then fails; see [Type.MaxAge]
	recordKept = 6 * 24 * time.Hour // from then on; longer than ResultKept
)

// Statuses of a job; see docs/reference/states.md#job.
const (
	Pending    = "pending"
	Processing = "processing"
	Paused     = "paused"
	Done       = "done"
	Failed     = "failed"
	Canceled   = "canceled"
)

// Type is a kind of job.
type Type struct {
	Name      string   // as clients see it, such as export
	Resources []string // scopes whose read right a token needs to see the jobs; [Start] may add more

	Control string        // scope whose write right pauses and cancels the jobs; "" = they cannot be stopped
	Partial bool          // the result of a job that fails or is canceled is what its steps have added until then
	MaxAge  time.Duration // a job that is not finished by then fails; 24 h
}

// Record is a job as clients see it.
type Record struct {
	ID          uuid.UUID        `json:"id" format:"uuid"`
	CompanyID   tenant.ID        `json:"companyId" format:"uuid"`
	Type        string           `json:"type" doc:"what the job does, such as export"`
	Status      string           `json:"status" enum:"pending,processing,paused,done,failed,canceled"`
	Progress    int              `json:"progress" minimum:"0" maximum:"100" doc:"percent; 100 once the job is done"`
	Processed   int64            `json:"processed" doc:"records processed so far"`
	Total       *int64           `json:"total" nullable:"true" doc:"records to process, as counted; null while that is not known"`
	Summary     *jsontype.Object `json:"summary" nullable:"true" doc:"what the job has found or done so far; its fields depend on the type, null for types without"`
	ResultURL   *string          `json:"resultUrl" nullable:"true" doc:"where the result can be downloaded with the API token; null while there is none"`
	ExpiresAt   *jsontype.Time   `json:"expiresAt" nullable:"true" doc:"until when the result can be downloaded"`
	Error       *Failure         `json:"error" doc:"why the job failed; null otherwise"`
	CreatedAt   jsontype.Time    `json:"createdAt"`
	UpdatedAt   jsontype.Time    `json:"updatedAt"`
	CompletedAt *jsontype.Time   `json:"completedAt" nullable:"true"`
}

// Failure says why a job failed, as an error response does.
type Failure struct {
	Code    string      `json:"code"`
	Message string      `json:"message"`
	Meta    FailureMeta `json:"meta"`
}

// SchemaName implements [jsontype.Named].
func (Failure) SchemaName() string { return "JobFailure" }

// FailureMeta are the details of a failure; the keys depend on its code. It is a schema of its own: generators of clients name an
// object within one that may be null twice.
type FailureMeta struct{ Values map[string]any }

// MarshalJSON implements [json.Marshaler].
func (m FailureMeta) MarshalJSON() ([]byte, error) { return json.Marshal(m.Values) }

// UnmarshalJSON implements [json.Unmarshaler].
func (m *FailureMeta) UnmarshalJSON(raw []byte) error { return json.Unmarshal(raw, &m.Values) }

// SchemaName implements [jsontype.Named].
func (FailureMeta) SchemaName() string { return "JobFailureMeta" }

// TransformSchema implements [huma.SchemaTransformer].
func (FailureMeta) TransformSchema(huma.Registry, *huma.Schema) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{}}
}

// RecordID is the last segment of the job's address.
func (r Record) RecordID() string { return r.ID.String() }

// Task is a job as its steps see it.
type Task struct {
	Company tenant.ID
	ID      uuid.UUID
	By      access.Caller // who started the job, with the rights of that moment
	Steps   int64         // stored so far
	Done    int64         // records processed by them
	Total   int64         // records to process; 0 = not known
	Bytes   int64         // size of the result so far, before compression
	Tries   int           // how often a worker has taken the job since the last step that was stored; above 1, a step has failed
	input   []byte
	state   []byte
}

// Input decodes what [Start] was given.
func (t Task) Input(into any) error { return decode(t.input, into, "input") }

// State decodes the state that the last step left, or that [Start] was given.
func (t Task) State(into any) error { return decode(t.state, into, "state") }

func decode(raw []byte, into any, what string) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("decode %s of job: %w", what, err)
	}
	return nil
}

// Progress is where a job stands after a step.
type Progress struct {
	State any   // where the next step goes on, as JSON
	Done  int64 // records processed by all steps so far
	Total int64 // records to process; 0 = not known
	End   bool  // the job is done

	Wait    time.Duration // at least so long until the next step; others get their turn meanwhile
	Summary any           // for clients, as a JSON object; nil = none

	Media  string // media type of the result; "" = there is none
	Result []byte // what the step adds to the result

	KeepParts bool // at the end, the parts of the input are kept until they expire, for [Options.PartsOf]
}

// Store stores the effect of a step. It may run several times, as the function of [db.DB.RunTx] does.
type Store func(ctx context.Context, tx *db.Tx) (Progress, error)

// Otherwise is the error of a [Store] that has something else to store in place of what failed. When the transaction is rolled
// back, and the database would not accept another try, the worker calls Then with the error and stores what it returns.
type Otherwise struct {
	Err  error
	Then func(err error) (Store, error)
}

func (o *Otherwise) Error() string { return o.Err.Error() }
func (o *Otherwise) Unwrap() error { return o.Err }

// Handler does the work of a type. Step prepares the next step, outside of a transaction, and returns the function that
// stores it. A step takes seconds at most, and little memory. An [apierr.Error] fails the job with its code; after other
// errors the step is tried again, with growing pauses.
type Handler struct {
	Type
	Step func(ctx context.Context, t Task) (Store, error)
	Tx   []db.Option              // of the transactions of the steps
	TxOf func(t Task) []db.Option // further ones, of one job; nil = none
}

// Options of [Start].
type Options struct {
	Input     any      // what the handler needs, as JSON
	State     any      // where the first step starts; nil = {}
	Total     int64    // records to process; 0 = not known
	Resources []string // scopes that reading the job needs, besides those of its type
	// Parts is input that is too large for Input, each by [PackPart], for [Task.Part]; it is deleted at the end of the job. It is
	// made again when the transaction is.
	Parts iter.Seq2[[]byte, error]
	// PartsOf is a job of the company whose kept parts become those of this one, instead of Parts. Without any, [Start] returns [ErrNoParts].
	PartsOf uuid.UUID
}

const (
	jobs         = db.Table("jobs")
	jobChunks    = db.Table("job_chunks")
	jobCompanies = db.Table("job_companies")
	jobInputs    = db.Table("job_inputs")
)

const sqlSelectCompany = `SELECT (SELECT count(*) FROM jobs WHERE company_id = $1 AND ended_at IS NULL), coalesce((SELECT started FROM job_companies WHERE company_id = $1), 0)`

var (
	sqlCountStarted = jobCompanies.Insert(`(company_id, started) VALUES ($1, $2 + 1)
ON CONFLICT (company_id) DO UPDATE SET started = job_companies.started + 1 WHERE job_companies.started = $2`)
	sqlInsertJob = jobs.Insert(`(company_id, id, type, status, resources, caller, input, state, steps, done, total, result_bytes, tries,
 run_at, served_at, lease_owner, lease_epoch, lease_until, created_at, updated_at, expires_at, control, keeps_result)
VALUES ($1, $2, $3, 'pending', $4, $5, $6, $7, 0, 0, $8, 0, 0, $9, $9, '', 0, $9, $9, $9, $10, $11, $12)`)
)

var errTooMany = apierr.StateConflict("JOB_LIMIT_REACHED", "the company has %d unfinished jobs; wait until one has ended", MaxOpen).With("limit", MaxOpen)

// Admission lets a transaction start one job. It holds as long as the company starts no other.
type Admission struct{ started int64 }

// Admit precedes what has to be read before a job can start, such as a count. It refuses a company that has [MaxOpen]
// unfinished jobs, and lets one request of a company in this process pass at a time: the others wait without a connection
// until its transaction has ended. Call it before the first statement of the transaction; q is the database itself, because a
// transaction that reads jobs would fail with each step that others make meanwhile.
func Admit(ctx context.Context, tx *db.Tx, q db.Querier, company tenant.ID) (a Admission, err error) {
	if err := tx.LockInProcess(ctx, "jobs", company); err != nil {
		return a, err
	}
	var open int
	if err := q.QueryRow(ctx, sqlSelectCompany, company).Scan(&open, &a.started); err != nil {
		return a, fmt.Errorf("count open jobs: %w", err)
	}
	if open >= MaxOpen {
		return a, errTooMany
	}
	return a, nil
}

// Start adds a job in the transaction of a request that [Admit] let pass.
func Start(ctx context.Context, tx *db.Tx, by access.Caller, a Admission, t Type, o Options) (Record, error) {
	if o.State == nil {
		o.State = struct{}{}
	}
	var encoded [3][]byte
	for i, v := range []any{callerOf(by), o.Input, o.State} {
		raw, err := json.Marshal(v)
		if err != nil {
			return Record{}, fmt.Errorf("encode job %s: %w", t.Name, err)
		}
		encoded[i] = raw
	}
	now := tx.Now()
	r := Record{ID: record.NewID(), CompanyID: by.Company, Type: t.Name, Status: Pending, CreatedAt: jsontype.At(now), UpdatedAt: jsontype.At(now)}
	resources := append(append([]string{}, t.Resources...), o.Resources...)
	if o.Total > 0 {
		r.Total = &o.Total
	}
	var control *string
	if t.Control != "" {
		control = &t.Control
	}
	tx.Queue(sqlCountStarted, by.Company, a.started).Expect(1, db.ErrStale)
	tx.Queue(sqlInsertJob, by.Company, r.ID, t.Name, resources, encoded[0], encoded[1], encoded[2], o.Total, now,
		now.Add(cmp.Or(t.MaxAge, maxAge)+recordKept), control, t.Partial)
	if err := addParts(ctx, tx, r, o, now.Add(cmp.Or(t.MaxAge, maxAge)+time.Hour)); err != nil {
		return Record{}, err
	}
	started.WithLabelValues(t.Name).Inc()
	return r, nil
}

// caller is what a job remembers of who started it.
type caller struct {
	Actor         uuid.UUID         `json:"actor"`
	TokenID       uuid.UUID         `json:"tokenId"`
	Scopes        access.Scopes     `json:"scopes"`
	Components    access.Components `json:"components"`
	Currency      string            `json:"currency"`
	CountryPrefix string            `json:"countryPrefix"`
	Settings      access.Settings   `json:"settings"`
}

func callerOf(by access.Caller) caller {
	return caller{
		Actor: by.Actor, TokenID: by.TokenID, Scopes: by.Scopes, Components: by.Components, Currency: by.Currency, CountryPrefix: by.CountryPrefix,
		Settings: by.Settings,
	}
}

func (c caller) of(company tenant.ID) access.Caller {
	return access.Caller{Principal: &access.Principal{
		Company: company, Actor: c.Actor, TokenID: c.TokenID, Scopes: c.Scopes, Components: c.Components, Currency: c.Currency,
		CountryPrefix: c.CountryPrefix, Settings: c.Settings, InJob: true,
	}}
}

const (
	jobColumns   = `type, status, resources, control, keeps_result, done, total, summary::TEXT, error, result_media, result_bytes, created_at, updated_at, ended_at`
	sqlSelectJob = `SELECT ` + jobColumns + ` FROM jobs WHERE company_id = $1 AND id = $2`
)

// Found is a job with what is needed to show its result.
type Found struct {
	Record
	Media string // of the result; "" = there is none
	Bytes int64  // of the result

	control   *string
	resources []string
}

// Get reads a job. One that the caller may not see is not confirmed to exist.
func Get(ctx context.Context, q db.Querier, by access.Caller, id uuid.UUID) (Found, error) {
	f := Found{Record: Record{ID: id, CompanyID: by.Company}}
	err := f.scan(q.QueryRow(ctx, sqlSelectJob, by.Company, id))
	if err != nil && !db.IsNoRows(err) {
		return f, fmt.Errorf("select job: %w", err)
	}
	if err != nil || !f.visible(by) {
		return f, apierr.NotFound("JOB", id.String())
	}
	return f, nil
}

// visible reports whether the caller may see the job: it may read all that the job works on.
func (f *Found) visible(by access.Caller) bool {
	return !slices.ContainsFunc(f.resources, func(r string) bool { return !by.Allows(r, false) })
}

// scan reads the columns of a job, and those before them into first.
func (f *Found) scan(row pgx.Row, first ...any) error {
	var (
		total   int64
		failure []byte
		media   *string
		partial bool
	)
	err := row.Scan(append(first, &f.Type, &f.Status, &f.resources, &f.control, &partial, &f.Processed, &total, &f.Summary, &failure, &media,
		&f.Bytes, &f.CreatedAt, &f.UpdatedAt, &f.CompletedAt)...)
	if err != nil {
		return err
	}
	if failure != nil {
		if err := json.Unmarshal(failure, &f.Error); err != nil {
			return fmt.Errorf("decode error of job: %w", err)
		}
	}
	f.count(total)
	if media != nil && (f.Status == Done || partial && f.CompletedAt != nil) {
		f.Media = *media
		until := jsontype.At(f.CompletedAt.Std().Add(ResultKept))
		f.ExpiresAt = &until
	}
	return nil
}

// The last jobs of a company are looked at by their ids, which hold their time.
const sqlSelectRecent = `SELECT j.id, j.status, j.done, j.total, j.summary, j.error, j.input, j.created_at, j.updated_at, j.ended_at FROM (
 SELECT id, type, status, done, total, summary::TEXT AS summary, error, input::TEXT AS input, created_at, updated_at, ended_at FROM jobs
 WHERE company_id = $1 ORDER BY company_id DESC, id DESC LIMIT $3) AS j
WHERE j.type = $2::TEXT OR j.type LIKE $2::TEXT || '/%' ORDER BY j.id DESC`

// Given is a job with what it was started with.
type Given struct {
	Record
	Input json.RawMessage
}

// maxRecent is how many of the last jobs of a company are looked at.
const maxRecent = 200

// Recent lists the jobs of a type among the last 200 of the caller's company, newest first. Which of them the caller may see is up
// to the owner of the type.
func Recent(ctx context.Context, q db.Querier, by access.Caller, t Type) ([]Given, error) {
	return db.Collect(ctx, q, "select recent jobs", func(row pgx.CollectableRow) (Given, error) {
		g := Given{Record: Record{CompanyID: by.Company, Type: t.Name}}
		var total int64
		var failure []byte
		err := row.Scan(&g.ID, &g.Status, &g.Processed, &total, &g.Summary, &failure, &g.Input, &g.CreatedAt, &g.UpdatedAt, &g.CompletedAt)
		if err == nil && failure != nil {
			err = json.Unmarshal(failure, &g.Error)
		}
		g.count(total)
		return g, err
	}, sqlSelectRecent, by.Company, t.Name, maxRecent)
}

const sqlSelectUnfinished = `SELECT company_id, id, status, done, total, summary::TEXT, created_at, updated_at FROM jobs
WHERE ended_at IS NULL AND type = $1 ORDER BY created_at, id LIMIT $2`

// Unfinished lists jobs of a type of all companies, the oldest first. For operators.
func Unfinished(ctx context.Context, q db.Querier, t Type, limit int) ([]Record, error) {
	return db.Collect(ctx, q, "select unfinished jobs", func(row pgx.CollectableRow) (Record, error) {
		r := Record{Type: t.Name}
		var total int64
		err := row.Scan(&r.CompanyID, &r.ID, &r.Status, &r.Processed, &total, &r.Summary, &r.CreatedAt, &r.UpdatedAt)
		r.count(total)
		return r, err
	}, sqlSelectUnfinished, t.Name, limit)
}

// count notes how many records there are.
func (r *Record) count(total int64) {
	r.Progress = percent(r.Status, r.Processed, total)
	if total > 0 {
		r.Total = &total
	}
}

// percent never shows 100 before the end: the total may have been counted before records were added.
func percent(status string, done, total int64) int {
	switch {
	case status == Done:
		return 100
	case total <= 0:
		return 0
	}
	return int(min(done*100/total, 99))
}

// ErrResultGone is the error for a result that is no longer kept.
var ErrResultGone = apierr.New(http.StatusGone, "JOB_RESULT_EXPIRED", "the result of the job is kept for 24 hours after its end; start the job again")
