package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/tests/role"
	"github.com/tradegrid/tradegrid/topics"
)

// topic follows one topic from its start.
type topic struct {
	t      *testing.T
	client *kgo.Client
	seen   []*kgo.Record
}

func (r *kit) topic(name string) *topic {
	r.t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(r.brokers...), kgo.ConsumeTopics(name), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	require.NoError(r.t, err)
	r.t.Cleanup(client.Close)
	return &topic{t: r.t, client: client}
}

// until reads on until what was seen is enough.
func (tp *topic) until(enough func([]*kgo.Record) bool, what string) {
	tp.t.Helper()
	ctx, cancel := contextFor(tp.t)
	defer cancel()
	for !enough(tp.seen) {
		fetched := tp.client.PollFetches(ctx)
		require.NoError(tp.t, ctx.Err(), "%s within %s; %d records so far", what, role.Patience, len(tp.seen))
		tp.seen = append(tp.seen, fetched.Records()...)
	}
}

// orders lists the orders that the records of order.created are about, as often as they come.
func orders(records []*kgo.Record) (ids []string) {
	for _, rec := range records {
		var e envelope
		if json.Unmarshal(rec.Value, &e) == nil && e.Event == "order.created" {
			ids = append(ids, e.Data.ID)
		}
	}
	return ids
}

// firsts drops all but the first of equal ones.
func firsts(ids []string) (out []string) {
	for _, id := range ids {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// logged lists the orders of the event log's order.created, in its order.
func (c *client) logged() (ids []string) {
	c.r.t.Helper()
	for cursor, more := "", true; more; {
		var page struct {
			Items      []envelope
			NextCursor string
			HasMore    bool
		}
		query := url.Values{"events": {"order.created"}, "limit": {"7"}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		c.call(http.MethodGet, "/events?"+query.Encode(), nil, &page)
		for _, e := range page.Items {
			ids = append(ids, e.Data.ID)
		}
		cursor, more = page.NextCursor, page.HasMore
	}
	return ids
}

// place places orders one after the other, so that their commits have an order.
func (c *client) place(product string, n int) (ids []string) {
	c.r.t.Helper()
	for range n {
		ids = append(ids, c.order(product).ID)
	}
	return ids
}

// Whatever happens to a relay, each record is published, first in commit order, and logged once.
func TestRelayDies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		point      string
		freezes    bool
		duplicates bool // what was acknowledged is published again
	}{
		"after the brokers have the records": {point: "relay.after_ack", duplicates: true},
		"frozen before it publishes":         {point: "relay.before_produce:stop", freezes: true},
		"frozen after the brokers' answer":   {point: "relay.after_ack:stop", freezes: true, duplicates: true},
		"before it settles":                  {point: "relay.before_settle", duplicates: true},
		"frozen before it settles":           {point: "relay.before_settle:stop", freezes: true, duplicates: true},
		"before the deletion is committed":   {point: "relay.after_delete", duplicates: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newKit(t)
			api := r.client(r.role(nil, "api"))
			product := api.product()
			want := api.place(product, 5)
			events := r.topic(topics.Events)
			published := func(records []*kgo.Record) bool { return len(firsts(orders(records))) >= len(want) }

			first := r.launch(failpoint(c.point), "relay")
			if c.freezes {
				first.AwaitFrozen()
			} else {
				first.AwaitSIGKILL()
			}
			want = append(want, api.place(product, 5)...)
			r.role(nil, "relay")
			events.until(published, "the second relay publishes what the first one left")
			if c.freezes {
				require.NoError(t, first.Signal(syscall.SIGCONT))
			}
			want = append(want, api.place(product, 5)...)
			events.until(published, "all orders are published")

			require.Equal(t, want, firsts(orders(events.seen)), "first publications are in the order of the commits")
			role.Eventually(t, func() bool { return len(api.logged()) >= len(want) }, "all orders are in the event log")
			require.Equal(t, want, api.logged(), "the log has each event once, in the order of the commits")
			if c.duplicates {
				require.Greater(t, len(orders(events.seen)), len(want), "the test did not hit the moment after the publication")
			}
			role.Eventually(t, func() bool { return r.count(`SELECT count(*) FROM outbox`) == 0 }, "the outbox is empty")
		})
	}
}
