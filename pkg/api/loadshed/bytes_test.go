package loadshed_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/loadshed"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

const mib = 1 << 20

func responses(limit int64) *loadshed.Bytes {
	return loadshed.New(loadshed.Config{Limits: loadshed.Limits{ResponseBytes: limit}}).Responses()
}

func open(t *testing.T, r *loadshed.Bytes, company tenant.ID) *loadshed.Reservation {
	t.Helper()
	v, err := r.Open(company, false)
	require.NoError(t, err)
	return v
}

func requireOverloaded(t *testing.T, err error) {
	t.Helper()
	f, ok := apierr.As(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, 503, f.Status)
	require.Equal(t, apierr.Overloaded, f.Reason())
	require.Positive(t, f.RetryAfter)
}

func TestOneCompanyHoldsAQuarterOfTheResponses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, ctx := responses(16*mib), context.Background()
		loud, quiet := tenant.NewID(), tenant.NewID()
		first := open(t, r, loud)
		require.NoError(t, first.Reserve(ctx, 3*mib, true))
		requireOverloaded(t, open(t, r, loud).Reserve(ctx, 2*mib, true))
		require.NoError(t, open(t, r, loud).Reserve(ctx, loadshed.Large, true), "small ones are always sent")
		require.NoError(t, open(t, r, quiet).Reserve(ctx, 2*mib, true))
		require.NoError(t, first.Reserve(ctx, 4*mib, true), "its own bytes count once")
		require.NoError(t, open(t, r, tenant.NewID()).Reserve(ctx, 6*mib, true), "one response of any size is possible")

		waiting := make(chan error)
		go func() { waiting <- open(t, r, loud).Reserve(ctx, 2*mib, true) }()
		time.Sleep(500 * time.Millisecond)
		first.Release()
		first.Release()
		require.NoError(t, <-waiting, "it waits for what is released")
	})
}

func TestResponsesOfAllCompaniesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, ctx := responses(8*mib), context.Background()
		held := make([]*loadshed.Reservation, 4)
		for i := range held {
			held[i] = open(t, r, tenant.NewID())
			require.NoError(t, held[i].Reserve(ctx, 2*mib, true))
		}
		began := time.Now()
		requireOverloaded(t, open(t, r, tenant.NewID()).Reserve(ctx, 2*mib, true))
		require.Equal(t, time.Second, time.Since(began))

		// What has been read takes memory while it waits, so that few may.
		const all = 20
		refused := make(chan time.Time, all)
		try := func(read bool) {
			_ = open(t, r, tenant.NewID()).Reserve(ctx, 2*mib, read)
			refused <- time.Now()
		}
		for _, row := range []struct {
			read bool
			wait int
		}{{true, 8}, {false, all}} {
			began, waited := time.Now(), 0
			for range all {
				go try(row.read)
			}
			for range all {
				if (<-refused).After(began) {
					waited++
				}
			}
			require.Equal(t, row.wait, waited, "read already: %t", row.read)
		}

		held[0].Set(1 * mib)
		require.NoError(t, open(t, r, tenant.NewID()).Reserve(ctx, 1*mib, true), "a response that is compressed takes less")
		held[1].Set(loadshed.Large)
		require.NoError(t, open(t, r, tenant.NewID()).Reserve(ctx, 2*mib, true), "a response that turns out small holds nothing")
	})
}

func TestChangesAreRefusedBeforeTheyAreMade(t *testing.T) {
	t.Parallel()
	r, company := responses(16*mib), tenant.NewID()
	first, err := r.Open(company, true)
	require.NoError(t, err)
	first.Set(5 * mib) // the change is made
	_, err = r.Open(company, true)
	requireOverloaded(t, err)
	require.NoError(t, open(t, r, company).Reserve(t.Context(), 4*mib, true), "reads have a share of their own")
	_, err = r.Open(tenant.NewID(), true)
	require.NoError(t, err)
	first.Release()
	_, err = r.Open(company, true)
	require.NoError(t, err)
}

func TestNoBoundOfResponses(t *testing.T) {
	t.Parallel()
	var none *loadshed.Shedder
	for _, r := range []*loadshed.Bytes{none.Responses(), responses(0)} {
		for range 3 {
			require.NoError(t, open(t, r, tenant.ID{}).Reserve(t.Context(), 1<<40, true))
		}
	}
}
