package roles_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/compress"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/schemas"
	"github.com/tradegrid/tradegrid/services/dev/demodata"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/platform/requests"
	"github.com/tradegrid/tradegrid/services/roles"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
	"github.com/tradegrid/tradegrid/topics"
)

// walk calls operations as one company and checks every answer.
type walk struct {
	*promises

	admin   *adminWalk
	t       *testing.T
	all     *roles.Domains
	api     *httpapi.API
	served  *requests.Log
	company tenant.ID
	token   string
	seen    map[string][]int // operation → statuses
	record  *exampleRecorder
}

func newWalk(t *testing.T, d *db.DB) *walk {
	t.Helper()
	all := roles.NewDomains(d, roles.DomainConfig{Policy: rolestest.DefaultPolicy(), AllowInsecure: true, Keys: rolestest.Keys(), Operators: rolestest.Operators(), Download: download})
	w := &walk{promises: readPromises(t, descriptionFile), t: t, all: all, seen: map[string][]int{}}
	w.served = requests.NewLog(requests.LogConfig{DB: d, Log: slog.New(slog.DiscardHandler)})
	w.api = all.NewAPI(httpapi.Config{Requests: w.served, Limiter: ratelimit.New(ratelimit.Config{}), Release: "test", Proxies: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/32")}}) // where App().Test comes from
	made, err := all.CreateCompany(t.Context(), company.NewCompany{Name: "Demo Cycles", Plan: "business", IsTest: true, Currency: "EUR", CountryPrefix: "+49", TimeZone: demodata.TimeZone, Locale: "de-DE", Bookings: company.NewBookingSettings{Reminders: []int32{1440, 120}}})
	require.NoError(t, err)
	w.company = made.ID
	w.admin = newAdminWalk(t, all, made.ID)
	w.record = newExampleRecorder(w.promises, schemas.ExternalExamples, w.page)
	w.token = w.issue("*:write")
	return w
}

func (w *walk) issue(scopes ...string) string {
	w.t.Helper()
	issued, err := roles.ChangeWith(w.t.Context(), w.all.DB, "test", w.company, w.all.Company.IssueToken,
		company.NewToken{Name: "Web shop", Scopes: scopes, RateTier: company.TierCustom})
	require.NoError(w.t, err)
	return issued.Text
}

// do calls an operation, named as the description has it; args fill its {parameters}, and one that begins with ? is the
// query. It returns the body.
func (w *walk) do(status int, op, body string, args ...string) map[string]any {
	w.t.Helper()
	return w.with(w.token, nil, status, op, body, args...)
}

func (w *walk) with(token string, header http.Header, status int, op, body string, args ...string) map[string]any {
	w.t.Helper()
	method, path, _ := strings.Cut(op, " ")
	for _, arg := range args {
		if strings.HasPrefix(arg, "?") {
			path += arg
			continue
		}
		before, rest, ok := strings.Cut(path, "{")
		_, after, closed := strings.Cut(rest, "}")
		require.True(w.t, ok && closed, "%s has no parameter for %s", op, arg)
		path = before + arg + after
	}
	req := httptest.NewRequestWithContext(w.t.Context(), method, httpapi.BasePath+path, strings.NewReader(body))
	if header != nil {
		req.Header = header
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", rolestest.MediaOf(body))
	}
	res, err := w.api.App().Test(req, -1)
	require.NoError(w.t, err)
	raw, err := io.ReadAll(res.Body)
	require.NoError(w.t, err)
	require.NoError(w.t, res.Body.Close())
	require.Equal(w.t, status, res.StatusCode, "%s %s: %s", method, path, raw)
	if media := res.Header.Get("Content-Type"); media == "" || strings.HasPrefix(media, "application/json") {
		require.NoError(w.t, w.checkAnswer(op, status, raw))
	}
	require.NoError(w.t, w.checkHeaders(op, status, res.Header))
	w.seen[op] = append(w.seen[op], status)
	w.record.record(op, path, body, status, res.Header.Get("Content-Type"), raw)
	if status == http.StatusCreated {
		w.located(op, res.Header.Get("Location"))
	}
	var out map[string]any
	if len(raw) > 0 && raw[0] == '{' {
		require.NoError(w.t, json.Unmarshal(raw, &out))
	}
	return out
}

// page reads a list once more.
func (w *walk) page(path string) []byte {
	got := rolestest.AskOf(w.t, w.api, "Bearer "+w.token, http.MethodGet, httpapi.BasePath+path, "")
	require.Equal(w.t, http.StatusOK, got.Status, "%s: %s", path, got.Raw)
	return []byte(got.Raw)
}

// withoutURL are the operations that create what has no address of its own.
//
//nolint:gochecknoglobals // a constant table
var withoutURL = []string{"POST /clients/{id}/interactions", "POST /clients/{id}/points", "POST /warehouse/stocks/adjust"}

// located checks that the record that an operation created is read at the address in its answer.
func (w *walk) located(op, location string) {
	w.t.Helper()
	if slices.Contains(withoutURL, op) {
		require.Empty(w.t, location, op)
		return
	}
	require.NotEmpty(w.t, location, "%s answers 201 without Location", op)
	req := httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, location, nil)
	req.Header.Set("Authorization", "Bearer "+w.token)
	res, err := w.api.App().Test(req, -1)
	require.NoError(w.t, err)
	require.NoError(w.t, res.Body.Close())
	require.Equal(w.t, http.StatusOK, res.StatusCode, "%s: %s", op, location)
}

func (w *walk) id(body map[string]any) string {
	w.t.Helper()
	id, ok := body["id"].(string)
	require.True(w.t, ok, "%v", body)
	return id
}

const sqlRaised = `SELECT payload FROM outbox WHERE bucket = $1 AND company_id = $2 AND topic = $3 ORDER BY pos, id`

// raised are the envelopes in the outbox, by the name of their event, each held against its schema.
func (w *walk) raised(d *db.DB) map[string]int {
	w.t.Helper()
	rows, err := d.Query(w.t.Context(), sqlRaised, outbox.Bucket(w.company), w.company, topics.Events)
	require.NoError(w.t, err)
	payloads, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	require.NoError(w.t, err)
	names := map[string]int{}
	for _, p := range payloads {
		body, err := compress.Open(p)
		require.NoError(w.t, err)
		names[w.checkEnvelope(body)]++
	}
	return names
}

func (w *walk) checkEnvelope(raw []byte) string {
	w.t.Helper()
	var head struct {
		Event     string    `json:"event"`
		CompanyID tenant.ID `json:"companyId"`
	}
	require.NoError(w.t, json.Unmarshal(raw, &head))
	require.Equal(w.t, w.company, head.CompanyID)
	require.NoError(w.t, w.check(head.Event+".schema.json", raw))
	w.record.event(head.Event, raw)
	return head.Event
}

// relay publishes the outbox until n events are in the log.
func (w *walk) relay(d *db.DB, n int) {
	w.t.Helper()
	client, err := outbox.NewClient(kafka.Config{Brokers: dbtest.Broker(w.t)})
	require.NoError(w.t, err)
	defer client.Close()
	r, err := outbox.NewRelay(d, client, outbox.RelayConfig{Node: "contract", EventRetention: rolestest.DefaultPolicy().EventRetention})
	require.NoError(w.t, err)
	ctx, stop := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	require.Eventually(w.t, func() bool {
		var logged int
		return d.QueryRow(w.t.Context(), `SELECT count(*) FROM events WHERE company_id = $1`, w.company).Scan(&logged) == nil && logged == n
	}, time.Minute, 20*time.Millisecond)
	stop()
	require.NoError(w.t, <-done)
}
