package roles_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// TestAnswersAndEventsMatchTheirSchemas goes through every operation with real tokens and holds each answer, and each
// event that comes of it, against the committed schemas.
func TestAnswersAndEventsMatchTheirSchemas(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t)
	w := newWalk(t, d)
	w.people()
	made := w.samples()
	w.goods(made["PRODUCT"])
	w.images(made["PRODUCT"])
	w.stores(made)
	w.upserts(made)
	w.largeBatches()
	w.customers(made["CLIENT"], made["PRODUCT"])
	order := w.sales(made["PRODUCT"], made["CLIENT"])
	w.pipeline(made["LEAD"], made["DEAL"], made["DEAL_TYPE"])
	w.cashier(made["SHIFT"], made["SALE"], made["PRODUCT"])
	w.bookings(made["RESOURCE"], made["SERVICE"])
	require.NoError(t, w.all.StockAnnouncer(slog.New(slog.DiscardHandler)).Announce(t.Context(), func() bool { return true }))
	w.reports()
	w.hooks(made["WEBHOOK_SUBSCRIPTION"])
	w.jobs(made["WEBHOOK_SUBSCRIPTION"])
	w.deleteSamples(made)
	raised := w.raised(d)
	w.everyEventIsRaised(raised)
	total := 0
	for _, n := range raised {
		total += n
	}
	w.relay(d, total)
	w.eventLog(order, total)
	w.refusals()
	w.requests(order)
	w.everyOperationIsSeen()
	w.everyHeaderIsSent(t)
	w.record.settle(t)
}

// outsideTheOutbox are the declared events that never lie in the outbox under their name, each with the reason.
var outsideTheOutbox = map[string]string{ //nolint:gochecknoglobals // a constant table
	"webhook.test": "a test message goes to one subscription as a delivery; hooks checks its envelope",
}

func (w *walk) everyEventIsRaised(raised map[string]int) {
	for _, e := range w.all.Events.All() {
		if outsideTheOutbox[e.Name] == "" {
			require.NotZero(w.t, raised[e.Name], "%s is declared and was not raised: add a step that raises it, or the reason to outsideTheOutbox", e.Name)
		}
	}
	for name := range raised {
		_, declared := w.all.Events.Lookup(name)
		require.True(w.t, declared, name)
	}
}

func (w *walk) eventLog(order string, total int) {
	query := "?limit=7"
	for read := 0; read < total; {
		page := w.do(200, "GET /events", "", query)
		items := page["items"].([]any)
		require.NotEmpty(w.t, items)
		for _, item := range items {
			raw, err := json.Marshal(item)
			require.NoError(w.t, err)
			w.checkEnvelope(raw)
		}
		read, query = read+len(items), "?limit=7&cursor="+page["nextCursor"].(string)
	}
	first := w.do(200, "GET /events", "", "?events=order.created&entityId="+order)["items"].([]any)[0].(map[string]any)
	one := w.do(200, "GET /events/{eventId}", "", first["eventId"].(string))
	sub := w.id(w.do(201, "POST /webhooks/subscriptions", `{"url":"https://example.com/explained","events":["*"]}`))
	w.do(200, "GET /events/{eventId}/deliveries", "", first["eventId"].(string))
	w.do(200, "GET /webhooks/subscriptions/{id}/explain", "", sub, "?eventId="+first["eventId"].(string))
	require.Equal(w.t, first, one)
	timeline, ok := w.do(200, "GET /events/{eventId}", "", first["eventId"].(string), "?include=way")["way"].(map[string]any)
	require.True(w.t, ok)
	for _, field := range []string{"requestId", "requestedAt", "committedAt", "publishedAt"} {
		require.NotEmpty(w.t, timeline[field], field)
	}
}

