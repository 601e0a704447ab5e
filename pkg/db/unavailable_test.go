package db_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/db"
)

func TestUnavailable(t *testing.T) {
	t.Parallel()
	_, refused := pgx.Connect(t.Context(), "postgres://nobody@127.0.0.1:1/nothing")
	require.Error(t, refused)
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"refused":              {refused, true},
		"reset":                {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, true},
		"lost":                 {fmt.Errorf("select order: %w", io.ErrUnexpectedEOF), true},
		"disk full":            {&pgconn.PgError{Code: "53100"}, true},
		"too many connections": {&pgconn.PgError{Code: "53300"}, true},
		"shutting down":        {&pgconn.PgError{Code: "57P01"}, true},
		"range unavailable":    {&pgconn.PgError{Code: "58C00"}, true},
		"asked to retry":       {fmt.Errorf("read page: %w", &pgconn.PgError{Code: "40001"}), true},
		"without a code":       {&pgconn.PgError{}, false},
		"statement too long":   {&pgconn.PgError{Code: "57014"}, false},
		"constraint":           {&pgconn.PgError{Code: "23505"}, false},
		"no such table":        {&pgconn.PgError{Code: "42P01"}, false},
		"no rows":              {pgx.ErrNoRows, false},
		"a mistake":            {errors.New("nil map"), false},
		"nothing":              {nil, false},
	} {
		require.Equal(t, tc.want, db.Unavailable(tc.err), name)
	}
}
