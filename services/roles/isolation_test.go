package roles_test

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// records are one of each kind, as paths name them.
type records struct {
	owner   rolestest.Client
	company tenant.ID
	id      map[string]string // entity, or {parameter} for a record below another one → id
}

// Bodies of records that belong to another one.
const (
	aPayment  = `{"amount":5000,"method":"cash"}`
	anAddress = `{"label":"Workshop","text":"Kanalstraße 9"}`
	anAsset   = `{"name":"Cargo bike"}`
	anOption  = `{"label":"Steel"}`
	aVariant  = `{"status":"hidden"}`
	aMovement = `{"type":"in","amount":500,"reason":"change"}`
	aPrice    = `{"refId":"PRODUCT","price":169900}`
	aMove     = `{"stageId":"0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55"}`
)

func addBranch(t *testing.T, n *rolestest.Node, id tenant.ID) {
	t.Helper()
	_, err := roles.ChangeWith(t.Context(), n.DB, "test", id, n.Company.CreateBranch, company.BranchFields{Name: "Annex"})
	require.NoError(t, err)
}

// fill makes one record of each kind.
func fill(t *testing.T, n *rolestest.Node) *records {
	t.Helper()
	owner, company := n.Owner(t)
	addBranch(t, n, company) // for the second warehouse
	r := &records{owner: owner, company: company, id: map[string]string{}}
	for _, s := range rolestest.Samples() {
		create := owner.OK
		if s.Admin {
			create = n.Operator(rolestest.WriterToken).In(company).OK
		}
		r.id[s.Entity] = create(t, "POST", cmp.Or(s.CreatePath, s.Path), rolestest.FillIn(s.Create, r.id)).ID(t)
	}
	add := func(name, path, body string) { r.id[name] = owner.OK(t, "POST", path, body).ID(t) }
	add("{addressId}", "/clients/"+r.id["CLIENT"]+"/addresses", anAddress)
	add("{assetId}", "/clients/"+r.id["CLIENT"]+"/assets", anAsset)
	add("{movementId}", "/shifts/"+r.id["SHIFT"]+"/cash-movements", aMovement)
	maintain := func(name, path, body string) {
		r.id[name] = n.Operator(rolestest.WriterToken).In(company).OK(t, "POST", path, body).ID(t)
	}
	maintain("{optionId}", "/catalog/attributes/"+r.id["ATTRIBUTE"]+"/options", anOption)
	maintain("{variantId}", "/catalog/products/"+r.id["PRODUCT"]+"/variants", aVariant)
	prices := n.Operator(rolestest.WriterToken).In(company).OK(t, "POST", "/clients/price-lists/"+r.id["PRICE_LIST"]+"/prices", rolestest.FillIn(aPrice, r.id))
	r.id["{priceId}"] = prices.ID(t)
	add("{shipmentId}", "/orders/"+r.id["ORDER"]+"/shipments", `{}`)
	add("{paymentId}", "/orders/"+r.id["ORDER"]+"/payments", aPayment)
	add("INVOICE", "/orders/"+r.id["ORDER"]+"/invoices", `{}`)
	add("{returnId}", "/orders/"+r.id["ORDER"]+"/returns", `{}`)
	sent := owner.OK(t, "POST", "/webhooks/subscriptions/"+r.id["WEBHOOK_SUBSCRIPTION"]+"/test", `{}`)
	r.id["WEBHOOK_DELIVERY"], _ = sent.Body["deliveryId"].(string)
	require.NotEmpty(t, r.id["WEBHOOK_DELIVERY"], sent.Raw)
	add("FILE", "/files", rolestest.APicture())
	r.id["JOB"] = imported(t, n, owner)
	r.id["{phone}"], r.id["{email}"] = "+49301234567", "office@example.com"
	n.LogRequests(t)
	logged := owner.OK(t, "GET", "/requests?limit=1", "")
	r.id["REQUEST"] = logged.Body["items"].([]any)[0].(map[string]any)["id"].(string)
	return r
}

// imported checks a file with a row that is refused, and returns the id of the job.
func imported(t *testing.T, n *rolestest.Node, owner rolestest.Client) string {
	t.Helper()
	id := owner.OK(t, "POST", "/imports?resource=suppliers&dryRun=true", rolestest.AHeader+"x,Wrong\n").ID(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() { done <- n.NewWorker(1, slog.New(slog.DiscardHandler)).Run(ctx) }()
	require.Eventually(t, func() bool { return owner.OK(t, "GET", "/jobs/"+id, "").Body["status"] == "done" }, time.Minute, 20*time.Millisecond)
	stop()
	require.NoError(t, <-done)
	return id
}

// awaitEvent waits until the event log has something of the company.
func (r *records) awaitEvent(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		got := r.owner.OK(t, "GET", "/events?limit=1", "")
		items, _ := got.Body["items"].([]any)
		if len(items) == 0 {
			return false
		}
		first, _ := items[0].(map[string]any)
		r.id["EVENT"], _ = first["eventId"].(string)
		return r.id["EVENT"] != ""
	}, time.Minute, 20*time.Millisecond)
}

