package db_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func TestUnavailable(t *testing.T) {
	t.Parallel()
	_, refused := pgx.Connect(t.Context(), "postgres://nobody@127.0.0.1:1/nothing")
	require.Error(t, refused)
	d := dbtest.OpenNew(t)
	d.Close()
	_, closed := d.Exec(t.Context(), `SELECT 1`)
	require.Error(t, closed)
	conn, err := pgx.Connect(t.Context(), dbtest.OpenNew(t).Pool().Config().ConnString())
	require.NoError(t, err)
	_, err = conn.Prepare(t.Context(), "one", "SELECT 1")
	require.NoError(t, err)
	require.NoError(t, conn.PgConn().Conn().Close()) // as when the server dies
	_, _ = conn.Exec(t.Context(), "SELECT 1")
	require.True(t, conn.IsClosed())
	_, broken := conn.Exec(t.Context(), "one")
	require.ErrorIs(t, broken, pgconn.ErrConnClosed)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, cancelled := dbtest.Open(t).Exec(ended, `SELECT 1`)
	require.ErrorIs(t, cancelled, context.Canceled)
	for name, tc := range map[string]struct {
		err  error
		want apierr.Reason
	}{
		"known to be closed":   {fmt.Errorf("read idempotency key: failed to deallocate cached statement(s): %w", broken), apierr.DatabaseUnavailable},
		"cancelled":            {cancelled, ""},
		"refused":              {refused, apierr.DatabaseUnavailable},
		"reset":                {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, apierr.DatabaseUnavailable},
		"lost":                 {fmt.Errorf("select order: %w", io.ErrUnexpectedEOF), apierr.DatabaseUnavailable},
		"disk full":            {&pgconn.PgError{Code: "53100"}, apierr.DatabaseFull},
		"too many connections": {&pgconn.PgError{Code: "53300"}, apierr.DatabaseUnavailable},
		"shutting down":        {&pgconn.PgError{Code: "57P01"}, apierr.DatabaseUnavailable},
		"range unavailable":    {&pgconn.PgError{Code: "58C00"}, apierr.DatabaseUnavailable},
		"asked to retry":       {fmt.Errorf("read page: %w", &pgconn.PgError{Code: "40001"}), apierr.Serialization},
		"without a code":       {&pgconn.PgError{}, ""},
		"statement too long":   {&pgconn.PgError{Code: "57014"}, ""},
		"locked for too long":  {fmt.Errorf("read page: %w", &pgconn.PgError{Code: "55P03"}), apierr.DatabaseTimeout},
		"constraint":           {&pgconn.PgError{Code: "23505"}, ""},
		"no such table":        {&pgconn.PgError{Code: "42P01"}, ""},
		"no rows":              {pgx.ErrNoRows, ""},
		"a mistake":            {errors.New("nil map"), ""},
		"closed pool":          {closed, apierr.ShuttingDown},
		"nothing":              {nil, ""},
	} {
		reason, ok := db.Unavailable(tc.err)
		require.Equal(t, tc.want, reason, name)
		require.Equal(t, tc.want != "", ok, name)
	}
}
