package roles_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/business/deals"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// people has users and branches, which have no operations of their own to change them.
func (w *walk) people() {
	ctx, s, d := w.t.Context(), w.all.Company, w.all.DB
	user, err := roles.ChangeWith(ctx, d, "test", w.company, s.InviteUser, company.Invitation{Email: "ann@example.com", Name: "Ann"})
	require.NoError(w.t, err)
	_, err = roles.ChangeWith(ctx, d, "test", w.company, s.ActivateUser, user.ID)
	require.NoError(w.t, err)
	_, err = roles.ChangeWith(ctx, d, "test", w.company, s.BlockUser, user.ID)
	require.NoError(w.t, err)
	_, err = roles.ChangeWith(ctx, d, "test", w.company, s.CreateBranch, company.BranchFields{Name: "North"})
	require.NoError(w.t, err)
	w.do(200, "GET /users", "")
	w.do(200, "GET /branches", "")
	w.do(200, "GET /token", "")
	w.do(200, "GET /company", "")
	limited, err := roles.ChangeWith(ctx, d, "test", w.company, s.IssueToken, company.NewToken{Name: "limited", Scopes: []string{"catalog:read"}})
	require.NoError(w.t, err)
	w.with(limited.Text, nil, 200, "GET /token", "")
	_, err = d.Exec(ctx, `UPDATE tokens SET created_at = created_at - INTERVAL '365 days', expires_at = expires_at - INTERVAL '360 days' WHERE company_id = $1 AND id = $2`, w.company, limited.ID)
	require.NoError(w.t, err)
	require.NoError(w.t, s.TellExpiring(ctx))
}

// upserts walks the records with external ids.
func (w *walk) upserts(made map[string]string) {
	for _, s := range rolestest.Samples() {
		if op := "PUT " + s.Path + "/by-external-id/{source}/{externalId}"; w.ops[op] != nil {
			fields := `{"metadata":{"shelf":"7"}}`
			if s.Entity == "PRODUCT" || s.Entity == "SERVICE" {
				fields = `{"metadata":{"shelf":"7"},"categoryId":null}`
			}
			body := another(w.t, s, made, 1, fields)
			id := w.id(w.do(201, op, body, "shop", "1"))
			w.do(200, op, body, "shop", "1")
			if batch := "POST " + s.Path + "/batch"; w.ops[batch] != nil {
				w.do(200, batch, `{"items":[{"op":"upsert","source":"shop","externalId":"1","body":{"metadata":{"shelf":"8"}}},{"op":"update","source":"shop","externalId":"2","body":{}}]}`)
			}
			switch s.Entity {
			case "RECEIPT":
				w.do(200, "POST /warehouse/receipts/{id}/cancel", "", id) // a warehouse that is deleted is empty
			case "PRODUCT":
				w.do(200, "DELETE /catalog/products/{id}", "", id)
				w.do(200, op, body, "shop", "1") // it stays hidden
			}
		}
	}
}

// largeBatches starts the jobs of batches.
func (w *walk) largeBatches() {
	for op := range w.ops {
		if strings.HasSuffix(op, "/batch") {
			items := make([]string, 201) // of records that there are not
			for i := range items {
				items[i] = fmt.Sprintf(`{"op":"update","source":"shop","externalId":"%d","body":{"name":"Volta Trail %d"}}`, 1001+i, i+1)
				switch op {
				case "POST /clients/batch":
					items[i] = fmt.Sprintf(`{"op":"update","source":"shop","externalId":"%d","body":{"note":"Delivery to the gate"}}`, 1001+i)
				case "POST /clients/changes/batch":
					items[i] = fmt.Sprintf(`{"body":{"clientId":"%s","addTags":["newsletter"]}}`, uuid.NewString())
				case "POST /orders/changes/batch":
					items[i] = fmt.Sprintf(`{"body":{"orderId":"%s","status":"confirmed"}}`, uuid.NewString())
				case "POST /warehouse/stocks/adjust/batch":
					items[i] = fmt.Sprintf(`{"body":{"productId":"%s","warehouseId":"%s","targetQty":%d,"reason":"Count"}}`, uuid.NewString(), uuid.NewString(), i)
				}
			}
			w.do(202, op, `{"items":[`+strings.Join(items, ",")+`]}`)
		}
	}
}

// attributes walks attributes with options, values and variants, as an integration and as an operator.
func (w *walk) attributes(product string) {
	valued := w.traits(w, product, "7")
	w.traits(w.admin, product, "8")
	w.variants(valued)
}

// caller is a walk of either API.
type caller interface {
	do(status int, op, body string, args ...string) map[string]any
}

// traits returns a product with a value of a new attribute.
func (w *walk) traits(by caller, product, barcode string) (valued [3]string) {
	attribute := w.id(by.do(201, "POST /catalog/attributes", `{"name":"Frame size","type":"multiselect","isVariant":true,"unit":"cm"}`))
	by.do(200, "GET /catalog/attributes", "")
	by.do(200, "GET /catalog/attributes/{id}", "", attribute)
	by.do(200, "PATCH /catalog/attributes/{id}", `{"sortOrder":3}`, attribute)
	option := w.id(by.do(201, "POST /catalog/attributes/{id}/options", `{"label":"M","labelI18n":{"de":"Mittel"},"color":"#112233"}`, attribute))
	by.do(200, "GET /catalog/attributes/{id}/options/{optionId}", "", attribute, option)
	by.do(200, "PATCH /catalog/attributes/{id}/options/{optionId}", `{"label":"Medium"}`, attribute, option)
	unused := w.id(by.do(201, "POST /catalog/attributes/{id}/options", `{"label":"L"}`, attribute))
	by.do(204, "DELETE /catalog/attributes/{id}/options/{optionId}", "", attribute, unused)
	value := `{"attributes":[{"attributeId":"` + attribute + `","optionIds":["` + option + `"]}]`
	beans := w.id(w.do(201, "POST /catalog/products", value+`,"name":"Volta Trail","price":249900}`))
	w.do(200, "GET /catalog/attributes", "", "?categoryId=null")
	w.do(200, "GET /catalog/products", "", "?attr["+attribute+"]="+option)
	w.do(200, "POST /catalog/products/batch", `{"items":[{"op":"update","id":"`+beans+`","body":{"attributes":[]}},{"op":"upsert","sku":"none","body":{}}]}`)

	variant := w.id(by.do(201, "POST /catalog/products/{id}/variants", value+`,"barcode":"`+barcode+`","name":"M","price":189900,"cost":121000}`, product))
	by.do(200, "GET /catalog/products/{id}/variants/{variantId}", "", product, variant)
	by.do(200, "PATCH /catalog/products/{id}/variants/{variantId}", `{"sortOrder":1}`, product, variant)
	by.do(200, "GET /catalog/products/{id}/variants", "", product, "?include=stock")
	by.do(409, "DELETE /catalog/attributes/{id}", "", attribute)
	by.do(200, "DELETE /catalog/products/{id}/variants/{variantId}", "", product, variant) // from here on the product is sold as it is
	free := w.id(by.do(201, "POST /catalog/attributes", `{"name":"Frame number","type":"text"}`))
	by.do(204, "DELETE /catalog/attributes/{id}", "", free)
	return [3]string{beans, attribute, option}
}

