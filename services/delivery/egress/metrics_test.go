package egress

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// measured counts the requests of a kind; those of other tests may come on top.
func measured(t *testing.T, status, kind string) float64 {
	t.Helper()
	return dbtest.Series(t, Metrics(), "http_client_request_duration_seconds", "http_request_method", "POST", "http_response_status_code", status, "error_type", kind)
}

func TestRequestsAreMeasured(t *testing.T) {
	t.Parallel()
	for status, want := range map[int][2]string{
		http.StatusAccepted: {"202", ""},
		http.StatusLocked:   {"423", "423"},
		299:                 {"2xx", ""},
		599:                 {"5xx", "5xx"},
	} {
		before := measured(t, want[0], want[1])
		_, err := post(t, open(), serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		require.NoError(t, err)
		require.Greater(t, measured(t, want[0], want[1]), before, status)
	}
	before := measured(t, "", string(Refused))
	_, err := post(t, Config{}, mustParse(t, "http://example.com/"))
	require.Error(t, err)
	require.Greater(t, measured(t, "", string(Refused)), before)

	before = measured(t, "", "canceled")
	ctx, cancel := context.WithCancel(t.Context())
	c := New(open())
	t.Cleanup(c.Close)
	cancel()
	_, err = c.Post(ctx, serve(t, func(http.ResponseWriter, *http.Request) {}), http.Header{}, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Greater(t, measured(t, "", "canceled"), before)
}
