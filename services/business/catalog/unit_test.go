package catalog_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/catalog"
)

func TestOperatorsMaintainUnits(t *testing.T) {
	t.Parallel()
	s := catalog.New(config(dbtest.Open(t)))
	server := apitest.New(t, dbtest.Open(t), s.Register).ServeAdmin(s.RegisterAdmin)
	c, other := server.Company(), server.Company()
	admin := c.Admin()
	require.Equal(t, map[string]string{"code": "FORMAT", "name": "REQUIRED", "precision": "MAX", "shortName": "LENGTH"},
		admin.Do(t, "POST", "/catalog/units", object{"code": "B O X", "shortName": strings.Repeat("x", 17), "precision": 4}).Fields())
	require.Equal(t, map[string]string{"nameI18n.!": "FORMAT"},
		admin.Do(t, "POST", "/catalog/units", object{"code": "box", "name": "Box", "shortName": "bx", "nameI18n": object{"!": "x"}}).Fields())

	made := admin.Do(t, "POST", "/catalog/units", object{"code": "box", "name": "Box", "shortName": "bx", "precision": 2}).OK(201)
	require.Equal(t, true, made["isActive"])
	path := "/catalog/units/" + made["id"].(string)
	changed := admin.Do(t, "PATCH", path, object{"name": "Large box", "nameI18n": object{"de": "Kiste"}, "shortName": "lb", "precision": 0, "isActive": false},
		apitest.Header{"If-Match", `"1"`}).OK(200)
	require.Equal(t, []any{"Large box", object{"de": "Kiste"}, "lb", 0.0, false, 2.0, "box"},
		[]any{changed["name"], changed["nameI18n"], changed["shortName"], changed["precision"], changed["isActive"], changed["version"], changed["code"]})
	require.Equal(t, changed, admin.Do(t, "GET", path, nil).OK(200))
	require.Equal(t, changed, admin.Do(t, "PATCH", path, object{"code": "box"}).OK(200), "nothing has changed")
	admin.Do(t, "PATCH", path, object{"code": "crate"}).Fault(409, "UNIT_CODE_FIXED")
	admin.Do(t, "PATCH", path, object{"code": "kg"}, apitest.Header{"If-Match", `"1"`}).Fault(412, "PRECONDITION_FAILED")
	require.Equal(t, map[string]string{"nameI18n.de": "LENGTH"}, admin.Do(t, "PATCH", path, object{"nameI18n": object{"de": ""}}).Fields())

	nobody := "/catalog/units/" + uuid.NewString()
	for _, row := range []struct {
		caller *apitest.Client
		path   string
	}{{other.Admin(), path}, {admin, nobody}, {admin, "/catalog/units/00000000-0000-7000-8000-000000000001"}} {
		row.caller.Do(t, "GET", row.path, nil).Fault(404, "UNIT_NOT_FOUND")
		row.caller.Do(t, "PATCH", row.path, object{"name": "x"}).Fault(404, "UNIT_NOT_FOUND")
	}
	c.Do(t, "PATCH", path, object{"name": "x"}).Fault(404, "ROUTE_NOT_FOUND")
}
