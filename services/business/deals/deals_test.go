package deals_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

func TestCreateBare(t *testing.T) {
	t.Parallel()
	k, _ := setup(t)
	sales := k.typeOf("sales")
	made := k.Do(t, "POST", "/deals", object{"typeId": sales.ID, "stageId": "x", "outcome": "won", "total": 5, "number": 9})
	d := made.OK(201)
	require.Equal(t, "number, outcome, stageId, total", made.Header.Get("X-Ignored-Fields"))
	require.Equal(t, `"1"`, made.Header.Get("ETag"))
	id := d["id"].(string)
	require.Equal(t, "/api/external/v1/deals/"+id, made.Header.Get("Location"))
	want := object{
		"id": id, "companyId": k.Principal.Company.String(), "number": 1.0, "typeId": sales.ID, "stageId": sales.stages["New"], "checklistDone": []any{},
		"outcome": nil, "clientId": nil, "assetId": nil, "addressId": nil, "venueResourceId": nil, "addressLabel": nil, "customerName": nil,
		"customerPhone": nil, "customerEmail": nil, "customerNote": nil, "channel": "manual", "source": nil, "externalId": nil, "metadata": object{}, "sourceId": nil, "address": nil,
		"scheduledAt": nil, "dueAt": nil, "note": nil, "subtotal": 0.0, "discountPercent": 0.0, "fixedDiscount": 0.0, "couponCode": nil, "discountAmount": 0.0, "total": 0.0, "cost": 0.0,
		"taxAmount": 0.0, "taxes": []any{}, "taxMode": "included", "taxRounding": "line",
		"budget": nil, "budgetExceededAt": nil, "headcount": nil, "lostReasonId": nil, "nextActionAt": nil, "stageEnteredAt": d["createdAt"],
		"branchId": nil, "createdById": k.Principal.Actor.String(), "assignedToId": nil, "createdAt": d["createdAt"], "updatedAt": d["createdAt"], "version": 1.0,
		"intake": nil, "lines": []any{},
	}
	require.Equal(t, want, d)
	require.Equal(t, d, k.read(id))
	all := k.raised()
	require.Equal(t, []string{"deal.created"}, all.Names())
	require.Equal(t, d, all[0].Data)
}

