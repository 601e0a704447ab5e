package catalog_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/catalog"
)

// copyRows adds n rows to a table, like the one with the id, but with ids of their own, and with own = a text and a number.
func copyRows(t *testing.T, company tenant.ID, table string, id any, n int, own, others string) {
	t.Helper()
	_, err := dbtest.Open(t).Exec(t.Context(), `INSERT INTO `+table+` (company_id, id, version, ev_pos, created_at, updated_at, sort_order, `+own+`, `+others+`)
SELECT company_id, gen_random_uuid(), version, ev_pos, created_at, updated_at, sort_order, 'copy ' || g, `+others+`
FROM `+table+`, generate_series(1, $3::INT4) AS g WHERE company_id = $1 AND id = $2`, company, id, n)
	require.NoError(t, err)
}

// What is read as a whole has a bound.
func TestCollectionsOfTheCatalogAreBounded(t *testing.T) {
	t.Parallel()
	c, a := setupConsole(t)
	company := c.Principal.Company
	axis := a.attribute(catalog.AttributeFields{Name: "Size", Type: "select", IsVariant: true})
	large, small := a.option(axis.ID, "L", 1), a.option(axis.ID, "S", 2)
	product := create(t, c, object{"name": "Shirt", "price": 1000}).OK(201)["id"]
	path := "/catalog/products/" + product.(string) + "/variants"
	first := c.Do(t, "POST", path, object{"attributes": []object{{"attributeId": axis.ID, "optionId": large}}}).OK(201)
	copyRows(t, company, "product_variants", first["id"], 998, "sku", "product_id, attribute_values, status, metadata")
	last := c.Do(t, "POST", path, object{}).OK(201)
	got := c.Do(t, "POST", path, object{}).Fault(409, "PRODUCT_VARIANT_LIMIT_REACHED")
	require.Contains(t, got["message"], "at most 1000 variants")
	matrix := func(options ...uuid.UUID) object {
		return object{"axes": []object{{"attributeId": axis.ID, "optionIds": options}}}
	}
	c.Do(t, "POST", path+"/matrix", matrix(large, small)).Fault(409, "PRODUCT_VARIANT_LIMIT_REACHED")
	require.EqualValues(t, 1, c.Do(t, "POST", path+"/matrix", matrix(large)).OK(200)["existing"], "what exists needs no room")
	require.Len(t, listVariants(t, c, product, ""), 1000)
	copyRows(t, company, "product_variants", last["id"], 1, "sku", "product_id, attribute_values, status, metadata")
	c.Do(t, "PATCH", path+"/"+last["id"].(string), object{"name": "renamed"}).OK(200)
	require.Len(t, listVariants(t, c, product, ""), 1001, "what is stored beyond the bound stays")

	options := "/catalog/attributes/" + axis.ID.String() + "/options"
	copyRows(t, company, "attribute_options", small, 1997, "label", "attribute_id, label_i18n")
	c.Do(t, "POST", options, object{"label": "the last one"}).OK(201)
	got = c.Do(t, "POST", options, object{"label": "one too many"}).Fault(409, "ATTRIBUTE_OPTION_LIMIT_REACHED")
	require.Contains(t, got["message"], "at most 2000 options")
	other := a.attribute(catalog.AttributeFields{Name: "Colour", Type: "select"})
	red := a.option(other.ID, "red", 1)
	copyRows(t, company, "attribute_options", red, 17_999, "label", "attribute_id, label_i18n")
	c.Do(t, "POST", "/catalog/attributes/"+a.attribute(catalog.AttributeFields{Name: "Fit", Type: "select"}).ID.String()+"/options", object{"label": "slim"}).
		Fault(409, "ATTRIBUTE_OPTION_LIMIT_REACHED")

	copyRows(t, company, "attributes", other.ID, 997, "name", "name_i18n, type, category_ids, is_primary, is_required, is_filterable, is_variant")
	c.Do(t, "POST", "/catalog/attributes", object{"name": "one too many", "type": "text"}).Fault(409, "ATTRIBUTE_LIMIT_REACHED")

	root := c.Do(t, "POST", "/catalog/categories", object{"name": "root"}).OK(201)
	copyRows(t, company, "categories", root["id"], 9_998, "name", "icon, metadata")
	c.Do(t, "PUT", "/catalog/categories/tree", object{"categories": []object{{"name": "a"}, {"name": "b"}}}).Fault(409, "CATEGORY_LIMIT_REACHED")
	c.Do(t, "POST", "/catalog/categories", object{"name": "the last one"}).OK(201)
	c.Do(t, "POST", "/catalog/categories", object{"name": "one too many"}).Fault(409, "CATEGORY_LIMIT_REACHED")
	c.Do(t, "PATCH", "/catalog/categories/"+root["id"].(string), object{"name": "renamed"}).OK(200)
}
