package roles_test

import (
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/services/business/deals"
	"github.com/tradegrid/tradegrid/services/roles"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

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