func TestCreateFull(t *testing.T) {
	t.Parallel()
	k, s := setup(t)
	var sources []object
	k.Do(t, "GET", "/deals/sources", nil).Decode(&sources)
	body := object{
		"clientId": s.client, "assetId": s.asset, "addressId": s.address, "venueResourceId": s.hall, "customerNote": "n", "channel": "phone",
		"source": "site", "sourceId": sources[0]["id"], "address": "Street 1", "scheduledAt": "2027-01-02T10:00:00+01:00", "dueAt": "2027-01-02T12:00:00Z",
		"note": "x", "discountPercent": 10, "budget": 5000, "headcount": 3, "assignedToId": s.anna, "intake": object{"b": []string{"x"}, "a": 1.50},
		"items": []object{
			{"refId": s.tea, "qty": 2, "perGuest": true, "note": "green"},
			{"kind": "service", "refId": s.guide, "unitPrice": 9999, "unitCost": 1, "qty": 1.5, "perGuest": false},
			{"kind": "custom", "name": "Cake", "unitPrice": 333},
		},
	}
	d := k.post(body)
	for field, want := range (object{
		"clientId": s.client.String(), "assetId": s.asset.String(), "addressId": s.address.String(), "addressLabel": "Office", "venueResourceId": s.hall.String(),
		"customerName": "Acme", "customerPhone": "+49 30 1", "customerEmail": "office@example.com", "channel": "phone", "sourceId": sources[0]["id"],
		"scheduledAt": "2027-01-02T09:00:00.000Z", "dueAt": "2027-01-02T12:00:00.000Z", "headcount": 3.0, "budget": 5000.0, "budgetExceededAt": nil,
		"assignedToId": s.anna.String(), "intake": object{"a": 1.5, "b": []any{"x"}},
		// 6 × 450 of the price list, 1.5 × 9999 rounded, 333; less 10 %.
		"subtotal": 2700.0 + 14999 + 333, "discountAmount": 1803.0, "total": 18032.0 - 1803, "cost": 6*200.0 + 2,
	}) {
		require.Equal(t, want, d[field], field)
	}
	lines := d["lines"].([]any)
	first := lines[0].(object)
	require.Equal(t, object{
		"id": first["id"], "kind": "product", "refId": s.tea.String(), "variantId": nil, "sku": "TEA", "name": "Tea", "unit": "pcs", "qty": 2.0, "perGuest": true,
		"effectiveQty": 6.0, "unitPrice": 450.0, "unitCost": 200.0, "amount": 2700.0, "discountAmount": 270.0, "total": 2430.0, "cost": 1200.0,
		"discountPercent": 0.0, "fixedDiscount": 0.0, "taxRateId": nil, "taxRate": nil, "taxAmount": 0.0,
		"modifiers": []any{}, "note": "green", "sortOrder": 0.0,
	}, first)
	second := lines[1].(object)
	require.Equal(t, []any{1.5, 1.0, 2.0}, []any{second["effectiveQty"], second["unitCost"], second["cost"]})
	require.Equal(t, []any{nil, nil, "Cake", 0.0}, []any{lines[2].(object)["sku"], lines[2].(object)["unit"], lines[2].(object)["name"], lines[2].(object)["unitCost"]})
	require.Equal(t, d, k.read(d["id"]))
	all := k.raised()
	require.Equal(t, []string{"deal.created", "calendar.event.created"}, all.Names())
	require.Equal(t, []any{"deal", d["id"], s.hall.String(), s.client.String(), "Deal 1: Acme", "2027-01-02T12:00:00.000Z"},
		[]any{all[1].Data["kind"], all[1].Data["dealId"], all[1].Data["resourceId"], all[1].Data["clientId"], all[1].Data["title"], all[1].Data["endAt"]})
	own := k.post(object{"clientId": s.client, "customerName": "Bob", "customerEmail": "b@example.com"})
	require.Equal(t, []any{"Bob", "+49 30 1", "b@example.com"}, []any{own["customerName"], own["customerPhone"], own["customerEmail"]})
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	k, s := setup(t)
	sales := k.typeOf("sales").ID
	long := strings.Repeat("x", 20_000)
	for _, row := range []struct {
		body any
		want map[string]string
	}{
		{`{}`, map[string]string{"typeId": "REQUIRED"}},
		{object{"typeId": nil}, map[string]string{"typeId": "TYPE"}},
		{object{"typeId": "x", "headcount": 0, "budget": -1, "discountPercent": 101, "customerEmail": "x", "scheduledAt": "soon", "address": long}, map[string]string{
			"typeId": "FORMAT", "headcount": "MIN", "budget": "MIN", "discountPercent": "MAX", "customerEmail": "FORMAT", "scheduledAt": "FORMAT", "address": "LENGTH",
		}},
		{object{"typeId": sales, "items": []object{{}, {"kind": "custom"}}}, map[string]string{"items[0].refId": "REQUIRED", "items[1].name": "REQUIRED", "items[1].unitPrice": "REQUIRED"}},
		{object{"typeId": sales, "items": []object{{"refId": s.tea, "qty": 0, "unitCost": -1}}}, map[string]string{"items[0].qty": "MIN", "items[0].unitCost": "MIN"}},
		{object{"typeId": sales, "intake": []int{1}}, map[string]string{"intake": "TYPE"}},
		{object{"typeId": sales, "intake": object{"a b": 1, "c": object{}, "d": []any{1}}}, map[string]string{"intake.a b": "FORMAT", "intake.c": "TYPE", "intake.d[0]": "TYPE"}},
		{object{"typeId": sales, "intake": object{"d": []any{"x\x00"}, "e": "\x00"}}, map[string]string{"intake.d[0]": "FORMAT", "intake.e": "FORMAT"}},
		{object{"typeId": sales, "intake": object{"a": long}}, map[string]string{"intake": "LENGTH"}},
		{`{"typeId":"` + sales + `","intake":{"a":1e9}}`, map[string]string{"intake.a": "FORMAT"}},
		{object{"typeId": sales, "venueResourceId": s.hall, "scheduledAt": "2027-01-01T10:00:00Z", "dueAt": "2027-01-01T10:00:00Z"}, map[string]string{"dueAt": "CONFLICT"}},
		{object{"typeId": sales, "items": []object{{"kind": "custom", "name": "x", "unitPrice": 9007199254740991, "qty": 2}}}, map[string]string{"items": "MAX"}},
	} {
		res := k.Do(t, "POST", "/deals", row.body)
		if _, overflow := row.want["items"]; overflow {
			res.Fault(400, "VALIDATION_ERROR")
			continue
		}
		require.Equal(t, row.want, res.Fields(), "%v", row.body)
	}
	many := object{}
	for i := range 51 {
		many[strings.Repeat("k", i+1)] = 1
	}
	require.Equal(t, map[string]string{"intake": "MAX"}, k.Do(t, "POST", "/deals", object{"typeId": sales, "intake": many}).Fields())
	require.Empty(t, k.raised())
	require.Equal(t, 1.0, k.post(object{})["number"], "a refused deal takes no number")
}

