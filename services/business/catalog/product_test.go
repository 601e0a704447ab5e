package catalog_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

type object = map[string]any

func TestProductLife(t *testing.T) {
	t.Parallel()
	c := setup(t)
	got := c.Do(t, "POST", "/catalog/products", object{"name": " Hammer ", "price": 1999})
	p := got.OK(201)
	id := p["id"].(string)
	require.Contains(t, got.Header.Get("Location"), "/catalog/products/"+id)
	for name, want := range (object{
		"name": "Hammer", "price": 1999.0, "cost": 0.0, "sku": "P-0001", "barcode": nil, "description": nil, "nameI18n": object{}, "descriptionI18n": object{},
		"categoryId": nil, "brand": nil, "model": nil, "unit": "pcs", "unitId": nil, "packQty": nil, "packUnitId": nil, "minOrderQty": nil, "orderStepQty": nil,
		"costComponents": []any{}, "isBundle": false, "modifierGroups": []any{}, "status": "active", "hasStock": false, "defaultSupplierId": nil, "emoji": nil,
		"photoFileId": nil, "thumbnailFileId": nil, "attributeValues": []any{}, "version": 1.0, "companyId": c.Principal.Company.String(),
	}) {
		value, sent := p[name]
		require.True(t, sent, name)
		require.Equal(t, want, value, name)
	}
	require.NotContains(t, p, "stockQty")
	path := "/catalog/products/" + id
	require.Equal(t, p, c.Do(t, "GET", path, nil).OK(200))

	require.Equal(t, p, c.Do(t, "PATCH", path, `{}`).OK(200))
	patched := c.Do(t, "PATCH", path, `{"name":"Big hammer","brand":"Acme","minOrderQty":0.5,"price":1999}`, apitest.Header{"If-Match", `"1"`}).OK(200)
	require.Equal(t, "Big hammer", patched["name"])
	require.Equal(t, 0.5, patched["minOrderQty"])
	require.Equal(t, 2.0, patched["version"])
	c.Do(t, "PATCH", path, `{"name":"x"}`, apitest.Header{"If-Match", `"1"`}).Fault(412, "PRECONDITION_FAILED")
	c.Do(t, "DELETE", path, nil, apitest.Header{"If-Match", `"1"`}).Fault(412, "PRECONDITION_FAILED")
	require.Nil(t, c.Do(t, "PATCH", path, `{"brand":null}`).OK(200)["brand"])

	hidden := c.Do(t, "DELETE", path, nil).OK(200)
	require.Equal(t, "hidden", hidden["status"])
	require.Equal(t, hidden, c.Do(t, "DELETE", path, nil).OK(200))
	require.Equal(t, "active", c.Do(t, "PATCH", path, `{"status":"active"}`).OK(200)["status"])

	events := events(t, c)
	require.Equal(t, []string{"product.created", "product.updated", "product.updated", "product.deleted", "product.updated"}, events.Names())
	require.Equal(t, []any{"name", "brand", "minOrderQty"}, events[1].Data["changedFields"])
	require.Equal(t, []any{"status"}, events[4].Data["changedFields"])
	require.Equal(t, p, events[0].Data)
	require.Equal(t, hidden, events[3].Data)
}

func TestProductOfAnotherCompany(t *testing.T) {
	t.Parallel()
	c, other := setup(t), setup(t)
	id := c.Do(t, "POST", "/catalog/products", `{"name":"a","price":1,"sku":"A","barcode":"1"}`).OK(201)["id"].(string)
	for _, call := range [][2]string{{"GET", ""}, {"PATCH", ""}, {"DELETE", ""}, {"GET", "/variants"}} {
		other.Do(t, call[0], "/catalog/products/"+id+call[1], body(call[0])).Fault(404, "PRODUCT_NOT_FOUND")
	}
	other.Do(t, "POST", "/catalog/products", object{"name": "b", "price": 1, "sku": "A", "barcode": "1"}).OK(201)
	fault := other.Do(t, "POST", "/catalog/products", object{"name": "b", "price": 1, "costComponents": []object{{"label": "x", "amount": 1, "productId": id}}}).
		Fault(404, "PRODUCT_NOT_FOUND")
	require.Equal(t, object{"field": "costComponents[0].productId", "id": id}, fault["meta"])
	c.Do(t, "GET", "/catalog/products/x", nil).Fault(400, "VALIDATION_ERROR")
}

