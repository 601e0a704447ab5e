package resource_test

import (
	"context"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// parcel is a document: it lies in the table of suppliers, its goods in that of the lines of receipts.
type parcel[L any] struct {
	record.Key
	Name  string  `json:"name" search:"text"`
	Note  *string `json:"note"`
	Total int64   `json:"total" db:"-,as=total"`
	Lines []L     `json:"lines" db:"-"`
	record.Meta
}

func (p *parcel[L]) Derive() { p.Total = int64(len(p.Lines)) }

// good is a line of a parcel.
type good struct {
	ID        uuid.UUID `json:"id"`
	SortOrder int32     `json:"sortOrder"`
	Product   uuid.UUID `json:"product" db:"product_id"`
	Name      string    `json:"name" db:"product_name"`
	SKU       string    `json:"sku" db:"product_sku"`
	Note      *string   `json:"note"`
	Qty       money.Qty `json:"qty"`
	Cost      int64     `json:"cost" db:"unit_cost"`
	Amount    int64     `json:"amount"`
	Stock     []string  `json:"stock"`
}

// labelled is a good with one more field. It costs this line and one in a migration: variant_attributes TEXT.
type labelled struct {
	good
	Labels map[string]string `json:"labels" db:"variant_attributes"`
}

var (
	goods         = resource.LinesOf[good]("receipt_lines", "receipt_id")
	parcels       = resource.Of[parcel[good]]("suppliers", "SUPPLIER", goods)
	parcelMade    = event.New[parcel[good]]("parcel.created", "A parcel was made.")
	parcelChanged = event.WithChanges[parcel[good]]("parcel.updated", "A parcel was changed.")
	parcelGone    = event.New[parcel[good]]("parcel.deleted", "A parcel was deleted.")

	labels          = resource.LinesOf[labelled]("receipt_lines", "receipt_id")
	labelledParcels = resource.Of[parcel[labelled]]("suppliers", "SUPPLIER", labels)
	labelledMade    = event.New[parcel[labelled]]("parcel.created", "A parcel was made.")
	labelledChanged = event.WithChanges[parcel[labelled]]("parcel.updated", "A parcel was changed.")
)

func aGood(i int32, name string) good {
	return good{ID: record.NewID(), SortOrder: i, Product: uuid.New(), Name: name, SKU: "S", Qty: money.Units(2), Cost: 3, Amount: 6, Stock: []string{name}}
}

// writes notes the statements of queued writes, with their arguments. Those of a transaction that begins again, because it met
// another one, do not count.
type writes struct {
	mu        sync.Mutex
	all       []pgx.TraceBatchQueryData
	committed int // of all
}

func (w *writes) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (w *writes) TraceQueryEnd(_ context.Context, _ *pgx.Conn, q pgx.TraceQueryEndData) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if q.Err == nil && q.CommandTag.String() == "COMMIT" {
		w.committed = len(w.all)
	}
}

func (w *writes) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (w *writes) TraceBatchQuery(_ context.Context, _ *pgx.Conn, q pgx.TraceBatchQueryData) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if strings.HasPrefix(q.SQL, "begin isolation level") {
		w.all = w.all[:w.committed]
	}
	w.all = append(w.all, q)
	if q.SQL == "commit" && q.Err == nil {
		w.committed = len(w.all)
	}
}

func (w *writes) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// rows returns how many rows of lines were inserted and deleted since the last call.
func (w *writes) rows() (inserted, deleted int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, q := range w.all {
		switch {
		case strings.HasPrefix(q.SQL, "INSERT INTO receipt_lines"):
			inserted += reflect.ValueOf(q.Args[2]).Len()
		case strings.HasPrefix(q.SQL, "DELETE FROM receipt_lines"):
			deleted += reflect.ValueOf(q.Args[2]).Len()
		}
	}
	w.all, w.committed = nil, 0
	return inserted, deleted
}

// watched is setup on a database whose writes are noted.
func watched(t *testing.T) (kit, *writes) {
	t.Helper()
	w := &writes{}
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), MaxConns: 2, QueryTracer: w})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	f := setup(t)
	f.db = d
	return f, w
}

