package httpapi_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// A 503 says in meta.reason and in the log why, whether a service or the database refused the request.
func TestUnavailableSaysWhy(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	f := setup(t, func(cfg *httpapi.Config) { cfg.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	type failure struct {
		err  error
		want apierr.Reason
	}
	failures := []failure{
		{fmt.Errorf("select thing: %w", io.ErrUnexpectedEOF), apierr.DatabaseUnavailable},
		{&pgconn.PgError{Code: "57P01"}, apierr.DatabaseUnavailable},
		{&pgconn.PgError{Code: "53100"}, apierr.DatabaseFull},
		{&pgconn.PgError{Code: "40001"}, apierr.Serialization},
		{puddle.ErrClosedPool, apierr.ShuttingDown},
	}
	for _, doc := range apierr.Reasons() {
		refused := apierr.Unavailable(doc.Reason, 3, "later")
		failures = append(failures, failure{refused, doc.Reason}, failure{fmt.Errorf("%w: the cause", refused), doc.Reason})
	}
	for _, tc := range failures {
		log.Reset()
		f.broken = tc.err
		res := f.do(request{method: "GET", path: "/things/broken", headers: pairs([]string{"X-Request-Id", "request-1"})})
		res.is(t, 503, "SERVICE_UNAVAILABLE")
		require.Equal(t, map[string]any{"reason": string(tc.want)}, res.body["meta"], "%v", tc.err)
		require.NotEmpty(t, res.Header.Get("Retry-After"))
		for _, part := range []string{"reason=" + string(tc.want), "request_id=request-1", "route=/api/external/v1/things/broken", "error="} {
			require.Contains(t, log.String(), part)
		}
	}
	page := f.do(request{method: "GET", path: "/docs/errors", token: "-"})
	for _, doc := range apierr.Reasons() {
		require.Contains(t, string(page.raw), "<code>"+string(doc.Reason)+"</code>")
	}
}

// alwaysFails refuses each try of a transaction.
func alwaysFails(code string) failpoint.Injector {
	return failpoint.On(map[failpoint.Point]func(context.Context) error{
		db.BeforeCommit: func(context.Context) error { return &pgconn.PgError{Code: code, Message: "injected"} },
	})
}

// A transaction that gives up tells rivals from a database that is away.
func TestExhaustedRetriesSayWhy(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]apierr.Reason{"40001": apierr.Serialization, "57P01": apierr.DatabaseUnavailable} {
		f := setup(t)
		node := f.instance(func(cfg *db.Config) { cfg.Inject = alwaysFails(code) })
		res := node.post(`{"name":"one"}`)
		res.is(t, 503, "SERVICE_UNAVAILABLE")
		require.Equal(t, map[string]any{"reason": string(want)}, res.body["meta"])
		key := node.post(`{"name":"one"}`, keyHeader, uuid.NewString())
		key.is(t, 503, "SERVICE_UNAVAILABLE")
		require.Equal(t, map[string]any{"reason": string(want)}, key.body["meta"])
	}
}
