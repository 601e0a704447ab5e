package roles_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// An integration keeps groups and price lists, whose prices name items as lines do.
func TestPriceListsOfIntegrations(t *testing.T) {
	t.Parallel()
	s := newNamedShop(t)
	c := s.caller
	list := c.OK(t, "POST", "/clients/price-lists", `{"name":"Wholesale"}`).ID(t)
	c.OK(t, "PATCH", "/clients/price-lists/"+list, `{"name":"Dealers"}`)
	group := c.OK(t, "POST", "/clients/groups", `{"name":"Dealers","priceListId":"`+list+`"}`).ID(t)
	client := c.OK(t, "POST", "/clients", `{"kind":"legal","displayName":"Shop","groupId":"`+group+`"}`).ID(t)
	at := "/clients/price-lists/" + list + "/prices"
	prices := func(items string) []any {
		got := c.OK(t, "PUT", at, `{"items":[`+items+`]}`).Body
		return []any{got["changed"], got["unchanged"]}
	}
	all := fmt.Sprintf(`{"sku":"sh-l","price":900},{"refId":"%s","price":950},{"kind":"service","externalId":"1-L","price":150}`, s.shirt)
	require.Equal(t, []any{3.0, 0.0}, prices(all))
	require.Equal(t, []any{0.0, 3.0}, prices(all), "the same again")
	require.Equal(t, []any{1.0, 1.0}, prices(`{"barcode":"40L","price":910},{"sku":"IRON","kind":"service","price":150}`))
	version := c.OK(t, "GET", at+"?refId="+s.shirt+"&sort=price", "").Body["items"].([]any)
	require.Equal(t, []any{910.0, 2.0, 950.0, 1.0}, []any{
		version[0].(map[string]any)["price"], version[0].(map[string]any)["version"], version[1].(map[string]any)["price"], version[1].(map[string]any)["version"],
	})
	order := c.OK(t, "POST", "/orders", `{"customerId":"`+client+`","items":[{"sku":"SH-L"},{"kind":"service","sku":"IRON"}]}`)
	require.Equal(t, 910.0+150, order.Body["total"])

	for body, want := range map[string]string{
		`{"sku":"none","price":1}`:                                               "PRODUCT_NOT_FOUND items[1].sku",
		fmt.Sprintf(`{"refId":"%s","price":1}`, uuid.NewString()):                "PRODUCT_NOT_FOUND items[1].refId",
		fmt.Sprintf(`{"refId":"%s","variantId":"%s","price":1}`, s.shirt, s.old): "PRODUCT_VARIANT_NOT_FOUND items[1].variantId",
		fmt.Sprintf(`{"kind":"service","refId":"%s","price":1}`, s.shirt):        "SERVICE_NOT_FOUND items[1].refId",
		`{"price":1}`: "VALIDATION_ERROR items[1].refId",
		fmt.Sprintf(`{"kind":"service","refId":"%s","variantId":"%s","price":1}`, s.service, s.large): "VALIDATION_ERROR items[1].variantId",
	} {
		got := c.Do(t, "PUT", at, `{"items":[{"sku":"SH-L","price":5},`+body+`]}`)
		meta, _ := got.Body["meta"].(map[string]any)
		field := meta["field"]
		if faults, ok := got.Body["errors"].([]any); ok && len(faults) > 0 {
			field = faults[0].(map[string]any)["field"]
		}
		require.Equal(t, want, fmt.Sprint(got.Body["code"], " ", field), "%s: %s", body, got.Raw)
	}
	require.Equal(t, 910.0+150, c.OK(t, "POST", "/orders/preview", `{"customerId":"`+client+`","items":[{"sku":"SH-L"},{"kind":"service","sku":"IRON"}]}`).Body["total"], "all or none")

	c.Do(t, "DELETE", "/clients/price-lists/"+list, "").Refused(t, 409, "PRICE_LIST_IN_USE", "a group has it")
	c.Do(t, "DELETE", "/clients/groups/"+group, "").Refused(t, 409, "CLIENT_GROUP_IN_USE", "a client has it")
	c.OK(t, "PATCH", "/clients/"+client, `{"groupId":null}`)
	c.OK(t, "DELETE", "/clients/groups/"+group, "")
	c.OK(t, "DELETE", "/clients/price-lists/"+list, "")
	c.Do(t, "PUT", at, `{"items":[{"sku":"SH-L","price":5}]}`).Refused(t, 404, "PRICE_LIST_NOT_FOUND", "it is gone")
}