// ofRecord says for each operation on one record of what kind it is, and with what body it would succeed: by the samples
// of the domains, and for operations without one here.
func ofRecord(n *rolestest.Node) map[string][2]string {
	known := map[string][2]string{
		"getWebhookDelivery": {"WEBHOOK_DELIVERY"}, "redeliverWebhook": {"WEBHOOK_DELIVERY"}, "skipWebhookDelivery": {"WEBHOOK_DELIVERY"}, "sendWebhookDeliveryNow": {"WEBHOOK_DELIVERY"}, "probeWebhookSubscription": {"WEBHOOK_SUBSCRIPTION"}, "listSkippedWebhookEvents": {"WEBHOOK_SUBSCRIPTION"}, "listHeldRecords": {"WEBHOOK_SUBSCRIPTION"},
		"explainWebhookDelivery": {"WEBHOOK_SUBSCRIPTION"}, "listEventDeliveries": {"EVENT"}, "getEvent": {"EVENT"}, "getRequest": {"REQUEST"}, "getJob": {"JOB"}, "getJobResult": {"JOB"}, "getRefusedRows": {"JOB"}, "runImport": {"JOB"},
		"getInvoice": {"INVOICE"}, "cancelInvoice": {"INVOICE", `{"reason":"wrong address"}`}, "mailInvoice": {"INVOICE", `{"email":"ada@example.com"}`},
		"pauseJob": {"JOB"}, "resumeJob": {"JOB"}, "cancelJob": {"JOB"},
		"getFile": {"FILE"}, "getFileContent": {"FILE"}, "deleteFile": {"FILE"},
	}
	bodies := map[string]string{
		"createClientAddress": anAddress, "createClientAsset": anAsset, "createClientInteraction": `{"type":"call"}`, "createOrderPayment": aPayment,
		"createCashMovement":  aMovement,
		"setBookingStatus":    `{"status":"confirmed"}`,
		"replayWebhookEvents": `{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}`,
		"updateClientAddress": `{"city":"Rome"}`, "updateClientAsset": `{"note":"x"}`, "updateShipment": `{"carrier":"x"}`,
		"addCountLines": `{"items":[{"productId":"0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55"}]}`,
		"recordCount":   `{"items":[{"lineId":"0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55","qty":1}]}`,
		"setLeadStatus": `{"status":"spam"}`, "assignLead": `{"assigneeId":null}`,
		"moveDeal": aMove, "moveDealByPost": aMove,
		"mailOrder": `{"document":"confirmation","email":"ada@example.com"}`, "mailSale": `{"email":"ada@example.com"}`,
	}
	for _, op := range n.API.Ops() {
		if s, body, ok := sampleOf(op); ok && !op.AlsoCreates {
			known[op.ID] = [2]string{s.Entity, cmp.Or(bodies[op.ID], body)}
		}
	}
	return known
}

// at is the address of the operation on the record; r has the records below it.
func (r *records) at(op httpapi.Op, id string) string {
	path := rolestest.FillPath(op.Path, func(param string) string { return cmp.Or(r.id[param], id) })
	if op.ID == "explainWebhookDelivery" {
		path += "?eventId=" + r.id["EVENT"]
	}
	return path
}

// Of another company's records nothing is told, and nothing about them changes.
func TestEveryOperationHidesOtherCompanies(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.OpenNew(t), rolestest.Alone())
	rolestest.StartRelay(t, n.DB, dbtest.Broker(t))
	theirs := fill(t, n)
	theirs.awaitEvent(t)
	me, _ := n.Owner(t)
	known := ofRecord(n)
	snapshot := func() map[string]any {
		seen := map[string]any{}
		for _, op := range n.API.Ops() {
			if of, ok := known[op.ID]; ok && !op.Mutating() {
				got := theirs.owner.OK(t, op.Method, theirs.at(op, theirs.id[of[0]]), "")
				if seen[op.ID] = got.Raw; got.Body != nil {
					delete(got.Body, "urls")     // of files: they change with the time
					delete(got.Body, "eventIds") // of requests: they come when the relay has published
					seen[op.ID] = got.Body
				}
			}
		}
		return seen
	}
	before := snapshot()
	require.GreaterOrEqual(t, len(before), 10, "the owner reads them all")
	asked := 0
	for _, op := range n.API.Ops() {
		of, ok := known[op.ID]
		if op.AlsoCreates {
			continue // it finds nothing: TestEveryExternalIDIsUpserted
		}
		require.Equal(t, ok, strings.Contains(op.Path, "{"), "%s: an operation on one record needs a row above", op.ID)
		if !ok {
			continue
		}
		asked++
		for what, id := range map[string]string{"theirs": theirs.id[of[0]], "nobody's": uuid.NewString()} {
			got := me.Do(t, op.Method, theirs.at(op, id), rolestest.FillIn(of[1], theirs.id))
			got.Refused(t, 404, of[0]+"_NOT_FOUND", what+": "+rolestest.Name(op))
		}
		// A condition must not tell that there is something it could hold for.
		if op.Mutating() {
			me.Do(t, op.Method, theirs.at(op, theirs.id[of[0]]), rolestest.FillIn(of[1], theirs.id), "If-Match", `"999"`).Refused(t, 404, of[0]+"_NOT_FOUND", rolestest.Name(op))
		}
	}
	require.Equal(t, len(known), asked)
	require.Equal(t, before, snapshot(), "nothing of theirs has changed")
}