func body(method string) any {
	if method == "PATCH" {
		return `{"name":"x"}`
	}
	return nil
}

func TestProductNestedShapes(t *testing.T) {
	t.Parallel()
	c := setup(t)
	nail := c.Do(t, "POST", "/catalog/products", `{"name":"Nail","price":3}`).OK(201)["id"].(string)
	units := listUnits(t, c)
	p := c.Do(t, "POST", "/catalog/products", object{
		"name": "Box", "price": 500, "unitId": units["pack"], "packUnitId": units["pcs"], "packQty": 10,
		"nameI18n": object{"de": "Kiste", "pt-BR": "Caixa"}, "descriptionI18n": object{"de": "Eine Kiste"}, "attributes": []any{},
		"costComponents": []object{
			{"label": "nails", "productId": nail, "qty": 2.5, "unitId": units["pcs"], "unitCost": 3},
			{"label": "work", "amount": 7, "qty": nil},
		},
		"modifierGroups": []object{{"name": "Colour", "maxSelect": 1, "options": []object{{"name": "red", "surcharge": 10}, {"name": "blue", "isDefault": true}}}},
	}).OK(201)
	require.Equal(t, "pack", p["unit"])
	require.Equal(t, []any{
		object{"label": "nails", "productId": nail, "qty": 2.5, "unitId": units["pcs"], "unitCost": 3.0, "amount": 8.0},
		object{"label": "work", "productId": nil, "qty": nil, "unitId": nil, "unitCost": nil, "amount": 7.0},
	}, p["costComponents"])
	group := p["modifierGroups"].([]any)[0].(object)
	require.Len(t, group["id"], 36)
	require.Equal(t, 0.0, group["minSelect"])
	require.Equal(t, 10.0, group["options"].([]any)[0].(object)["surcharge"])
	path := "/catalog/products/" + p["id"].(string)
	require.Equal(t, p, c.Do(t, "GET", path, nil).OK(200))

	same := c.Do(t, "PATCH", path, object{"modifierGroups": p["modifierGroups"], "costComponents": p["costComponents"], "nameI18n": p["nameI18n"]}).OK(200)
	require.Equal(t, 1.0, same["version"], "what a client read and sends back changes nothing")
	c.Do(t, "PATCH", path, object{"costComponents": []object{{"label": "self", "amount": 1, "productId": p["id"]}}}).Fault(400, "VALIDATION_ERROR")
	kilo := c.Do(t, "PATCH", path, `{"unit":"kg","nameI18n":{}}`).OK(200)
	require.Equal(t, "kg", kilo["unit"])
	require.Nil(t, kilo["unitId"])
	require.Empty(t, kilo["nameI18n"])
	require.Equal(t, []any{"nameI18n", "unit", "unitId"}, events(t, c)[2].Data["changedFields"])
}

func listUnits(t *testing.T, c *apitest.Client) map[string]string {
	t.Helper()
	var units []struct{ ID, Code string }
	got := c.Do(t, "GET", "/catalog/units", nil)
	require.Equal(t, 200, got.Status)
	got.Decode(&units)
	ids := map[string]string{}
	for _, u := range units {
		ids[u.Code] = u.ID
	}
	require.Len(t, ids, 10)
	return ids
}

const noID = "0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55"

