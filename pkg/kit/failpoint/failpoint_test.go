package failpoint_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
)

func TestInjectorDisturbsItsInstanceOnly(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	var seen []failpoint.Hit
	faulty := failpoint.Injector(func(_ context.Context, h failpoint.Hit) error {
		seen = append(seen, h)
		return gone
	})
	var healthy failpoint.Injector
	require.ErrorIs(t, faulty.At(t.Context(), "a.begin"), gone)
	require.ErrorIs(t, faulty.AtTry(t.Context(), "tx.begin", "order.create", 2), gone)
	require.Equal(t, []failpoint.Hit{{Point: "a.begin"}, {Point: "tx.begin", Of: "order.create", Try: 2}}, seen)
	require.NoError(t, healthy.At(t.Context(), "a.begin"))
	require.NoError(t, healthy.AtTry(t.Context(), "tx.begin", "order.create", 1))
}

func TestOnActsAtItsPointsOnly(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	i := failpoint.On(map[failpoint.Point]func(context.Context) error{
		"a.end":  func(context.Context) error { return gone },
		"a.wait": func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) },
	})
	require.ErrorIs(t, i.At(t.Context(), "a.end"), gone)
	require.NoError(t, i.At(t.Context(), "a.begin"))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	require.ErrorIs(t, i.At(ctx, "a.wait"), gone, "a point may block")
}

// Points stand in paths that run for each statement.
func TestPointsWithoutInjectorAllocateNothing(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts the whole process
	var none failpoint.Injector
	require.Zero(t, testing.AllocsPerRun(1000, func() { _ = none.AtTry(t.Context(), "tx.begin", "order.create", 1); failpoint.Pass("a.end") }))
}

func BenchmarkPointWithoutInjector(b *testing.B) {
	var none failpoint.Injector
	ctx := b.Context()
	for b.Loop() {
		_ = none.AtTry(ctx, "tx.statement", "order.create", 1)
	}
}
