package loadshed

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

func TestMemoryIsGivenBackAfterLargeRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		freed := 0
		s := New(Config{FreeMemory: func() { freed++ }})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go s.watchMemory(ctx)
		v, err := s.Requests().Open(tenant.NewID(), false)
		require.NoError(t, err)
		wait := func() { time.Sleep(time.Minute) }
		for range 2 {
			require.NoError(t, v.Reserve(ctx, 40<<20, false))
			before := freed
			wait()
			require.Equal(t, before, freed, "not while it is in use")
			v.Release()
			wait()
			require.Equal(t, before+1, freed, "once")
		}
		require.NoError(t, v.Reserve(ctx, 1<<20, false))
		v.Release()
		wait()
		require.Equal(t, 2, freed, "not for little")
	})
}
