package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"reflect"
	"slices"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/binding"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
)

// BatchJob is the type of the jobs that make large batches; see docs/reference/jobs.md#batches. Its scopes are those of the records.
var BatchJob = job.Type{Name: "batch", Partial: true}

// partBytes is about how large the parts of the input of a job are. A step reads one.
const partBytes = 256 << 10

// BatchSource is a batch operation of the API for those who make its changes without a request, such as imports: with its
// validation, its rules and its results. [Batch] adds one for each, and [API.Batches] finds them.
//
// An import checks its rows by [BatchSource.Check], which changes nothing. It makes them by [BatchSource.Start], a job of the type
// [BatchJob], or in jobs of its own, whose steps are functions of [BatchSource.Store].
type BatchSource struct {
	Op
	Resource string       // such as products; see [Writes]
	Input    reflect.Type // struct of the fields of a body, as [record.PlanOf] and [ItemFields] take it
	Ops      []string     // operations that items may have
	BySKU    bool         // upserts may name the record by its SKU
	External bool         // upserts may name the record by its external id

	api   *API
	db    *db.DB
	tx    []db.Option
	parse func(by access.Caller, item BatchItem, strict bool) (change itemChange, ignored []string, err error)
}

func addBatch[F, T any](r *Routes, op Op, w Writes[F, T]) *BatchSource {
	s := &BatchSource{Op: op, Resource: w.Resource, Input: reflect.TypeFor[F](), BySKU: w.Find != nil, External: w.FindExternal != nil, api: r.api, db: r.db, tx: r.tx}
	for _, name := range w.ops() {
		s.Ops = append(s.Ops, fmt.Sprint(name))
	}
	s.parse = func(by access.Caller, item BatchItem, strict bool) (itemChange, []string, error) {
		p := itemParser[F, T]{Writes: w, reg: r.api.desc.Components.Schemas, by: by, strict: strict}
		change, err := p.parse(item)
		return change, p.ignored, err
	}
	if r.api.Batches()[s.Resource] != nil {
		panic("two batches of " + s.Resource)
	}
	r.api.batches = append(r.api.batches, s)
	return s
}

// Batches returns the batch operations of the API, by the name of their records.
func (a *API) Batches() map[string]*BatchSource {
	all := make(map[string]*BatchSource, len(a.batches))
	for _, b := range a.batches {
		all[b.Resource] = b
	}
	return all
}

// TxOptions are those of the transactions of the items, for the handler of a job that uses [BatchSource.Store].
func (s *BatchSource) TxOptions() []db.Option { return s.tx }

// Admits returns the 403 for a caller who may not call the operation.
func (s *BatchSource) Admits(by access.Caller) error {
	switch {
	case s.Scope != "" && !by.Allows(s.Scope, true):
		return access.ScopeMissing(s.Scope + ":write")
	case s.Component != "" && !by.Has(s.Component):
		return ComponentInactive(s.Component)
	}
	return nil
}

// fault is the error that clients see in place of err.
func (s *BatchSource) fault(ctx context.Context, err error) *apierr.Error {
	return s.api.server.Fault(ctx, err, "operation", s.ID)
}

var errChecked = errors.New("the items were only checked")

// Check returns the results that the items would have now, and changes nothing; first is the index of the first of them. Up to 50
// items are tried in one transaction, which is rolled back: later ones do not find what earlier ones would have stored. An error is
// one of the platform, which cannot tell now.
func (s *BatchSource) Check(ctx context.Context, by access.Caller, items []BatchItem, first int) ([]BatchResult, error) {
	all := s.prepare(s.newSlice(by, items, first), false, func(err error) *apierr.Error { return s.fault(ctx, err) })
	for i, size := 0, maxSlice; i < len(items); {
		sl := all.part(i, min(i+size, len(items)))
		err := s.db.RunTx(ctx, s.ID, func(ctx context.Context, tx *db.Tx) error {
			if err := sl.run(ctx, tx, nil); err != nil {
				return err
			}
			if err := tx.Flush(ctx); err != nil {
				return err
			}
			return errChecked
		}, s.tx...)
		switch {
		case errors.Is(err, errChecked):
			i, size = i+len(sl.items), sl.next()
		case len(sl.items) > 1:
			size = sl.smaller(statusOf(err))
		default:
			f := s.fault(ctx, err)
			if temporary(f) {
				return nil, err
			}
			sl.fail(0, f)
			i, size = i+1, 1
		}
	}
	return all.results, nil
}

