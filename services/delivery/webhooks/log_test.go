package webhooks_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

// logPage is an answer of the event log with its items as they came.
type logPage struct {
	Items      []json.RawMessage `json:"items"`
	NextCursor string            `json:"nextCursor"`
	HasMore    bool              `json:"hasMore"`
}

func readLog(t *testing.T, c *apitest.Client, query string) (p logPage) {
	t.Helper()
	got := c.Do(t, "GET", "/events?"+query, nil)
	require.Equal(t, 200, got.Status, "%s", got.Body)
	got.Decode(&p)
	return p
}

func (p logPage) ids(t *testing.T) (ids []string) {
	t.Helper()
	for _, item := range p.Items {
		var e struct {
			EventID string `json:"eventId"`
		}
		require.NoError(t, json.Unmarshal(item, &e))
		ids = append(ids, e.EventID)
	}
	return ids
}

func TestLogWalkWhileEventsArrive(t *testing.T) {
	t.Parallel()
	r := setup(t)
	const writers, each = 4, 30
	var writing sync.WaitGroup
	made := make(chan string, writers*each)
	for range writers {
		writing.Go(func() {
			for range each {
				id, _ := r.log("order.created", uuid.New(), time.Now().UTC())
				made <- id.String()
			}
		})
	}
	done := make(chan struct{})
	go func() { writing.Wait(); close(done) }()

	seen := map[string]int{}
	query := "limit=7"
	var end string
	for finished := false; ; {
		select {
		case <-done:
			finished = true
		default:
		}
		page := readLog(t, r.Client, query)
		for _, id := range page.ids(t) {
			seen[id]++
		}
		require.NotEmpty(t, page.NextCursor)
		end = "cursor=" + page.NextCursor
		query = "limit=7&" + end
		if finished && !page.HasMore {
			break
		}
	}
	close(made)
	require.Len(t, seen, writers*each)
	for id := range made {
		require.Equal(t, 1, seen[id], id)
	}
	require.Empty(t, readLog(t, r.Client, end).Items)
	late, _ := r.log("order.created", uuid.New(), time.Now().UTC())
	require.Equal(t, []string{late.String()}, readLog(t, r.Client, end).ids(t))
}

func TestLogFilters(t *testing.T) {
	t.Parallel()
	r := setup(t)
	day := time.Now().UTC().Truncate(24 * time.Hour).Add(-48 * time.Hour)
	entity := uuid.New()
	order, body := r.log("order.created", entity, day.Add(time.Hour))
	product, _ := r.log("product.created", uuid.New(), day.Add(25*time.Hour))
	updated, _ := r.log("order.updated", entity, day.Add(26*time.Hour))
	future, _ := r.log("from.the.future", uuid.New(), day.Add(27*time.Hour))
	id := func(ids ...uuid.UUID) (list []string) {
		for _, i := range ids {
			list = append(list, i.String())
		}
		return list
	}
	orders, nothing := r.as("events:read", "orders:read"), r.as("events:read")
	rows := []struct {
		name, query string
		by          *apitest.Client
		want        []string
	}{
		{"all", "", r.Client, id(order, product, updated, future)},
		{"names", "events=order.created,product.created", r.Client, id(order, product)},
		{"prefix", "events=order.*", r.Client, id(order, updated)},
		{"star", "events=*", r.Client, id(order, product, updated)},
		{"entity", "entityId=" + entity.String(), r.Client, id(order, updated)},
		{"day", "dateFrom=" + day.Format(time.DateOnly) + "&dateTo=" + day.Format(time.DateOnly), r.Client, id(order)},
		{"from", "dateFrom=" + url.QueryEscape(day.Add(26*time.Hour).Format(time.RFC3339)), r.Client, id(updated, future)},
		{"limit", "limit=1", r.Client, id(order)},
		{"own scope only", "", orders, id(order, updated)},
		{"hidden by scope", "events=product.*", orders, nil},
		{"no scope", "", nothing, nil},
		{"other company", "", r.server.Company(), nil},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			page := readLog(t, row.by, row.query)
			require.Equal(t, row.want, page.ids(t))
			require.Equal(t, row.name == "limit", page.HasMore)
			require.NotNil(t, page.Items)
		})
	}
	require.Equal(t, string(body), string(readLog(t, r.Client, "").Items[0]), "byte for byte")

	one := r.Do(t, "GET", "/events/"+order.String(), nil)
	require.Equal(t, 200, one.Status)
	require.Equal(t, string(body), string(one.Body))
	r.Do(t, "GET", "/events/"+uuid.NewString(), nil).Fault(404, "EVENT_NOT_FOUND")
	orders.Do(t, "GET", "/events/"+order.String(), nil).OK(200)
	orders.Do(t, "GET", "/events/"+product.String(), nil).Fault(404, "EVENT_NOT_FOUND")
	orders.Do(t, "GET", "/events/"+future.String(), nil).Fault(404, "EVENT_NOT_FOUND")
}

