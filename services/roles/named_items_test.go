package roles_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// namedShop is a company whose items all have names besides their ids.
type namedShop struct {
	caller                                         rolestest.Client
	shirt, large, old, service, shift, kind, house string
}

func newNamedShop(t *testing.T) namedShop {
	t.Helper()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	s := namedShop{}
	s.caller, _ = n.Owner(t)
	made := func(path, body string) string { return s.caller.OK(t, "POST", path, body).ID(t) }
	s.shirt = made("/catalog/products", `{"name":"Shirt","price":1000,"sku":"SH","barcode":"400","source":"erp","externalId":"1","hasStock":true}`)
	s.large = made("/catalog/products/"+s.shirt+"/variants", `{"sku":"SH-L","barcode":"40L","name":"large","price":1100,"source":"erp","externalId":"1-L"}`)
	s.old = made("/catalog/products", `{"name":"Cap","price":500,"sku":"CAP","barcode":"41","source":"erp","externalId":"2","status":"hidden"}`)
	s.service = made("/catalog/services", `{"name":"Ironing","price":200,"sku":"IRON","source":"erp","externalId":"1-L","priceModel":"fixed"}`)
	s.shift = made("/shifts/open", `{"openingCash":0}`)
	var kinds []struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(s.caller.OK(t, "GET", "/deals/types", "").Raw), &kinds))
	s.kind = kinds[0].ID
	s.house, _ = s.caller.OK(t, "GET", "/warehouse/warehouses", "").Body["items"].([]any)[0].(map[string]any)["id"].(string)
	return s
}

// sent is the body of a document with these lines.
func (s namedShop) sent(path, lines string) string {
	switch path {
	case "/sales", "/sales/preview":
		return fmt.Sprintf(`{"shiftId":"%s","paymentMethod":"cash","items":[%s]}`, s.shift, lines)
	case "/deals":
		return fmt.Sprintf(`{"typeId":"%s","items":[%s]}`, s.kind, lines)
	case "/warehouse/receipts":
		return fmt.Sprintf(`{"warehouseId":"%s","items":[%s]}`, s.house, lines)
	}
	return fmt.Sprintf(`{"items":[%s]}`, lines)
}

// All documents take the names of items in place of their ids.
func TestLinesNameTheirItems(t *testing.T) {
	t.Parallel()
	s := newNamedShop(t)
	const named = `{"sku":" sh-l ","qty":2},{"barcode":"40l","qty":1},{"source":"erp","externalId":"1-L","qty":3},{"externalId":"1-L","qty":1}`
	for _, path := range []string{"/orders", "/orders/preview", "/sales", "/sales/preview", "/deals", "/warehouse/receipts"} {
		got := s.caller.OK(t, "POST", path, s.sent(path, named))
		lines, _ := got.Body["lines"].([]any)
		require.Len(t, lines, 4, path)
		for _, l := range lines {
			line, _ := l.(map[string]any)
			if path != "/warehouse/receipts" {
				require.Equal(t, []any{s.shirt, s.large, "SH-L", "Shirt, large", 1100.0}, []any{line["refId"], line["variantId"], line["sku"], line["name"], line["unitPrice"]}, path)
				continue
			}
			require.Equal(t, []any{s.shirt, s.large, "SH-L"}, []any{line["productId"], line["variantId"], line["variantSku"]})
		}
		id := "refId"
		if path == "/warehouse/receipts" {
			id = "productId"
		}
		refused := func(status int, code, field, line string) map[string]any {
			t.Helper()
			got := s.caller.Do(t, "POST", path, s.sent(path, `{"sku":"SH-L","qty":1},`+line))
			require.Equal(t, status, got.Status, "%s %s: %s", path, line, got.Raw)
			require.Equal(t, code, got.Body["code"], got.Raw)
			meta, _ := got.Body["meta"].(map[string]any)
			if status == http.StatusBadRequest {
				require.Equal(t, "items[1]."+field, got.Body["errors"].([]any)[0].(map[string]any)["field"], got.Raw)
			} else {
				require.Equal(t, "items[1]."+field, meta["field"], got.Raw)
			}
			return meta
		}
		refused(404, "PRODUCT_NOT_FOUND", "sku", `{"sku":"none","qty":1}`)
		refused(404, "PRODUCT_NOT_FOUND", "sku", `{"sku":"IRON","qty":1}`)
		refused(404, "PRODUCT_NOT_FOUND", "barcode", `{"barcode":"none","qty":1}`)
		refused(404, "PRODUCT_NOT_FOUND", "externalId", `{"source":"other","externalId":"1-L","qty":1}`)
		refused(409, "PRODUCT_VARIANT_REQUIRED", "sku", `{"sku":"SH","qty":1}`)
		refused(400, "VALIDATION_ERROR", "barcode", `{"sku":"SH-L","barcode":"40L","qty":1}`)
		refused(400, "VALIDATION_ERROR", "externalId", `{"source":"erp","qty":1}`)
		refused(400, "VALIDATION_ERROR", id, `{"qty":1}`)
		refused(400, "VALIDATION_ERROR", "variantId", fmt.Sprintf(`{"sku":"SH","variantId":"%s","qty":1}`, s.large))
		refused(404, "PRODUCT_NOT_FOUND", id, fmt.Sprintf(`{"%s":"%s","sku":"SH-L","qty":1}`, id, uuid.NewString())) // an id decides
		other := s.caller.OK(t, "POST", "/catalog/products", `{"name":"Other","price":1,"source":"`+path+`","externalId":"1-L"}`).ID(t)
		meta := refused(409, "CATALOG_ITEM_AMBIGUOUS", "externalId", `{"externalId":"1-L","qty":1}`)
		raw, err := json.Marshal(meta["items"])
		require.NoError(t, err)
		require.JSONEq(t, fmt.Sprintf(`[{"id":"%s","variantId":null},{"id":"%s","variantId":"%s"}]`, other, s.shirt, s.large), string(raw))
		s.caller.OK(t, "PATCH", "/catalog/products/"+other, `{"externalId":null,"source":null}`)
	}
}

