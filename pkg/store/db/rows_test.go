package db_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

const sqlKinds = `SELECT kind, n FROM counters WHERE company_id = $1`

var (
	sqlAddAll  = counters.InsertRows(`(company_id, kind, n) SELECT u.c, u.k, u.n FROM unnest($1::UUID[], $2::TEXT[], $3::BIGINT[]) AS u(c, k, n)`)
	sqlAddNew  = counters.InsertRow("company_id", "kind", "n").OnConflict("(company_id, kind) DO NOTHING")
	sqlRemove  = counters.Delete(`WHERE company_id = $1 AND kind = $2`)
	sqlMark    = db.TxMarkers.InsertRow("id", "expires_at")
	sqlMarkAll = db.TxMarkers.Insert(`(id, expires_at) SELECT gen_random_uuid(), now() FROM counters WHERE company_id = $1`).Reading(counters)
	// sqlAddMarks adds nothing.
	sqlAddMarks = counters.InsertRows(`(company_id, kind, n) SELECT u.c, '', 0 FROM unnest($1::UUID[]) AS u(c) JOIN tx_markers AS m ON m.id = u.c`).Reading(db.TxMarkers)
	sqlTouch    = db.Table("companies").Update(`SET id = id WHERE id = $1`)
	sqlRemark   = db.TxMarkers.Update(`SET expires_at = now() WHERE id = $1`)
)

// sizes shows the statements of a batch: the first letter of the verb, the table's, and the number of rows with VALUES.
func sizes(trip []string) (shape []string) {
	for _, sql := range trip {
		if strings.HasPrefix(sql, "begin") || strings.HasPrefix(sql, "commit") {
			continue
		}
		what := sql[:1]
		if strings.Contains(sql, "counters") {
			what += "c"
		}
		if strings.Contains(sql, "tx_markers") {
			what += "m"
		}
		_, rows, _ := strings.Cut(sql, "VALUES ")
		rows, _, _ = strings.Cut(rows, "\nON CONFLICT")
		if n := strings.Count(rows, "("); n > 1 {
			what += fmt.Sprint(n)
		}
		shape = append(shape, what)
	}
	return shape
}

