package suppliers_test

import (
	"context"
	"os"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/suppliers"
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

// What all resources have in common is tested by TestEveryResourceLives in services/roles.
func TestTextsAndReferences(t *testing.T) {
	t.Parallel()
	c, _, p := setup(t)
	v := c.Do(t, "POST", "/warehouse/suppliers", map[string]any{"name": "  North Mill ", "phone": "+44 20 7946", "note": ""}).OK(201)
	require.Equal(t, "North Mill", v["name"])
	for _, field := range []string{"contactName", "email", "inn", "address", "note"} {
		require.Contains(t, v, field)
		require.Nil(t, v[field])
	}
	c.Do(t, "DELETE", "/warehouse/suppliers/"+v["id"].(string), nil).OK(204)
	require.Equal(t, v["id"], p.forgotten[len(p.forgotten)-1].String())
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	c, _, _ := setup(t)
	require.Equal(t, map[string]string{"name": "REQUIRED", "email": "FORMAT", "phone": "LENGTH", "inn": "TYPE"},
		c.Do(t, "POST", "/warehouse/suppliers", `{"email":"nobody","phone":"123456789012345678901234567890123","inn":5}`).Fields())
	require.Equal(t, map[string]string{"name": "LENGTH"}, c.Do(t, "POST", "/warehouse/suppliers", `{"name":" "}`).Fields())
	id := c.Do(t, "POST", "/warehouse/suppliers", `{"name":"n"}`).OK(201)["id"].(string)
	require.Equal(t, map[string]string{"name": "TYPE"}, c.Do(t, "PATCH", "/warehouse/suppliers/"+id, `{"name":null}`).Fields())
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
}