// variants walks the variants of a product that an integration maintains.
func (w *walk) variants(of [3]string) {
	valued, attribute, option := of[0], of[1], of[2]
	axes := `{"axes":[{"attributeId":"` + attribute + `","optionIds":["` + option + `"]}]}`
	w.do(200, "POST /catalog/products/{id}/variants/matrix", axes, valued)
	const upsert = "PUT /catalog/products/{id}/variants/by-external-id/{source}/{externalId}"
	w.do(201, upsert, `{"name":"L"}`, valued, "shop", "1")
	w.do(200, upsert, `{"name":"Large"}`, valued, "shop", "1")
	w.do(200, "GET /catalog/products", "", "?include=variants,attributes,stock&ids="+valued)
	w.do(200, "POST /catalog/variants/batch", `{"items":[{"op":"upsert","source":"shop","externalId":"2","body":{"productId":"`+valued+`","name":"Batch"}},{"op":"delete","source":"shop","externalId":"2"}]}`)
	w.do(200, "GET /catalog/products/{id}", "", valued, "?include=variants")
	w.do(200, "GET /catalog/variants", "", "?include=attributes,stock&externalId=1&source=shop")
}

// goods walks what is special in the catalog: the tree of categories, a product inside another, and stock.
func (w *walk) goods(product string) {
	root := w.id(w.do(201, "POST /catalog/categories", `{"name":"Bicycles"}`))
	child := w.id(w.do(201, "POST /catalog/categories", `{"name":"Sets","parentId":"`+root+`"}`))
	w.do(200, "PUT /catalog/categories/tree", `{"parentId":"`+root+`","categories":[{"name":"Sets","metadata":{"shelf":"1"},"children":[{"name":"Helmets","source":"shop","externalId":"helmets"}]}]}`)
	w.do(200, "PUT /catalog/categories/tree", `{"parentId":"`+child+`","categories":[{"source":"shop","externalId":"helmets","name":"Helmets and lights","children":[]}]}`)
	w.do(200, "GET /catalog/categories/tree", "", "?rootId="+child)
	w.do(200, "GET /catalog/units", "")
	w.do(201, "POST /catalog/products", `{"name":"Starter set","price":219900,"categoryId":"`+child+`","isBundle":true,
		"costComponents":[{"label":"Bicycle","productId":"`+product+`","qty":1,"unitCost":121000},{"label":"Assembly","amount":6900}]}`)
	w.do(200, "GET /catalog/products/{id}", "", product, "?include=stock")
	w.do(200, "GET /catalog/products", "", "?include=stock&search=volta")
	w.do(200, "GET /catalog/products", "", "?withTotal=true&pageSize=1&sort=name")
	w.do(200, "GET /catalog/products", "", "?updatedSince=2026-01-01T00:00:00Z")
	w.attributes(product)
	w.do(409, "DELETE /catalog/categories/{id}", "", child)
	w.do(204, "DELETE /catalog/categories/{id}", "", child, "?reassignTo="+root)
}

// stores walks stock and receipts.
func (w *walk) stores(made map[string]string) {
	at := `{"warehouseId":"` + made["WAREHOUSE"] + `","productId":"` + made["PRODUCT"] + `","reason":"count",`
	w.do(201, "POST /warehouse/stocks/adjust", at+`"targetQty":12,"expectedQty":3}`)
	w.do(409, "POST /warehouse/stocks/adjust", at+`"targetQty":5,"expectedQty":3}`)
	w.do(201, "POST /warehouse/stocks/adjust", at+`"targetQty":4,"reorderPoint":5}`)
	w.do(201, "POST /warehouse/stocks/adjust", at+`"delta":1.5}`)
	w.do(200, "GET /warehouse/stocks", "", "?sort=productName&level=low&search=volta")
	w.do(200, "GET /warehouse/stocks", "", "?groupBy=product&withTotal=true")
	w.do(200, "GET /warehouse/movements", "", "?type=receipt,adjustment&productId="+made["PRODUCT"])
	w.do(409, "DELETE /warehouse/warehouses/{id}", "", made["WAREHOUSE"])
	w.do(200, "PATCH /warehouse/receipts/{id}", `{"source":"erp","externalId":"R-1","metadata":{"pallet":"7"}}`, made["RECEIPT"])
	w.do(200, "POST /warehouse/receipts/{id}/cancel", "", made["RECEIPT"])
	w.do(409, "POST /warehouse/receipts/{id}/cancel", "", made["RECEIPT"])
	w.purchases(made)
	w.transfers(made)
	w.counts(made)
	w.do(200, "GET /warehouse/supplier-returns", "", "?sort=totalQty&supplierId="+made["SUPPLIER"])
	w.do(200, "POST /warehouse/supplier-returns/{id}/cancel", "", made["SUPPLIER_RETURN"])
	w.do(409, "POST /warehouse/supplier-returns/{id}/cancel", "", made["SUPPLIER_RETURN"])
	w.do(200, "GET /warehouse/write-offs", "", "?reason=damaged&sort=totalAmount")
	w.do(200, "POST /warehouse/write-offs/{id}/cancel", "", made["WRITE_OFF"])
	w.do(409, "POST /warehouse/write-offs/{id}/cancel", "", made["WRITE_OFF"])
	w.do(201, "POST /warehouse/stocks/adjust", at+`"targetQty":0}`)
	w.do(200, "POST /warehouse/stocks/adjust/batch", `{"items":[{"op":"create","body":`+at+`"targetQty":2}},{"op":"create","body":`+at+`"targetQty":0}},{"op":"create","body":`+strings.Replace(at, made["PRODUCT"], made["SUPPLIER"], 1)+`"targetQty":1}}]}`)
}

