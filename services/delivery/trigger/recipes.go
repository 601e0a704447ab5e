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

// things are what the requests below need; $run is a text of this run alone, $start and $later are times in a year.
var things = map[string]thing{
	"category":     {request: `POST /catalog/categories {"name":"Trigger $run"}`},
	"product":      {request: `POST /catalog/products {"name":"Trigger $run","price":1200,"hasStock":true,"categoryId":"$category"}`},
	"service":      {request: `POST /catalog/services {"name":"Trigger $run","priceModel":"fixed","price":3000,"durationMinutes":30}`},
	"client":       {request: `POST /clients {"kind":"individual","displayName":"Trigger $run"}`},
	"lead":         {request: `POST /leads {"name":"Trigger $run"}`},
	"user":         {request: `GET /users`, pick: firstID, what: "user"},
	"dealType":     {request: `GET /deals/types`, pick: firstID, what: "type of deals"},
	"nextStage":    {request: `GET /deals/types`, pick: stageWith(nil), what: "second stage of its deals"},
	"wonStage":     {request: `GET /deals/types`, pick: stageWith("won"), what: "stage that wins a deal"},
	"lostStage":    {request: `GET /deals/types`, pick: stageWith("lost"), what: "stage that loses a deal"},
	"lostReason":   {request: `GET /deals/lost-reasons`, pick: firstID, what: "reason for lost deals"},
	"deal":         {request: `POST /deals {"typeId":"$dealType","note":"Trigger $run"}`},
	"order":        {request: `POST /orders {"items":[{"refId":"$product","qty":2}],"customerName":"Trigger $run"}`},
	"payment":      {request: `POST /orders/$order/payments {"amount":100,"method":"card"}`},
	"shift":        {request: `GET /shifts/current`, otherwise: `POST /shifts/open {"openingCash":0}`},
	"sale":         {request: `POST /sales {"shiftId":"$shift","items":[{"refId":"$product","qty":1}],"paymentMethod":"cash","customerName":"Trigger $run"}`},
	"warehouse":    {request: `GET /warehouse/warehouses`, pick: firstItemID, what: "warehouse"},
	"receipt":      {request: `POST /warehouse/receipts {"warehouseId":"$warehouse","items":[{"productId":"$product","qty":10,"unitCost":500}]}`},
	"resource":     {request: `POST /scheduling/resources {"type":"staff","name":"Trigger $run","serviceIds":["$service"],"timeZone":"UTC"}`},
	"booking":      {request: `POST /scheduling/bookings {"resourceId":"$resource","serviceId":"$service","startAt":"$start","customerName":"Trigger $run","customerPhone":"+15550100"}`},
	"subscription": {request: `GET /webhooks/subscriptions`, pick: firstItemID, what: "subscription"},
}

