package catalog_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

// shirt is a product with sizes and colours, made by an integration.
type shirt struct {
	*apitest.Client
	id            any
	size, colour  any
	sizes, colors []any
}

func newShirt(t *testing.T, c *apitest.Client) shirt {
	t.Helper()
	s := shirt{Client: c}
	axis := func(name string, labels ...string) (id any, options []any) {
		id = c.Do(t, "POST", "/catalog/attributes", object{"name": name, "type": "select", "isVariant": true}).OK(201)["id"]
		for _, label := range labels {
			options = append(options, c.Do(t, "POST", fmt.Sprintf("/catalog/attributes/%s/options", id), object{"label": label}).OK(201)["id"])
		}
		return id, options
	}
	s.size, s.sizes = axis("Size", "S", "M", "L")
	s.colour, s.colors = axis("Colour", "Red", "Blue")
	p := create(t, c, object{"name": "Shirt", "price": 1000, "sku": "SH", "hasStock": true}).OK(201)
	require.Equal(t, []any{0.0, false}, []any{p["variantsCount"], p["hasVariants"]})
	s.id = p["id"]
	return s
}

func (s shirt) matrix(t *testing.T, sizes, colors []any) *apitest.Response {
	t.Helper()
	return s.Do(t, "POST", fmt.Sprintf("/catalog/products/%s/variants/matrix", s.id), object{
		"price": 1200, "axes": []object{{"attributeId": s.size, "optionIds": sizes}, {"attributeId": s.colour, "optionIds": colors}},
	})
}

func (s shirt) read(t *testing.T, query string) object {
	t.Helper()
	return s.Do(t, "GET", fmt.Sprintf("/catalog/products/%s%s", s.id, query), nil).OK(200)
}

func TestVariantMatrix(t *testing.T) {
	t.Parallel()
	c := setup(t)
	s := newShirt(t, c)
	made := s.matrix(t, s.sizes[:2], s.colors).OK(200)
	require.Equal(t, []any{4.0, 0.0}, []any{made["created"], made["existing"]})
	var labels []string
	for _, v := range made["variants"].([]any) {
		attributes := v.(object)["attributes"].(object)
		labels = append(labels, fmt.Sprint(attributes["Size"], attributes["Colour"], v.(object)["effectivePrice"]))
	}
	require.Equal(t, []string{"SRed1200", "SBlue1200", "MRed1200", "MBlue1200"}, labels)
	require.Equal(t, []any{4.0, true, 2.0}, []any{s.read(t, "")["variantsCount"], s.read(t, "")["hasVariants"], s.read(t, "")["version"]}, "the product changes once")

	made = s.matrix(t, s.sizes, s.colors).OK(200)
	require.Equal(t, []any{2.0, 4.0}, []any{made["created"], made["existing"]}, "what there is stays")
	version := s.read(t, "")["version"]
	require.EqualValues(t, 0, s.matrix(t, s.sizes, s.colors).OK(200)["created"])
	require.Equal(t, version, s.read(t, "")["version"])

	require.Equal(t, map[string]string{"axes[0].optionIds[1]": "CONFLICT"}, s.matrix(t, []any{s.sizes[0], s.sizes[0]}, s.colors).Fields())
	twice := object{"axes": []object{{"attributeId": s.size, "optionIds": s.sizes}, {"attributeId": s.size, "optionIds": s.sizes}}}
	require.Equal(t, map[string]string{"axes[1].attributeId": "CONFLICT"}, c.Do(t, "POST", fmt.Sprintf("/catalog/products/%s/variants/matrix", s.id), twice).Fields())
	many := make([]any, 51)
	for i := range many {
		many[i] = uuid.NewString()
	}
	require.Equal(t, map[string]string{"axes": "MAX"}, s.matrix(t, many, s.colors).Fields())
	require.NotEqual(t, 200, s.matrix(t, append(slices.Clone(s.sizes), uuid.NewString()), s.colors).Status, "an unknown option: all or none")
	require.EqualValues(t, 6, s.read(t, "")["variantsCount"])
}

