package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/binding"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/idempotency"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// batchRequest makes the items of a batch within its request.
type batchRequest struct {
	source   *BatchSource
	call     *Call
	all      *batchSlice
	prepared int                 // items that are validated. Those that are made, too, hold nothing any more
	done     map[int]BatchResult // results of items that earlier requests with the same key have made
}

func (s *BatchSource) answer(ctx context.Context, call *Call, items []BatchItem) (*Reply[BatchResults], error) {
	b := &batchRequest{source: s, call: call, all: s.newSlice(call.Caller, items, 0)}
	if err := b.readDone(ctx, len(items)); err != nil {
		return nil, err
	}
	err := b.run(ctx)
	call.req.showIgnored(b.all.ignored())
	if err != nil {
		return nil, err
	}
	for _, r := range b.all.results {
		if r.Status >= http.StatusInternalServerError {
			call.claim.Incomplete()
		}
	}
	return OK(BatchResults{Results: b.all.results}), nil
}

func (b *batchRequest) fault(ctx context.Context, err error) *apierr.Error {
	r := b.call.req
	return r.api.server.Fault(ctx, err, "method", r.op.Method, "route", r.op.base+r.op.Path, "request_id", r.id)
}

// readDone reads the results of those of the items that earlier requests with the same key have made.
func (b *batchRequest) readDone(ctx context.Context, count int) error {
	stored, err := b.call.claim.DoneItems(ctx, b.source.db, count)
	if err != nil {
		return err
	}
	b.done = make(map[int]BatchResult, len(stored))
	for _, raw := range stored {
		var result BatchResult
		if err := json.Unmarshal(raw, &result); err != nil {
			return fmt.Errorf("decode the stored result of an item: %w", err)
		}
		b.done[result.Index] = result
	}
	return nil
}

// part validates the items from one to another, unless they are already, and returns their slice.
func (b *batchRequest) part(ctx context.Context, from, to int) *batchSlice {
	if first := max(from, b.prepared); first < to {
		b.source.prepare(b.all.part(first, to), b.call.req.handling() == binding.Strict, func(err error) *apierr.Error { return b.fault(ctx, err) })
		b.prepared = to
	}
	return b.all.part(from, to)
}

// run makes the items in slices.
func (b *batchRequest) run(ctx context.Context) error {
	n, size, again := len(b.all.items), maxSlice, false
	for i := 0; i < n; {
		if stored, ok := b.done[i]; ok {
			b.all.results[i] = stored
			i++
			continue
		}
		began := time.Now()
		sl := b.part(ctx, i, b.end(i, size))
		err := b.store(ctx, sl)
		switch {
		case err == nil:
			clear(sl.changes)
			i, size, again = i+len(sl.items), sl.next(), false
			if i < n && sl.bytes() > largeSlice/2 {
				giveWay(ctx, time.Since(began))
			}
			continue
		case errors.Is(err, idempotency.ErrItemDone):
			if err := b.readDone(ctx, n); err != nil {
				return err
			}
			continue
		case errors.Is(err, db.ErrOutcomeUnknown): // a repeat with the key finds out
		case len(sl.items) > 1:
			size = sl.smaller(statusOf(err))
			continue
		case !again && sl.again(err):
			again = true
			continue
		}
		f := b.fault(ctx, err)
		for j, change := range sl.changes {
			if change != nil {
				sl.fail(j, f)
			}
		}
		clear(sl.changes)
		i, size, again = i+len(sl.items), 1, false
		if temporary(f) {
			b.skip(ctx, i, f)
			return nil
		}
	}
	return nil
}

// statusOf is the status that clients see for err. It logs nothing.
func statusOf(err error) int {
	if f, ok := apierr.As(err); ok {
		return f.Status
	}
	return http.StatusInternalServerError
}

// end is where a slice of up to size items from i on ends: when its items are large, or before the next item that is done.
func (b *batchRequest) end(i, size int) int {
	end := i + 1
	for bytes := len(b.all.items[i].Body); end < len(b.all.items) && end-i < size && bytes < largeSlice; end++ {
		if _, ok := b.done[end]; ok {
			break
		}
		bytes += len(b.all.items[end].Body)
	}
	return end
}

// giveWay waits as long as a large slice took. Its processors and disks work for others meanwhile, whose requests would wait for them
// all through a large batch; see BenchmarkNeighbour.
func giveWay(ctx context.Context, took time.Duration) {
	defer cputime.Wait()()
	pause := time.NewTimer(took)
	defer pause.Stop()
	select {
	case <-ctx.Done(): // the next slice says so
	case <-pause.C:
	}
}

// skip fails the items from one on, because the platform cannot work now.
func (b *batchRequest) skip(ctx context.Context, from int, f *apierr.Error) {
	for i := from; i < len(b.all.items); i++ {
		if stored, ok := b.done[i]; ok {
			b.all.results[i] = stored
			continue
		}
		sl := b.part(ctx, i, i+1)
		if sl.changes[0] != nil {
			sl.results[0] = BatchResult{
				Index: i, Status: f.Status, ID: sl.items[0].id(), Code: f.Code, Message: "the item was not attempted, because the one before failed; send it again",
			}
		}
		clear(sl.changes)
	}
}

// store makes the items of a slice in a transaction, with a marker for each.
func (b *batchRequest) store(ctx context.Context, sl *batchSlice) error {
	first := sl.first()
	if first == len(sl.items) {
		return nil
	}
	if len(sl.items) > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, sliceWithin)
		defer cancel()
	}
	return b.source.db.RunTx(ctx, b.source.ID, func(ctx context.Context, tx *db.Tx) error {
		return sl.run(ctx, tx, func(tx *db.Tx, result BatchResult) error {
			raw, err := jsontype.Marshal(result)
			b.call.claim.StoreItemIn(tx, result.Index, result.Status, raw)
			return err
		})
	}, append(b.call.claim.ItemTxOptions(sl.results[first].Index), b.source.tx...)...)
}