// counts walks the states of counts.
func (w *walk) counts(made map[string]string) {
	w.do(200, "POST /warehouse/counts/{id}/cancel", "", made["STOCK_COUNT"])
	pump := w.id(w.do(201, "POST /catalog/products", `{"name":"Floor pump","price":3490,"hasStock":true}`))
	list := `{"items":[{"productId":"` + pump + `"}]}`
	c := w.do(201, "POST /warehouse/counts", list)
	id := w.id(c)
	w.do(409, "POST /warehouse/counts", list)
	w.do(409, "POST /warehouse/counts/{id}/lines", list, id)
	spoke := w.id(w.do(201, "POST /catalog/products", `{"name":"Spoke","price":120,"hasStock":true}`))
	w.do(200, "POST /warehouse/counts/{id}/lines", `{"items":[{"productId":"`+spoke+`","note":"found behind the rack"}]}`, id)
	line := c["lines"].([]any)[0].(map[string]any)["id"].(string)
	w.do(200, "POST /warehouse/counts/{id}/record", `{"items":[{"lineId":"`+line+`","qty":4}]}`, id)
	w.do(200, "GET /warehouse/counts", "", "?status=counting&sort=number")
	w.do(200, "POST /warehouse/counts/{id}/post", "", id)
	w.do(409, "POST /warehouse/counts/{id}/post", "", id)
	w.do(409, "POST /warehouse/counts/{id}/cancel", "", id)
}

// purchases walks the states of purchase orders.
func (w *walk) purchases(made map[string]string) {
	line := `"items":[{"productId":"` + made["PRODUCT"] + `","qty":`
	receive := func(status int, order, qty string) map[string]any {
		return w.do(status, "POST /warehouse/receipts", `{"warehouseId":"`+made["WAREHOUSE"]+`","purchaseOrderId":"`+order+`",`+line+qty+`}]}`)
	}
	order := made["PURCHASE_ORDER"]
	receive(409, order, "1")
	w.do(200, "POST /warehouse/purchase-orders/{id}/send", "", order)
	w.do(409, "PATCH /warehouse/purchase-orders/{id}", `{`+line+`9}]}`, order)
	first := w.id(receive(201, order, "1"))
	w.do(200, "GET /warehouse/purchase-orders", "", "?status=sent,partly_received&sort=totalAmount")
	w.do(409, "POST /warehouse/purchase-orders/{id}/cancel", "", order)
	w.do(200, "POST /warehouse/purchase-orders/{id}/close", "", order)
	w.do(409, "POST /warehouse/purchase-orders/{id}/close", "", order)
	w.do(200, "GET /warehouse/receipts", "", "?purchaseOrderId="+order)
	w.do(200, "POST /warehouse/receipts/{id}/cancel", "", first)
	w.do(200, "POST /warehouse/purchase-orders/{id}/cancel", "", order)
	w.do(409, "POST /warehouse/purchase-orders/{id}/send", "", order)
	grips := w.id(w.do(201, "POST /catalog/products", `{"name":"Grips","price":1990,"hasStock":true,"defaultSupplierId":"`+made["SUPPLIER"]+`"}`))
	w.do(201, "POST /warehouse/stocks/adjust", `{"warehouseId":"`+made["WAREHOUSE"]+`","productId":"`+grips+`","reason":"count","targetQty":0,"reorderPoint":5}`)
	w.do(200, "POST /warehouse/purchase-orders/reorder", `{"warehouseId":"`+made["WAREHOUSE"]+`"}`)
}

// transfers walks the states of transfers.
func (w *walk) transfers(made map[string]string) {
	line := w.do(200, "GET /warehouse/transfers/{id}", "", made["TRANSFER"])["lines"].([]any)[0].(map[string]any)["id"].(string)
	w.do(200, "POST /warehouse/transfers/{id}/send", "", made["TRANSFER"])
	w.do(409, "PATCH /warehouse/transfers/{id}", `{"items":[{"productId":"`+made["PRODUCT"]+`","qty":3}]}`, made["TRANSFER"])
	w.do(200, "GET /warehouse/transfers", "", "?status=sent&sort=number")
	w.do(200, "POST /warehouse/transfers/{id}/receive", `{"items":[{"lineId":"`+line+`","qty":1.5}]}`, made["TRANSFER"])
	w.do(409, "POST /warehouse/transfers/{id}/cancel", "", made["TRANSFER"])
	second := w.id(w.do(201, "POST /warehouse/transfers", `{"toWarehouseId":"`+made["WAREHOUSE"]+`","items":[{"productId":"`+made["PRODUCT"]+`","qty":1}]}`))
	w.do(200, "POST /warehouse/transfers/{id}/cancel", "", second)
}

// samples takes the sample of each resource through the operations that all resources have, and returns their ids.
func (w *walk) samples() map[string]string {
	ids := map[string]string{}
	for _, s := range rolestest.Samples() {
		if s.Admin {
			ids[s.Entity] = w.admin.sample(s, ids)
			continue
		}
		id := w.id(w.do(201, "POST "+cmp.Or(s.CreatePath, s.Path), rolestest.FillIn(s.Create, ids)))
		ids[s.Entity] = id
		w.do(200, "GET "+s.Path, "")
		w.do(200, "GET "+s.Path+"/{id}", "", id)
		if s.Change != "" {
			w.do(200, "PATCH "+s.Path+"/{id}", rolestest.FillIn(s.Change, ids), id)
		}
	}
	return ids
}

