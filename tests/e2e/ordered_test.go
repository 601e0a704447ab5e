package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/dev/receiver"
)

// Wherever the sender dies, an ordered subscription gets the changes of each record in order, although the receiver refuses some
// of them, and misses none.
func TestOrderedSubscriptionWhenItsSenderDies(t *testing.T) {
	t.Parallel()
	const products, changes = 3, 6
	for name, point := range map[string]string{
		"after the receiver's answer":           "sender.after_2xx",
		"after it has written a retry":          "sender.retry_produced",
		"before it passes the turn of a record": "sender.turn_over",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newKit(t)
			api := r.platform("router", "delay", "sweeper")
			subscription := api.subscribe("shop", "product.updated")
			api.call(http.MethodPatch, "/webhooks/subscriptions/"+subscription, map[string]any{"ordered": true}, nil)
			require.NoError(t, r.hooks.SetBehaviour("shop", receiver.Behaviour{Mode: receiver.ModeStatus, Status: 503, Times: products + 1}))
			first := r.launch(failpoint(point), dispatcher("sender")...)
			var ids []string
			for range products {
				ids = append(ids, api.product())
			}
			for n := range changes {
				for _, id := range ids {
					api.call(http.MethodPatch, "/catalog/products/"+id, map[string]any{"name": fmt.Sprintf("Espresso beans %d", n)}, nil)
				}
			}
			first.AwaitSIGKILL()
			r.role(nil, dispatcher("sender")...)
			api.settled(subscription, products*changes, "success")
			for _, id := range ids {
				latest, seen := 1, map[string]bool{}
				for _, d := range r.arrivals("shop")[id] {
					if d.Outcome != "200" || seen[d.ID] {
						continue
					}
					seen[d.ID] = true
					var body struct{ Data struct{ Version int } }
					require.NoError(t, json.Unmarshal(d.Body, &body))
					require.Equal(t, latest+1, body.Data.Version, "product %s", id)
					latest = body.Data.Version
				}
				require.Equal(t, changes+1, latest)
			}
			r.accounted()
		})
	}
}
