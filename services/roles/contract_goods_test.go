package roles_test

import (
	"strings"
)

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