// deleteSamples deletes the samples that can be deleted, the last one first.
func (w *walk) deleteSamples(ids map[string]string) {
	all := rolestest.Samples()
	for i := len(all) - 1; i >= 0; i-- {
		op := "DELETE " + all[i].Path + "/{id}"
		if _, ok := w.ops[op]; ok && !all[i].Admin {
			w.do(w.successOf(op), op, "", ids[all[i].Entity])
		}
	}
}

// reports walks the reports of the days of the walk, and of those of its bookings.
func (w *walk) reports() {
	today := "?from=" + time.Now().AddDate(0, 0, -1).Format(time.DateOnly) + "&to=" + time.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	queries := map[string]string{"sales": today + "&groupBy=day,method,channel,branch", "payments": today + "&groupBy=origin,method", "bookings": "?from=2040-01-01&to=2040-12-31&groupBy=status"}
	for _, op := range slices.Sorted(maps.Keys(w.ops)) {
		if name, ok := strings.CutPrefix(op, "GET /reports/"); ok {
			report := w.do(200, op, "", cmp.Or(queries[name], today))
			require.NotEmpty(w.t, report["rows"], name)
		}
	}
}

// bookings walks slots and the moves of bookings.
func (w *walk) bookings(resource, service string) {
	w.do(200, "GET /scheduling/bookings/slots", "", "?resourceId="+resource+"&date=2040-01-03&serviceId="+service)
	w.do(200, "GET /scheduling/availability", "", "?dateFrom=2040-01-03&dateTo=2040-01-05&freeOnly=false&serviceId="+service)
	w.do(200, "GET /scheduling/resources", "", "?activeOnly=true&type=staff&serviceId="+service)
	book := func(status int, clock string) map[string]any {
		return w.do(status, "POST /scheduling/bookings", `{"resourceId":"`+resource+`","serviceId":"`+service+`","startAt":"2040-01-03T`+clock+`Z","customerName":"Ida Dellmark","customerPhone":"+49 30 23125 004"}`)
	}
	first, second, third := w.id(book(201, "12:00:00")), w.id(book(201, "12:00:00")), w.id(book(201, "13:00:00"))
	book(409, "12:00:00")
	w.do(200, "PATCH /scheduling/bookings/{id}", `{"startAt":"2040-01-03T14:00:00Z"}`, first)
	w.do(200, "POST /scheduling/bookings/{id}/confirm", "", first)
	w.do(200, "POST /scheduling/bookings/{id}/complete", "", first)
	w.do(200, "POST /scheduling/bookings/{id}/no-show", "", first)
	w.do(409, "POST /scheduling/bookings/{id}/confirm", "", first)
	w.do(200, "POST /scheduling/bookings/{id}/cancel", `{"reason":"The customer is ill"}`, second)
	w.do(200, "PATCH /scheduling/bookings/{id}/status", `{"status":"confirmed"}`, third)
	w.do(200, "GET /scheduling/bookings", "", "?sort=startAt&dateFrom=2040-01-03&status=confirmed")
	dayBefore := func() time.Time { return time.Date(2040, 1, 2, 16, 30, 0, 0, time.UTC) }
	later := roles.NewDomains(w.all.DB.WithClock(dayBefore), roles.DomainConfig{Policy: rolestest.DefaultPolicy(), Keys: rolestest.Keys()})
	_, err := later.Scheduling.Remind(w.t.Context())
	require.NoError(w.t, err)
	w.do(200, "GET /scheduling/exceptions", "", "?dateFrom=2040-12-01&dateTo=2040-12-31&resourceId="+resource)
	held := w.do(201, "POST /scheduling/holds", `{"resourceId":"`+resource+`","serviceId":"`+service+`","startAt":"2040-01-03T16:00:00Z","holdMinutes":15}`)
	w.do(200, "GET /scheduling/holds", "", "?resourceId="+resource)
	w.do(201, "POST /scheduling/bookings", `{"resourceId":"`+resource+`","serviceId":"`+service+`","startAt":"2040-01-03T16:00:00Z","customerName":"Ida Dellmark","customerPhone":"+49 30 23125 004","holdId":"`+w.id(held)+`"}`)
	w.do(404, "GET /scheduling/holds/{id}", "", w.id(held))
	closed := w.id(w.do(201, "POST /scheduling/exceptions", `{"name":"Stocktaking","dateFrom":"2040-01-03"}`))
	w.do(200, "GET /scheduling/bookings/outside-hours", "", "?dateFrom=2040-01-01&dateTo=2040-01-31")
	w.do(204, "DELETE /scheduling/exceptions/{id}", "", closed)
	w.do(200, "GET /catalog/services", "", "?include=costItems")
	w.do(200, "POST /catalog/services/batch", `{"items":[{"op":"create","body":{"name":"Wheel truing","price":2400}},{"op":"create","body":{}}]}`)
}