func TestNamedLinesOfServicesAndHiddenItems(t *testing.T) {
	t.Parallel()
	s := newNamedShop(t)
	for _, line := range []string{`{"kind":"service","sku":"iron"}`, `{"kind":"service","source":"erp","externalId":"1-L"}`} {
		for _, path := range []string{"/orders", "/sales", "/deals"} {
			lines := s.caller.OK(t, "POST", path, s.sent(path, line)).Body["lines"].([]any)
			require.Equal(t, s.service, lines[0].(map[string]any)["refId"])
		}
	}
	got := s.caller.Do(t, "POST", "/orders", s.sent("/orders", `{"kind":"service","barcode":"40L"}`))
	require.Equal(t, "items[0].barcode", got.Body["errors"].([]any)[0].(map[string]any)["field"], got.Raw)
	got = s.caller.Do(t, "POST", "/orders", s.sent("/orders", `{"kind":"service","sku":"SH"}`))
	require.Equal(t, []any{404, "SERVICE_NOT_FOUND"}, []any{got.Status, got.Body["code"]}, got.Raw)

	// What was handed over was sold: a sale finds a hidden item by its barcode, an order says that it is hidden.
	require.Equal(t, s.old, s.caller.OK(t, "POST", "/sales", s.sent("/sales", `{"barcode":"41"}`)).Body["lines"].([]any)[0].(map[string]any)["refId"])
	got = s.caller.Do(t, "POST", "/orders", s.sent("/orders", `{"barcode":"41"}`))
	require.Equal(t, []any{409, "CATALOG_ITEM_HIDDEN", "items[0].barcode"}, []any{got.Status, got.Body["code"], got.Body["meta"].(map[string]any)["field"]}, got.Raw)

	// Other custom lines stay as they are, whatever names they have.
	custom := s.caller.OK(t, "POST", "/orders", s.sent("/orders", `{"kind":"custom","name":"Repair","unitPrice":5,"sku":"SH"}`)).Body["lines"].([]any)[0].(map[string]any)
	require.Nil(t, custom["refId"])
}

// A sync names items in upserts and changes: the same body again changes nothing, whatever names it uses.
func TestUpsertsNameItems(t *testing.T) {
	t.Parallel()
	s := newNamedShop(t)
	for path, more := range map[string]string{"/orders": "", "/deals": fmt.Sprintf(`"typeId":"%s",`, s.kind)} {
		at := path + "/by-external-id/shop/9"
		one := s.caller.OK(t, "PUT", at, `{`+more+`"items":[{"sku":"SH-L","qty":2}]}`)
		for _, line := range []string{`{"barcode":"40L","qty":2}`, `{"source":"erp","externalId":"1-L","qty":2}`, fmt.Sprintf(`{"refId":"%s","variantId":"%s","qty":2}`, s.shirt, s.large)} {
			again := s.caller.OK(t, "PUT", at, `{`+more+`"items":[`+line+`]}`)
			require.Equal(t, []any{one.Body["id"], one.Body["version"]}, []any{again.Body["id"], again.Body["version"]}, line)
		}
		changed := s.caller.OK(t, "PATCH", path+"/"+one.ID(t), `{"items":[{"kind":"service","sku":"IRON","qty":1}]}`)
		require.Equal(t, s.service, changed.Body["lines"].([]any)[0].(map[string]any)["refId"])
		missing := s.caller.Do(t, "PATCH", path+"/"+one.ID(t), `{"items":[{"sku":"none"}]}`)
		require.Equal(t, []any{404, "items[0].sku"}, []any{missing.Status, missing.Body["meta"].(map[string]any)["field"]}, missing.Raw)
	}
}
