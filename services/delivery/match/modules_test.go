package match

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

func TestModulesAreReadTogetherAndOnceButErrorsAgain(t *testing.T) {
	t.Parallel()
	var reads [][]tenant.ID
	err := errors.New("database away")
	m := NewComponents(time.Hour, func(_ context.Context, companies []tenant.ID) (map[tenant.ID]access.Components, error) {
		reads = append(reads, companies)
		found := map[tenant.ID]access.Components{}
		for _, company := range companies {
			found[company] = access.Components{"orders", company.String()}
		}
		return found, err
	})
	one, two, three := tenant.NewID(), tenant.NewID(), tenant.NewID()
	_, got := m.Of(t.Context(), []tenant.ID{one, two})
	require.ErrorIs(t, got, err)
	err = nil
	for _, asked := range [][]tenant.ID{{one, two}, {two}, {one, three, two}, {}} {
		found, err := m.Of(t.Context(), asked)
		require.NoError(t, err)
		require.Len(t, found, len(asked))
		for _, company := range asked {
			require.True(t, found[company].Has(company.String()), "each company has components of its own")
		}
	}
	require.Equal(t, [][]tenant.ID{{one, two}, {one, two}, {three}}, reads)
}

func TestModulesAreReadAgainWhenOld(t *testing.T) {
	t.Parallel()
	reads := 0
	m := NewComponents(time.Millisecond, func(context.Context, []tenant.ID) (map[tenant.ID]access.Components, error) {
		reads++
		return nil, nil
	})
	company := tenant.NewID()
	require.Eventually(t, func() bool {
		_, err := m.Of(t.Context(), []tenant.ID{company})
		return err == nil && reads > 1
	}, time.Minute, 2*time.Millisecond)
}

// What is used and whose time is nearly over is read with what is missing.
func TestModulesThatExpireSoonAreReadTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads []int
		m := NewComponents(10*time.Second, func(_ context.Context, companies []tenant.ID) (map[tenant.ID]access.Components, error) {
			reads = append(reads, len(companies))
			return nil, nil
		})
		one, two, idle := tenant.NewID(), tenant.NewID(), tenant.NewID()
		ask := func(companies ...tenant.ID) {
			_, err := m.Of(t.Context(), companies)
			require.NoError(t, err)
		}
		ask(one, idle)
		ask(two)
		ask(two) // used
		time.Sleep(11 * time.Second)
		ask(one)
		ask(two)
		require.Equal(t, []int{2, 1, 2}, reads)
	})
}
