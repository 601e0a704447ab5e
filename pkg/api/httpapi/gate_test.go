package httpapi_test

import (
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// doorman refuses what the test says.
type doorman struct{ changes, all atomic.Bool }

var errGate = apierr.Unavailable(apierr.Overloaded, 7, "later")

func (g *doorman) Enter() (leave func(), err error) {
	if g.all.Load() {
		return nil, errGate
	}
	return func() {}, nil
}

func (g *doorman) Admit() error {
	if g.changes.Load() {
		return errGate
	}
	return nil
}

// While changes are refused, reads and the stored answers of changes that were done go on, and nothing is half-done.
func TestRefusedChangesLeaveReadsAndRepeats(t *testing.T) {
	t.Parallel()
	g := &doorman{}
	f := setupAlone(t, func(cfg *httpapi.Config) { cfg.Gate = g })
	done, fresh := uuid.NewString(), uuid.NewString()
	first := f.post(`{"name":"one"}`, keyHeader, done)
	first.is(t, 201, "")

	g.changes.Store(true)
	for name, refused := range map[string]response{
		"without a key": f.post(`{"name":"two"}`),
		"with a key":    f.post(`{"name":"two"}`, keyHeader, fresh),
		"a change":      f.do(request{method: "PATCH", path: "/things/" + first.body["id"].(string), body: `{"name":"x"}`}),
	} {
		refused.is(t, 503, "SERVICE_UNAVAILABLE")
		require.Equal(t, "7", refused.Header.Get("Retry-After"), name)
	}
	f.post(`{"name":"two"}`, keyHeader, "no uuid").is(t, 400, "VALIDATION_ERROR")
	f.post(`{"name":"two"}`, keyHeader, done).is(t, 422, "IDEMPOTENCY_KEY_REUSED")
	again := f.post(`{"name":"one"}`, keyHeader, done)
	again.is(t, 201, "")
	require.Equal(t, string(first.raw), string(again.raw))
	f.do(request{method: "GET", path: "/things/" + first.body["id"].(string)}).is(t, 200, "")
	require.Equal(t, 1, f.stored())

	g.changes.Store(false)
	f.post(`{"name":"two"}`, keyHeader, fresh).is(t, 201, "")
	require.Equal(t, 2, f.stored())

	g.all.Store(true)
	f.do(request{method: "GET", path: "/things/" + first.body["id"].(string)}).is(t, 503, "SERVICE_UNAVAILABLE")
}

// A database that is gone is no mistake of the program: clients are told to come back.
func TestUnreachableDatabase(t *testing.T) {
	t.Parallel()
	dbtest.Only(t, db.PostgreSQL, "CockroachDB cannot close one database; what its errors mean is tested in package db")
	f := setupAlone(t)
	f.do(request{method: "GET", path: "/things/" + uuid.NewString()}).is(t, 404, "THING_NOT_FOUND")
	f.stopDatabase()
	res := f.do(request{method: "GET", path: "/things/" + uuid.NewString()})
	res.is(t, 503, "SERVICE_UNAVAILABLE")
	require.NotEmpty(t, res.Header.Get("Retry-After"))
	require.NotContains(t, string(res.raw), "127.0.0.1")
}

// stopDatabase lets every connection fail from now on: the name of the database is gone.
func (f *kit) stopDatabase() {
	f.t.Helper()
	name := f.db.Pool().Config().ConnConfig.Database
	_, err := dbtest.Open(f.t).Exec(f.t.Context(), `ALTER DATABASE `+name+` ALLOW_CONNECTIONS false`)
	require.NoError(f.t, err)
	f.db.Pool().Reset()
}
