package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/tests/role"
	"github.com/tradegrid/tradegrid/topics"
)

// loseTopics deletes all topics, and with them the offsets of the groups, and creates them again after between.
func (r *kit) loseTopics(between func()) {
	r.t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(r.brokers...))
	require.NoError(r.t, err)
	defer client.Close()
	admin := kadm.NewClient(client)
	var names []string
	for _, topic := range topics.Local() {
		names = append(names, topic.Name)
	}
	_, err = admin.DeleteTopics(r.t.Context(), names...)
	require.NoError(r.t, err)
	role.Eventually(r.t, func() bool {
		left, err := admin.ListTopics(r.t.Context(), names...)
		return err == nil && !slices.ContainsFunc(left.Sorted(), func(t kadm.TopicDetail) bool { return t.Err == nil })
	}, "the brokers have deleted the topics")
	between()
	_, err = kafka.Apply(r.t.Context(), admin, topics.Local(), 1)
	require.NoError(r.t, err)
}

// Kafka may lose everything, whichever roles run: each event is delivered, and /readyz names missing topics meanwhile.
func TestAllTopicsAreLost(t *testing.T) {
	t.Parallel()
	for _, down := range []string{"", "api", "relay", "dispatcher"} {
		t.Run("without "+down, func(t *testing.T) {
			t.Parallel()
			r := newKit(t)
			roles := map[string]*role.Process{}
			start := func(name string) {
				args := map[string][]string{"dispatcher": {"dispatcher", "--sweep-grace=1s"}}[name]
				if args == nil {
					args = []string{name}
				}
				roles[name] = r.launch(nil, args...)
			}
			for _, name := range []string{"api", "relay", "dispatcher"} {
				start(name)
			}
			for _, p := range roles {
				p.AwaitStart()
			}
			api := r.client(roles["api"])
			api.subscribe("shop", "order.created")
			product := api.product()
			placed := api.place(product, 3)
			role.Eventually(t, func() bool { return r.count(`SELECT count(*) FROM router_progress`) == 1 }, "the progress of the routers is stored")

			if down == "relay" || down == "dispatcher" {
				roles[down].Kill()
			}
			placed = append(placed, api.place(product, 10)...)
			if down == "api" {
				roles[down].Kill()
			}
			if down != "relay" {
				role.Eventually(t, func() bool { return r.count(`SELECT count(*) FROM outbox`) == 0 }, "all is published")
			}
			r.loseTopics(func() {
				for _, name := range []string{"relay", "dispatcher"} {
					if name != down {
						role.Eventually(t, func() bool {
							status, body := roles[name].Ask("/readyz")
							return status == http.StatusServiceUnavailable && strings.Contains(body, "topics that do not exist: events, webhook.")
						}, "/readyz of the "+name+" names the missing topics")
					}
				}
			})
			if down != "" {
				start(down)
				roles[down].AwaitStart()
				api = r.client(roles["api"])
			}
			placed = append(placed, api.place(product, 3)...)
			for _, id := range placed {
				r.await("shop", "order.created", id)
			}
			role.Eventually(t, func() bool { return r.count(`SELECT count(*) FROM outbox`) == 0 }, "all is in the log")
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(api.logged()))), len(placed))
			require.Len(t, api.logged(), len(placed), "the log has each event once")
			role.Eventually(t, func() bool { return r.count(`SELECT count(*) FROM deliveries`) == len(placed) }, "each delivery has a row") // with its result
			role.Eventually(t, func() bool {
				status, _ := roles["dispatcher"].Ask("/readyz")
				return status == http.StatusOK
			}, "the dispatcher is ready again")
			r.accounted()
		})
	}
}