func TestLogInputFaults(t *testing.T) {
	t.Parallel()
	r := setup(t)
	rows := []struct {
		query string
		want  map[string]string
	}{
		{"limit=0", map[string]string{"limit": "MIN"}},
		{"limit=201", map[string]string{"limit": "MAX"}},
		{"limit=x", map[string]string{"limit": "TYPE"}},
		{"cursor=!!", map[string]string{"cursor": "FORMAT"}},
		{"cursor=" + base64.RawURLEncoding.EncodeToString([]byte(r.company().String()+"/-5.1")), map[string]string{"cursor": "FORMAT"}},
		{"events=order.created,order.gone", map[string]string{"events[1]": "ENUM"}},
		{"events=*.created", map[string]string{"events[0]": "FORMAT"}},
		{"entityId=1", map[string]string{"entityId": "FORMAT"}},
		{"dateFrom=yesterday", map[string]string{"dateFrom": "FORMAT"}},
		{"dateFrom=2026-02-02&dateTo=2026-02-01", map[string]string{"dateFrom": "CONFLICT"}},
	}
	for _, row := range rows {
		t.Run(row.query, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, row.want, r.Do(t, "GET", "/events?"+row.query, nil).Fields())
		})
	}
}

// cursorOf is a cursor as the log of a company gives it out.
func cursorOf(company tenant.ID, c outbox.Cursor) string {
	return base64.RawURLEncoding.EncodeToString([]byte(company.String() + "/" + c.String()))
}

// reach makes the log of a company at least n long.
func (r *kit) reach(company tenant.ID, n int64) {
	r.t.Helper()
	_, err := r.db.Exec(r.t.Context(), `UPDATE event_log_heads SET n = GREATEST(n, $2) WHERE bucket = $1`, outbox.Bucket(company), n)
	require.NoError(r.t, err)
}

func TestExpiredCursor(t *testing.T) {
	t.Parallel()
	r := setup(t, func(c *webhooks.Config) { c.Policy.EventRetention = 10 * 24 * time.Hour })
	r.reach(r.company(), 5)
	text := func(age time.Duration) string {
		return cursorOf(r.company(), outbox.Cursor{After: 5, Seen: time.Now().Add(-age)})
	}
	got := r.Do(t, "GET", "/events?cursor="+text(11*24*time.Hour), nil).Fault(410, "EVENTS_CURSOR_EXPIRED")
	require.Contains(t, got["message"], "10 days")
	require.Empty(t, readLog(t, r.Client, "cursor="+text(9*24*time.Hour)).Items)
}

// Whoever is behind events that were removed for the quota is told; others read on.
func TestCursorBehindTheFloor(t *testing.T) {
	t.Parallel()
	r := setup(t)
	at := time.Now().Add(-72 * time.Hour)
	_, err := r.db.Exec(t.Context(), `INSERT INTO event_log_floors (company_id, seq, occurred_at) VALUES ($1, 7, $2)`, r.company(), at)
	require.NoError(t, err)
	r.reach(r.company(), 7)
	text := func(after int64, seen time.Time) string {
		return cursorOf(r.company(), outbox.Cursor{After: after, Seen: seen})
	}
	got := r.Do(t, "GET", "/events?cursor="+text(6, at.Add(-time.Hour)), nil).Fault(410, "EVENTS_CURSOR_EXPIRED")
	require.Contains(t, got["message"], "quota")
	for _, query := range []string{"", "cursor=" + text(7, at.Add(-time.Hour)), "cursor=" + text(6, at.Add(24*time.Hour))} {
		require.Empty(t, readLog(t, r.Client, query).Items)
	}
	other := r.server.Company()
	r.reach(other.Principal.Company, 1)
	require.Empty(t, readLog(t, other, "cursor="+cursorOf(other.Principal.Company, outbox.Cursor{After: 1, Seen: at.Add(-time.Hour)})).Items)
}