// batchOrder is what a job is given.
type batchOrder struct {
	Resource string `json:"resource"`
	Strict   bool   `json:"strict"` // unknown fields are faults
}

// batchState is where a job goes on.
type batchState struct {
	Part    int          `json:"part"` // of the input
	Item    int          `json:"item"` // in the part
	Size    int          `json:"size"` // items of the next step
	Summary batchSummary `json:"summary"`
}

// batchSummary is the summary of a job.
type batchSummary struct {
	Resource      string   `json:"resource"`
	Succeeded     int      `json:"succeeded"`
	Failed        int      `json:"failed"`
	IgnoredFields []string `json:"ignoredFields"`
}

// maxIgnored is how many unknown fields a job names, and shows with every answer.
const maxIgnored = 20

// Start starts a job that makes the items, in the transaction of a request. The caller has called [BatchSource.Admits].
func (s *BatchSource) Start(ctx context.Context, tx *db.Tx, by access.Caller, items []BatchItem, strict bool) (job.Record, error) {
	admission, err := job.Admit(ctx, tx, s.db, by.Company)
	if err != nil {
		return job.Record{}, err
	}
	t := BatchJob
	t.Control = s.Scope
	return job.Start(ctx, tx, by.Unconditional(), admission, t, job.Options{
		Input: batchOrder{s.Resource, strict}, State: batchState{Size: maxSlice, Summary: batchSummary{Resource: s.Resource, IgnoredFields: []string{}}},
		Total: int64(len(items)), Resources: []string{s.Scope}, Parts: partsOf(items),
	})
}

// partsOf encodes items in parts of about [partBytes], each of which has as many items as a slice at most.
func partsOf(items []BatchItem) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for first := 0; first < len(items); {
			n := 0
			for size := 0; first+n < len(items) && n < maxSlice && size < partBytes; n++ {
				size += len(items[first+n].Body)
			}
			part, err := json.Marshal(items[first : first+n])
			if !yield(job.PackPart(part), err) {
				return
			}
			first += n
		}
	}
}

// accept starts the job of a large batch.
func (s *BatchSource) accept(ctx context.Context, call *Call, items []BatchItem) (*Reply[BatchResults], error) {
	call.status = http.StatusAccepted
	strict := call.req.handling() == binding.Strict
	return Mutate(ctx, s.db, call, s.ID, func(ctx context.Context, tx *db.Tx) (BatchResults, error) {
		r, err := s.Start(ctx, tx, call.Caller, items, strict)
		return BatchResults{job: &r}, err
	})
}

// BatchHandler makes the batches that are jobs. Its steps find the operations of the API that api returns.
func BatchHandler(api func() *API) job.Handler {
	find := func(t job.Task) (*BatchSource, batchOrder, error) {
		var order batchOrder
		if err := t.Input(&order); err != nil {
			return nil, order, err
		}
		s := api().Batches()[order.Resource]
		if s == nil {
			return nil, order, fmt.Errorf("no batch operation of %s", order.Resource)
		}
		return s, order, nil
	}
	return job.Handler{
		Type: BatchJob,
		Step: func(ctx context.Context, t job.Task) (job.Store, error) {
			s, order, err := find(t)
			if err != nil {
				return nil, err
			}
			return s.step(ctx, t, order)
		},
		TxOf: func(t job.Task) []db.Option {
			s, _, err := find(t)
			if err != nil {
				return nil
			}
			return s.tx
		},
	}
}

