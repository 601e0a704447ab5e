//go:build kafka

package brokers

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBrokersComeBack(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c, err := Start(ctx, Config{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Stop()) })
	require.NoError(t, c.Kill(1))
	require.NoError(t, c.Await(ctx, 2))
	require.NoError(t, c.Restart(1))
	back, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	require.NoError(t, c.Await(back, 3))
}