func TestReferences(t *testing.T) {
	t.Parallel()
	k, s := setup(t)
	other := uuid.New()
	id := k.post(object{})["id"].(string)
	for field, code := range map[string]string{
		"typeId": "DEAL_TYPE", "clientId": "CLIENT", "assetId": "ASSET", "addressId": "ADDRESS", "venueResourceId": "RESOURCE", "sourceId": "LEAD_SOURCE", "assignedToId": "USER",
	} {
		body := object{"typeId": k.typeOf("sales").ID}
		body[field] = other
		meta := k.Do(t, "POST", "/deals", body).Fault(404, code+"_NOT_FOUND")["meta"].(object)
		require.Equal(t, object{"field": field, "id": other.String()}, meta)
		if field != "typeId" {
			k.Do(t, "PATCH", "/deals/"+id, object{field: other}).Fault(404, code+"_NOT_FOUND")
		}
	}
	meta := k.Do(t, "POST", "/deals", object{"typeId": k.typeOf("sales").ID, "items": []object{{"refId": s.tea}, {"refId": other}}}).Fault(404, "PRODUCT_NOT_FOUND")["meta"].(object)
	require.Equal(t, "items[1].refId", meta["field"])
	k.Do(t, "PATCH", "/deals/"+id, object{"items": []object{{"kind": "service", "refId": other}}}).Fault(404, "SERVICE_NOT_FOUND")
	k.Do(t, "POST", "/deals", object{"typeId": k.typeOf("sales").ID, "clientId": s.archived}).Fault(409, "CLIENT_ARCHIVED")
	k.Do(t, "PATCH", "/deals/"+id, object{"clientId": s.archived}).Fault(409, "CLIENT_ARCHIVED")
	k.Do(t, "POST", "/deals", object{"typeId": k.typeOf("sales").ID, "items": []object{{"refId": s.hidden}}}).Fault(409, "CATALOG_ITEM_HIDDEN")
	require.Equal(t, 1.0, k.read(id)["version"])

	// What a deal refers to may be archived or hidden later.
	d := k.post(object{"clientId": s.client, "items": []object{{"refId": s.tea}}})
	archived, hidden := k.clients[s.client], k.Items[tea(s)]
	archived.Archived, hidden.Hidden = true, true
	k.clients[s.client], k.Items[tea(s)] = archived, hidden
	require.Equal(t, 3.0, k.patch(d["id"], object{"clientId": s.client, "items": []object{{"refId": s.tea, "qty": 3}}})["lines"].([]any)[0].(object)["qty"])
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	k, s := setup(t)
	d := k.post(object{"items": []object{{"refId": s.tea, "qty": 2}}})
	id := d["id"]
	require.Equal(t, d, k.patch(id, `{}`))
	require.Equal(t, d, k.patch(id, object{"note": nil, "discountPercent": 0, "checklistDone": []string{}}), "the same values are no change")
	var sources []object
	k.Do(t, "GET", "/deals/sources", nil).Decode(&sources)
	set := object{
		"clientId": s.client, "assetId": s.asset, "addressId": s.address, "venueResourceId": s.hall, "customerName": "n", "customerPhone": "1",
		"customerEmail": "a@example.com", "customerNote": "cn", "channel": "public_link", "source": "s", "sourceId": sources[1]["id"], "address": "a",
		"scheduledAt": "2027-05-01T10:00:00.000Z", "dueAt": "2027-05-01T11:00:00.000Z", "note": "x", "discountPercent": 50.0, "budget": 100.0,
		"headcount": 4.0, "assignedToId": s.anna, "intake": object{"a": true}, "nextActionAt": "2027-04-01T10:00:00.000Z",
	}
	for field, value := range set {
		before := len(k.raised())
		got := k.patch(id, object{field: value})
		if text, ok := value.(uuid.UUID); ok {
			value = text.String()
		}
		require.Equal(t, value, got[field], field)
		events := k.raised()[before:]
		require.Equal(t, "deal.updated", events[0].Name, field)
		require.Contains(t, events[0].Data["changedFields"], field)
		require.Equal(t, got["version"], events[0].Data["version"])
		if !strings.Contains("clientId addressId discountPercent budget customerName", field) {
			require.Equal(t, []any{field}, events[0].Data["changedFields"], field)
		}
	}
	full := k.read(id)
	require.Equal(t, "Office", full["addressLabel"])
	for field := range set {
		if field == "discountPercent" {
			require.Equal(t, map[string]string{field: "TYPE"}, k.Do(t, "PATCH", "/deals/"+id.(string), object{field: nil}).Fields())
			continue
		}
		require.Nil(t, k.patch(id, object{field: nil})[field], field)
	}
	cleared := k.read(id)
	require.Nil(t, cleared["addressLabel"])
	require.Equal(t, d["lines"].([]any)[0].(object)["id"], cleared["lines"].([]any)[0].(object)["id"], "lines stay the same")
	ignored := k.Do(t, "PATCH", "/deals/"+id.(string), object{"typeId": k.typeOf("lead").ID, "stageId": "x", "outcome": "won"})
	require.Equal(t, "outcome, stageId, typeId", ignored.Header.Get("X-Ignored-Fields"))
	require.Equal(t, cleared, ignored.OK(200))
	k.Do(t, "PATCH", "/deals/"+id.(string), `{"note":"y"}`, apitest.Header{"If-Match", `"1"`}).Fault(412, "PRECONDITION_FAILED")
}

