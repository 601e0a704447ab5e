package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/dev/receiver"
	"github.com/tradegrid/tradegrid/tests/role"
)

// record is a delivery as the API shows it.
type record struct {
	ID, EventID, Event, Status string
	Attempt, MaxAttempts       int
	NextAttemptAt              *string
	RedeliveryOfID             *string
	Attempts                   []struct{ Attempt int }
}

// records are the deliveries of a subscription.
func (c *client) records(subscription string) []record {
	c.r.t.Helper()
	var page struct{ Items []record }
	c.call(http.MethodGet, "/webhooks/subscriptions/"+subscription+"/deliveries", nil, &page)
	return page.Items
}

// record reads one delivery.
func (c *client) record(id string) (d record) {
	c.r.t.Helper()
	c.call(http.MethodGet, "/webhooks/deliveries/"+id, nil, &d)
	return d
}

// settled waits until the subscription has n deliveries and all of them have the status.
func (c *client) settled(subscription string, n int, status string) (all []record) {
	c.r.t.Helper()
	role.Eventually(c.r.t, func() bool {
		all = c.records(subscription)
		for _, d := range all {
			if d.Status != status {
				return false
			}
		}
		return len(all) >= n
	}, "%d deliveries are %s", n, status)
	require.Len(c.r.t, all, n, "one delivery for each event")
	return all
}

// arrivals groups what an inbox got by the order that it is about.
func (r *kit) arrivals(name string) map[string][]receiver.Delivery {
	r.t.Helper()
	all := map[string][]receiver.Delivery{}
	for _, d := range r.deliveries(name) {
		require.True(r.t, d.Verified, "%s", d.Error)
		all[d.DataID] = append(all[d.DataID], d)
	}
	return all
}

// placeUntil places a few orders a second until the end of something.
func (c *client) placeUntil(product string, end <-chan struct{}) (ids []string) {
	c.r.t.Helper()
	for tries := 0; ; tries++ {
		select {
		case <-end:
			return ids
		case <-time.After(200 * time.Millisecond):
			ids = append(ids, c.place(product, 1)...)
		}
		require.Less(c.r.t, tries, 150, "it does not end")
	}
}

// Whatever part of the dispatcher dies, each event arrives, under one delivery id however often.
func TestDispatcherDies(t *testing.T) {
	t.Parallel()
	const n = 8
	for name, c := range map[string]struct {
		victim string // role
		point  string
		fails  int  // requests that the receiver refuses first
		repeat bool // an accepted delivery must come again
		later  bool // it dies at events that no other process can have read, which come some seconds after its start
	}{
		"router between the database and kafka": {victim: "router", point: "router.inserted"},
		"router before it is done":              {victim: "router", point: "router.produced"},
		"router before rows that follow":        {victim: "router", point: "router.rows_follow", later: true},
		"sender after the receiver's answer":    {victim: "sender", point: "sender.after_2xx", repeat: true},
		"delay tier after it has forwarded":     {victim: "delay", point: "delay.forwarded", fails: n / 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newKit(t)
			var others []string
			for _, role := range []string{"router", "sender", "delay", "sweeper"} {
				if role != c.victim {
					others = append(others, role)
				}
			}
			api := r.platform(others...)
			subscription := api.subscribe("shop", "order.created")
			if c.fails > 0 {
				require.NoError(t, r.hooks.SetBehaviour("shop", receiver.Behaviour{Mode: receiver.ModeStatus, Status: 503, Times: c.fails}))
			}
			first := r.launch(failpoint(c.point), dispatcher(c.victim)...)
			product := api.product()
			ids := api.place(product, n)
			if c.later {
				ids = append(ids, api.placeUntil(product, first.Exited)...)
			}
			first.AwaitSIGKILL()
			r.role(nil, dispatcher(c.victim)...)

			repeats := 0
			for _, d := range api.settled(subscription, len(ids), "success") {
				require.LessOrEqual(t, d.Attempt, 7)
				require.LessOrEqual(t, len(api.record(d.ID).Attempts), 7)
			}
			for _, id := range ids {
				got := r.arrivals("shop")[id]
				require.NotEmpty(t, got, "order %s is lost", id)
				for _, d := range got {
					require.Equal(t, got[0].ID, d.ID, "a repeat has the delivery id of the first")
					require.LessOrEqual(t, d.Attempt, 7)
					if d.Duplicate {
						repeats++
					}
				}
			}
			if c.repeat {
				require.Positive(t, repeats, "the sender did not die between the answer and its result")
			}
			require.Equal(t, len(ids), r.count(`SELECT count(*) FROM deliveries WHERE company_id = $1`, r.company), "one record for each event")
			r.accounted()
		})
	}
}