func (w *walk) customers(client, product string) {
	w.do(201, "POST /clients", `{"kind":"individual","displayName":"Ida Dellmark"}`)
	w.do(200, "POST /clients/batch", `{"items":[{"op":"create","body":{"kind":"individual","displayName":"Hotel Speichenhof"}},{"op":"update","id":"`+client+`","body":{"note":"Calls before noon only"}}]}`)
	w.do(200, "POST /clients/changes/batch", `{"items":[{"body":{"clientId":"`+client+`","addTags":["regular","bike club"],"removeTags":["prospect"]}},{"body":{"clientId":"`+uuid.NewString()+`","status":"archived"}}]}`)
	w.do(200, "GET /clients", "", "?search=pigeon")
	w.do(200, "POST /clients/{id}/archive", "", client)
	w.do(200, "POST /clients/{id}/restore", "", client)
	w.do(201, "POST /clients/{id}/interactions", `{"type":"call","direction":"in","subject":"Winter tyres","body":"Asked for studded tyres in 28 inches.","occurredAt":"2026-11-20T10:00:00Z"}`, client)
	w.do(200, "GET /clients/{id}/interactions", "", client, "?type=call,note")
	address := w.id(w.do(201, "POST /clients/{id}/addresses", anAddress, client))
	w.do(200, "GET /clients/{id}/addresses", "", client)
	w.do(200, "GET /clients/{id}/addresses/{addressId}", "", client, address)
	w.do(200, "PATCH /clients/{id}/addresses/{addressId}", `{"city":"Berlin","lat":52.53,"lng":13.38,"isDefault":true}`, client, address)
	w.do(204, "DELETE /clients/{id}/addresses/{addressId}", "", client, address)
	asset := w.id(w.do(201, "POST /clients/{id}/assets", anAsset, client))
	w.do(200, "GET /clients/{id}/assets", "", client)
	w.do(200, "GET /clients/{id}/assets/{assetId}", "", client, asset)
	w.do(200, "PATCH /clients/{id}/assets/{assetId}", `{"serialNumber":"VC8-00417"}`, client, asset)
	w.do(204, "DELETE /clients/{id}/assets/{assetId}", "", client, asset)
	w.do(201, "POST /clients/{id}/points", `{"delta":150,"note":"For the wait at the anniversary sale"}`, client)
	w.do(409, "POST /clients/{id}/points", `{"delta":-1000}`, client)
	w.do(200, "GET /clients/{id}/points", "", client)
	w.do(200, "GET /clients/{id}/statement", "", client, "?from=2026-11-01&order=asc")
	w.do(201, "PUT /clients/by-phone/{phone}", `{"kind":"individual","displayName":"Milo Ashgrove"}`, "+49305550199")
	w.do(200, "PUT /clients/by-phone/{phone}", `{"kind":"individual","displayName":"Milo Ashgrove","note":"Prefers the side entrance"}`, "0049305550199")
	w.do(201, "PUT /clients/by-email/{email}", `{"kind":"individual","displayName":"Nora Birchfield"}`, "nora@example.com")
	w.do(200, "PUT /clients/by-email/{email}", `{"kind":"individual","displayName":"Nora Birchfield"}`, "NORA@example.com")
	gone := w.id(w.do(201, "POST /clients", `{"kind":"individual","displayName":"Rosa Pellworth"}`))
	w.do(200, "POST /clients/{id}/anonymize", "", gone)
	w.do(409, "PATCH /clients/{id}", `{"phone":"1"}`, gone)
	double := w.id(w.do(201, "POST /clients", `{"kind":"individual","displayName":"Milo A."}`))
	w.do(202, "POST /clients/{id}/merge", `{"intoId":"`+client+`"}`, double)
	w.do(409, "POST /clients/{id}/merge", `{"intoId":"`+client+`"}`, double)
	w.do(200, "GET /clients/groups", "")
	w.do(200, "GET /clients/price-lists", "")
	list := w.id(w.do(201, "POST /clients/price-lists", `{"name":"Summer fleets"}`))
	price := w.id(w.do(200, "POST /clients/price-lists/{id}/prices", `{"refId":"`+product+`","price":169900}`, list))
	w.do(200, "PUT /clients/price-lists/{id}/prices", `{"items":[{"refId":"`+product+`","price":165900}]}`, list)
	w.do(404, "PUT /clients/price-lists/{id}/prices", `{"items":[{"sku":"FRAME-52","price":89000}]}`, list)
	w.do(200, "GET /clients/price-lists/{id}/prices", "", list)
	w.do(204, "DELETE /clients/price-lists/{id}/prices/{priceId}", "", list, price)
	w.do(204, "DELETE /clients/price-lists/{id}", "", list)
}