func TestCursorOfAnotherCompany(t *testing.T) {
	t.Parallel()
	r := setup(t)
	r.log("order.created", uuid.New(), time.Now())
	page := readLog(t, r.Client, "")
	require.Len(t, page.Items, 1)
	require.Empty(t, readLog(t, r.Client, "cursor="+page.NextCursor).Items)
	for _, cursor := range []string{page.NextCursor, readLog(t, r.Client, "cursor="+page.NextCursor).NextCursor} {
		require.Equal(t, map[string]string{"cursor": "FORMAT"}, r.server.Company().Do(t, "GET", "/events?cursor="+cursor, nil).Fields())
	}
	unowned := base64.RawURLEncoding.EncodeToString([]byte(outbox.Cursor{Seen: time.Now()}.String()))
	require.Equal(t, map[string]string{"cursor": "FORMAT"}, r.Do(t, "GET", "/events?cursor="+unowned, nil).Fields(), "a cursor of nobody")
}

func TestEventTypes(t *testing.T) {
	t.Parallel()
	r := setup(t)
	var types []webhooks.EventType
	r.as("webhooks:read").Do(t, "GET", "/webhooks/event-types", nil).Decode(&types)
	require.Len(t, types, len(registry().All()))
	require.Equal(t, webhooks.EventType{Event: "order.created", Component: "orders", Description: "An order was created.", SchemaRef: "events/order.created.schema.json"}, types[0])
	require.Equal(t, "webhook.test", types[len(types)-1].Event)
}

// A token that writes and reads leaves out what it has written itself.
func TestLogWithoutOwnEvents(t *testing.T) {
	t.Parallel()
	r := setup(t)
	own, now := r.Principal.Actor.String(), time.Now().UTC()
	var others []string
	for i := range 12 {
		actor := "system"
		if i%3 > 0 {
			actor = own
		}
		id, _ := r.logAs("order.created", actor, uuid.New(), map[string]any{"actorId": own}, now)
		if actor != own {
			others = append(others, id.String())
		}
	}
	for _, order := range []string{"asc", "desc"} {
		var got []string
		query := "excludeOwn=true&limit=5&order=" + order
		for page := readLog(t, r.Client, query); ; page = readLog(t, r.Client, query+"&cursor="+url.QueryEscape(page.NextCursor)) {
			got = append(got, page.ids(t)...)
			if !page.HasMore {
				break
			}
		}
		want := slices.Clone(others)
		if order == "desc" {
			slices.Reverse(want)
		}
		require.Equal(t, want, got, order)
	}
	require.Len(t, readLog(t, r.Client, "").Items, 12)
}

// Read from its end, the log has the same events in the reverse order, whatever is asked for.
func TestLogBackwards(t *testing.T) {
	t.Parallel()
	r := setup(t)
	day := time.Now().UTC().Truncate(24 * time.Hour).Add(-48 * time.Hour)
	entity := uuid.New()
	for i := range 11 {
		r.log([]string{"order.created", "product.created"}[i%2], []uuid.UUID{entity, uuid.New()}[i%3%2], day.Add(time.Duration(i)*time.Hour))
	}
	all := func(filter, order string) (ids []string) {
		query := "limit=2&order=" + order + "&" + filter
		page := readLog(t, r.Client, query)
		for ids = page.ids(t); page.HasMore; ids = append(ids, page.ids(t)...) {
			page = readLog(t, r.Client, query+"&cursor="+url.QueryEscape(page.NextCursor))
		}
		require.Empty(t, readLog(t, r.Client, query+"&cursor="+url.QueryEscape(page.NextCursor)).Items)
		return ids
	}
	for _, filter := range []string{
		"", "events=order.*", "entityId=" + entity.String(), "dateFrom=" + day.Add(3*time.Hour).Format(time.RFC3339) + "&dateTo=" + day.Add(7*time.Hour).Format(time.RFC3339),
		"entityId=" + uuid.NewString(),
	} {
		want := all(filter, "asc")
		slices.Reverse(want)
		require.Equal(t, want, all(filter, "desc"), filter)
	}
	forward, back := readLog(t, r.Client, "limit=1").NextCursor, readLog(t, r.Client, "limit=1&order=desc").NextCursor
	for _, query := range []string{"order=desc&cursor=" + url.QueryEscape(forward), "cursor=" + url.QueryEscape(back), "order=desc&start=now", "order=desc&cursor=x"} {
		r.Do(t, "GET", "/events?"+query, nil).Fault(400, "VALIDATION_ERROR")
	}
	stranger := setup(t)
	stranger.Do(t, "GET", "/events?order=desc&cursor="+url.QueryEscape(back), nil).Fault(400, "VALIDATION_ERROR")
	require.Empty(t, readLog(t, stranger.Client, "order=desc").Items)
}
