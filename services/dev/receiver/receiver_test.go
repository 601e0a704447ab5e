package receiver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/dev/receiver"
)

type testKit struct {
	t      *testing.T
	hooks  *receiver.Server
	url    string
	client *http.Client
	signer *webhook.Signer
	secret string
}

// setup starts a receiver that knows the secret with which the testKit signs.
func setup(t *testing.T, cfg receiver.Config) *testKit {
	t.Helper()
	f := &testKit{t: t, secret: webhook.NewSecret()}
	if cfg.Secret == "" {
		cfg.Secret = f.secret
	}
	var err error
	f.signer, err = webhook.NewSigner(f.secret, "")
	require.NoError(t, err)
	f.hooks = receiver.New(cfg)
	server := httptest.NewServer(f.hooks)
	t.Cleanup(func() {
		f.hooks.Close()
		server.Close()
	})
	f.url = server.URL
	f.client = &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
		Timeout:       20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(f.client.CloseIdleConnections)
	return f
}

func (f *testKit) body(name, dataID string) []byte {
	e := event.Envelope{
		Event: name, CompanyID: tenant.NewID(), OccurredAt: time.Now().Add(-50 * time.Millisecond), ActorID: "system",
		Data: json.RawMessage(fmt.Sprintf(`{"id":%q}`, dataID)), EventID: "event-" + dataID,
	}
	body, err := e.Freeze()
	require.NoError(f.t, err)
	return body
}

func (f *testKit) request(ctx context.Context, path, delivery string, body []byte) *http.Request {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url+path, bytes.NewReader(body))
	require.NoError(f.t, err)
	f.signer.Sign(req.Header, webhook.Attempt{
		Event: "order.created", EventID: "e", DeliveryID: delivery, WebhookID: "w", Number: 2, At: time.Now(),
	}, body)
	req.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	return req
}

// post sends a signed delivery and returns status and body.
func (f *testKit) post(path, delivery string, body []byte) (*http.Response, string) {
	res, err := f.client.Do(f.request(f.t.Context(), path, delivery, body))
	require.NoError(f.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(f.t, err)
	return res, string(text)
}

// call uses the control endpoints.
func (f *testKit) call(method, path, body string, out any) int {
	req, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, strings.NewReader(body))
	require.NoError(f.t, err)
	res, err := f.client.Do(req)
	require.NoError(f.t, err)
	defer res.Body.Close()
	if out != nil {
		require.NoError(f.t, json.NewDecoder(res.Body).Decode(out))
	}
	return res.StatusCode
}

func TestVerifiesAndReports(t *testing.T) {
	t.Parallel()
	f := setup(t, receiver.Config{Tolerance: time.Minute})
	body := f.body("order.created", "o-1")
	res, _ := f.post("/hook/a", "d-1", body)
	require.Equal(t, 200, res.StatusCode)
	f.post("/hook/a", "d-1", body)
	f.post("/hook/a", "d-2", f.body("stock.movement.created", "s-1"))

	forged := f.request(t.Context(), "/hook/a", "d-3", body)
	forged.Body = io.NopCloser(bytes.NewReader(bytes.Replace(body, []byte("o-1"), []byte("o-2"), 1)))
	res, err := f.client.Do(forged)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 401, res.StatusCode)

	var report receiver.Report
	require.Equal(t, 200, f.call("GET", "/report/a", "", &report))
	require.EqualValues(t, 4, report.Received)
	require.EqualValues(t, 3, report.Verified)
	require.EqualValues(t, 1, report.Invalid)
	require.EqualValues(t, 2, report.Unique)
	require.EqualValues(t, 1, report.Duplicates)
	require.Equal(t, map[string]uint64{"order.created": 3, "stock.movement.created": 1}, report.ByEvent)
	require.Equal(t, map[string]uint64{"200": 3, "401": 1}, report.ByStatus)
	require.Equal(t, map[int]uint64{2: 4}, report.ByAttempt)
	require.NotNil(t, report.LastAt)
	require.EqualValues(t, 2, report.LatencyMs.Count)
	require.GreaterOrEqual(t, report.LatencyMs.P50, 49.0)
	require.LessOrEqual(t, report.LatencyMs.P50, report.LatencyMs.Max)

	f.post("/hook", "d-1", body)
	var all struct {
		receiver.Report
		Receivers map[string]receiver.Report `json:"receivers"`
	}
	f.call("GET", "/report", "", &all)
	require.EqualValues(t, 5, all.Received)
	require.EqualValues(t, 3, all.Unique, "names do not share delivery ids")
	require.Equal(t, report, all.Receivers["a"])
	require.EqualValues(t, 1, all.Receivers["default"].Received)

	require.Equal(t, 204, f.call("POST", "/reset/a", "", nil))
	require.Zero(t, f.hooks.Report("a").Received)
}

func TestRefusesUnsignedAndOldRequests(t *testing.T) {
	t.Parallel()
	f := setup(t, receiver.Config{Tolerance: time.Minute, Now: func() time.Time { return time.Now().Add(time.Hour) }})
	res, text := f.post("/hook/a", "d-1", f.body("order.created", "o"))
	require.Equal(t, 401, res.StatusCode)
	require.Contains(t, text, "outside the tolerance")
	require.Equal(t, 401, f.call("POST", "/hook/a", "{}", nil))
	require.EqualValues(t, 2, f.hooks.Report("a").Invalid)
	require.Zero(t, f.hooks.Report("a").Unique)
}