// sales walks orders and returns one.
func (w *walk) sales(product, client string) string {
	group := w.do(200, "GET /catalog/products/{id}", "", product)["modifierGroups"].([]any)[0].(map[string]any)
	option := w.id(group["options"].([]any)[0].(map[string]any))
	full := `{"customerId":"` + client + `","items":[{"refId":"` + product + `","qty":2,"modifiers":[{"optionId":"` + option + `"}],"note":"matt black"},{"kind":"custom","name":"Workshop hour","unitPrice":7200,"qty":1.5}],
		"discountPercent":12.5,"prepaidAmount":20000,"deliveryMethod":"courier","deliveryCost":1500,"deliveryAddressText":"Lindenweg 4, 10115 Berlin","dueAt":"2026-12-01T10:00:00+01:00","source":"shop","externalId":"W-1043","note":"Ring at the side door"}`
	w.do(200, "POST /orders/preview", strings.Replace(full, `"W-1043"`, `"W-1044"`, 1))
	made := w.do(201, "POST /orders", full)
	order := w.id(made)
	w.do(409, "POST /orders", full)
	w.do(409, "POST /orders", `{"items":[{"kind":"custom","name":"c","unitPrice":1}],"prepaidAmount":2}`)
	w.do(404, "POST /orders", `{"items":[{"refId":"`+uuid.NewString()+`"}]}`)
	w.do(400, "POST /orders", `{"items":[{"kind":"custom","name":"c","unitPrice":9007199254740991,"qty":2}]}`)
	bare := w.id(w.do(201, "POST /orders", `{"items":[{"kind":"custom","name":"Gift wrapping","unitPrice":500}]}`))
	w.do(200, "GET /orders", "", "?include=lines&sort=number")
	w.do(200, "GET /orders/sums", "", "?status=new,confirmed&dateFrom=2020-01-01")
	w.do(200, "POST /orders/changes/batch", `{"items":[{"body":{"orderId":"`+bare+`","assignedToId":"null","status":"confirmed"}},{"body":{"orderId":"`+uuid.NewString()+`","status":"ready"}}]}`)
	for _, next := range []string{"confirmed", "ready", "completed"} {
		w.do(200, "POST /orders/{id}/status/{next}", "", order, next)
	}
	w.do(409, "POST /orders/{id}/status/{next}", "", order, "new")
	w.do(409, "PATCH /orders/{id}", `{"source":"y"}`, order)
	shipment := w.id(w.do(201, "POST /orders/{id}/shipments", `{"carrier":"Green Street Delivery","trackingNumber":"T-1","deliveryCost":1500}`, bare))
	w.do(409, "POST /orders/{id}/shipments", "", bare)
	w.do(200, "GET /orders/{id}/shipments", "", bare)
	w.do(200, "GET /orders/{id}/shipments/{shipmentId}", "", bare, shipment)
	w.do(200, "PATCH /orders/{id}/shipments/{shipmentId}", `{"trackingNumber":"GS-7731-DE"}`, bare, shipment)
	w.do(200, "GET /shipments", "", "?trackingNumber=GS-7731-DE&sort=shippedAt")
	w.do(200, "POST /orders/{id}/shipments/{shipmentId}/cancel", "", bare, shipment)
	payment := w.id(w.do(201, "POST /orders/{id}/payments", `{"amount":2000,"method":"card","methodExt":"terminal 2","paidAt":"`+time.Now().UTC().Add(-time.Hour).Truncate(time.Minute).Add(time.Second).Format(time.RFC3339)+`","source":"psp","externalId":"ch_1042","metadata":{"till":"4"},"reference":"R-1042","note":"Paid at the counter"}`, bare))
	w.do(409, "POST /orders/{id}/payments", `{"amount":500,"method":"cash"}`, bare)
	w.do(400, "POST /orders/{id}/payments", `{"amount":0,"method":"cash"}`, bare)
	w.do(200, "GET /orders/{id}/payments", "", bare, "?kind=payment&sort=paidAt")
	w.do(200, "GET /orders/{id}/payments/{paymentId}", "", bare, payment)
	w.do(201, "POST /orders/{id}/payments/{paymentId}/refund", `{"amount":800,"reason":"late delivery"}`, bare, payment)
	w.do(201, "POST /orders/{id}/payments/{paymentId}/refund", "", bare, payment)
	w.do(409, "POST /orders/{id}/payments/{paymentId}/refund", "", bare, payment)
	w.do(200, "GET /payments", "", "?method=card,cash&paidFrom=2026-11-01&externalId=ch_1042")
	w.do(201, "PUT /orders/{id}/payments/by-external-id/{source}/{externalId}", `{"amount":500,"method":"card"}`, bare, "psp", "ch_1043")
	w.do(200, "PUT /orders/{id}/payments/by-external-id/{source}/{externalId}", `{"amount":500,"method":"card"}`, bare, "psp", "ch_1043")
	w.do(200, "POST /orders/{id}/delivery-status/{next}", "", bare, "pending")
	w.do(409, "POST /orders/{id}/delivery-status/{next}", "", bare, "returned")
	w.do(200, "POST /orders/{id}/status/{next}", `{"reason":"The customer has moved"}`, bare, "cancelled")
	w.do(200, "GET /orders/{id}/history", "", order)
	w.invoices(order, bare)
	w.returns(order, w.id(made["lines"].([]any)[0].(map[string]any)))
	return order
}

// invoices walks the invoices of an order, and tries one that was cancelled.
func (w *walk) invoices(order, cancelled string) {
	invoice := w.id(w.do(201, "POST /orders/{id}/invoices", `{"note":"Thank you for your order"}`, order))
	w.do(409, "POST /orders/{id}/invoices", "", order)
	w.do(409, "POST /orders/{id}/invoices", "", cancelled)
	w.do(200, "GET /invoices/{id}", "", invoice)
	w.do(202, "POST /invoices/{id}/mails", `{"email":"ada@example.com"}`, invoice)
	note := w.do(200, "POST /invoices/{id}/cancel", `{"reason":"Wrong address"}`, invoice)["creditNoteId"].(string)
	w.do(409, "POST /invoices/{id}/cancel", `{"reason":"Wrong address"}`, invoice)
	w.do(409, "POST /invoices/{id}/cancel", `{"reason":"Wrong address"}`, note)
	w.do(400, "POST /orders/{id}/invoices", `{"dueDate":"2020-01-01"}`, order)
	w.do(200, "GET /invoices", "", "?orderId="+order+"&sort=number")
}

// returns walks the returns of a completed order, and drops what is not shipped of another one.
func (w *walk) returns(order, line string) {
	paid := w.id(w.do(200, "GET /orders/{id}/payments", "", order)["items"].([]any)[0].(map[string]any))
	one := `"items":[{"orderLineId":"` + line + `","qty":1}]`
	gone := w.id(w.do(201, "POST /orders/{id}/returns", `{`+one+`,"reason":"Wrong size","fee":500,"source":"shop","externalId":"R-7","refunds":[{"paymentId":"`+paid+`","amount":8000}]}`, order))
	w.do(409, "POST /orders/{id}/returns", `{"items":[{"orderLineId":"`+line+`","qty":5}]}`, order)
	w.do(400, "POST /orders/{id}/returns", `{"fee":-1}`, order)
	w.do(200, "GET /orders/{id}/returns", "", order, "?status=posted")
	w.do(200, "GET /orders/{id}/returns/{returnId}", "", order, gone)
	w.do(200, "GET /returns", "", "?returnedFrom=2026-11-01&externalId=R-7")
	w.do(200, "POST /orders/{id}/returns/{returnId}/cancel", "", order, gone)
	w.do(409, "POST /orders/{id}/returns/{returnId}/cancel", "", order, gone)
	both := w.do(201, "POST /orders", `{"items":[{"kind":"custom","name":"Bell","unitPrice":900},{"kind":"custom","name":"Basket","unitPrice":3900}]}`)
	bell := w.id(both["lines"].([]any)[0].(map[string]any))
	w.do(201, "POST /orders/{id}/shipments", `{"items":[{"orderLineId":"`+bell+`","qty":1}]}`, w.id(both))
	w.do(200, "POST /orders/{id}/cancel-unshipped", "", w.id(both))
	w.do(409, "POST /orders/{id}/cancel-unshipped", "", w.id(both))
	w.do(202, "POST /orders/{id}/mails", `{"document":"confirmation","email":"ada@example.com"}`, w.id(both))
	w.do(400, "POST /orders/{id}/mails", `{"document":"delivery-note"}`, w.id(both))
}