func TestProductUnknownReferences(t *testing.T) {
	t.Parallel()
	c := setup(t)
	id := c.Do(t, "POST", "/catalog/products", `{"name":"a","price":1}`).OK(201)["id"].(string)
	for _, row := range []struct{ body, code, field string }{
		{`"categoryId":"` + noID + `"`, "CATEGORY_NOT_FOUND", "categoryId"},
		{`"unitId":"` + noID + `"`, "UNIT_NOT_FOUND", "unitId"},
		{`"packUnitId":"` + noID + `"`, "UNIT_NOT_FOUND", "packUnitId"},
		{`"defaultSupplierId":"` + noID + `"`, "SUPPLIER_NOT_FOUND", "defaultSupplierId"},
		{`"costComponents":[{"label":"a","amount":1},{"label":"a","amount":1,"productId":"` + noID + `"}]`, "PRODUCT_NOT_FOUND", "costComponents[1].productId"},
		{`"costComponents":[{"label":"a","amount":1,"unitId":"` + noID + `"}]`, "UNIT_NOT_FOUND", "costComponents[0].unitId"},
		{`"modifierGroups":[{"name":"a","options":[{"name":"b","productId":"` + noID + `"}]}]`, "PRODUCT_NOT_FOUND", "modifierGroups[0].options[0].productId"},
	} {
		t.Run(row.field, func(t *testing.T) {
			want := object{"field": row.field, "id": noID}
			require.Equal(t, want, c.Do(t, "POST", "/catalog/products", `{"name":"a","price":1,`+row.body+`}`).Fault(404, row.code)["meta"])
			require.Equal(t, want, c.Do(t, "PATCH", "/catalog/products/"+id, `{`+row.body+`}`).Fault(404, row.code)["meta"])
		})
	}
	require.Equal(t, []string{"product.created"}, events(t, c).Names())
	c.Do(t, "GET", "/catalog/products/"+noID+"/variants", nil).Fault(404, "PRODUCT_NOT_FOUND")
	require.JSONEq(t, `[]`, string(c.Do(t, "GET", "/catalog/products/"+id+"/variants", nil).Body))
}

func TestEmptyTextIsNull(t *testing.T) {
	t.Parallel()
	c := setup(t)
	p := create(t, c, object{
		"name": "a", "price": 1, "barcode": " ", "categoryId": "", "emoji": "",
		"modifierGroups": []object{{"name": "a", "options": []object{{"name": "b", "productId": ""}}}},
	}).OK(201)
	require.Equal(t, []any{nil, nil, nil}, []any{p["barcode"], p["categoryId"], p["emoji"]})
	p = c.Do(t, "PATCH", "/catalog/products/"+p["id"].(string), object{"brand": "B", "barcode": "400"}).OK(200)
	p = c.Do(t, "PATCH", "/catalog/products/"+p["id"].(string), object{"brand": " ", "barcode": ""}).OK(200)
	require.Equal(t, []any{nil, nil}, []any{p["brand"], p["barcode"]})
	create(t, c, object{"name": "b", "price": 1, "barcode": "400"}).OK(201)
}

