package console_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/topics"
)

// stepAt finds the time and the title of each step of a timeline.
var stepAt = regexp.MustCompile(`<span class="at">([^<]*)</span><span class="dot[^"]*"></span><div class="what"><b>([^<]*)</b>`)

// The steps of an event stand in the order of what happened, over all receivers, and no time is after one that follows: what a process
// noted late had happened by then.
func TestTimelineOfAnEventIsInOrder(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.shop()
	event := uuid.MustParse(s.records["/events"])
	at := time.Now().UTC().Add(-time.Minute).Truncate(time.Millisecond)
	after := func(ms int) time.Time { return at.Add(time.Duration(ms) * time.Millisecond) }
	set := func(text string, args ...any) {
		t.Helper()
		_, err := p.DB.Exec(t.Context(), text, append([]any{s.id}, args...)...)
		require.NoError(t, err)
	}
	published := func(ms int) {
		set(`UPDATE events SET occurred_at = $2, published_at = $3 WHERE company_id = $1`, at, after(ms))
	}
	deliver := func(sub uuid.UUID, attempts, routed, done int) uuid.UUID {
		t.Helper()
		id := webhook.DeliveryID(event, sub, 0)
		set(`INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, expires_at, is_test, created_at, updated_at, http_code, duration_ms, completed_at)
VALUES ($1, $2, $3, $4, 'order.created', 2, $5, $6, false, $7, $7, 200, 10, $8)`, sub, id, event, attempts, at.Add(time.Hour), after(routed), after(done))
		return id
	}
	first, second := uuid.MustParse(s.records["/webhooks"]), p.subscription(s.id, "http://127.0.0.1:1/second").ID
	slow := deliver(first, 2, 82, 5100)
	deliver(second, 1, 84, 130)
	set(`INSERT INTO delivery_attempts (company_id, subscription_id, ring, seq, delivery_id, attempt, http_code, error, duration_ms, started_at)
VALUES ($1, $2, 0, 1, $3, 1, 503, 'HTTP 503', 7, $4)`, first, slow, after(90))
	v := p.signedIn(s.people[company.RoleOwner])
	page := "/c/" + s.id.String() + "/events/" + event.String()
	steps := func() (all []string) {
		for _, found := range stepAt.FindAllStringSubmatch(v.get(page), -1) {
			all = append(all, fmt.Sprintf("%s %.9s", html.UnescapeString(found[1]), found[2]))
		}
		return all
	}

	published(80)
	attempts := []string{"+90 ms Attempt 1", "+120 ms Attempt 1", "+5090 ms Attempt 2"}
	require.Equal(t, append([]string{"0 ms The platf", "+0 ms Committed", "+80 ms Published", "+82 ms Subscript"}, attempts...), steps())
	published(109)
	require.Equal(t, append([]string{"0 ms The platf", "+0 ms Committed", "by +82 ms Published", "+82 ms Subscript"}, attempts...), steps())
	require.Contains(t, v.get(page), "noted it at &#43;109 ms, after the next step had begun")
	set(`UPDATE deliveries SET created_at = $2 WHERE company_id = $1 AND event_id = $3`, after(95), event) // a sender whose clock is behind
	require.Equal(t, append([]string{"0 ms The platf", "+0 ms Committed", "by +90 ms Published", "by +90 ms Subscript"}, attempts...), steps())
}

// Each kind of record that raises events has a name in each language, and a list of events uses it.
func TestKindsOfRecordsOfEventsHaveNames(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s, root := p.shopWithBusiness()
	rows, err := p.DB.Query(t.Context(), `SELECT DISTINCT agg_type FROM outbox WHERE company_id = $1 AND topic = $2`, s.id, topics.Events)
	require.NoError(t, err)
	kinds, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Greater(t, len(kinds), 10)
	for _, lang := range []string{"en", "de", "ru"} {
		raw, err := os.ReadFile("web/texts/" + lang + ".json")
		require.NoError(t, err)
		var texts map[string]string
		require.NoError(t, json.Unmarshal(raw, &texts))
		for _, kind := range kinds {
			require.NotEmpty(t, texts["events.kind."+kind], "%s: the kind %s", lang, kind)
		}
	}
	v := p.signedIn(s.people[company.RoleOwner])
	in := func(lang string) string {
		return v.ask(http.MethodGet, root+"/events", nil, func(r *http.Request) { r.Header.Set("Accept-Language", lang) }).body
	}
	require.Contains(t, in("en"), ">Order № 7</a>")
	require.Contains(t, in("de"), ">Auftrag Nr. 7</a>")
	require.Contains(t, in("ru"), ">Заказ № 7</a>")
	p.log(s, "comet.sighted", "shooting_star", uuid.New(), "system", `{"name":"Halley"}`)
	require.Contains(t, in("de"), ">shooting star Halley</a>", "of a later release")
}
