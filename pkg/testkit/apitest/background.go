package apitest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// Background runs what a process does until the test ends, and fails the test if it fails.
func Background(t testing.TB, run func(context.Context) error) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-done)
	})
}