// step makes the next items of a job.
func (s *BatchSource) step(ctx context.Context, t job.Task, order batchOrder) (job.Store, error) {
	var at batchState
	if err := t.State(&at); err != nil {
		return nil, err
	}
	raw, err := t.Part(ctx, s.db, at.Part)
	if err != nil {
		return nil, err
	}
	var part []BatchItem
	if err := json.Unmarshal(raw, &part); err != nil {
		return nil, fmt.Errorf("decode items of a batch: %w", err)
	}
	size := at.Size
	if t.Tries > 1 {
		size = 1
	}
	items := part[at.Item:min(at.Item+size, len(part))]
	return s.Store(ctx, t.By, items, int(t.Done), order.Strict, func(_ *db.Tx, made BatchStep) (job.Progress, error) {
		next := at.after(made, len(part))
		lines, err := linesOf(made.Results)
		done := t.Done + int64(len(made.Results))
		return job.Progress{
			State: next, Done: done, Total: t.Total, End: done >= t.Total, Summary: next.Summary, Media: "application/x-ndjson", Result: lines,
		}, err
	}), nil
}

// after is where a job goes on after a step; the part has so many items.
func (at batchState) after(made BatchStep, items int) batchState {
	at.Item, at.Size = at.Item+len(made.Results), made.Next
	if at.Item >= items {
		at.Part, at.Item = at.Part+1, 0
	}
	for _, r := range made.Results {
		if r.Status < http.StatusBadRequest {
			at.Summary.Succeeded++
		} else {
			at.Summary.Failed++
		}
	}
	ignored := slices.Concat(at.Summary.IgnoredFields, made.Ignored)
	at.Summary.IgnoredFields = ignored[:min(len(ignored), maxIgnored)]
	return at
}

func linesOf(results []BatchResult) ([]byte, error) {
	var lines bytes.Buffer
	for _, r := range results {
		raw, err := jsontype.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("encode result of an item: %w", err)
		}
		lines.Write(raw)
		lines.WriteByte('\n')
	}
	return lines.Bytes(), nil
}

// BatchStep is what a transaction has made.
type BatchStep struct {
	Results []BatchResult // of the first of the items, at least of one
	Ignored []string      // their unknown fields, such as items[3].body.colour
	Next    int           // how many items the next step should try, up to 50
}

// Store returns a function that stores a step of a job: it makes the items, or as many of the first of them as one transaction can
// make, and calls done in that transaction. first is the index of the first item; pass 50 items at most, those of one step.
//
// An item that fails has its result, and the others are made. Only if the platform cannot work for a while the step fails, so that the
// worker repeats it.
func (s *BatchSource) Store(
	ctx context.Context, by access.Caller, items []BatchItem, first int, strict bool, done func(tx *db.Tx, made BatchStep) (job.Progress, error),
) job.Store {
	ctx = context.WithoutCancel(ctx) // only for logs, after ctx may have ended
	st := &batchStore{source: s, done: done, fault: func(err error) *apierr.Error { return s.fault(ctx, err) }}
	return st.store(s.prepare(s.newSlice(by.Unconditional(), items, first), strict, st.fault), false)
}

// batchStore makes the items of a step.
type batchStore struct {
	source *BatchSource
	fault  func(error) *apierr.Error
	done   func(*db.Tx, BatchStep) (job.Progress, error)
}

// store makes the items of a slice; again says that they were tried before.
func (b *batchStore) store(sl *batchSlice, again bool) job.Store {
	return func(ctx context.Context, tx *db.Tx) (job.Progress, error) {
		err := sl.run(ctx, tx, nil)
		if err == nil {
			err = tx.Flush(ctx)
		}
		if err == nil {
			return b.done(tx, BatchStep{Results: sl.results, Ignored: sl.ignored(), Next: sl.next()})
		}
		return job.Progress{}, &job.Otherwise{Err: err, Then: func(err error) (job.Store, error) { return b.otherwise(sl, again, err) }}
	}
}

// otherwise is what to do when a slice has failed: make a smaller one, or note that its only item has failed.
func (b *batchStore) otherwise(sl *batchSlice, again bool, err error) (job.Store, error) {
	switch {
	case len(sl.items) > 1:
		return b.store(sl.part(0, sl.smaller(statusOf(err))), false), nil
	case !again && sl.again(err):
		return b.store(sl, true), nil
	}
	f := b.fault(err)
	if temporary(f) {
		return nil, err
	}
	sl.fail(0, f)
	return func(_ context.Context, tx *db.Tx) (job.Progress, error) {
		return b.done(tx, BatchStep{Results: sl.results, Ignored: sl.ignored(), Next: 1})
	}, nil
}
