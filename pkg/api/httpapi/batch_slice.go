package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const (
	maxSlice    = 50               // items in one transaction
	largeSlice  = 256 << 10        // bytes of their bodies after which a slice of a request ends
	sliceWithin = 10 * time.Second // for a slice of several items; then its items are made alone
)

// batchSlice holds items of a batch that are made in one transaction, in their order. An item must not undo the others: when a
// transaction fails, its items are made in smaller slices, down to single ones. So the results, the numbers and the events are
// those of items that are each made alone.
type batchSlice struct {
	items   []BatchItem
	changes []itemChange  // nil for an item that is not valid: its result is known
	results []BatchResult // of the items that are not valid, and of those that were made
	unknown [][]string    // fields of each item that are ignored, such as items[3].body.colour
	at      int           // item that was being made; all of them = none was
	by      access.Caller
	path    string
}

// newSlice returns the slice of items that are not valid until they are prepared. first is the index of the first one in the batch.
func (s *BatchSource) newSlice(by access.Caller, items []BatchItem, first int) *batchSlice {
	sl := &batchSlice{
		items: items, changes: make([]itemChange, len(items)), results: make([]BatchResult, len(items)), unknown: make([][]string, len(items)),
		at: len(items), by: by, path: s.Path,
	}
	for i, item := range items {
		sl.results[i] = BatchResult{Index: first + i, ID: item.id()}
	}
	return sl
}

// prepare validates the items of a slice.
func (s *BatchSource) prepare(sl *batchSlice, strict bool, fault func(error) *apierr.Error) *batchSlice {
	for i, item := range sl.items {
		change, ignored, err := s.parse(sl.by, item, strict)
		if sl.changes[i] = change; err != nil {
			sl.changes[i] = nil
			sl.fail(i, fault(err))
		}
		for _, name := range ignored {
			name = fmt.Sprintf("items[%d].%s", sl.results[i].Index, name)
			if !slices.Contains(sl.unknown[i], name) { // an upsert is parsed twice
				sl.unknown[i] = append(sl.unknown[i], name)
			}
		}
	}
	return sl
}

// ignored lists the unknown fields of the items, not more than a response lists.
func (sl *batchSlice) ignored() (names []string) {
	for _, of := range sl.unknown {
		names = append(names, of[:min(len(of), apierr.MaxListed-len(names))]...)
	}
	return names
}

// part is the slice of the items from one to another. It shares their results.
func (sl *batchSlice) part(from, to int) *batchSlice {
	return &batchSlice{
		items: sl.items[from:to], changes: sl.changes[from:to], results: sl.results[from:to], unknown: sl.unknown[from:to], at: to - from, by: sl.by, path: sl.path,
	}
}

// first is the index in the slice of the first item that is valid; none is the number of items.
func (sl *batchSlice) first() int {
	for i, change := range sl.changes {
		if change != nil {
			return i
		}
	}
	return len(sl.changes)
}

// run makes the items in a transaction. made is called after each.
func (sl *batchSlice) run(ctx context.Context, tx *db.Tx, made func(*db.Tx, BatchResult) error) error {
	sl.at = len(sl.items)
	if len(sl.items) > 1 {
		// Batches that change the same records in another order would deadlock. Single changes of them wait in the database.
		if err := tx.LockInProcess(ctx, "batch", sl.by.Company, sl.path); err != nil {
			return err
		}
		tx.ReadsMore()
	}
	for i, change := range sl.changes {
		if change == nil {
			continue
		}
		sl.at = i
		result, err := change(ctx, tx)
		if err != nil {
			return err
		}
		result.Index = sl.results[i].Index
		sl.results[i] = result
		if result.ID == nil {
			sl.results[i].ID = sl.items[i].id()
		}
		if made == nil {
			continue
		}
		if err := made(tx, sl.results[i]); err != nil {
			return err
		}
	}
	sl.at = len(sl.items)
	return nil
}

// smaller is how many of the items to try after the slice has failed: those before the one that failed, if that is known. After an
// error of the platform the items are tried one by one.
func (sl *batchSlice) smaller(status int) int {
	switch n := len(sl.items); {
	case status >= http.StatusInternalServerError:
		return 1
	case sl.at < n:
		return max(sl.at, 1)
	default:
		return max(n/2, 1)
	}
}

// bytes is the size of the bodies of all items.
func (sl *batchSlice) bytes() (n int) {
	for _, item := range sl.items {
		n += len(item.Body)
	}
	return n
}

// next is how many items to try after this slice was made: twice as many. So a batch with many faults is not made twice.
func (sl *batchSlice) next() int { return min(2*len(sl.items), maxSlice) }

// fail sets the result of an item that has failed.
func (sl *batchSlice) fail(i int, f *apierr.Error) {
	listed, _ := transport.ListedFaults(f.Fields)
	texts := []string{f.Message}
	if len(listed) > 0 {
		texts = nil
	}
	for _, field := range listed {
		texts = append(texts, field.Message)
	}
	sl.results[i] = BatchResult{
		Index: sl.results[i].Index, Status: f.Status, ID: sl.items[i].id(), Code: f.Code, Message: strings.Join(texts, "; "), Errors: listed, Meta: f.Meta,
	}
}

// again reports whether the only item of the slice is an upsert whose record another request may have created meanwhile.
func (sl *batchSlice) again(err error) bool {
	return sl.items[0].Op == opUpsert && overtaken(err, false)
}

// temporary reports whether a later try may succeed.
func temporary(f *apierr.Error) bool {
	return f.Status == http.StatusServiceUnavailable || f.Status == http.StatusGatewayTimeout
}