func TestItemsAreReplaced(t *testing.T) {
	t.Parallel()
	k, s := setup(t)
	d := k.post(object{"discountPercent": 10, "items": []object{{"refId": s.tea, "qty": 2}, {"kind": "custom", "name": "x", "unitPrice": 5}}})
	before := len(k.raised())
	got := k.patch(d["id"], object{"items": []object{{"kind": "custom", "name": "y", "unitPrice": 999}}})
	require.Equal(t, []any{999.0, 100.0, 899.0, 0.0}, []any{got["subtotal"], got["discountAmount"], got["total"], got["cost"]})
	require.Len(t, got["lines"], 1)
	require.Equal(t, got, k.read(d["id"]))
	require.ElementsMatch(t, []any{"subtotal", "discountAmount", "total", "cost", "lines"}, k.raised()[before].Data["changedFields"])
	empty := k.patch(d["id"], object{"items": []object{}})
	require.Equal(t, []any{0.0, []any{}}, []any{empty["total"], empty["lines"]})
	require.Equal(t, empty, k.read(d["id"]))
	item := k.Do(t, "GET", "/deals", nil).OK(200)["items"].([]any)[0].(object)
	require.Equal(t, 0.0, item["linesCount"])
}

func TestHeadcountMultipliesLinesPerGuest(t *testing.T) {
	t.Parallel()
	k, s := setup(t)
	d := k.post(object{"items": []object{{"refId": s.tea, "qty": 1.5, "perGuest": true}, {"refId": s.tea, "qty": 2}}})
	effective := func(d object) (all []any) {
		for _, l := range d["lines"].([]any) {
			all = append(all, l.(object)["effectiveQty"])
		}
		return all
	}
	require.Equal(t, []any{1.5, 2.0}, effective(d), "without a headcount")
	got := k.patch(d["id"], object{"headcount": 3})
	require.Equal(t, []any{4.5, 2.0}, effective(got))
	require.Equal(t, []any{4.5*500 + 1000, 6.5 * 200}, []any{got["subtotal"], got["cost"]})
	require.Equal(t, got, k.read(d["id"]))
	require.ElementsMatch(t, []any{"headcount", "subtotal", "total", "cost", "lines"}, k.raised()[1].Data["changedFields"])
	require.Equal(t, []any{1.5, 2.0}, effective(k.patch(d["id"], object{"headcount": nil})))
}