// recipes are the requests that make an event happen, each written as method, path and body.
var recipes = map[string][]string{
	"category.created": {`$category`},
	"category.updated": {`PATCH /catalog/categories/$category {"color":"#112233"}`},
	"category.deleted": {`DELETE /catalog/categories/$category`},

	"product.created":       {`$product`},
	"product.updated":       {`PATCH /catalog/products/$product {"price":1300}`},
	"product.deleted":       {`DELETE /catalog/products/$product`},
	"product.bulk_repriced": {`$product`, `POST /catalog/products/bulk-price {"filter":{"categoryId":"$category"},"rule":{"type":"percent","value":5}}`},
	"service.created":       {`$service`},
	"service.updated":       {`PATCH /catalog/services/$service {"price":3200}`},
	"service.deleted":       {`DELETE /catalog/services/$service`},

	"client.created":             {`$client`},
	"client.updated":             {`PATCH /clients/$client {"note":"triggered"}`},
	"client.archived":            {`POST /clients/$client/archive`},
	"client.restored":            {`POST /clients/$client/archive`, `POST /clients/$client/restore`},
	"client.interaction.created": {`POST /clients/$client/interactions {"type":"call","direction":"in","subject":"Trigger $run"}`},

	"lead.created":        {`$lead`},
	"lead.updated":        {`PATCH /leads/$lead {"message":"triggered"}`},
	"lead.status_changed": {`PATCH /leads/$lead/status {"status":"in_progress"}`},
	"lead.assigned":       {`POST /leads/$lead/assign {"assigneeId":"$user"}`},
	"lead.converted":      {`POST /leads/$lead/convert`},
	"deal.created":        {`$deal`},
	"deal.updated":        {`PATCH /deals/$deal {"note":"Trigger $run, changed"}`},
	"deal.stage_changed":  {`PATCH /deals/$deal/stage {"stageId":"$nextStage"}`},
	"deal.won":            {`PATCH /deals/$deal/stage {"stageId":"$wonStage"}`},
	"deal.lost":           {`PATCH /deals/$deal/stage {"stageId":"$lostStage","lostReasonId":"$lostReason"}`},

	"order.created":          {`$order`},
	"order.updated":          {`PATCH /orders/$order {"note":"triggered"}`},
	"order.status_changed":   {`POST /orders/$order/status/confirmed`},
	"order.shipped":          {`POST /orders/$order/shipments {"carrier":"Trigger $run"}`},
	"order.cancelled":        {`POST /orders/$order/status/cancelled`},
	"order.payment.created":  {`POST /orders/$order/payments {"amount":100,"method":"card","reference":"Trigger $run"}`},
	"order.payment.refunded": {`POST /orders/$order/payments/$payment/refund {"amount":50,"reason":"Trigger $run"}`},
	"sale.completed":         {`$sale`},
	"sale.updated":           {`PATCH /sales/$sale {"metadata":{"trigger":"$run"}}`},
	"sale.refunded":          {`POST /sales/$sale/refund`},
	"shift.opened":           {`POST /shifts/$shift/close {"closingCash":0}`, `POST /shifts/open {"openingCash":0}`},
	"shift.cash_moved":       {`POST /shifts/$shift/cash-movements {"type":"in","amount":500,"reason":"Trigger $run"}`},
	"shift.closed":           {`POST /shifts/$shift/close {"closingCash":0}`},

	"stock.movement.created":      {`POST /warehouse/stocks/adjust {"warehouseId":"$warehouse","productId":"$product","targetQty":5,"reason":"count"}`},
	"stock.adjusted":              {`POST /warehouse/stocks/adjust {"warehouseId":"$warehouse","productId":"$product","targetQty":5,"reason":"count"}`},
	"stock.low":                   {`POST /warehouse/stocks/adjust {"warehouseId":"$warehouse","productId":"$product","targetQty":5,"reason":"count","reorderPoint":2}`, `POST /warehouse/stocks/adjust {"warehouseId":"$warehouse","productId":"$product","targetQty":1,"reason":"count"}`},
	"warehouse.receipt.created":   {`$receipt`},
	"warehouse.receipt.updated":   {`PATCH /warehouse/receipts/$receipt {"metadata":{"trigger":"$run"}}`},
	"warehouse.receipt.cancelled": {`POST /warehouse/receipts/$receipt/cancel`},

	"booking.created":        {`$booking`},
	"booking.rescheduled":    {`PATCH /scheduling/bookings/$booking {"startAt":"$later"}`},
	"booking.confirmed":      {`POST /scheduling/bookings/$booking/confirm`},
	"booking.status_changed": {`POST /scheduling/bookings/$booking/confirm`},
	"booking.completed":      {`POST /scheduling/bookings/$booking/confirm`, `POST /scheduling/bookings/$booking/complete`},
	"booking.no_show":        {`POST /scheduling/bookings/$booking/confirm`, `POST /scheduling/bookings/$booking/no-show`},
	"booking.cancelled":      {`POST /scheduling/bookings/$booking/cancel {"reason":"triggered"}`},
	"calendar.event.created": {`$booking`},
	"calendar.event.updated": {`PATCH /scheduling/bookings/$booking {"startAt":"$later"}`},
	"calendar.event.deleted": {`POST /scheduling/bookings/$booking/cancel {"reason":"triggered"}`},

	Test: {`POST /webhooks/subscriptions/$subscription/test`},
}

// impossible are the events that no request of an integration causes, with what does.
var impossible = map[string]string{
	"token.expiring":   "the platform raises it 30, 7 and 1 days before a token expires",
	"webhook.disabled": "the platform raises it when it disables a subscription whose receiver has failed for days or is gone",
	"user.invited":     "operators invite users, over the admin API or with `tradegrid admin user invite`",
	"user.activated":   "operators activate users, over the admin API or with `tradegrid admin user activate`",
	"user.updated":     "operators change users, over the admin API or with `tradegrid admin user update`",
	"user.blocked":     "operators block users, over the admin API or with `tradegrid admin user block`",
}
