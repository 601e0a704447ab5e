package webhooks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestTimelineOfAnEvent(t *testing.T) {
	t.Parallel()
	r := setup(t)
	sub := r.subscribe()
	at := time.Now().UTC().Add(-time.Minute).Truncate(time.Millisecond)
	event, body := r.log("order.created", uuid.New(), at)
	set := func(text string, args ...any) {
		t.Helper()
		_, err := r.db.Exec(t.Context(), text, append([]any{r.company()}, args...)...)
		require.NoError(t, err)
	}
	path := "/events/" + event.String()
	read := func() map[string]any {
		t.Helper()
		got := r.Do(t, "GET", path+"?include=way", nil)
		timeline := got.OK(200)["way"].(map[string]any)
		require.True(t, strings.HasPrefix(string(got.Body), strings.TrimSuffix(string(body), "}")+`,"way":{`), "the bytes of the envelope stay as they are")
		return timeline
	}
	text := func(at time.Time) string { return at.Format("2006-01-02T15:04:05.000Z") }
	require.Equal(t, map[string]any{"requestId": nil, "requestedAt": nil, "traceId": nil, "committedAt": text(at), "publishedAt": nil, "deliveries": []any{}}, read(),
		"of a release that recorded nothing")
	require.Equal(t, string(body), string(r.Do(t, "GET", path, nil).Body))

	request := uuid.MustParse("01890000-0000-7000-8000-000000000001")
	set(`UPDATE events SET request_id = $2, traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', published_at = $3 WHERE company_id = $1`,
		request.String(), at.Add(3*time.Millisecond))
	id := r.delivery(sub, event, "order.created", 2, at.Add(5*time.Millisecond))
	set(`UPDATE deliveries SET attempt = 2, http_code = 200, duration_ms = 40, completed_at = $2 WHERE company_id = $1`, at.Add(time.Second))
	set(`INSERT INTO delivery_attempts (company_id, subscription_id, ring, seq, delivery_id, attempt, http_code, error, duration_ms, started_at)
VALUES ($1, $2, 0, 1, $3, 1, 503, 'HTTP 503', 7, $4), ($1, $2, 1, 2, $5, 1, 500, 'HTTP 500', 7, $4)`, sub, id, at.Add(10*time.Millisecond), uuid.New())
	timeline := read()
	require.Equal(t, []any{request.String(), "0af7651916cd43dd8448eb211c80319c", text(at.Add(3 * time.Millisecond))}, []any{timeline["requestId"], timeline["traceId"], timeline["publishedAt"]})
	require.Equal(t, "2023-06-28T03:15:47.328Z", timeline["requestedAt"])
	d := timeline["deliveries"].([]any)[0].(map[string]any)
	require.Equal(t, []any{id.String(), text(at.Add(5 * time.Millisecond)), "success"}, []any{d["id"], d["routedAt"], d["status"]})
	require.Equal(t, []any{
		map[string]any{"attempt": 1.0, "startedAt": text(at.Add(10 * time.Millisecond)), "httpCode": 503.0, "errorMessage": "HTTP 503", "durationMs": 7.0},
		map[string]any{"attempt": 2.0, "startedAt": text(at.Add(960 * time.Millisecond)), "httpCode": 200.0, "errorMessage": nil, "durationMs": 40.0},
	}, d["attempts"])
	again := r.Do(t, "POST", "/webhooks/deliveries/"+id.String()+"/redeliver", nil).OK(201)["id"]
	deliveries := read()["deliveries"].([]any)
	require.Len(t, deliveries, 2)
	require.Equal(t, again, deliveries[1].(map[string]any)["id"])

	set(`UPDATE events SET request_id = 'chosen-by-the-client', traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00' WHERE company_id = $1`)
	timeline = read()
	require.Equal(t, []any{"chosen-by-the-client", nil, nil}, []any{timeline["requestId"], timeline["requestedAt"], timeline["traceId"]})
	future := uuid.Must(uuid.NewV7())
	set(`UPDATE events SET request_id = $2, occurred_at = $3 WHERE company_id = $1`, future.String(), at.Add(-time.Hour))
	require.Nil(t, read()["requestedAt"], "an id that claims to be younger than its event")

	r.as("events:read", "orders:read").Do(t, "GET", path+"?include=way", nil).Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")
	r.as("events:read", "webhooks:read").Do(t, "GET", path+"?include=way", nil).Fault(404, "EVENT_NOT_FOUND")
	require.Equal(t, map[string]string{"include[0]": "ENUM"}, r.Do(t, "GET", path+"?include=road", nil).Fields())
}
