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

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
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
