package match

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

func TestModulesAreReadOnceAndErrorsAgain(t *testing.T) {
	t.Parallel()
	reads, broken := 0, errors.New("database away")
	var err error
	m := NewModules(access.ComponentSet("core"), time.Hour, func(context.Context, tenant.ID) (access.Components, error) {
		reads++
		return access.ComponentSet("orders"), err
	})
	company := tenant.NewID()
	active := func(of tenant.ID, module string) bool {
		t.Helper()
		got, err := m.Active(t.Context(), of, module)
		require.NoError(t, err)
		return got
	}
	require.True(t, active(company, "core"))
	require.Zero(t, reads, "a component that is always on needs no read")
	err = broken
	_, got := m.Active(t.Context(), company, "orders")
	require.ErrorIs(t, got, broken)
	err = nil
	require.True(t, active(company, "orders"))
	require.False(t, active(company, "warehouse"))
	require.Equal(t, 2, reads)
	require.True(t, active(tenant.NewID(), "orders"))
	require.Equal(t, 3, reads, "each company has components of its own")
}

func TestModulesAreReadAgainWhenOld(t *testing.T) {
	t.Parallel()
	reads := 0
	m := NewModules(nil, time.Millisecond, func(context.Context, tenant.ID) (access.Components, error) {
		reads++
		return nil, nil
	})
	company := tenant.NewID()
	require.Eventually(t, func() bool {
		_, err := m.Active(t.Context(), company, "orders")
		return err == nil && reads > 1
	}, time.Minute, 2*time.Millisecond)
}