// Rows of one statement travel together in the place of the last one, and everything else stays where it is.
func TestRowsTravelTogether(t *testing.T) {
	t.Parallel()
	watch := &statements{}
	d := watched(t, watch, db.Config{})
	other := errors.New("other")
	add := func(tx *db.Tx, company uuid.UUID, n int) *db.Queued {
		return tx.QueueRow(sqlAdd, company, fmt.Sprint("k", n), n)
	}
	mark := func(tx *db.Tx) { tx.QueueRow(sqlMark, uuid.New(), time.Now()) }
	for name, row := range map[string]struct {
		queue func(tx *db.Tx, company uuid.UUID)
		want  []string
	}{
		"one":       {func(tx *db.Tx, c uuid.UUID) { add(tx, c, 1) }, []string{"Ic"}},
		"not asked": {func(tx *db.Tx, c uuid.UUID) { tx.Queue(sqlAdd, c, "a", 1); tx.Queue(sqlAdd, c, "b", 1) }, []string{"Ic", "Ic"}},
		"powers of two": {func(tx *db.Tx, c uuid.UUID) {
			for i := range 39 {
				add(tx, c, i)
			}
		}, []string{"Ic16", "Ic16", "Ic4", "Ic2", "Ic"}},
		"two tables, in the place of the last": {func(tx *db.Tx, c uuid.UUID) {
			for i := range 2 {
				add(tx, c, i)
				mark(tx)
				tx.Queue(sqlTouch, c)
			}
		}, []string{"U", "Ic2", "Im2", "U"}},
		"a read between, which may be of any table": {func(tx *db.Tx, c uuid.UUID) {
			add(tx, c, 1)
			tx.QueueRead(`SELECT 1`)
			add(tx, c, 2)
		}, []string{"Ic", "S", "Ic"}},
		"a write between changes what an INSERT reads": {func(tx *db.Tx, c uuid.UUID) {
			for range 2 {
				tx.QueueRows(sqlAddMarks, []uuid.UUID{c})
				tx.Queue(sqlRemark, c)
			}
		}, []string{"Icm", "Um", "Icm", "Um"}},
		"a write of the same table between": {func(tx *db.Tx, c uuid.UUID) {
			add(tx, c, 1)
			mark(tx)
			add(tx, c, 2)
			tx.Queue(sqlSet, c, "k1", 5)
			add(tx, c, 3)
			mark(tx)
			add(tx, c, 4)
		}, []string{"Ic2", "Uc", "Im2", "Ic2"}},
		"another INSERT reads the table": {func(tx *db.Tx, c uuid.UUID) {
			add(tx, c, 1)
			tx.Queue(sqlMarkAll, c)
			add(tx, c, 2)
		}, []string{"Ic", "Icm", "Ic"}},
		"another statement of the same table": {func(tx *db.Tx, c uuid.UUID) {
			add(tx, c, 1)
			tx.QueueRow(sqlAddNew, c, "k2", 1)
			add(tx, c, 3)
		}, []string{"Ic", "Ic", "Ic"}},
		"rows are read": {func(tx *db.Tx, c uuid.UUID) {
			add(tx, c, 1)
			add(tx, c, 2).Rows(func(pgx.Rows) error { return nil })
			add(tx, c, 3)
		}, []string{"Ic", "Ic", "Ic"}},
		"other errors": {func(tx *db.Tx, c uuid.UUID) {
			add(tx, c, 1).OnConstraint("counters_pkey", other)
			add(tx, c, 2).OnConstraint("counters_pkey", other)
			add(tx, c, 3).OnConstraint("counters_pkey", errors.New("other"))
			add(tx, c, 4)
		}, []string{"Ic2", "Ic", "Ic"}},
		"other expectations": {func(tx *db.Tx, c uuid.UUID) {
			add(tx, c, 1).Expect(1, other)
			add(tx, c, 2).Expect(1, other)
			add(tx, c, 3).Expect(1, nil)
			add(tx, c, 4).Expect(1, nil)
			add(tx, c, 5)
			add(tx, c, 6)
		}, []string{"Ic2", "Ic2", "Ic2"}},
		"slices": {func(tx *db.Tx, c uuid.UUID) {
			tx.QueueRows(sqlAddAll, []uuid.UUID{c, c}, []string{"a", "b"}, []int64{1, 2}).Expect(2, nil)
			mark(tx)
			tx.QueueRows(sqlAddAll, []uuid.UUID{c}, []string{"c"}, []int64{3}).Expect(1, nil)
		}, []string{"Im", "Ic"}},
	} {
		company := uuid.New()
		watch.take()
		require.NoError(t, d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
			row.queue(tx, company)
			return nil
		}, db.WithCommitCheck(counted(company))), name)
		require.Equal(t, row.want, sizes(watch.take()[0]), name)
	}
}

func kindsOf(t require.TestingT, d *db.DB, company uuid.UUID) map[string]int64 {
	all, err := db.Map[string, int64](context.Background(), d, "select kinds", sqlKinds, company)
	require.NoError(t, err)
	return all
}

