package httpapi_test

import (
	"context"
	"io"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// giveUp loses the answer of the first commit and lets the tries after it fail until one transaction has none left.
type giveUp struct {
	mu             sync.Mutex
	commits, tries int
}

func (g *giveUp) inject(_ context.Context, h failpoint.Hit) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch h.Point {
	case db.AfterCommit:
		if g.commits++; g.commits == 1 {
			return io.ErrUnexpectedEOF
		}
	case db.AtBegin:
		if g.tries++; g.tries > 1 && g.tries <= 12 {
			return &pgconn.PgError{Code: "40001", Message: "injected"}
		}
	}
	return nil
}

// A claim may be stored by a try whose answer was lost, and the request fail all the same: the client, who reads that
// nothing was stored, may repeat it at once.
func TestBusyRequestFreesItsKey(t *testing.T) {
	t.Parallel()
	var failing *db.DB
	f := setup(t, func(cfg *httpapi.Config) {
		var err error
		url := cfg.DB.Pool().Config().ConnString()
		failing, err = db.Open(t.Context(), db.Config{URL: url, MaxConns: 2, Inject: (&giveUp{}).inject})
		require.NoError(t, err)
		t.Cleanup(failing.Close)
		cfg.DB = failing
	})
	f.db = failing // fails as it is told, whatever the environment asks of other tests
	key := uuid.NewString()
	f.echoOf(`{"count":1}`, keyHeader, key).is(t, 503, "SERVICE_UNAVAILABLE")
	got := f.echoOf(`{"count":1}`, keyHeader, key)
	got.is(t, 200, "")
	require.Empty(t, got.Header.Get("X-Idempotent-Replayed"))
}
