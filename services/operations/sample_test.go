package operations

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// A minute is sampled once, with what waits in it, and the samples of a time come back in order.
func TestPipelineIsSampled(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t)
	p, s := New(Config{DB: d}), NewSampler(d, slog.New(slog.DiscardHandler))
	before, err := lastSample(t.Context(), d)
	require.NoError(t, err)
	require.Nil(t, before)

	at := time.Now().UTC().Truncate(SampleEvery)
	require.NoError(t, s.Sample(t.Context(), at.Add(-SampleEvery)))
	_, err = d.Exec(t.Context(), `UPDATE event_log_heads SET n = n + 7 WHERE bucket IN (3, 200)`)
	require.NoError(t, err)
	_, err = d.Exec(t.Context(), `INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, expires_at, is_test, created_at, updated_at)
VALUES ($1, $1, $1, $1, 'x', 0, 1, $2, false, $2, $2)`, uuid.New(), at.Add(-30*time.Second))
	require.NoError(t, err)
	require.NoError(t, s.Sample(t.Context(), at.Add(10*time.Second)))
	require.NoError(t, s.Sample(t.Context(), at.Add(50*time.Second)), "another process that believes to be in charge")

	all, err := p.Samples(t.Context(), at.Add(-time.Hour))
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, []time.Time{at.Add(-SampleEvery), at}, []time.Time{all[0].At.UTC(), all[1].At.UTC()})
	require.EqualValues(t, 14, all[1].Published-all[0].Published)
	require.Zero(t, all[0].OpenDeliveries)
	require.Zero(t, all[0].OpenAge)
	require.EqualValues(t, 1, all[1].OpenDeliveries)
	require.Equal(t, 40*time.Second, all[1].OpenAge)
	require.Zero(t, all[1].OutboxRows)
	last, err := lastSample(t.Context(), d)
	require.NoError(t, err)
	require.Equal(t, at, last.UTC())
	later, err := p.Samples(t.Context(), at)
	require.NoError(t, err)
	require.Len(t, later, 1)
}
