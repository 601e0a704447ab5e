package db_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func urlAt(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(dbtest.URL(t))
	require.NoError(t, err)
	u.Host = address
	return u.String()
}

// closedPort is an address that nobody listens on.
func closedPort(t *testing.T) string {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = ln.Close() }()
	return ln.Addr().String()
}

func TestOpenWhenUpWaits(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	attempts := 0
	_, err := db.OpenWhenUp(ctx, db.Config{URL: urlAt(t, closedPort(t))}, func(err error) {
		require.ErrorContains(t, err, "--database-url: connect to the database")
		require.Empty(t, db.Misconfigured(err))
		if attempts++; attempts == 3 {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 3, attempts)

	d, err := db.OpenWhenUp(t.Context(), db.Config{URL: dbtest.URL(t)}, func(err error) { require.NoError(t, err, "it need not wait") })
	require.NoError(t, err)
	d.Close()
}

// What no database will ever make right is an error at once.
func TestOpenWhenUpRefusesWrongSettings(t *testing.T) {
	t.Parallel()
	for _, cfg := range []db.Config{{}, {URL: "mysql://localhost"}, {URL: dbtest.URL(t), MaxConns: -1}} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err := db.OpenWhenUp(ctx, cfg, func(err error) { require.NoError(t, err, "it does not wait") })
		cancel()
		require.ErrorContains(t, err, "--database")
	}
}

func TestMisconfiguredNamesWhatToMend(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"28P01": "rejected the user or its credentials",
		"28000": "rejected the user or its credentials",
		"3D000": "the database does not exist",
		"42501": "lacks privileges",
		"57P03": "",
		"53300": "",
	} {
		got := db.Misconfigured(fmt.Errorf("connect: %w", &pgconn.PgError{Code: code}))
		if want == "" {
			require.Empty(t, got, code)
			continue
		}
		require.Contains(t, got, want, code)
	}
	require.Empty(t, db.Misconfigured(errors.New("connection refused")))
}
