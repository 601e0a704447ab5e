package catalog_test

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

// found are the SKUs of a page, in its order.
func found(t *testing.T, c *apitest.Client, path string) (skus []string) {
	t.Helper()
	for _, item := range c.Do(t, "GET", path, nil).OK(200)["items"].([]any) {
		skus = append(skus, fmt.Sprint(item.(object)["sku"]))
	}
	return skus
}

func TestListOfAllVariants(t *testing.T) {
	t.Parallel()
	c := setup(t)
	s := newShirt(t, c)
	s.matrix(t, s.sizes[:2], s.colors[:1]).OK(200) // SH-0001 and SH-0002, for 1200
	other := create(t, c, object{"name": "Cap", "price": 500, "sku": "CAP"}).OK(201)["id"]
	at := fmt.Sprintf("/catalog/products/%s/variants", other)
	blue := c.Do(t, "POST", at, object{"sku": "cap-blue", "barcode": "40-Ä", "name": "Night sky", "source": "shop", "externalId": "7", "metadata": object{"shelf": "2"}}).OK(201)
	hidden := c.Do(t, "POST", at, object{"sku": "cap-old", "barcode": "41", "status": "hidden"}).OK(201)

	for query, want := range map[string][]string{
		"":                            {"cap-blue", "SH-0002", "SH-0001"},
		"sort=sku":                    {"cap-blue", "SH-0001", "SH-0002"},
		"status=all&sort=sku":         {"cap-blue", "cap-old", "SH-0001", "SH-0002"},
		"status=hidden":               {"cap-old"},
		"sku=CAP-BLUE":                {"cap-blue"},
		"sku=CAP":                     nil, // that of the product
		"barcode=40-%C3%A4":           {"cap-blue"},
		"barcode=41&status=all":       {"cap-old"},
		"externalId=7":                {"cap-blue"},
		"externalId=7&source=shop":    {"cap-blue"},
		"externalId=7&source=x":       nil,
		"source=shop":                 {"cap-blue"},
		"metadata[shelf]=2":           {"cap-blue"},
		"search=night":                {"cap-blue"},
		"search=sh-0":                 {"SH-0002", "SH-0001"},
		"productId=" + other.(string): {"cap-blue"},
		"productId=" + uuid.NewString() + "&status=all":   nil,
		"ids=" + blue["id"].(string):                      {"cap-blue"},
		"updatedSince=2020-01-01T00:00:00Z&fields=sku":    {"SH-0001", "SH-0002", "cap-blue", "cap-old"},
		"sort=sku&pageSize=1&page=2":                      {"SH-0001"},
		"include=stock,attributes&sku=sh-0001&fields=sku": {"SH-0001"},
	} {
		require.Equal(t, want, found(t, c, "/catalog/variants?"+query), query)
	}
	page := c.Do(t, "GET", "/catalog/variants?sort=sku&pageSize=2", nil).OK(200)
	require.EqualValues(t, 3, page["total"])
	require.Equal(t, []string{"SH-0002"}, found(t, c, "/catalog/variants?sort=sku&pageSize=2&cursor="+url.QueryEscape(page["nextCursor"].(string))))

	// Each is shown as in the list of its product.
	shown := c.Do(t, "GET", fmt.Sprintf("/catalog/variants?include=stock,attributes&productId=%s&sort=sku", s.id), nil).OK(200)["items"].([]any)
	require.Equal(t, fmt.Sprint(listVariants(t, c, s.id, "?include=stock,attributes")), fmt.Sprint(shown))
	require.Equal(t, 500.0, c.Do(t, "GET", "/catalog/variants?sku=cap-blue", nil).OK(200)["items"].([]any)[0].(object)["effectivePrice"], "without a price, that of the product")
	require.Equal(t, "hidden", hidden["status"])
	c.Do(t, "GET", "/catalog/variants?include=variants", nil).Fault(400, "VALIDATION_ERROR")
}

// What names a variant finds its product.
func TestProductsAreFoundByTheirVariants(t *testing.T) {
	t.Parallel()
	c := setup(t)
	create(t, c, object{"name": "Shirt", "price": 1000, "sku": "SH", "barcode": "400", "source": "shop", "externalId": "1"}).OK(201)
	capID := create(t, c, object{"name": "Cap", "price": 500, "sku": "CAP"}).OK(201)["id"]
	at := fmt.Sprintf("/catalog/products/%s/variants", capID)
	c.Do(t, "POST", at, object{"sku": "c-blue", "barcode": "4A", "name": "Night sky", "source": "shop", "externalId": "1"}).OK(201)
	c.Do(t, "POST", at, object{"sku": "c-old", "barcode": "4B", "status": "hidden", "externalId": "2"}).OK(201)
	for query, want := range map[string][]string{
		"sku=C-BLUE":                          {"CAP"},
		"sku=c-old":                           {"CAP"},
		"sku=cap":                             {"CAP"},
		"sku=c":                               nil,
		"barcode=4a":                          {"CAP"},
		"barcode=4B":                          {"CAP"}, // of a hidden variant, as it is written
		"barcode=4b":                          nil,
		"barcode=400":                         {"SH"},
		"externalId=1":                        {"CAP", "SH"},
		"externalId=1&source=shop&barcode=4A": {"CAP"},
		"externalId=2":                        {"CAP"},
		"externalId=2&source=shop":            nil,
		"source=shop":                         {"SH"},
		"search=night":                        {"CAP"},
		"search=c-bl":                         {"CAP"},
		"search=4":                            {"CAP", "SH"},
		"search=sh":                           {"SH"},
		"search=nothing":                      nil,
		"sku=c-blue&status=hidden":            nil,
	} {
		require.Equal(t, want, found(t, c, "/catalog/products?"+query), query)
	}
	page := c.Do(t, "GET", "/catalog/products?search=4&pageSize=1", nil).OK(200)
	require.EqualValues(t, 2, page["total"])
	c.Do(t, "POST", at, object{"sku": "c-green", "barcode": "4C"}).OK(201)
	require.Equal(t, []string{"SH"}, found(t, c, "/catalog/products?search=4&pageSize=1&cursor="+url.QueryEscape(page["nextCursor"].(string))), "a cursor is valid whatever variants there are by then")
}
