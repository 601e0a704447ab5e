package suppliers_test

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/apitest"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/dbtest"
	"github.com/tradegrid/tradegrid/services/suppliers"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// products remembers which suppliers it was told to forget.
type products struct{ forgotten []uuid.UUID }

func (p *products) ForgetSupplier(_ context.Context, _ *db.Tx, _ access.Caller, id uuid.UUID) error {
	p.forgotten = append(p.forgotten, id)
	return nil
}

func setup(t *testing.T) (*apitest.Client, *apitest.Server, *products) {
	t.Helper()
	d, p := dbtest.Open(t), &products{}
	server := apitest.New(t, d, suppliers.New(suppliers.Config{DB: d, Products: p}).Register)
	return server.Company(), server, p
}

func TestLife(t *testing.T) {
	t.Parallel()
	c, _, p := setup(t)
	made := c.Do(t, "POST", "/warehouse/suppliers", map[string]any{"name": "  North Mill ", "phone": "+44 20 7946", "note": ""})
	v := made.OK(201)
	id := v["id"].(string)
	require.Equal(t, "/api/external/v1/warehouse/suppliers/"+id, made.Header.Get("Location"))
	require.Equal(t, "North Mill", v["name"])
	require.Equal(t, c.Principal.Company.String(), v["companyId"])
	for _, field := range []string{"contactName", "email", "inn", "address", "note"} {
		require.Contains(t, v, field)
		require.Nil(t, v[field])
	}
	require.Equal(t, v, c.Do(t, "GET", "/warehouse/suppliers/"+id, nil).OK(200))

	same := c.Do(t, "PATCH", "/warehouse/suppliers/"+id, map[string]any{"name": "North Mill"}).OK(200)
	require.Equal(t, v, same, "the same value is no change")
	changed := c.Do(t, "PATCH", "/warehouse/suppliers/"+id, map[string]any{"phone": nil, "email": "a@example.com"}).OK(200)
	require.Nil(t, changed["phone"])
	require.Equal(t, "a@example.com", changed["email"])
	require.EqualValues(t, 2, changed["version"])
	c.Do(t, "PATCH", "/warehouse/suppliers/"+id, `{"name":"x"}`, apitest.Header{"If-Match", `"1"`}).Fault(412, "PRECONDITION_FAILED")

	c.Do(t, "DELETE", "/warehouse/suppliers/"+id, nil).OK(204)
	require.Equal(t, id, p.forgotten[len(p.forgotten)-1].String())
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		c.Do(t, method, "/warehouse/suppliers/"+id, map[string]any{}).Fault(404, "SUPPLIER_NOT_FOUND")
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	c, _, _ := setup(t)
	require.Equal(t, map[string]string{"name": "REQUIRED", "email": "FORMAT", "phone": "LENGTH", "inn": "TYPE"},
		c.Do(t, "POST", "/warehouse/suppliers", `{"email":"nobody","phone":"123456789012345678901234567890123","inn":5}`).Fields())
	require.Equal(t, map[string]string{"name": "LENGTH"}, c.Do(t, "POST", "/warehouse/suppliers", `{"name":" "}`).Fields())
	id := c.Do(t, "POST", "/warehouse/suppliers", `{"name":"n","id":"x","companyId":"y","version":9}`)
	require.Equal(t, "companyId, id, version", id.Header.Get("X-Ignored-Fields"), "what the platform keeps cannot be written")
	require.EqualValues(t, 1, id.OK(201)["version"])
	require.Equal(t, map[string]string{"name": "TYPE"}, c.Do(t, "PATCH", "/warehouse/suppliers/"+id.OK(201)["id"].(string), `{"name":null}`).Fields())
	require.Equal(t, map[string]string{"sort": "ENUM"}, c.Do(t, "GET", "/warehouse/suppliers?sort=phone", nil).Fields())
}

func TestList(t *testing.T) {
	t.Parallel()
	c, server, _ := setup(t)
	for _, body := range []map[string]any{
		{"name": "Baker", "phone": "+49 (30) 12345"}, {"name": "Abel", "email": "Sales@Example.com"}, {"name": "Carter", "inn": "7701234"},
	} {
		c.Do(t, "POST", "/warehouse/suppliers", body).OK(201)
	}
	names := func(c *apitest.Client, query string) (names []string) {
		for _, item := range c.Do(t, "GET", "/warehouse/suppliers"+query, nil).OK(200)["items"].([]any) {
			names = append(names, item.(map[string]any)["name"].(string))
		}
		return names
	}
	require.Equal(t, []string{"Abel", "Baker", "Carter"}, names(c, "?sort=name"))
	require.Equal(t, []string{"Carter", "Baker", "Abel"}, names(c, "?sort=name&order=desc"))
	require.Equal(t, []string{"Carter", "Abel", "Baker"}, names(c, ""), "the last one first")
	require.Equal(t, []string{"Baker", "Abel", "Carter"}, names(c, "?sort=createdAt"))
	for search, want := range map[string]string{"baKER": "Baker", "493012": "Baker", "sales@": "Abel", "7701": "Carter"} {
		require.Equal(t, []string{want}, names(c, "?search="+search), search)
	}
	require.Empty(t, names(server.Company(), "?sort=name"))
	var walked []string
	for cursor := ""; ; {
		page := c.Do(t, "GET", "/warehouse/suppliers?sort=name&pageSize=1"+cursor, nil).OK(200)
		for _, item := range page["items"].([]any) {
			walked = append(walked, item.(map[string]any)["name"].(string))
		}
		next, more := page["nextCursor"].(string)
		if !more {
			break
		}
		cursor = "&cursor=" + next
	}
	require.True(t, slices.IsSorted(walked))
	require.Len(t, walked, 3)
}
