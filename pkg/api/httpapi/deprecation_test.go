package httpapi_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// What is deprecated says so in every response, errors included, and in the description; the rest of the API does not.
func TestDeprecation(t *testing.T) {
	t.Parallel()
	f := setup(t)
	r := httpapi.Group{Tag: "Old", Scope: "orders"}.On(f.api, f.db)
	read := func(_ context.Context, _ access.Caller, id uuid.UUID) (part, error) { return part{ID: id}, nil }
	httpapi.Get(r, "/old/{id}", "getOld", "Read", read, httpapi.Deprecated("2027-01-31", "2028-01-31", "use getNew"))
	httpapi.Get(r, "/new/{id}", "getNew", "Read", read)
	httpapi.Create(r, "/old", "createOld", "Create", func(_ context.Context, _ *db.Tx, _ access.Caller, in partFields) (part, error) {
		return part{Note: in.Note}, nil
	}, httpapi.Deprecated("2027-01-31", "2028-01-31", "leave it out", "note"))

	for _, c := range []struct {
		request
		status     int
		deprecated bool
	}{
		{request{method: "GET", path: "/old/" + uuid.NewString()}, 200, true},
		{request{method: "GET", path: "/old/1"}, 400, true},
		{request{method: "POST", path: "/old", body: `{"note":"x"}`}, 201, true},
		{request{method: "GET", path: "/new/" + uuid.NewString()}, 200, false},
	} {
		got := f.do(c.request)
		got.is(t, c.status, "")
		want := []string{"", "", ""}
		if c.deprecated {
			want = []string{"@1801353600", "Mon, 31 Jan 2028 00:00:00 GMT", "<" + httpapi.BasePath + `/docs/reference/deprecation.md>; rel="deprecation"; type="text/html"`}
		}
		require.Equal(t, want, []string{got.Header.Get("Deprecation"), got.Header.Get("Sunset"), got.Header.Get("Link")}, "%s %s", c.method, c.path)
	}

	raw, err := f.api.Description()
	require.NoError(t, err)
	var doc struct {
		Paths map[string]map[string]struct {
			Deprecated bool
			Sunset     string `json:"x-sunset"`
			Responses  map[string]struct{ Headers map[string]any }
		}
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Deprecated bool
					Sunset     string `json:"x-sunset"`
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(raw, &doc))
	old := doc.Paths["/old/{id}"]["get"]
	require.True(t, old.Deprecated)
	require.Equal(t, "2028-01-31", old.Sunset)
	for status, res := range old.Responses {
		for _, name := range []string{"Deprecation", "Sunset", "Link"} {
			require.Contains(t, res.Headers, name, status)
		}
	}
	require.False(t, doc.Paths["/new/{id}"]["get"].Deprecated)
	require.NotContains(t, doc.Paths["/new/{id}"]["get"].Responses["200"].Headers, "Deprecation")
	require.False(t, doc.Paths["/old"]["post"].Deprecated, "only a field of it is")
	note := doc.Components.Schemas["PartInput"].Properties["note"]
	require.True(t, note.Deprecated)
	require.Equal(t, "2028-01-31", note.Sunset)
	require.Panics(t, func() { httpapi.Deprecated("2027-01-31", "2028-01-30", "use getNew") }, "less than a year")
	require.Panics(t, func() {
		httpapi.Get(r, "/older/{id}", "getOlder", "Read", read, httpapi.Deprecated("2027-01-31", "2028-01-31", "use getNew", "missing"))
	}, "no such field")
}