// TestRowsOfManyOrders compares writes whose rows may travel together with the same writes one by one: the same rows in the end, and
// the same error of the first write that fails.
func TestRowsOfManyOrders(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	errTaken, errMissing := errors.New("taken"), errors.New("missing")
	rapid.Check(t, func(r *rapid.T) {
		type write struct {
			what, kind string
			n          int64
		}
		writes := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) write {
			return write{
				what: rapid.SampledFrom([]string{"add", "add", "add", "new", "all", "set", "remove", "mark", "flush"}).Draw(r, "what"),
				kind: rapid.StringMatching(`[a-h]`).Draw(r, "kind"), n: rapid.Int64Range(1, 9).Draw(r, "n"),
			}
		}), 1, 40).Draw(r, "writes")
		run := func(company uuid.UUID, together bool) error {
			return d.RunTx(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
				row, rows := tx.QueueRow, tx.QueueRows
				if !together {
					row, rows = tx.Queue, tx.Queue
				}
				for _, w := range writes {
					switch w.what {
					case "add":
						row(sqlAdd, company, w.kind, w.n).Expect(1, nil).OnConstraint("counters_pkey", errTaken)
					case "new":
						row(sqlAddNew, company, w.kind, w.n)
					case "all":
						rows(sqlAddAll, []uuid.UUID{company, company}, []string{w.kind, w.kind + w.kind}, []int64{w.n, w.n}).OnConstraint("counters_pkey", errTaken)
					case "set":
						tx.Queue(sqlSet, company, w.kind, w.n).Expect(1, errMissing)
					case "remove":
						tx.Queue(sqlRemove, company, w.kind)
					case "mark":
						row(sqlMark, uuid.New(), tx.Now())
					default:
						if err := tx.Flush(ctx); err != nil {
							return err
						}
					}
				}
				return nil
			}, db.ReadCommitted(), db.WithCommitCheck(counted(company)))
		}
		one, all := uuid.New(), uuid.New()
		want, got := run(one, false), run(all, true)
		require.Equal(r, want, got)
		require.Equal(r, kindsOf(r, d, one), kindsOf(r, d, all))
	})
}

// The numbers of rows add up, so one missing row among many fails the transaction with the error of the write.
func TestExpectationsAddUp(t *testing.T) {
	t.Parallel()
	d, company := dbtest.Open(t), uuid.New()
	taken := errors.New("taken")
	add := func(kinds ...string) error {
		return d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
			for _, kind := range kinds {
				tx.QueueRow(sqlAddNew, company, kind, 1).Expect(1, taken)
			}
			return nil
		})
	}
	require.NoError(t, add("a", "b", "c"))
	require.ErrorIs(t, add("d", "a", "e"), taken)
	require.Len(t, kindsOf(t, d, company), 3)

	err := d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
		for _, kind := range []string{"x", "a"} {
			tx.QueueRow(sqlAddNew, company, kind, 1).Expect(1, nil)
		}
		return nil
	})
	require.ErrorContains(t, err, "write affected 1 rows, expected 2: INSERT INTO counters")
}

func TestWritesOfAllCompaniesOfSlicesAreRemembered(t *testing.T) {
	t.Parallel()
	d := watched(t, &statements{}, db.Config{}) // a pool of this test only, which others do not write with
	a, b := tenant.NewID(), tenant.NewID()
	require.NoError(t, d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
		tx.QueueRows(sqlAddAll, []tenant.ID{a, b}, []string{"a", "b"}, []int64{1, 2})
		return nil
	}))
	for _, c := range []tenant.ID{a, b} {
		require.NotZero(t, d.WriteLog().Last(c, []db.Table{counters}))
	}
	require.Zero(t, d.WriteLog().Last(tenant.NewID(), []db.Table{counters}))
}

// What is no INSERT of one row with parameters only is a mistake of the program.
func TestWrongRows(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	refused := func(what string, queue func(tx *db.Tx)) {
		require.Panics(t, func() {
			_ = d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
				queue(tx)
				return nil
			})
		}, what)
	}
	refused("no INSERT", func(tx *db.Tx) { tx.QueueRow(sqlSet, 1, 2, 3) })
	refused("any INSERT", func(tx *db.Tx) { tx.QueueRow(counters.Insert(`(company_id, kind, n) VALUES ($1, 'a', $2)`), 1, 2) })
	refused("slices", func(tx *db.Tx) { tx.QueueRow(sqlAddAll, []int{1}, []int{2}, []int{3}) })
	refused("a value too few", func(tx *db.Tx) { tx.QueueRow(sqlAdd, 1, 2) })
	refused("not an INSERT of slices", func(tx *db.Tx) { tx.QueueRows(sqlAdd, []int{1}, []int{2}, []int{3}) })
	require.Panics(t, func() { sqlAdd.OnConflict("(company_id, kind) DO UPDATE SET n = $3") }, "a parameter that other rows would have, too")
}
