package main

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// over asks a running API and decodes its answer.
func over(t *testing.T, token, method, url, body string) (status int, got map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", uuid.NewString())
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &got), "%s", raw)
	return resp.StatusCode, got
}

// The settings of deliveries and of the event log hold in the API, too: it shows and makes deliveries, and refuses cursors by them.
func TestAPIFollowsThePolicyOfDeliveries(t *testing.T) {
	t.Parallel()
	url := dbtest.NewDatabase(t)
	d, err := db.Open(t.Context(), db.Config{URL: url, MaxConns: 4})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	owner, company := rolestest.NewNode(d, rolestest.Alone()).Owner(t)
	sub := owner.OK(t, "POST", "/webhooks/subscriptions", `{"url":"https://hooks.example.com/","events":["*"]}`).ID(t)
	_, err = d.Exec(t.Context(), `UPDATE event_log_heads SET n = 5 WHERE bucket = $1`, outbox.Bucket(company))
	require.NoError(t, err)
	settings := yamlFile(t, "database-url: "+url, "kafka-brokers: ["+strings.Join(dbtest.Broker(t), ", ")+"]", "max-attempts: 3", "delivery-ttl: 90m", "event-retention: 1440h")
	api := startRole(t, "api", settings, "--listen=127.0.0.1:0", "--secret-keys-file="+keysFile(t, rolestest.Key()))
	base := regexp.MustCompile(`msg="api listening" url=(\S+)`).FindStringSubmatch(api.String())[1]

	status, sent := over(t, owner.Token, "POST", base+"/webhooks/subscriptions/"+sub+"/test", "")
	require.Equal(t, http.StatusAccepted, status, "%v", sent)
	_, shown := over(t, owner.Token, "GET", base+"/webhooks/deliveries/"+sent["deliveryId"].(string), "")
	require.EqualValues(t, 3, shown["maxAttempts"])
	expires, err := time.Parse(time.RFC3339, shown["expiresAt"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(90*time.Minute), expires, 30*time.Minute)

	for age, want := range map[time.Duration]int{59 * 24 * time.Hour: http.StatusOK, 61 * 24 * time.Hour: http.StatusGone} {
		cursor := outbox.Cursor{After: 5, Seen: time.Now().Add(-age)}.String()
		status, body := over(t, owner.Token, "GET", base+"/events?cursor="+base64.RawURLEncoding.EncodeToString([]byte(company.String()+"/"+cursor)), "")
		require.Equal(t, want, status, "%s: %v", age, body)
	}

	startRole(t, "relay", settings, "--max-attempts=5").await(t, `settings="[max-attempts is 5 here, 3 in api on `)
}
