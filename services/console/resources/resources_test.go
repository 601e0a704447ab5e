package resources

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnshippedOrders(t *testing.T) {
	t.Parallel()
	of := func(kind string, shipped string) Record {
		line := map[string]any{"kind": kind, "qty": json.Number("2"), "shippedQty": json.Number(shipped)}
		return Record{"status": "new", "lines": []any{line}}
	}
	require.True(t, unshipped(of("product", "0.5")))
	require.False(t, unshipped(of("product", "2")))
	require.False(t, unshipped(of("service", "0")))
	cancelled := of("product", "0.5")
	cancelled["status"] = "cancelled"
	require.False(t, unshipped(cancelled))
}

// What the find field needs is there for each list that it looks through.
func TestFoundResourcesHavePages(t *testing.T) {
	t.Parallel()
	for _, r := range Found() {
		require.NotEmpty(t, r.Find.Title, r.Name)
		require.NotEmpty(t, r.Find.Page, r.Name)
		require.True(t, len(r.Find.By) > 0 || r.Find.Names, r.Name)
	}
}