// refusals has every kind of error that every operation may answer.
func (w *walk) refusals() {
	narrow, n := w.issue("exports:read"), 1
	for op := range w.ops {
		_, path, _ := strings.Cut(op, " ")
		var nowhere, nothing []string
		for part := range strings.SplitSeq(path, "/") {
			switch {
			case part == "{next}":
				nowhere, nothing = append(nowhere, "confirmed"), append(nothing, "x")
			case strings.HasPrefix(part, "{"):
				nowhere, nothing = append(nowhere, uuid.NewString()), append(nothing, "x")
			}
		}
		// Each from an address of its own: failures of one address are limited.
		w.with("", http.Header{"X-Forwarded-For": {fmt.Sprintf("198.18.%d.%d", n/256, n%256)}}, 401, op, "", nowhere...)
		n++
		if path != "/token" && path != "/company" && path != "/reports/payments" && !strings.HasPrefix(path, "/imports") && path != "/jobs" && !strings.HasPrefix(path, "/jobs/") { // any valid token may ask for these
			w.with(narrow, nil, 403, op, "", nowhere...)
		}
		if len(nowhere) > 0 {
			w.do(400, op, "", nothing...)
		}
		if op == "GET /orders/{id}" || op == "POST /clients/{id}/archive" || op == "DELETE /catalog/products/{id}" || op == "GET /webhooks/deliveries/{id}" {
			w.do(404, op, "", nowhere...)
		}
	}
	w.do(400, "POST /orders", `{"items":[{"qty":0}],"note":5}`)
	w.do(413, "POST /orders", strings.Repeat(" ", httpapi.DefaultMaxBody+1))
	w.with(w.token, http.Header{"Content-Type": {"text/plain"}}, 415, "POST /orders", "x")
	key := http.Header{"X-Idempotency-Key": {uuid.NewString()}}
	client := w.id(w.with(w.token, key.Clone(), 201, "POST /clients", `{"kind":"individual","displayName":"One"}`))
	w.with(w.token, key.Clone(), 201, "POST /clients", `{"kind":"individual","displayName":"One"}`)
	w.with(w.token, key.Clone(), 422, "POST /clients", `{"kind":"individual","displayName":"Two"}`)
	for range 30 {
		w.with("nobody", http.Header{"X-Forwarded-For": {"198.51.100.1"}}, 401, "GET /token", "")
	}
	w.with("nobody", http.Header{"X-Forwarded-For": {"198.51.100.1"}}, 429, "GET /token", "")
	w.with(w.token, http.Header{"Content-Encoding": {"gzip"}}, 415, "POST /orders", "{}")
	w.with(w.token, http.Header{"If-Match": {`"7"`}}, 412, "PATCH /clients/{id}", `{}`, client)
}

// requests reads what the walk has called.
func (w *walk) requests(order string) {
	ended, end := context.WithCancel(w.t.Context())
	end()
	require.NoError(w.t, w.served.Run(ended))
	missing := w.do(200, "GET /requests", "", "?limit=1&code=ORDER_NOT_FOUND")["items"].([]any)
	require.Len(w.t, missing, 1)
	refused := w.do(200, "GET /requests/{id}", "", w.id(missing[0].(map[string]any)))
	require.Equal(w.t, "ORDER_NOT_FOUND", refused["error"].(map[string]any)["code"])
	fine := w.do(200, "GET /requests", "", "?limit=1&answer=2xx")["items"].([]any)
	w.do(200, "GET /requests/{id}", "", w.id(fine[0].(map[string]any)))
	about := w.do(200, "GET /requests", "", "?entityId="+order)["items"].([]any)
	require.NotEmpty(w.t, about)
	w.do(200, "GET /requests/{id}", "", w.id(about[len(about)-1].(map[string]any)))
	w.do(404, "GET /requests/{id}", "", uuid.NewString())
}

func (w *walk) everyOperationIsSeen() {
	require.NotEmpty(w.t, w.ops)
	for op, description := range w.ops {
		for status := range description["responses"].(map[string]any) {
			n, err := strconv.Atoi(status)
			require.NoError(w.t, err)
			if n < http.StatusMultipleChoices {
				assert.True(w.t, slices.Contains(w.seen[op], n), "%s never answered %d: add a step", op, n)
			}
		}
	}
	require.Len(w.t, w.ops, len(w.api.Ops()), "the committed description and the operations differ: run make schemas")
}