// badProductFields are values that no body of a product may have, with the faults that they get.
func badProductFields() map[string][][3]string {
	long := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	text := func(field string, limit int, nullable, blank bool) [][3]string {
		rows := [][3]string{{`5`, field, "TYPE"}, {`{}`, field, "TYPE"}, {long(limit + 1), field, "LENGTH"}, {`"a\u0000b"`, field, "FORMAT"}}
		if !nullable {
			rows = append(rows, [3]string{`null`, field, "TYPE"})
		}
		if !blank {
			rows = append(rows, [3]string{`"  "`, field, "LENGTH"})
		}
		return rows
	}
	ref := func(field string) [][3]string {
		return [][3]string{{`"x"`, field, "FORMAT"}, {`7`, field, "TYPE"}, {`[]`, field, "TYPE"}}
	}
	amount := func(field string) [][3]string {
		return [][3]string{{`-1`, field, "MIN"}, {`1.5`, field, "STEP"}, {`9007199254740992`, field, "MAX"}, {`"1"`, field, "TYPE"}, {`null`, field, "TYPE"}, {`1e40`, field, "MAX"}}
	}
	qty := func(field string) [][3]string {
		return [][3]string{{`0`, field, "MIN"}, {`-1`, field, "MIN"}, {`0.0001`, field, "STEP"}, {`1000001`, field, "MAX"}, {`"1"`, field, "TYPE"}}
	}
	flag := func(field string) [][3]string {
		return [][3]string{{`1`, field, "TYPE"}, {`"true"`, field, "TYPE"}, {`null`, field, "TYPE"}}
	}
	i18n := func(field string, limit int) [][3]string {
		return [][3]string{
			{`null`, field, "TYPE"},
			{`[]`, field, "TYPE"},
			{`{"de":1}`, field + ".de", "TYPE"},
			{`{"de":" "}`, field + ".de", "LENGTH"},
			{`{"d":"x"}`, field + ".d", "FORMAT"},
			{`{"de":` + long(limit+1) + `}`, field + ".de", "LENGTH"},
			{`{"abcdefgh-abcdefgh":"x"}`, field + ".abcdefgh-abcdefgh", "FORMAT"},
			{`{` + locales(31) + `}`, field, "MAX"},
		}
	}
	return map[string][][3]string{
		"sku": text("sku", 64, false, false), "barcode": text("barcode", 64, true, true), "name": text("name", 255, false, false),
		"description": text("description", 20000, true, true), "nameI18n": i18n("nameI18n", 255), "descriptionI18n": i18n("descriptionI18n", 20000),
		"categoryId": ref("categoryId"), "price": amount("price"), "cost": amount("cost"), "unit": append(text("unit", 16, false, false), [3]string{`"nope"`, "unit", "ENUM"}),
		"unitId": ref("unitId"), "packUnitId": ref("packUnitId"), "packQty": qty("packQty"), "minOrderQty": qty("minOrderQty"), "orderStepQty": qty("orderStepQty"),
		"isBundle": flag("isBundle"), "hasStock": flag("hasStock"), "status": {{`"deleted"`, "status", "ENUM"}, {`null`, "status", "TYPE"}, {`1`, "status", "TYPE"}},
		"defaultSupplierId": ref("defaultSupplierId"), "emoji": text("emoji", 16, true, true), "brand": text("brand", 255, true, true), "model": text("model", 255, true, true),
		"attributes":     {{`null`, "attributes", "TYPE"}, {`{}`, "attributes", "TYPE"}},
		"costComponents": badComponents(), "modifierGroups": badGroups(),
	}
}

func locales(n int) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = `"a` + string(rune('a'+i/26)) + string(rune('a'+i%26)) + `":"x"`
	}
	return strings.Join(entries, ",")
}

func badComponents() [][3]string {
	one := func(rest string) string { return `[{"label":"a",` + rest + `}]` }
	const at = "costComponents[0]."
	return [][3]string{
		{`null`, "costComponents", "TYPE"},
		{`{}`, "costComponents", "TYPE"},
		{`[1]`, "costComponents[0]", "TYPE"},
		{`[` + strings.Repeat(`{"label":"a","amount":1},`, 100) + `{"label":"a","amount":1}]`, "costComponents", "MAX"},
		{`[{"amount":1}]`, at + "label", "REQUIRED"},
		{`[{"label":" ","amount":1}]`, at + "label", "LENGTH"},
		{one(`"qty":1`), at + "amount", "REQUIRED"},
		{one(`"unitCost":1`), at + "amount", "REQUIRED"},
		{one(`"amount":-1`), at + "amount", "MIN"},
		{one(`"amount":1.5`), at + "amount", "STEP"},
		{one(`"qty":0,"unitCost":1`), at + "qty", "MIN"},
		{one(`"qty":0.0001,"unitCost":1`), at + "qty", "STEP"},
		{one(`"qty":1000000,"unitCost":9007199254740991`), at + "amount", "MAX"},
		{one(`"qty":1,"unitCost":-1`), at + "unitCost", "MIN"},
		{one(`"amount":1,"productId":"x"`), at + "productId", "FORMAT"},
		{one(`"amount":1,"unitId":1`), at + "unitId", "TYPE"},
	}
}