func TestSecretPerName(t *testing.T) {
	t.Parallel()
	f := setup(t, receiver.Config{Secret: webhook.NewSecret()})
	body := f.body("order.created", "o")
	res, _ := f.post("/hook/a", "d", body)
	require.Equal(t, 401, res.StatusCode)
	require.Equal(t, 204, f.call("POST", "/secrets/a", fmt.Sprintf(`{"secret":%q}`, f.secret), nil))
	res, _ = f.post("/hook/a", "d", body)
	require.Equal(t, 200, res.StatusCode)
	require.False(t, f.hooks.Report("a").Duplicates > 0, "the refused request is not remembered")
	res, _ = f.post("/hook/b", "d", body)
	require.Equal(t, 401, res.StatusCode, "another name keeps the common secret")

	var fault map[string]string
	require.Equal(t, 400, f.call("POST", "/secrets/a", `{"secret":"nonsense"}`, &fault))
	require.Contains(t, fault["error"], "whsec_")
	require.Equal(t, 400, f.call("POST", "/secrets/a", `{}`, &fault))
	require.Equal(t, 204, f.call("POST", "/secrets/a", `{"secret":""}`, nil))
	require.Equal(t, 200, f.call("POST", "/hook/a", "{}", nil))
	require.EqualValues(t, 1, f.hooks.Report("a").Unchecked)
}

func TestDeliveriesNewestFirst(t *testing.T) {
	t.Parallel()
	f := setup(t, receiver.Config{})
	for i := range 1005 {
		f.post("/hook/a", fmt.Sprint(i), f.body([]string{"order.created", "sale.completed"}[i%2], fmt.Sprint("o-", i)))
	}
	var list []receiver.Delivery
	require.Equal(t, 200, f.call("GET", "/deliveries/a?limit=2&event=order.*", "", &list))
	require.Len(t, list, 2)
	require.Equal(t, "1004", list[0].ID)
	require.Equal(t, "1002", list[1].ID)
	d := list[0]
	require.Equal(t, "event-o-1004", d.EventID)
	require.Equal(t, "o-1004", d.DataID)
	require.Equal(t, "w", d.WebhookID)
	require.Equal(t, 2, d.Attempt)
	require.True(t, d.Verified)
	require.NotEmpty(t, d.CompanyID)
	require.Equal(t, "200", d.Outcome)
	require.Equal(t, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", d.Traceparent)
	require.Contains(t, string(d.Body), `"id":"o-1004"`)

	require.Equal(t, 200, f.call("GET", "/deliveries/a?limit=2000", "", &list))
	require.Len(t, list, 1005)
	require.NotEqual(t, "null", string(list[999].Body))
	require.Equal(t, "null", string(list[1000].Body), "bodies are kept for the last 1000 only")

	var fault map[string]string
	for _, bad := range []string{"limit=0", "limit=x", "event=order", "after=yesterday"} {
		require.Equal(t, 400, f.call("GET", "/deliveries/a?"+bad, "", &fault), bad)
	}
	require.Equal(t, 400, f.call("POST", "/hook/a%20b", "{}", &fault))
	require.Contains(t, fault["error"], "letters, digits")
}

func TestWaitReturnsTheFirstMatch(t *testing.T) {
	t.Parallel()
	f := setup(t, receiver.Config{})
	f.post("/hook/a", "d-1", f.body("order.created", "o-1"))
	var d receiver.Delivery
	require.Equal(t, 200, f.call("GET", "/wait/a?event=order.*&dataId=o-1&timeout=1s", "", &d))
	require.Equal(t, "d-1", d.ID)

	var fault map[string]string
	require.Equal(t, 408, f.call("GET", "/wait/a?event=order.*&after=1&timeout=0.01", "", &fault))
	require.Equal(t, 400, f.call("GET", "/wait/a?timeout=soon", "", &fault))

	type result struct {
		status int
		got    receiver.Delivery
	}
	results := make(chan result, 1)
	go func() {
		var r result
		r.status = f.call("GET", "/wait/a?event=sale.completed&after=1&timeout=15s", "", &r.got)
		results <- r
	}()
	require.Eventually(t, func() bool { return f.hooks.Waiting("a") == 1 }, time.Minute, time.Millisecond)
	f.post("/hook/a", "d-2", f.body("order.created", "o-2"))
	f.post("/hook/a", "d-3", f.body("sale.completed", "s-1"))
	f.post("/hook/a", "d-4", f.body("sale.completed", "s-2"))
	r := <-results
	require.Equal(t, 200, r.status)
	require.Equal(t, "d-3", r.got.ID)
	require.EqualValues(t, 3, r.got.Seq)
	require.Contains(t, string(r.got.Body), "s-1")
	require.Zero(t, f.hooks.Waiting("a"))
}

func TestConcurrentDeliveriesAreCountedOnce(t *testing.T) {
	t.Parallel()
	f := setup(t, receiver.Config{})
	const workers, each = 8, 100
	errs := make(chan error, workers)
	for range workers {
		go func() {
			for i := range each {
				body := f.body("order.created", "o")
				res, err := f.client.Do(f.request(context.Background(), "/hook/a", fmt.Sprint(i), body))
				if err == nil {
					_, err = io.Copy(io.Discard, res.Body)
					res.Body.Close()
				}
				if err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range workers {
		require.NoError(t, <-errs)
	}
	report := f.hooks.Report("a")
	require.EqualValues(t, workers*each, report.Received)
	require.EqualValues(t, each, report.Unique)
	require.EqualValues(t, (workers-1)*each, report.Duplicates)
}
