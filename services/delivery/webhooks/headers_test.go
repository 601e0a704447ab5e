package webhooks_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// headers are the extra headers that the sender finds.
func (r *kit) headers(id string) map[string]string {
	r.t.Helper()
	var stored webhook.StoredHeaders
	require.NoError(r.t, r.db.QueryRow(r.t.Context(), `SELECT headers FROM webhook_subscriptions WHERE company_id = $1 AND id = $2`, r.company(), id).Scan(&stored))
	require.NotContains(r.t, string(stored), "s3cr3t")
	headers, err := stored.Open(apitest.Keys(r.t), r.company(), uuid.MustParse(id))
	require.NoError(r.t, err)
	return headers
}

// Extra headers are stored encrypted, never shown, replaced as a whole, and never sent to another URL unasked.
func TestHeaders(t *testing.T) {
	t.Parallel()
	r := setup(t)
	require.Equal(t, map[string]any{}, r.Do(t, "GET", subscriptions+"/"+r.subscribe(), nil).OK(200)["headers"])
	made := r.Do(t, "POST", subscriptions, `{"url":"`+hook+`","events":["order.*"],"headers":{"authorization":"Bearer s3cr3t","X-Env":" a b "}}`)
	require.NotContains(t, string(made.Body), "s3cr3t")
	masked := map[string]any{"Authorization": "[redacted]", "X-Env": "[redacted]"}
	require.Equal(t, masked, made.OK(201)["headers"])
	id := made.OK(201)["id"].(string)
	path := subscriptions + "/" + id
	require.Equal(t, masked, r.Do(t, "GET", path, nil).OK(200)["headers"])
	require.Contains(t, string(r.Do(t, "GET", subscriptions, nil).Body), `"headers":{"Authorization":"[redacted]","X-Env":"[redacted]"}`)
	require.Equal(t, map[string]string{"Authorization": "Bearer s3cr3t", "X-Env": "a b"}, r.headers(id))

	same := r.Do(t, "PATCH", path, `{"headers":{"X-Env":"a b","Authorization":"Bearer s3cr3t"}}`).OK(200)
	require.InDelta(t, 1, same["version"], 0, "the same values are no change")
	require.Equal(t, masked, r.Do(t, "PATCH", path, `{"name":"x"}`).OK(200)["headers"], "what is not sent stays")
	require.Equal(t, map[string]string{"headers.Authorization": "FORMAT", "headers.X-Env": "FORMAT"},
		r.Do(t, "PATCH", path, map[string]any{"headers": masked}).Fields(), "a mask is no value")

	require.Equal(t, map[string]string{"headers": "REQUIRED"}, r.Do(t, "PATCH", path, `{"url":"https://other.example.com/hook"}`).Fields())
	require.Equal(t, masked, r.Do(t, "PATCH", path, `{"url":"`+hook+`"}`).OK(200)["headers"], "the same url")
	moved := r.Do(t, "PATCH", path, `{"url":"https://other.example.com/hook","headers":{"X-Env":"c"}}`).OK(200)
	require.Equal(t, map[string]any{"X-Env": "[redacted]"}, moved["headers"])
	require.Equal(t, map[string]string{"X-Env": "c"}, r.headers(id))
	require.Equal(t, map[string]any{}, r.Do(t, "PATCH", path, `{"headers":{}}`).OK(200)["headers"])
	require.Empty(t, r.headers(id))
	r.Do(t, "PATCH", path, `{"url":"`+hook+`"}`).OK(200)
}

func TestHeaderFaults(t *testing.T) {
	t.Parallel()
	r := setup(t)
	id := r.subscribe()
	many, long := map[string]string{}, map[string]string{}
	for i := range 11 {
		many[fmt.Sprint("X-", i)] = "s3cr3t"
	}
	for i := range 9 {
		long[fmt.Sprint("X-", i)] = strings.Repeat("v", 500)
	}
	rows := map[string]struct {
		headers any
		want    map[string]string
	}{
		"null":       {nil, map[string]string{"headers": "TYPE"}},
		"array":      {[]string{"X-A: s3cr3t"}, map[string]string{"headers": "TYPE"}},
		"number":     {map[string]any{"X-A": 1}, map[string]string{"headers.X-A": "TYPE"}},
		"too many":   {many, map[string]string{"headers": "MAX"}},
		"too large":  {long, map[string]string{"headers": "MAX"}},
		"empty":      {map[string]string{"X-A": ""}, map[string]string{"headers.X-A": "LENGTH"}},
		"long value": {map[string]string{"X-A": strings.Repeat("v", 513)}, map[string]string{"headers.X-A": "LENGTH"}},
		"line break": {map[string]string{"X-A": "s3cr3t\r\nX-B: 1"}, map[string]string{"headers.X-A": "FORMAT"}},
		"umlaut":     {map[string]string{"X-A": "s3cr3tä"}, map[string]string{"headers.X-A": "FORMAT"}},
		"no name":    {map[string]string{"": "s3cr3t"}, map[string]string{"headers.": "FORMAT"}},
		"long name":  {map[string]string{strings.Repeat("x", 65): "s3cr3t"}, map[string]string{"headers." + strings.Repeat("x", 65): "FORMAT"}},
		"colon":      {map[string]string{"X-A:": "s3cr3t"}, map[string]string{"headers.X-A:": "FORMAT"}},
		"comma":      {map[string]string{"X,A": "s3cr3t"}, map[string]string{"headers.X,A": "FORMAT"}},
		"space":      {map[string]string{"X A": "s3cr3t"}, map[string]string{"headers.X A": "FORMAT"}},
		"underscore": {map[string]string{"X_Svc_Signature": "s3cr3t"}, map[string]string{"headers.X_Svc_Signature": "FORMAT"}},
		"dot":        {map[string]string{"X.Svc.Signature": "s3cr3t"}, map[string]string{"headers.X.Svc.Signature": "FORMAT"}},
		"twice":      {map[string]string{"x-a": "s3cr3t", "X-A": "2"}, map[string]string{"headers.x-a": "CONFLICT"}},
	}
	for _, name := range []string{
		"Host", "content-type", "Content-Length", "Transfer-Encoding", "connection", "Keep-Alive", "TE", "Trailer", "Upgrade", "Expect", "User-Agent", "Cookie",
		"Accept-Encoding", "Proxy-Authorization", "Forwarded", "X-Forwarded-For", "Via", "traceparent", "tracestate", "baggage",
		"webhook-id", "Webhook-Signature", "x-svc-signature", "X-SVC-Anything",
	} {
		rows[name] = struct {
			headers any
			want    map[string]string
		}{map[string]string{name: "s3cr3t"}, map[string]string{"headers." + name: "ENUM"}}
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := json.Marshal(row.headers)
			require.NoError(t, err)
			for _, got := range []*apitest.Response{
				r.Do(t, "POST", subscriptions, `{"url":"`+hook+`/2","events":["*"],"headers":`+string(text)+`}`),
				r.Do(t, "PATCH", subscriptions+"/"+id, `{"headers":`+string(text)+`}`),
			} {
				require.Equal(t, row.want, got.Fields())
				require.NotContains(t, string(got.Body), "s3cr3t")
			}
		})
	}
}