func badGroups() [][3]string {
	one := func(rest string) string { return `[{"name":"a"` + rest + `}]` }
	const at, opt = "modifierGroups[0].", "modifierGroups[0].options[0]."
	groups := strings.TrimSuffix(strings.Repeat(`{"name":"a"},`, 21), ",")
	options := strings.TrimSuffix(strings.Repeat(`{"name":"a"},`, 51), ",")
	return [][3]string{
		{`null`, "modifierGroups", "TYPE"},
		{`[` + groups + `]`, "modifierGroups", "MAX"},
		{`[{}]`, at + "name", "REQUIRED"},
		{`[{"name":""}]`, at + "name", "LENGTH"},
		{one(`,"id":"x"`), at + "id", "FORMAT"},
		{one(`,"minSelect":-1`), at + "minSelect", "MIN"},
		{one(`,"minSelect":1`), at + "minSelect", "MAX"},
		{one(`,"maxSelect":0`), at + "maxSelect", "MIN"},
		{one(`,"minSelect":2,"maxSelect":1,"options":[{"name":"a"},{"name":"b"}]`), at + "maxSelect", "MIN"},
		{one(`,"options":null`), at + "options", "TYPE"},
		{one(`,"options":[` + options + `]`), at + "options", "MAX"},
		{one(`,"options":[{}]`), opt + "name", "REQUIRED"},
		{one(`,"options":[{"name":"a","surcharge":-1}]`), opt + "surcharge", "MIN"},
		{one(`,"options":[{"name":"a","surcharge":0.5}]`), opt + "surcharge", "STEP"},
		{one(`,"options":[{"name":"a","isDefault":1}]`), opt + "isDefault", "TYPE"},
		{one(`,"options":[{"name":"a","productId":"x"}]`), opt + "productId", "FORMAT"},
		{one(`,"sortOrder":1000001`), at + "sortOrder", "MAX"},
		{`[{"id":"` + noID + `","name":"a","options":[{"id":"` + noID + `","name":"b"}]}]`, opt + "id", "CONFLICT"},
	}
}

func TestProductInputFaults(t *testing.T) {
	t.Parallel()
	c := setup(t)
	id := c.Do(t, "POST", "/catalog/products", `{"name":"a","price":1}`).OK(201)["id"].(string)
	for field, rows := range badProductFields() {
		t.Run(field, func(t *testing.T) {
			for _, row := range rows {
				value, path, code := row[0], row[1], row[2]
				rest := `"name":"a",`
				if field == "name" {
					rest = ""
				}
				if field != "price" {
					rest += `"price":1,`
				}
				want := map[string]string{path: code}
				require.Equal(t, want, c.Do(t, "POST", "/catalog/products", `{`+rest+`"`+field+`":`+value+`}`).Fields(), "%.80s", value)
				require.Equal(t, want, c.Do(t, "PATCH", "/catalog/products/"+id, `{"`+field+`":`+value+`}`).Fields(), "%.80s", value)
			}
		})
	}
	require.Equal(t, map[string]string{"name": "REQUIRED", "price": "REQUIRED"}, c.Do(t, "POST", "/catalog/products", `{}`).Fields())
	require.Equal(t, map[string]string{"name": "LENGTH", "price": "MIN", "status": "ENUM", "costComponents[0].label": "REQUIRED", "packQty": "STEP"},
		c.Do(t, "POST", "/catalog/products", `{"name":"","price":-1,"status":"x","costComponents":[{"amount":1}],"packQty":0.0005}`).Fields(), "all at once")
	for _, broken := range []string{``, `{`, `[]`, `"x"`, `{"name":"a","price":1}x`} {
		c.Do(t, "POST", "/catalog/products", broken).Fault(400, "VALIDATION_ERROR")
	}
	require.Equal(t, []string{"product.created"}, events(t, c).Names(), "a refused body raises nothing")
	require.Equal(t, 1.0, c.Do(t, "GET", "/catalog/products?status=all", nil).OK(200)["total"], "a refused body stores nothing")
	require.Equal(t, "P-0002", c.Do(t, "POST", "/catalog/products", `{"name":"a","price":1}`).OK(201)["sku"], "a refused body takes no number")
}
