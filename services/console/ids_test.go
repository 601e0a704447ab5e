package console_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// What an id names is shown by its name: a list or page has no column of ids of entries that people know by their names.
func TestListsNameWhatIDsStandFor(t *testing.T) {
	t.Parallel()
	external := rolestest.BothAPIs()[httpapi.BasePath]
	require.NotNil(t, external)
	looked := 0
	for _, res := range resources.All() {
		if res.Get == "" {
			continue
		}
		op, ok := external.Operation(res.Get)
		require.True(t, ok, res.Get)
		for _, c := range slices.Concat(res.Columns, res.Facts) {
			s, known := op.Answer.Field(c.Name)
			if !known {
				continue
			}
			looked++
			if _, entry := resources.ChoicesOf(c.Name); !entry || s.Format != "uuid" && (s.Item == nil || s.Item.Format != "uuid") {
				continue
			}
			require.Contains(t, []resources.Kind{resources.AsEntry, resources.AsEntries}, c.Kind, "%s shows the id of %s instead of its name", res.Name, c.Name)
		}
	}
	require.Greater(t, looked, 100)
}