func TestLinesAreWrittenWithTheirDocument(t *testing.T) {
	t.Parallel()
	f, w := watched(t)
	var p parcel[good]
	require.NoError(t, f.tx(func(ctx context.Context, tx *db.Tx) (err error) {
		p, err = parcels.Create(ctx, tx, f.by, parcel[good]{Name: "one", Lines: []good{aGood(0, "a"), aGood(1, "b"), aGood(2, "c")}}, parcelMade)
		return err
	}))
	read := func() parcel[good] {
		t.Helper()
		got, err := parcels.Get(t.Context(), f.db, f.by.Company, p.ID)
		require.NoError(t, err)
		return got
	}
	require.Equal(t, p, read())
	require.EqualValues(t, 3, p.Total)
	inserted, deleted := w.rows()
	require.Equal(t, []int{3, 0}, []int{inserted, deleted})

	change := func(mutate func(before parcel[good], v *parcel[good])) (out parcel[good]) {
		t.Helper()
		require.NoError(t, f.tx(func(ctx context.Context, tx *db.Tx) (err error) {
			out, err = parcels.Change(ctx, tx, f.by, p.ID, func(before parcel[good], v *parcel[good]) error { mutate(before, v); return nil }, parcelChanged)
			return err
		}))
		require.Equal(t, out, read())
		return out
	}
	for _, step := range []struct {
		what              string
		inserted, deleted int
		changed           []any // fields of the event; nil = none
		mutate            func(before parcel[good], v *parcel[good])
	}{
		{"nothing", 0, 0, nil, func(_ parcel[good], v *parcel[good]) { v.Lines[0].Stock = []string{"a"} }},
		{"only the header", 0, 0, []any{"name"}, func(_ parcel[good], v *parcel[good]) { v.Name = "two" }},
		{"a line in place", 1, 1, []any{"lines"}, func(before parcel[good], v *parcel[good]) {
			v.Lines[1].Amount = 7
			require.EqualValues(t, 6, before.Lines[1].Amount, "the rule sees the lines as they were")
		}},
		{"a part of a line", 1, 1, []any{"lines"}, func(_ parcel[good], v *parcel[good]) { v.Lines[2].Stock = []string{"c", "d"} }},
		{"one more", 1, 0, []any{"total", "lines"}, func(_ parcel[good], v *parcel[good]) { v.Lines = append(v.Lines, aGood(3, "d")) }},
		{"one less", 2, 3, []any{"total", "lines"}, func(_ parcel[good], v *parcel[good]) {
			v.Lines = append(v.Lines[:1], v.Lines[2:]...)
			v.Lines[1].SortOrder, v.Lines[2].SortOrder = 1, 2
		}},
		{"all", 1, 3, []any{"note", "total", "lines"}, func(_ parcel[good], v *parcel[good]) {
			v.Note, v.Lines = new("new"), []good{aGood(0, "e")}
		}},
	} {
		_, before := f.events()
		change(step.mutate)
		inserted, deleted := w.rows()
		require.Equal(t, []int{step.inserted, step.deleted}, []int{inserted, deleted}, step.what)
		_, data := f.events()
		if step.changed == nil {
			require.Len(t, data, len(before), step.what)
			continue
		}
		require.Equal(t, step.changed, data[len(data)-1]["changedFields"], step.what)
		require.Len(t, data[len(data)-1]["lines"], len(read().Lines), "the event has the lines")
	}

	listed := func(company tenant.ID) (*resource.Listed[good], map[uuid.UUID]int) {
		lines, sizes, b := goods.Listed(), map[uuid.UUID]int{}, &pgx.Batch{}
		lines.QueueSizes(b, company, []uuid.UUID{p.ID, uuid.Nil}, func(id uuid.UUID, bytes int) { sizes[id] = bytes })
		lines.QueueRead(b, company, []uuid.UUID{p.ID, uuid.Nil}, 0)
		require.NoError(t, f.db.SendBatch(t.Context(), b).Close())
		return lines, sizes
	}
	many, sizes := listed(f.by.Company)
	require.Equal(t, read().Lines, many.Of(p.ID))
	require.Equal(t, []good{}, many.Of(uuid.Nil))
	require.Len(t, sizes, 1)
	require.Greater(t, sizes[p.ID], 500*len(read().Lines))
	for limit, want := range map[int]int{sizes[p.ID] - 1: 0, sizes[p.ID]: len(read().Lines)} {
		lines, b := goods.Listed(), &pgx.Batch{}
		n := lines.QueueRead(b, f.by.Company, []uuid.UUID{p.ID, uuid.Nil}, limit)
		require.NoError(t, f.db.SendBatch(t.Context(), b).Close())
		require.Equal(t, want, *n, "up to %d bytes", limit)
		require.Len(t, lines.Of(p.ID), want)
	}
	other := setup(t)
	many, sizes = listed(other.by.Company)
	require.Empty(t, many.Of(p.ID), "another company")
	require.Empty(t, sizes, "another company")

	remove := func() error {
		return f.tx(func(ctx context.Context, tx *db.Tx) error {
			return parcels.Delete(ctx, tx, f.by, p.ID, nil, parcelGone)
		})
	}
	require.NoError(t, remove())
	many, _ = listed(f.by.Company)
	require.Empty(t, many.Of(p.ID))
	require.True(t, apierr.Is(remove(), "SUPPLIER_NOT_FOUND"))
}