// pipeline walks a lead and a deal to their ends.
func (w *walk) pipeline(lead, deal, typeID string) {
	by := access.Caller{Principal: &access.Principal{Company: w.company, Components: w.all.Access.Components()}}
	users, err := w.all.Company.Users(w.t.Context(), by, false)
	require.NoError(w.t, err)
	types, err := w.all.Deals.Types(w.t.Context(), by, deals.Directory{})
	require.NoError(w.t, err)
	own, err := w.all.Deals.Type(w.t.Context(), by, uuid.MustParse(typeID))
	require.NoError(w.t, err)
	reasons, err := w.all.Deals.LostReasons(w.t.Context(), by, deals.Directory{})
	require.NoError(w.t, err)
	w.do(200, "GET /leads", "", "?assignedToId=unassigned&sort=status")
	w.do(200, "POST /leads/{id}/assign", `{"assigneeId":"`+users[0].ID.String()+`"}`, lead)
	w.do(200, "PATCH /leads/{id}/status", `{"status":"in_progress"}`, lead)
	w.do(409, "POST /leads/{id}/convert-deal", `{"typeId":"`+types[0].ID.String()+`"}`, w.archivedLead())
	w.do(201, "POST /leads/{id}/convert", "", lead)
	w.do(201, "POST /leads/{id}/convert-deal", "", lead)
	w.do(201, "POST /leads/{id}/convert-deal", `{"typeId":"`+types[1].ID.String()+`"}`, w.id(w.do(201, "POST /leads", `{}`)))

	w.do(200, "GET /deals/types", "", "?includeInactive=true")
	w.do(200, "GET /deals/sources", "")
	w.do(200, "GET /deals/lost-reasons", "")
	w.do(200, "GET /deals", "", "?openOnly=true&sort=boardOrder")
	move := func(stage deals.Stage) string {
		return `{"stageId":"` + stage.ID.String() + `","lostReasonId":"` + reasons[0].ID.String() + `"}`
	}
	ends := map[string]deals.Stage{}
	for _, st := range own.Stages {
		if st.Outcome != nil {
			ends[*st.Outcome] = st
		}
	}
	w.do(200, "PATCH /deals/{id}/stage", move(ends[deals.Won]), deal)
	w.do(200, "POST /deals/{id}/stage", move(ends[deals.Lost]), deal)
	w.do(409, "PATCH /deals/{id}/stage", move(types[0].Stages[0]), deal)
	w.do(400, "POST /deals/{id}/stage", `{"stageId":"`+ends[deals.Lost].ID.String()+`","lostReasonId":5}`, deal)
	w.do(200, "GET /deals/{id}/history", "", deal)
	w.do(201, "POST /deals", `{"typeId":"`+types[1].ID.String()+`"}`)
	w.do(404, "POST /deals", `{"typeId":"`+uuid.NewString()+`"}`)
}

// archivedLead returns a lead whose client is archived.
func (w *walk) archivedLead() string {
	lead := w.id(w.do(201, "POST /leads", `{"name":"Yara Quendt"}`))
	client, ok := w.do(201, "POST /leads/{id}/convert", "", lead)["clientId"].(string)
	require.True(w.t, ok)
	w.do(200, "POST /clients/{id}/archive", "", client)
	return lead
}

// cashier walks shifts and sales.
func (w *walk) cashier(shift, sale, product string) {
	w.do(409, "POST /shifts/open", `{"openingCash":0}`)
	w.do(200, "GET /shifts/current", "")
	w.do(201, "POST /sales", `{"shiftId":"`+shift+`","items":[{"refId":"`+product+`","qty":2}],"paymentMethod":"cash","receivedAmount":1000000}`)
	w.do(400, "POST /sales", `{"shiftId":"`+shift+`","items":[{"refId":"`+product+`"}],"paymentMethod":"mixed"}`)
	w.do(200, "GET /sales/sums", "", "?kind=all&dateFrom=2020-01-01")
	w.do(200, "GET /sales", "", "?include=lines,payments&kind=sale")
	w.do(200, "PATCH /sales/{id}", `{"metadata":{"till":"4"}}`, sale)
	body := `{"shiftId":"` + shift + `","items":[{"refId":"` + product + `","qty":2}],"paymentMethod":"cash"}`
	w.do(200, "POST /sales/preview", body)
	sold := w.do(201, "POST /sales", body)
	line, ok := sold["lines"].([]any)[0].(map[string]any)["id"].(string)
	require.True(w.t, ok)
	one := `{"items":[{"saleLineId":"` + line + `","qty":1.5}],"reason":"damaged"}`
	w.do(200, "POST /sales/{id}/refund", one, w.id(sold))
	w.do(409, "POST /sales/{id}/refund", one, w.id(sold))
	w.do(200, "GET /sales", "", "?refundOfSaleId="+w.id(sold)+"&kind=refund")
	w.do(404, "POST /sales/{id}/refund", one, sale)
	w.do(202, "POST /sales/{id}/mails", `{"email":"ada@example.com"}`, w.id(sold))
	w.do(400, "POST /sales/{id}/mails", "", w.id(sold))
	moved := w.id(w.do(201, "POST /shifts/{id}/cash-movements", aMovement, shift))
	w.do(200, "GET /shifts/{id}/cash-movements/{movementId}", "", shift, moved)
	w.do(409, "POST /shifts/{id}/cash-movements", `{"type":"out","amount":9007199254740991,"reason":"all of it"}`, shift)
	w.do(200, "GET /shifts/{id}/cash-movements", "", shift, "?type=in")
	w.do(200, "POST /sales/{id}/refund", "", sale)
	w.do(409, "POST /sales/{id}/refund", "", sale)
	w.do(200, "POST /shifts/{id}/close", `{"closingCash":5}`, shift)
	w.do(409, "POST /shifts/{id}/close", "", shift)
	w.do(404, "GET /shifts/current", "")
	w.do(200, "GET /shifts", "", "?status=closed")
}