func TestBudget(t *testing.T) {
	t.Parallel()
	k, s := setup(t)
	d := k.post(object{"budget": 200, "items": []object{{"refId": s.tea}}})
	require.Nil(t, d["budgetExceededAt"], "the cost equals the budget")
	over := k.patch(d["id"], object{"items": []object{{"refId": s.tea, "qty": 1.005}}})
	require.Equal(t, over["updatedAt"], over["budgetExceededAt"])
	more := k.patch(d["id"], object{"budget": 100})
	require.Equal(t, over["budgetExceededAt"], more["budgetExceededAt"], "since when it first became true")
	require.Nil(t, k.patch(d["id"], object{"budget": 1000})["budgetExceededAt"])
	again := k.patch(d["id"], object{"budget": 0})
	require.Equal(t, again["updatedAt"], again["budgetExceededAt"])
	require.Nil(t, k.patch(d["id"], object{"budget": nil})["budgetExceededAt"])
	at := k.post(object{"budget": 1, "items": []object{{"refId": s.tea}}})
	require.Equal(t, at["createdAt"], at["budgetExceededAt"])
}

func TestOtherCompaniesSeeNothing(t *testing.T) {
	t.Parallel()
	k, _ := setup(t)
	d := k.post(object{})
	id, sales := d["id"].(string), k.typeOf("sales")
	other := k.server.Company()
	for _, call := range [][3]string{
		{"GET", "", ""}, {"PATCH", "", `{"note":"x"}`}, {"GET", "/history", ""}, {"PATCH", "/stage", `{"stageId":"` + sales.stages["Won"] + `"}`}, {"POST", "/stage", `{"stageId":"` + sales.stages["Won"] + `"}`},
	} {
		other.Do(t, call[0], "/deals/"+id+call[1], call[2]).Fault(404, "DEAL_NOT_FOUND")
	}
	other.Do(t, "POST", "/deals", object{"typeId": sales.ID}).Fault(404, "DEAL_TYPE_NOT_FOUND")
	mine := kit{other, k.neighbours, t, k.db, k.service, k.server}
	mine.seed(other.Principal.Company)
	foreign := mine.post(object{})
	meta := mine.move(foreign["id"], object{"stageId": sales.stages["Won"]}).Fault(404, "DEAL_STAGE_NOT_FOUND")["meta"].(object)
	require.Equal(t, object{"field": "stageId", "id": sales.stages["Won"]}, meta)
	lost := mine.typeOf("sales").stages["Lost"]
	mine.move(foreign["id"], object{"stageId": lost, "lostReasonId": k.reason("price")}).Fault(404, "DEAL_LOST_REASON_NOT_FOUND")
	require.Equal(t, d, k.read(id))
}
