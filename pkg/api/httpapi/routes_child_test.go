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
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// part is the answer of the operations below: what they were called with.
type part struct {
	Owner uuid.UUID `json:"owner"`
	ID    uuid.UUID `json:"id"`
	Note  string    `json:"note"`
}

// RecordID implements [httpapi.Identified].
func (p part) RecordID() string { return p.ID.String() }

type partFields struct {
	Note string `json:"note" maxLength:"5" default:"none"`
}

func registerParts(f *kit) {
	r := httpapi.Group{Tag: "Parts", Scope: "orders"}.On(f.api, f.db)
	httpapi.ListIn(r, "/owners/{id}/parts", "listParts", "List", func(_ context.Context, _ access.Caller, owner uuid.UUID, _ struct{ list.Params }) (*list.Page[part], error) {
		return &list.Page[part]{Items: []part{{Owner: owner}}}, nil
	})
	httpapi.CreateIn(r, "/owners/{id}/parts", "createPart", "Create", func(_ context.Context, _ *db.Tx, _ access.Caller, owner uuid.UUID, in partFields) (part, error) {
		return part{Owner: owner, Note: in.Note}, nil
	})
	httpapi.GetIn(r, "/owners/{id}/parts/{partId}", "getPart", "Read", func(_ context.Context, _ access.Caller, owner, id uuid.UUID) (part, error) {
		return part{Owner: owner, ID: id}, nil
	})
	httpapi.UpdateIn(r, "/owners/{id}/parts/{partId}", "updatePart", "Change", func(_ context.Context, _ *db.Tx, _ access.Caller, owner, id uuid.UUID, in record.Patch[partFields]) (part, error) {
		return part{Owner: owner, ID: id, Note: in.Value.Note}, nil
	})
	httpapi.DeleteIn(r, "/owners/{id}/parts/{partId}", "deletePart", "Delete", func(context.Context, *db.Tx, access.Caller, uuid.UUID, uuid.UUID) error { return nil })
	httpapi.Change(r, "/owners/{id}/parts/{partId}/cancel", "cancelPart", "Cancel", func(_ context.Context, _ *db.Tx, in *httpapi.ByChild) (part, error) {
		return part{Owner: in.ID, ID: in.Child, Note: "cancelled"}, nil
	})
	httpapi.ReadWith(r, "/parts", "searchParts", "Search", func(_ context.Context, _ access.Caller, p struct {
		Note string `query:"note"`
	},
	) ([]part, error) {
		return []part{{Note: p.Note}}, nil
	})
}

func TestOperationsOnOwnedRecords(t *testing.T) {
	t.Parallel()
	f := setup(t)
	registerParts(f)
	owner, id := uuid.New(), uuid.New()
	at := "/owners/" + owner.String() + "/parts"
	one := at + "/" + id.String()

	f.do(request{method: "GET", path: at}).is(t, 200, "")
	for _, c := range []struct {
		request
		status int
		want   part
	}{
		{request{method: "POST", path: at, body: `{"note":"x"}`}, 201, part{Owner: owner, Note: "x"}},
		{request{method: "POST", path: at}, 201, part{Owner: owner, Note: "none"}},
		{request{method: "GET", path: one}, 200, part{Owner: owner, ID: id}},
		{request{method: "PATCH", path: one, body: `{"note":"y"}`}, 200, part{Owner: owner, ID: id, Note: "y"}},
		{request{method: "POST", path: one + "/cancel"}, 200, part{Owner: owner, ID: id, Note: "cancelled"}},
	} {
		got := f.do(c.request)
		got.is(t, c.status, "")
		var p part
		require.NoError(t, json.Unmarshal(got.raw, &p))
		require.Equal(t, c.want, p, "%s %s", c.method, c.path)
		location := ""
		if c.status == 201 {
			location = httpapi.BasePath + at + "/" + uuid.Nil.String()
		}
		require.Equal(t, location, got.Header.Get("Location"), "%s %s", c.method, c.path)
	}
	f.do(request{method: "DELETE", path: one}).is(t, 204, "")
	require.JSONEq(t, `[{"owner":"00000000-0000-0000-0000-000000000000","id":"00000000-0000-0000-0000-000000000000","note":"q"}]`,
		string(f.do(request{method: "GET", path: "/parts?note=q"}).raw))

	require.Equal(t, map[string]string{"note": "LENGTH"}, f.do(request{method: "POST", path: at, body: `{"note":"too long"}`}).faults(t))
	require.Equal(t, map[string]string{"body": "REQUIRED"}, f.do(request{method: "PATCH", path: one}).faults(t))
	require.Equal(t, map[string]string{"id": "FORMAT", "partId": "FORMAT"}, f.do(request{method: "GET", path: "/owners/1/parts/2"}).faults(t))
}
