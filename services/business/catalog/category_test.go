package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

func TestCategoryLife(t *testing.T) {
	t.Parallel()
	c := setup(t)
	root := c.Do(t, "POST", "/catalog/categories", map[string]any{"name": "  Tools ", "prefix": "TL"})
	made := root.OK(201)
	require.Equal(t, "Tools", made["name"])
	require.Equal(t, "folder", made["icon"])
	require.Equal(t, `"1"`, root.Header.Get("ETag"))
	id := made["id"].(string)
	require.Contains(t, root.Header.Get("Location"), id)

	child := c.Do(t, "POST", "/catalog/categories", map[string]any{"name": "Hammers", "parentId": id}).OK(201)
	require.Equal(t, []any{id, child["id"]}, child["path"])

	got := c.Do(t, "PATCH", "/catalog/categories/"+id, `{"name":"Hand tools","unknown":1}`, apitest.Header{"If-Match", `"1"`})
	require.Equal(t, float64(2), got.OK(200)["version"])
	require.Equal(t, "unknown", got.Header.Get("X-Ignored-Fields"))
	c.Do(t, "PATCH", "/catalog/categories/"+id, `{"name":"x"}`, apitest.Header{"If-Match", `"1"`}).Fault(412, "PRECONDITION_FAILED")
	c.Do(t, "PATCH", "/catalog/categories/"+id, map[string]any{"parentId": child["id"]}).Fault(409, "CATEGORY_CYCLE")
	c.Do(t, "DELETE", "/catalog/categories/"+id, nil).Fault(409, "CATEGORY_IN_USE")
	c.Do(t, "DELETE", "/catalog/categories/"+child["id"].(string), nil).OK(204)
	c.Do(t, "GET", "/catalog/categories/"+child["id"].(string), nil).Fault(404, "CATEGORY_NOT_FOUND")
	c.Do(t, "GET", "/catalog/categories/"+id, nil, apitest.Header{"If-None-Match", `"2"`}).OK(304)
}

func TestCategoryInputFaults(t *testing.T) {
	t.Parallel()
	c := setup(t)
	got := c.Do(t, "POST", "/catalog/categories", `{"name":" ","parentId":"x","color":"red","prefix":"abc","sortOrder":1.5,"icon":null}`)
	require.Equal(t, map[string]string{
		"name": "LENGTH", "parentId": "FORMAT", "color": "FORMAT", "prefix": "FORMAT", "sortOrder": "STEP", "icon": "TYPE",
	}, got.Fields())
}
