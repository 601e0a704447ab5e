package kafka

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/pkg/dbtest"
	"github.com/tradegrid/tradegrid/topics"
)

// Missing topics are named, and only they; brokers that do not answer are another check's.
func TestTopicWatchNamesMissingTopics(t *testing.T) {
	t.Parallel()
	client, err := NewClient(Config{Brokers: dbtest.Broker(t)})
	require.NoError(t, err)
	defer client.Close()
	w := NewTopicWatch(client, slog.New(slog.DiscardHandler), topics.Events, topics.Deliveries, topics.EventsDead)
	require.NoError(t, w.Check(t.Context()))
	_, err = kadm.NewClient(client).DeleteTopics(t.Context(), topics.Events, topics.EventsDead)
	require.NoError(t, err)
	require.EqualError(t, w.Check(t.Context()), "topics that do not exist: events, events.dlq; run `tradegrid topics apply`")
	_, err = Apply(t.Context(), kadm.NewClient(client), topics.Local(), 1)
	require.NoError(t, err)
	require.NoError(t, w.Check(t.Context()))

	away, err := NewClient(Config{Brokers: []string{"127.0.0.1:1"}})
	require.NoError(t, err)
	defer away.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.NoError(t, NewTopicWatch(away, slog.New(slog.DiscardHandler), topics.Events).Check(ctx))
}
