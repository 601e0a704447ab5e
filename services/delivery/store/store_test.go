package store

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// All companies with subscriptions are read, page after page.
func TestSelectSubscribers(t *testing.T) {
	t.Parallel()
	d, company := dbtest.Open(t), tenant.NewID()
	company[15] |= 1
	before := uuid.UUID(company)
	before[15] &^= 1 // another company in between is as likely as a collision
	_, err := d.Exec(t.Context(), `INSERT INTO webhook_companies (company_id, changes) VALUES ($1, 1)`, company)
	require.NoError(t, err)
	ids, err := SelectSubscribers(t.Context(), d, before, 1)
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{uuid.UUID(company)}, ids)
	ids, err = SelectSubscribers(t.Context(), d, uuid.UUID(company), 1)
	require.NoError(t, err)
	require.NotContains(t, ids, uuid.UUID(company))
}
