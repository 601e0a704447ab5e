package record_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 123_456_789, time.UTC)

func TestNewMeta(t *testing.T) {
	t.Parallel()
	m := record.New(noon)
	require.EqualValues(t, 1, m.Version)
	require.EqualValues(t, 1, m.RecordVersion())
	require.Equal(t, m.CreatedAt, m.UpdatedAt)
	require.Equal(t, noon.UnixMicro(), m.EvPos)
	out, err := json.Marshal(m)
	require.NoError(t, err)
	require.Equal(t, `{"version":1,"createdAt":"2026-11-20T12:00:00.123Z","updatedAt":"2026-11-20T12:00:00.123Z"}`, string(out))
}

// The position grows by every change, whatever the clocks of the nodes say; the version counts them.
func TestTouchKeepsTheOrderOfChanges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := record.New(noon)
		created := m.CreatedAt
		for i, skew := range rapid.SliceOfN(rapid.Int64Range(-5_000_000, 5_000_000), 1, 20).Draw(rt, "clocks in µs around noon") {
			now := noon.Add(time.Duration(skew) * time.Microsecond)
			before := m
			m.Touch(now)
			require.EqualValues(rt, i+2, m.Version)
			require.Greater(rt, m.EvPos, before.EvPos)
			require.GreaterOrEqual(rt, m.EvPos, now.UnixMicro())
			require.Equal(rt, now.Truncate(time.Microsecond), m.UpdatedAt.Std())
			require.Equal(rt, created, m.CreatedAt)
		}
	})
}

func TestTargetsFollowTheColumns(t *testing.T) {
	t.Parallel()
	m := record.New(noon)
	require.Equal(t, []any{&m.Version, &m.EvPos, &m.CreatedAt, &m.UpdatedAt}, m.Targets())
}

func TestNewIDsLieInTheOrderOfTheirMaking(t *testing.T) {
	t.Parallel()
	last := record.NewID()
	for range 1000 {
		next := record.NewID()
		require.EqualValues(t, 7, next.Version())
		require.Less(t, last.String(), next.String())
		last = next
	}
}

type row struct{ err error }

func (r row) Scan(dest ...any) error {
	if r.err == nil {
		*dest[0].(*int) = 7
	}
	return r.err
}

func TestOne(t *testing.T) {
	t.Parallel()
	id := uuid.New()
	targets := func(n *int) []any { return []any{n} }
	n, err := record.One(row{}, targets, "ORDER", id)
	require.NoError(t, err)
	require.Equal(t, 7, n)

	_, err = record.One(row{pgx.ErrNoRows}, targets, "ORDER", id)
	f, ok := apierr.As(err)
	require.True(t, ok)
	require.Equal(t, http.StatusNotFound, f.Status)
	require.Equal(t, "ORDER_NOT_FOUND", f.Code)
	require.Contains(t, f.Message, id.String())

	broken := errors.New("broken")
	_, err = record.One(row{broken}, targets, "ORDER", id)
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "select ORDER")
	_, ok = apierr.As(err)
	require.False(t, ok)
}
