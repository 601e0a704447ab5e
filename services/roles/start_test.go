package roles

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/topics"
)

// A wait is told of at once, once a minute after that, and again when its reason changes.
func TestWaitingIsToldRarely(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		w := &waiting{log: slog.New(slog.NewTextHandler(&text, nil)), ops: "http://ops"}
		require.ErrorIs(t, w.check(t.Context()), errConnecting)
		lines := func() int { return strings.Count(text.String(), "waiting for the database") }
		refused, unknown := errors.New("connection refused"), error(&pgconn.PgError{Code: "3D000", Message: "no database"})
		for range 50 {
			w.failed(t.Context(), refused)
			time.Sleep(time.Second)
		}
		require.Equal(t, 1, lines())
		require.ErrorIs(t, w.check(t.Context()), refused)
		time.Sleep(time.Minute)
		w.failed(t.Context(), refused)
		require.Equal(t, 2, lines())
		require.NotContains(t, text.String(), "level=ERROR")
		w.failed(t.Context(), unknown)
		w.failed(t.Context(), unknown)
		require.Equal(t, 3, lines())
		require.Contains(t, text.String(), "level=ERROR")
		require.Contains(t, text.String(), "create it")
		require.ErrorIs(t, w.check(t.Context()), unknown)
		w.over(t.Context())
		require.Contains(t, text.String(), "the database is up")
	})
}

// A process is ready once its listeners accept, not as soon as it has the database.
func TestReadyOnceListening(t *testing.T) {
	t.Parallel()
	listening, bound := make(chan string), make(chan struct{})
	ready := func(ops string) (int, string) {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, ops+"/readyz", nil)
		req.RequestURI = ""
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		raw, err := io.ReadAll(res.Body)
		require.NoError(t, errors.Join(err, res.Body.Close()))
		return res.StatusCode, string(raw)
	}
	flags := DatabaseFlags{DatabaseSource: DatabaseSource{DatabaseURL: dbtest.NewDatabase(t)}, DatabaseConns: 4}
	apitest.Background(t, func(ctx context.Context) error {
		p := process{name: topics.RoleConsole, roles: []string{topics.RoleConsole}, database: flags, ops: OpsFlags{OpsListen: "127.0.0.1:0"}}
		return p.serve(ctx, slog.New(slog.DiscardHandler), func(ctx context.Context, log *slog.Logger, r *role) error {
			listening <- r.opsURL
			<-bound
			wait := func(ctx context.Context) error { <-ctx.Done(); return nil }
			return r.run(ctx, log, []work{{parts: []func(context.Context) error{wait}, started: func(ops string) { listening <- ops }}})
		})
	})
	ops := <-listening // there is a database, but no listener
	status, reasons := ready(ops)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, reasons, `"start":"the process is starting"`)
	close(bound)
	<-listening
	require.Eventually(t, func() bool { status, _ := ready(ops); return status == http.StatusOK }, time.Minute, 10*time.Millisecond)
}