// A field of a line costs one line of Go and one of SQL: it is stored, read, compared and part of the event, and the release
// before goes on with the same rows.
func TestFieldOfALineCostsOneLine(t *testing.T) {
	t.Parallel()
	f := setup(t)
	var p parcel[labelled]
	red := map[string]string{"colour": "red", "size": "L & M"}
	require.NoError(t, f.tx(func(ctx context.Context, tx *db.Tx) (err error) {
		p, err = labelledParcels.Create(ctx, tx, f.by, parcel[labelled]{Name: "one", Lines: []labelled{{aGood(0, "a"), red}, {good: aGood(1, "b")}}}, labelledMade)
		return err
	}))
	got, err := labelledParcels.Get(t.Context(), f.db, f.by.Company, p.ID)
	require.NoError(t, err)
	require.Equal(t, p, got)
	require.Nil(t, got.Lines[1].Labels)

	require.NoError(t, f.tx(func(ctx context.Context, tx *db.Tx) (err error) {
		p, err = labelledParcels.Change(ctx, tx, f.by, p.ID, func(_ parcel[labelled], v *parcel[labelled]) error {
			v.Lines[1].Labels = map[string]string{"colour": "blue"}
			return nil
		}, labelledChanged)
		return err
	}))
	_, data := f.events()
	require.Equal(t, []any{"lines"}, data[1]["changedFields"])
	require.Equal(t, map[string]any{"colour": "blue"}, data[1]["lines"].([]any)[1].(map[string]any)["labels"])

	require.NoError(t, f.tx(func(ctx context.Context, tx *db.Tx) error { // the release before changes another line
		_, err := parcels.Change(ctx, tx, f.by, p.ID, func(_ parcel[good], v *parcel[good]) error {
			v.Lines = append(v.Lines, aGood(2, "c"))
			return nil
		}, parcelChanged)
		return err
	}))
	got, err = labelledParcels.Get(t.Context(), f.db, f.by.Company, p.ID)
	require.NoError(t, err)
	require.Equal(t, p.Lines, got.Lines[:2], "what it does not know is kept")
	require.Nil(t, got.Lines[2].Labels)
}

func TestDraftsAreStoredAsTheyAre(t *testing.T) {
	t.Parallel()
	f := setup(t)
	draft := parcel[good]{Key: record.Key{ID: record.NewID(), CompanyID: f.by.Company}, Name: "<one>", Lines: []good{}, Meta: record.New(f.db.Now())}
	stored := parcels.Stored(f.by.Company, draft.ID)
	found, err := stored(t.Context(), f.db)
	require.NoError(t, err)
	require.False(t, found)
	require.NoError(t, f.tx(func(ctx context.Context, tx *db.Tx) error {
		raw, err := parcels.CreateDraft(ctx, tx, f.by, draft, parcelMade)
		require.Contains(t, string(raw), `"name":"<one>"`)
		return err
	}))
	require.Equal(t, draft.UpdatedAt.Std().Truncate(time.Millisecond), apitest.Events(t, f.db, f.by.Company)[0].OccurredAt.UTC().Truncate(time.Millisecond))
	found, err = stored(t.Context(), f.db)
	require.NoError(t, err)
	require.True(t, found)
	got, err := parcels.Get(t.Context(), f.db, f.by.Company, draft.ID)
	require.NoError(t, err)
	require.Equal(t, draft, got)
}

// The lines of several documents of one transaction travel in one statement.
func TestLinesOfSeveralDocumentsShareAnInsert(t *testing.T) {
	t.Parallel()
	f, w := watched(t)
	require.NoError(t, f.tx(func(ctx context.Context, tx *db.Tx) error {
		for _, name := range []string{"a", "b", "c"} {
			if _, err := parcels.Create(ctx, tx, f.by, parcel[good]{Name: name, Lines: []good{aGood(0, name), aGood(1, name)}}, parcelMade); err != nil {
				return err
			}
		}
		return nil
	}))
	statements := 0
	for _, q := range w.all {
		if strings.HasPrefix(q.SQL, "INSERT INTO receipt_lines") {
			statements++
		}
	}
	require.Equal(t, 1, statements)
	inserted, _ := w.rows()
	require.Equal(t, 6, inserted)
}

func TestChangesAreObserved(t *testing.T) {
	t.Parallel()
	f := setup(t)
	var seen [][]string
	own := resource.Of[parcel[good]]("suppliers", "SUPPLIER", goods).OnChange(
		func(tx *db.Tx, by access.Caller, before, after *parcel[good], changed []string) {
			require.Equal(t, f.by.Actor, by.Actor)
			require.NotEqual(t, before.Version, after.Version)
			seen = append(seen, changed)
		})
	var p parcel[good]
	require.NoError(t, f.tx(func(ctx context.Context, tx *db.Tx) (err error) {
		p, err = own.Create(ctx, tx, f.by, parcel[good]{Name: "one", Lines: []good{}}, parcelMade)
		return err
	}))
	for _, name := range []string{"one", "two"} {
		before := len(seen)
		require.NoError(t, f.tx(func(ctx context.Context, tx *db.Tx) error {
			seen = seen[:before] // what an earlier try has seen does not count
			_, err := own.Change(ctx, tx, f.by, p.ID, func(_ parcel[good], v *parcel[good]) error { v.Name = name; return nil })
			return err
		}))
	}
	require.Equal(t, [][]string{{"name"}}, seen)
}

func TestLinesMustFit(t *testing.T) {
	t.Parallel()
	require.PanicsWithValue(t, "resource_test.renamed has no field for the column id or sort_order of receipt_lines", func() {
		resource.LinesOf[renamed]("receipt_lines", "receipt_id")
	})
	require.Panics(t, func() { resource.Of[thing]("suppliers", "SUPPLIER", goods) }, "no field has them")
}