func (w *walk) hooks(sub string) {
	w.do(409, "POST /webhooks/subscriptions", `{"url":"https://example.com/hook","events":["*"]}`)
	w.do(200, "PATCH /webhooks/subscriptions/{id}", `{"isActive":true}`, sub)
	w.do(200, "POST /webhooks/subscriptions/{id}/rotate-secret", `{"overlapHours":1}`, sub)
	delivery, ok := w.do(202, "POST /webhooks/subscriptions/{id}/test", "", sub)["deliveryId"].(string)
	require.True(w.t, ok)
	payload, err := json.Marshal(w.do(200, "GET /webhooks/deliveries/{id}", "", delivery)["payload"])
	require.NoError(w.t, err)
	require.Equal(w.t, "webhook.test", w.checkEnvelope(payload))
	w.do(202, "POST /webhooks/deliveries/{id}/send-now", "", delivery)
	w.do(202, "POST /webhooks/subscriptions/{id}/probe", "", sub) // while one delivery waits: of several, any may be the oldest
	w.do(201, "POST /webhooks/deliveries/{id}/redeliver", "", delivery)
	w.do(200, "GET /webhooks/subscriptions/{id}/deliveries", "", sub)
	w.do(200, "GET /webhooks/subscriptions/{id}/skipped", "", sub, "?limit=2")
	w.do(409, "POST /webhooks/deliveries/{id}/skip", "", delivery)
	w.do(200, "PATCH /webhooks/subscriptions/{id}", `{"ordered":true,"headers":{"X-Api-Key":"k"}}`, sub)
	w.do(200, "POST /webhooks/deliveries/{id}/skip", "", delivery)
	w.do(409, "POST /webhooks/deliveries/{id}/send-now", "", delivery)
	w.do(200, "GET /webhooks/subscriptions/{id}/held", "", sub)
	w.do(200, "GET /webhooks/deliveries", "", "?limit=1&status=pending&answer=none&events=webhook.*")
	w.do(200, "GET /webhooks/event-types", "")
	disabled, err := w.all.Webhooks.Disable(w.t.Context(), w.company, uuid.MustParse(sub), "it fails", time.Now().Add(time.Hour))
	require.NoError(w.t, err)
	require.True(w.t, disabled)
	require.Equal(w.t, "disabled", w.do(200, "GET /webhooks/subscriptions/{id}", "", sub)["status"])
	w.do(200, "PATCH /webhooks/subscriptions/{id}", `{"isActive":true}`, sub)
}

// jobs walks the jobs to their ends.
func (w *walk) jobs(sub string) {
	w.t.Helper()
	export := w.id(w.do(202, "POST /exports", `{"resource":"suppliers","filters":{"search":"wheel"},"format":"csv"}`))
	w.do(400, "POST /exports", `{"resource":"planets"}`)
	w.do(200, "POST /imports/preview", rolestest.ATable, "?resource=suppliers")
	w.do(400, "POST /imports/preview", rolestest.ATable, "?resource=planets")
	w.do(202, "POST /imports", rolestest.ATable, "?resource=suppliers")
	checked := w.id(w.do(202, "POST /imports", rolestest.ATable+"x,Lake\n", "?resource=suppliers&dryRun=true"))
	w.do(409, "POST /imports/{id}/run", "", checked)
	w.do(409, "GET /imports/{id}/refused", "", checked)
	w.do(400, "POST /imports", rolestest.ATable, "?resource=suppliers&key=sku")
	w.with(w.issue("warehouse:read"), nil, 403, "POST /imports", rolestest.ATable, "?resource=suppliers")
	w.do(409, "GET /jobs/{id}/result", "", export)
	replay := w.id(w.do(202, "POST /webhooks/subscriptions/{id}/replay", `{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z","status":"all"}`, sub))
	w.do(200, "POST /catalog/products/bulk-price/preview", `{"filter":{},"rule":{"type":"percent","value":2.5,"roundTo":10}}`)
	w.do(400, "POST /catalog/products/bulk-price/preview", `{"filter":{},"rule":{"type":"set","value":-1}}`)
	prices := w.id(w.do(202, "POST /catalog/products/bulk-price", `{"filter":{},"rule":{"type":"percent","value":2.5,"roundTo":10}}`))
	w.do(400, "POST /catalog/products/bulk-price", `{"filter":{},"rule":{"type":"set","value":-1}}`)
	w.do(404, "POST /catalog/products/bulk-price", `{"filter":{"categoryId":"`+uuid.NewString()+`"},"rule":{"type":"set","value":1}}`)
	slow := w.id(w.do(202, "POST /webhooks/subscriptions/{id}/replay", `{"status":"missed","rate":1,"dryRun":true}`, sub))
	w.do(409, "POST /jobs/{id}/cancel", "", prices)
	require.Equal(w.t, "paused", w.do(200, "POST /jobs/{id}/pause", "", slow)["status"])
	w.do(200, "POST /jobs/{id}/resume", "", slow)
	require.Equal(w.t, "canceled", w.do(200, "POST /jobs/{id}/cancel", "", slow)["status"])
	w.do(409, "POST /jobs/{id}/pause", "", slow)
	w.do(409, "POST /jobs/{id}/resume", "", slow)
	apitest.Background(w.t, w.all.NewWorker(2, slog.New(slog.DiscardHandler)).Run)
	for _, id := range []string{export, replay, prices, checked} {
		require.Eventually(w.t, func() bool { return strings.Contains(string(w.page("/jobs/"+id)), `"status":"done"`) }, time.Minute, 20*time.Millisecond)
		w.do(200, "GET /jobs/{id}", "", id)
	}
	w.do(200, "GET /imports/{id}/refused", "", checked)
	w.do(202, "POST /imports/{id}/run", "", checked)
	w.do(409, "POST /imports/{id}/run", "", checked)
	w.do(200, "GET /jobs", "", "?limit=2") // of which none is under way
	w.do(200, "GET /jobs/{id}/result", "", export)
	w.do(404, "GET /jobs/{id}", "", uuid.NewString())
}