func TestVariantsOfIntegrations(t *testing.T) {
	t.Parallel()
	c := setup(t)
	s := newShirt(t, c)
	at := func(product any, id string) string {
		return fmt.Sprintf("/catalog/products/%s/variants/by-external-id/shop/%s", product, id)
	}
	body := object{"attributes": []object{{"attributeId": s.size, "optionId": s.sizes[0]}}, "price": 900}
	v := c.Do(t, "PUT", at(s.id, "1"), body).OK(201)
	require.Equal(t, []any{"shop", "1", 900.0}, []any{v["source"], v["externalId"], v["price"]})
	again := c.Do(t, "PUT", at(s.id, "1"), body).OK(200)
	require.Equal(t, []any{v["id"], v["version"]}, []any{again["id"], again["version"]})
	require.EqualValues(t, 950, c.Do(t, "PUT", at(s.id, "1"), object{"price": 950}).OK(200)["price"])

	other := create(t, c, object{"name": "Other", "price": 1}).OK(201)["id"]
	require.Equal(t, s.id, c.Do(t, "PUT", at(other, "1"), object{}).Fault(409, "PRODUCT_VARIANT_EXTERNAL_ID_TAKEN")["meta"].(object)["productId"])
	c.Do(t, "PUT", at(uuid.NewString(), "2"), object{}).Fault(404, "PRODUCT_NOT_FOUND")

	one := fmt.Sprintf("/catalog/products/%s/variants/%s", s.id, v["id"])
	require.Equal(t, "XS", c.Do(t, "PATCH", one, object{"name": "XS"}).OK(200)["name"])
	require.EqualValues(t, 1, s.read(t, "")["variantsCount"])
	require.Equal(t, "hidden", c.Do(t, "DELETE", one, nil).OK(200)["status"])
	require.Equal(t, []any{0.0, false}, []any{s.read(t, "")["variantsCount"], s.read(t, "")["hasVariants"]})
	require.Equal(t, "active", c.Do(t, "PATCH", one, object{"status": "active"}).OK(200)["status"])
	require.EqualValues(t, 1, s.read(t, "")["variantsCount"])
}

// A list shows the variants of its products as their own list does.
func TestListWithVariants(t *testing.T) {
	t.Parallel()
	c := setup(t)
	s := newShirt(t, c)
	s.matrix(t, s.sizes, s.colors).OK(200)
	plain := create(t, c, object{"name": "Plain", "price": 1}).OK(201)["id"]
	page := c.Do(t, "GET", "/catalog/products?include=variants,stock&sort=name", nil).OK(200)["items"].([]any)
	require.Len(t, page, 2)
	require.Equal(t, plain, page[0].(object)["id"])
	require.Equal(t, []any{}, page[0].(object)["variants"])
	want := listVariants(t, c, s.id, "?include=stock")
	require.Len(t, want, 6)
	require.Equal(t, fmt.Sprint(want), fmt.Sprint(page[1].(object)["variants"]))
	require.Equal(t, fmt.Sprint(want), fmt.Sprint(s.read(t, "?include=variants,stock")["variants"]))
	require.NotContains(t, s.read(t, ""), "variants")
	require.NotContains(t, want[0], "attributeValues")

	page = c.Do(t, "GET", "/catalog/products?include=attributes,variants,stock&sort=name", nil).OK(200)["items"].([]any)
	want = listVariants(t, c, s.id, "?include=attributes,stock")
	require.Equal(t, fmt.Sprint(want), fmt.Sprint(page[1].(object)["variants"]))
	size := want[0]["attributeValues"].([]any)[1].(object)
	require.Equal(t, []any{s.size, "S", s.sizes[0]}, []any{size["attributeId"], size["displayValue"], size["options"].([]any)[0].(object)["optionId"]})
}
