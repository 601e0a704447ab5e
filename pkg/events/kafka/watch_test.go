package kafka

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/topics"
)

// Missing topics are named, and only they; brokers that do not answer are another check's.
func TestTopicWatchNamesMissingTopics(t *testing.T) {
	t.Parallel()
	client, err := NewClient(Config{Brokers: dbtest.Broker(t)})
	require.NoError(t, err)
	defer client.Close()
	w := NewTopicWatch(client, slog.New(slog.DiscardHandler), topics.Events, topics.Deliveries, topics.EventsDead)
	// Brokers of a cluster hear of topics one after the other.
	eventually := func(want string) {
		t.Helper()
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			if err := w.Check(t.Context()); want == "" {
				assert.NoError(c, err)
			} else {
				assert.EqualError(c, err, want)
			}
		}, time.Minute, 20*time.Millisecond)
	}
	eventually("")
	_, err = kadm.NewClient(client).DeleteTopics(t.Context(), topics.Events, topics.EventsDead)
	require.NoError(t, err)
	eventually("topics that do not exist: events, events.dlq; run `tradegrid topics apply`")
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		_, err := Apply(t.Context(), kadm.NewClient(client), topics.Local(), 1)
		assert.NoError(c, err)
	}, time.Minute, 20*time.Millisecond)
	eventually("")

	away, err := NewClient(Config{Brokers: []string{"127.0.0.1:1"}})
	require.NoError(t, err)
	defer away.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.NoError(t, NewTopicWatch(away, slog.New(slog.DiscardHandler), topics.Events).Check(ctx))
}
