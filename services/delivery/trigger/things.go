package trigger

// valueAt is the value at a path of keys in decoded JSON; nil where there is none.
func valueAt(v any, keys ...string) any {
	for _, key := range keys {
		object, _ := v.(map[string]any)
		v = object[key]
	}
	return v
}

// firstWhere is the value at the path in the first element of a list for which ok holds.
func firstWhere(list any, ok func(any) bool, keys ...string) any {
	all, _ := list.([]any)
	for _, v := range all {
		if ok(v) {
			return valueAt(v, keys...)
		}
	}
	return nil
}

func anyValue(any) bool { return true }

// firstID is the id of the first record of a list without pages, firstItemID that of one with pages.
func firstID(list any) any { return firstWhere(list, anyValue, "id") }

func firstItemID(page any) any { return firstID(valueAt(page, "items")) }

// thing is what a request stands for that makes or finds it.
type thing struct {
	request   string
	otherwise string        // when that is answered 404
	pick      func(any) any // from the answer; nil = its id
	what      string        // of what the company may lack
}

// stageWith finds a stage of the first type of deals, of those with an outcome or of those without one that are not the first.
func stageWith(outcome any) func(any) any {
	return func(types any) any {
		return firstWhere(firstWhere(types, anyValue, "stages"), func(s any) bool { return valueAt(s, "outcome") == outcome && valueAt(s, "isInitial") == false }, "id")
	}
}

// otherWarehouse finds the second one on a page.
func otherWarehouse(page any) any {
	all, _ := valueAt(page, "items").([]any)
	if len(all) < 2 {
		return nil
	}
	return valueAt(all[1], "id")
}

// things are what the requests of events need, by the names that stand for them there; $run is a text of this run alone, $start and $later are times in a year.
var things = map[string]thing{
	"category":       {request: `POST /catalog/categories {"name":"Trigger $run"}`},
	"product":        {request: `POST /catalog/products {"name":"Trigger $run","price":1200,"hasStock":true,"categoryId":"$category"}`},
	"service":        {request: `POST /catalog/services {"name":"Trigger $run","priceModel":"fixed","price":3000,"durationMinutes":30}`},
	"client":         {request: `POST /clients {"kind":"individual","displayName":"Trigger $run"}`},
	"twin":           {request: `POST /clients {"kind":"individual","displayName":"Trigger $run"}`},
	"lead":           {request: `POST /leads {"name":"Trigger $run"}`},
	"user":           {request: `GET /users`, pick: firstID, what: "user"},
	"dealType":       {request: `GET /deals/types`, pick: firstID, what: "type of deals"},
	"nextStage":      {request: `GET /deals/types`, pick: stageWith(nil), what: "second stage of its deals"},
	"wonStage":       {request: `GET /deals/types`, pick: stageWith("won"), what: "stage that wins a deal"},
	"lostStage":      {request: `GET /deals/types`, pick: stageWith("lost"), what: "stage that loses a deal"},
	"lostReason":     {request: `GET /deals/lost-reasons`, pick: firstID, what: "reason for lost deals"},
	"deal":           {request: `POST /deals {"typeId":"$dealType","note":"Trigger $run"}`},
	"order":          {request: `POST /orders {"items":[{"refId":"$product","qty":2}],"customerName":"Trigger $run"}`},
	"payment":        {request: `POST /orders/$order/payments {"amount":100,"method":"card"}`},
	"shipment":       {request: `POST /orders/$order/shipments {}`},
	"return":         {request: `POST /orders/$order/returns {}`},
	"invoice":        {request: `POST /orders/$order/invoices {}`},
	"shift":          {request: `GET /shifts/current`, otherwise: `POST /shifts/open {"openingCash":0}`},
	"sale":           {request: `POST /sales {"shiftId":"$shift","items":[{"refId":"$product","qty":1}],"paymentMethod":"cash","customerName":"Trigger $run"}`},
	"warehouse":      {request: `GET /warehouse/warehouses`, pick: firstItemID, what: "warehouse"},
	"receipt":        {request: `POST /warehouse/receipts {"warehouseId":"$warehouse","items":[{"productId":"$product","qty":10,"unitCost":500}]}`},
	"annex":          {request: `GET /warehouse/warehouses`, pick: otherWarehouse, what: "second warehouse"},
	"transfer":       {request: `POST /warehouse/transfers {"warehouseId":"$warehouse","toWarehouseId":"$annex","items":[{"productId":"$product","qty":2}]}`},
	"writeOff":       {request: `POST /warehouse/write-offs {"warehouseId":"$warehouse","items":[{"productId":"$product","qty":1}],"reason":"damaged"}`},
	"count":          {request: `POST /warehouse/counts {"warehouseId":"$warehouse","items":[{"productId":"$product"}]}`},
	"supplier":       {request: `POST /warehouse/suppliers {"name":"Trigger $run"}`},
	"purchaseOrder":  {request: `POST /warehouse/purchase-orders {"supplierId":"$supplier","warehouseId":"$warehouse","items":[{"productId":"$product","qty":5,"unitCost":500}]}`},
	"supplierReturn": {request: `POST /warehouse/supplier-returns {"supplierId":"$supplier","warehouseId":"$warehouse","items":[{"productId":"$product","qty":1}],"reason":"wrong size"}`},
	"resource":       {request: `POST /scheduling/resources {"type":"staff","name":"Trigger $run","serviceIds":["$service"],"timeZone":"UTC"}`},
	"exception":      {request: `POST /scheduling/exceptions {"name":"Trigger $run","resourceId":"$resource","dateFrom":"2040-12-24"}`},
	"booking":        {request: `POST /scheduling/bookings {"resourceId":"$resource","serviceId":"$service","startAt":"$start","customerName":"Trigger $run","customerPhone":"+15550100"}`},
	"subscription":   {request: `GET /webhooks/subscriptions`, pick: firstItemID, what: "subscription"},
}