// References of a body do not reach other companies either.
func TestBodiesDoNotReachOtherCompanies(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	theirs, mine := fill(t, n), fill(t, n)
	whole := mine.owner.OK(t, "POST", "/orders", `{"items":[{"kind":"custom","name":"x","unitPrice":1}]}`).ID(t) // nothing of it is shipped
	rows := []struct{ method, path, body, code, field string }{
		{"POST", "/catalog/categories", `{"name":"x","parentId":"CATEGORY"}`, "CATEGORY_NOT_FOUND", "parentId"},
		{"PATCH", "/catalog/categories/" + mine.id["CATEGORY"], `{"parentId":"CATEGORY"}`, "CATEGORY_NOT_FOUND", "parentId"},
		{"POST", "/catalog/products", `{"name":"x","price":1,"categoryId":"CATEGORY"}`, "CATEGORY_NOT_FOUND", "categoryId"},
		{"PATCH", "/catalog/products/" + mine.id["PRODUCT"], `{"categoryId":"CATEGORY"}`, "CATEGORY_NOT_FOUND", "categoryId"},
		{"POST", "/catalog/products", `{"name":"x","price":1,"defaultSupplierId":"SUPPLIER"}`, "SUPPLIER_NOT_FOUND", "defaultSupplierId"},
		{"POST", "/orders", `{"items":[{"refId":"PRODUCT","qty":1}]}`, "PRODUCT_NOT_FOUND", "items[0].refId"},
		{"POST", "/warehouse/stocks/adjust", `{"productId":"PRODUCT","warehouseId":"` + mine.id["WAREHOUSE"] + `","targetQty":1,"reason":"x"}`, "PRODUCT_NOT_FOUND", "productId"},
		{"POST", "/warehouse/stocks/adjust", `{"productId":"` + mine.id["PRODUCT"] + `","warehouseId":"WAREHOUSE","targetQty":1,"reason":"x"}`, "WAREHOUSE_NOT_FOUND", "warehouseId"},
		{"POST", "/warehouse/receipts", `{"warehouseId":"WAREHOUSE","items":[{"productId":"` + mine.id["PRODUCT"] + `","qty":1}]}`, "WAREHOUSE_NOT_FOUND", "warehouseId"},
		{"POST", "/warehouse/receipts", `{"warehouseId":"` + mine.id["WAREHOUSE"] + `","items":[{"productId":"PRODUCT","qty":1}]}`, "PRODUCT_NOT_FOUND", "items[0].productId"},
		{"POST", "/warehouse/receipts", `{"supplierId":"SUPPLIER","warehouseId":"` + mine.id["WAREHOUSE"] + `","items":[{"productId":"` + mine.id["PRODUCT"] + `","qty":1}]}`, "SUPPLIER_NOT_FOUND", "supplierId"},
		{"POST", "/warehouse/transfers", `{"toWarehouseId":"WAREHOUSE","items":[{"productId":"` + mine.id["PRODUCT"] + `","qty":1}]}`, "WAREHOUSE_NOT_FOUND", "toWarehouseId"},
		{"POST", "/warehouse/transfers", `{"toWarehouseId":"` + mine.id["WAREHOUSE"] + `","items":[{"productId":"PRODUCT","qty":1}]}`, "PRODUCT_NOT_FOUND", "items[0].productId"},
		{"POST", "/warehouse/write-offs", `{"warehouseId":"WAREHOUSE","reason":"lost","items":[{"productId":"` + mine.id["PRODUCT"] + `","qty":1}]}`, "WAREHOUSE_NOT_FOUND", "warehouseId"},
		{"POST", "/warehouse/counts", `{"warehouseId":"WAREHOUSE"}`, "WAREHOUSE_NOT_FOUND", "warehouseId"},
		{"POST", "/warehouse/counts", `{"items":[{"productId":"PRODUCT"}]}`, "PRODUCT_NOT_FOUND", "items[0].productId"},
		{"POST", "/warehouse/purchase-orders", `{"supplierId":"SUPPLIER","items":[{"productId":"` + mine.id["PRODUCT"] + `","qty":1}]}`, "SUPPLIER_NOT_FOUND", "supplierId"},
		{"POST", "/warehouse/supplier-returns", `{"supplierId":"SUPPLIER","items":[{"productId":"` + mine.id["PRODUCT"] + `","qty":1}]}`, "SUPPLIER_NOT_FOUND", "supplierId"},
		{"POST", "/warehouse/supplier-returns", `{"supplierId":"` + mine.id["SUPPLIER"] + `","receiptId":"RECEIPT","items":[{"productId":"` + mine.id["PRODUCT"] + `","qty":1}]}`, "RECEIPT_NOT_FOUND", "receiptId"},
		{"POST", "/orders/preview", `{"items":[{"refId":"PRODUCT","qty":1}]}`, "PRODUCT_NOT_FOUND", "items[0].refId"},
		{"POST", "/orders", `{"customerId":"CLIENT","items":[{"refId":"` + mine.id["PRODUCT"] + `","qty":1}]}`, "CLIENT_NOT_FOUND", "customerId"},
		{"PATCH", "/orders/" + mine.id["ORDER"], `{"customerId":"CLIENT"}`, "CLIENT_NOT_FOUND", "customerId"},
		{"POST", "/sales/preview", `{"shiftId":"SHIFT","items":[{"refId":"` + mine.id["PRODUCT"] + `"}],"paymentMethod":"cash"}`, "SHIFT_NOT_FOUND", "shiftId"},
		{"POST", "/sales", `{"shiftId":"SHIFT","items":[{"refId":"` + mine.id["PRODUCT"] + `"}],"paymentMethod":"cash"}`, "SHIFT_NOT_FOUND", "shiftId"},
		{"POST", "/sales", `{"shiftId":"` + mine.id["SHIFT"] + `","items":[{"refId":"PRODUCT"}],"paymentMethod":"cash"}`, "PRODUCT_NOT_FOUND", "items[0].refId"},
		{"POST", "/sales", `{"shiftId":"` + mine.id["SHIFT"] + `","customerId":"CLIENT","items":[{"refId":"` + mine.id["PRODUCT"] + `"}],"paymentMethod":"cash"}`, "CLIENT_NOT_FOUND", "customerId"},
		{"PATCH", "/orders/" + whole, `{"items":[{"refId":"PRODUCT","qty":1}]}`, "PRODUCT_NOT_FOUND", "items[0].refId"},
		{"POST", "/orders", `{"dealId":"DEAL","items":[{"kind":"custom","name":"x","unitPrice":1}]}`, "DEAL_NOT_FOUND", "dealId"},
		{"POST", "/deals", `{"typeId":"DEAL_TYPE"}`, "DEAL_TYPE_NOT_FOUND", "typeId"},
		{"POST", "/deals", `{"typeId":"` + mine.id["DEAL_TYPE"] + `","clientId":"CLIENT"}`, "CLIENT_NOT_FOUND", "clientId"},
		{"PATCH", "/deals/" + mine.id["DEAL"], `{"clientId":"CLIENT"}`, "CLIENT_NOT_FOUND", "clientId"},
		{"PATCH", "/deals/" + mine.id["DEAL"], `{"addressId":"{addressId}"}`, "ADDRESS_NOT_FOUND", "addressId"},
		{"PATCH", "/deals/" + mine.id["DEAL"], `{"assetId":"{assetId}"}`, "ASSET_NOT_FOUND", "assetId"},
		{"PATCH", "/deals/" + mine.id["DEAL"], `{"items":[{"refId":"PRODUCT","qty":1}]}`, "PRODUCT_NOT_FOUND", "items[0].refId"},
		{"POST", "/leads/" + mine.id["LEAD"] + "/convert-deal", `{"typeId":"DEAL_TYPE"}`, "DEAL_TYPE_NOT_FOUND", "typeId"},
	}
	for _, row := range rows {
		body := row.body
		for entity, id := range theirs.id {
			body = strings.ReplaceAll(body, `"`+entity+`"`, `"`+id+`"`)
		}
		meta := mine.owner.Do(t, row.method, row.path, body).Refused(t, 404, row.code, row.method+" "+row.path+" "+row.body)
		require.Equal(t, row.field, meta["field"], "%s %s", row.method, row.path)
	}
}
