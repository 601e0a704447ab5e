package batchloader

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// counting counts the round trips of what goes through it.
type counting struct {
	db.Querier
	trips int
}

func (c *counting) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	c.trips++
	return c.Querier.SendBatch(ctx, b)
}

// readRow, readRows and readBatch are the ways in which domains read.
func readRow(n int, got *int) Read {
	return func(ctx context.Context, q db.Querier) error {
		return q.QueryRow(ctx, `SELECT $1::INT4`, n).Scan(got)
	}
}

func readRows(n int, got *[]int) Read {
	return func(ctx context.Context, q db.Querier) error {
		rows, err := q.Query(ctx, `SELECT g FROM generate_series(1, $1::INT4) AS g`, n)
		if err != nil {
			return err
		}
		*got, err = pgx.CollectRows(rows, pgx.RowTo[int])
		return err
	}
}

func readBatch(n int, got *[2]int) Read {
	return func(ctx context.Context, q db.Querier) error {
		b := &pgx.Batch{}
		for i := range got {
			b.Queue(`SELECT $1::INT4`, n+i).QueryRow(func(row pgx.Row) error { return row.Scan(&got[i]) })
		}
		return q.SendBatch(ctx, b).Close()
	}
}

func TestLoadMakesOneRoundTrip(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	for _, inTx := range []bool{false, true} {
		var row, second int
		var rows []int
		var batch [2]int
		c := &counting{Querier: d}
		check := func(ctx context.Context, q db.Querier) error {
			c.Querier, c.trips = q, 0
			return Load(ctx, c, readRow(7, &row), readRows(3, &rows), readBatch(8, &batch), func(context.Context, db.Querier) error { return nil })
		}
		if inTx {
			require.NoError(t, d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error { return check(ctx, tx) }, db.Repeatable()))
		} else {
			require.NoError(t, check(t.Context(), d))
		}
		require.Equal(t, 1, c.trips)
		require.Equal(t, 7, row)
		require.Equal(t, []int{1, 2, 3}, rows)
		require.Equal(t, [2]int{8, 9}, batch)

		c = &counting{Querier: d}
		twice := func(ctx context.Context, q db.Querier) error {
			return errors.Join(readRow(1, &row)(ctx, q), readRow(2, &second)(ctx, q))
		}
		require.NoError(t, Load(t.Context(), c, twice, readRow(3, &row), twice))
		require.Equal(t, 2, c.trips, "as many as the longest read needs")
	}
}

// nested is a read that loads others, and then reads once more.
func nested(got *[3]int) Read {
	return func(ctx context.Context, q db.Querier) error {
		if err := Load(ctx, q, readRow(1, &got[0]), readRow(2, &got[1])); err != nil {
			return err
		}
		return readRow(3, &got[2])(ctx, q)
	}
}

func TestReadsOfReadsJoinTheRoundTrips(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	for range 200 {
		c := &counting{Querier: d}
		var a, b [3]int
		var row int
		deep := func(ctx context.Context, q db.Querier) error { return Load(ctx, q, nested(&b), readRow(9, &row)) }
		require.NoError(t, Load(t.Context(), c, nested(&a), deep, readRow(4, &row)))
		require.Equal(t, 2, c.trips)
		require.Equal(t, [3]int{1, 2, 3}, a)
		require.Equal(t, a, b)
	}
	own := errors.New("no such client")
	var n int
	fails := func(context.Context, db.Querier) error { return own }
	loads := func(reads ...Read) Read {
		return func(ctx context.Context, q db.Querier) error { return Load(ctx, q, reads...) }
	}
	require.ErrorIs(t, Load(t.Context(), d, readRow(1, &n), loads(fails, fails)), own)
	require.ErrorIs(t, Load(t.Context(), d, readRow(1, &n), loads(readRow(2, &n), fails), readRow(1, &n)), own)
}

func TestLoadReportsTheFirstError(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	var n int
	own := errors.New("no such client")
	broken := func(ctx context.Context, q db.Querier) error {
		return q.QueryRow(ctx, `SELECT 1 / $1::INT4`, 0).Scan(&n)
	}
	none := func(ctx context.Context, q db.Querier) error {
		return q.QueryRow(ctx, `SELECT 1 WHERE $1`, false).Scan(&n)
	}
	fails := func(context.Context, db.Querier) error { return own }
	require.ErrorIs(t, Load(t.Context(), d, readRow(1, &n), fails), own)
	require.ErrorIs(t, Load(t.Context(), d, none, readRow(1, &n)), pgx.ErrNoRows)
	require.ErrorContains(t, Load(t.Context(), d, readRow(1, &n), broken, readRow(1, &n)), "22012")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, Load(ctx, d, readRow(1, &n), readRow(2, &n)), context.Canceled)
	require.NoError(t, Load(t.Context(), d, readRow(1, &n), readRow(2, &n)), "the connection is whole")
}
