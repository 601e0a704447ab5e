package console_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// waits lets a delivery wait behind the open circuit of its receiver.
func (p *pages) waits(s premises, delivery string, attempts int) {
	p.t.Helper()
	until := time.Now().UTC().Add(5 * time.Minute)
	_, err := p.DB.Exec(p.t.Context(), `UPDATE deliveries SET attempt = $3, completed_at = NULL, waiting_for = 'circuit_open', next_attempt_at = $4 WHERE company_id = $1 AND id = $2`, s.id, delivery, attempts, until)
	require.NoError(p.t, err)
	_, err = p.DB.Exec(p.t.Context(), `UPDATE deliveries SET state = 2, completed_at = $3 WHERE company_id = $1 AND id <> $2 AND state = 0`, s.id, delivery, until)
	require.NoError(p.t, err)
	_, err = p.DB.Exec(p.t.Context(), `UPDATE webhook_subscriptions SET breaker_opens = 1, breaker_open_until = $3, failing_since = $4, last_failure_at = $4 WHERE company_id = $1 AND id = $2`,
		s.id, s.records["/webhooks"], until, time.Now().UTC().Add(-time.Hour))
	require.NoError(p.t, err)
}

// A receiver that fails is asked from its page and from the list, and a delivery that waits is sent from its page and from the event.
// Afterwards nothing is offered, because it is on its way. Who only reads has no button.
func TestConsoleSendsNow(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.shop()
	code := 500
	waiting := p.delivery(s, s.records["/events"], 0, &code)
	p.waits(s, waiting, 2)
	root := "/c/" + s.id.String()
	hook, event := root+"/webhooks/"+s.records["/webhooks"], root+"/events/"+s.records["/events"]
	one := root + "/webhooks/deliveries/" + waiting
	now, probe := `action="`+one+`/send-now"`, `action="`+hook+`/probe"`
	v := p.signedIn(s.people[company.RoleDeveloper])
	require.Contains(t, v.get(root+"/webhooks"), probe)
	page := v.get(hook)
	require.Contains(t, page, probe)
	require.Contains(t, page, `<p class="lead"><b>`, "the state in a sentence")
	require.Contains(t, page, now, "in the row of the delivery")
	require.Contains(t, v.get(one), now)
	require.NotContains(t, v.get(one), "It is the last attempt")
	require.Contains(t, v.get(event), now)
	p.waits(s, waiting, 6)
	require.Contains(t, v.get(one), "It is the last attempt", "it is said before")
	p.waits(s, waiting, 2)
	require.NotContains(t, p.signedIn(s.people[company.RoleViewer]).get(hook), "/probe")

	got := v.ask(http.MethodPost, hook+"/probe", nil)
	require.Equal(t, hook+"?asked="+waiting, got.location, got.body)
	require.Contains(t, v.get(got.location), "Answer of the receiver")
	require.Contains(t, v.get(got.location), "The message is on its way.")
	for _, at := range []string{one, event, root + "/webhooks/deliveries"} {
		require.NotContains(t, v.get(at), now, at)
	}
	p.waits(s, waiting, 2)
	got = v.ask(http.MethodPost, one+"/send-now", nil)
	require.Equal(t, one+"?done=sent_now", got.location, got.body)
	require.Contains(t, v.get(got.location), "The attempt is made now.")
	var sent int
	require.NoError(t, p.DB.QueryRow(t.Context(), `SELECT count(*) FROM outbox WHERE company_id = $1 AND agg_id = $2`, s.id, waiting).Scan(&sent))
	require.Equal(t, 2, sent)
	require.Contains(t, p.signedIn(s.people[company.RoleOwner]).get(root+"/audit"), "probeWebhookSubscription")
}

// What a receiver did not get stands among its pages with the reason, in the language of the person.
func TestConsoleShowsWhatWasNotSent(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.shop()
	v := p.signedIn(s.people[company.RoleOwner])
	hook := "/c/" + s.id.String() + "/webhooks/" + s.records["/webhooks"]
	_, err := p.DB.Exec(t.Context(), `UPDATE webhook_subscriptions SET created_at = $3, updated_at = $3, filter = '{"data.number":[8]}' WHERE company_id = $1 AND id = $2`,
		s.id, s.records["/webhooks"], time.Now().UTC().Add(-48*time.Hour))
	require.NoError(t, err)
	_, err = p.DB.Exec(t.Context(), `DELETE FROM webhook_subscription_versions WHERE company_id = $1`, s.id)
	require.NoError(t, err)
	_, err = p.DB.Exec(t.Context(), `DELETE FROM deliveries WHERE company_id = $1 AND subscription_id = $2 AND event_id = $3`, s.id, s.records["/webhooks"], s.records["/events"])
	require.NoError(t, err)

	body := v.get(hook + "?tab=skipped")
	require.Contains(t, body, "/events/"+s.records["/events"])
	require.Contains(t, body, "The filter asks for [8] at data.number, this one has 7.")
	require.NotContains(t, v.get(hook+"?tab=skipped&outcome=not_subscribed"), "/events/"+s.records["/events"])
	german := v.ask(http.MethodGet, hook+"?tab=skipped", nil, func(r *http.Request) { r.Header.Set("Accept-Language", "de") })
	require.Contains(t, german.body, "Der Filter verlangt [8] bei data.number, hier steht 7.")

	sub, event := uuid.MustParse(s.records["/webhooks"]), uuid.MustParse(s.records["/events"])
	p.delivery(s, s.records["/events"], 2, nil)
	body = v.get(hook + "?tab=skipped")
	require.NotContains(t, body, "/events/"+event.String(), "it got it")
	require.Contains(t, body, "Nothing was left out")
	require.Contains(t, v.get(hook+"?tab=deliveries"), webhook.DeliveryID(event, sub, 0).String())
}
