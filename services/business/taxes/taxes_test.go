package taxes_test

import (
	"os"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/taxes"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// What all resources have in common is tested by TestEveryResourceLives in services/roles.
func TestRates(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	server := apitest.New(t, d, taxes.New(d).Register)
	c := server.Company()
	const at = "/catalog/tax-rates"
	require.Equal(t, map[string]string{"name": "REQUIRED", "percent": "REQUIRED", "kind": "ENUM"}, c.Do(t, "POST", at, `{"kind":"vat"}`).Fields())
	require.Equal(t, map[string]string{"percent": "MAX"}, c.Do(t, "POST", at, `{"name":"x","percent":100.01}`).Fields())
	require.Equal(t, map[string]string{"percent": "CONFLICT"}, c.Do(t, "POST", at, `{"name":"x","percent":1,"kind":"exempt"}`).Fields())
	food := c.Do(t, "POST", at, `{"name":" Food ","percent":7.5,"kind":"reduced"}`).OK(201)
	require.Equal(t, []any{"Food", 7.5, "reduced", true}, []any{food["name"], food["percent"], food["kind"], food["isActive"]})
	standard := c.Do(t, "POST", at, `{"name":"Standard","percent":20}`).OK(201)
	require.Equal(t, map[string]string{"percent": "CONFLICT"}, c.Do(t, "PATCH", at+"/"+food["id"].(string), `{"kind":"zero"}`).Fields())
	c.Do(t, "PATCH", at+"/"+food["id"].(string), `{"isActive":false}`).OK(200)

	names := func(query string) (names []string) {
		for _, item := range c.Do(t, "GET", at+query, nil).OK(200)["items"].([]any) {
			names = append(names, item.(map[string]any)["name"].(string))
		}
		return names
	}
	require.Equal(t, []string{"Standard", "Food"}, names(""))
	require.Equal(t, []string{"Standard"}, names("?isActive=true"))
	require.Equal(t, []string{"Food"}, names("?kind=reduced,zero&search=foo&sort=name"))

	ids := []uuid.UUID{uuid.MustParse(food["id"].(string)), uuid.MustParse(standard["id"].(string)), uuid.New()}
	percents, err := taxes.Percents(t.Context(), d, c.Principal.Company, ids)
	require.NoError(t, err)
	require.Equal(t, map[uuid.UUID]money.Percent{ids[1]: 2000}, percents, "those that can be chosen")
	known, err := taxes.Active(t.Context(), d, c.Principal.Company, ids)
	require.NoError(t, err)
	require.Equal(t, ids[1:2], known)
}
