package roles_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// Changes store their answer in their only transaction; others lease their idempotency key, which costs a transaction more.
// See docs/architecture.md#idempotency.
func TestOperationsThatLeaseTheirKey(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	var leased []string
	for _, op := range slices.Concat(n.API.Ops(), n.Admin.Ops()) {
		if op.Mutating() && !op.OneTx {
			leased = append(leased, op.ID)
		}
		require.False(t, op.OneTx && !op.Mutating(), "%s reads", op.ID)
	}
	slices.Sort(leased)
	require.Equal(t, []string{"batchCategories", "batchClientChanges", "batchClients", "batchOrderChanges", "batchProducts", "batchServices", "batchStockAdjustments", "batchSuppliers", "batchVariants", "previewImport", "previewOrder", "previewReprice", "previewSale"}, leased)
}
