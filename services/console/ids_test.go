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

// addressID takes an address of the client whom the form or the filter names; see TestAddressesAreThoseOfTheClient.
const addressID = "addressId"

// Nobody types an id: a field that takes one offers a choice, or finds the record by what people know of it.
func TestNoFormAsksForIDs(t *testing.T) {
	t.Parallel()
	external := rolestest.BothAPIs()[httpapi.BasePath]
	looked, missing := 0, []string(nil)
	check := func(of resources.Resource, where string, s httpapi.Shape) {
		if s.Format != "uuid" {
			return
		}
		looked++
		_, entry := resources.ChoicesOf(s.Name)
		_, record := resources.Picked(s.Name)
		if s.Name != addressID && !entry && !record {
			missing = append(missing, where+" of "+of.Name+" asks for "+s.Name)
		}
	}
	for _, res := range resources.All() {
		list, ok := external.Operation(res.List)
		require.True(t, ok, res.List)
		for _, p := range list.Params {
			if p.In == "query" {
				check(res, "the filter", p)
			}
		}
		commands := append([]resources.Command{{Name: "new", Op: res.Create, Fields: res.Asks}}, res.Commands...)
		for _, c := range commands {
			op, _ := external.Operation(c.Op)
			for _, name := range c.Fields {
				if s, known := op.Body.Field(name); known && name != c.Picture {
					check(res, c.Name, s)
				}
			}
		}
	}
	require.Empty(t, missing, "add them to choices or picked of package resources")
	require.Greater(t, looked, 50)
}
