package kafka

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/pkg/kit/embedded"
	"github.com/tradegrid/tradegrid/topics"
)

func adminOf(t *testing.T) *kadm.Client {
	t.Helper()
	broker, err := embedded.StartKafka(embedded.KafkaConfig{})
	require.NoError(t, err)
	t.Cleanup(broker.Close)
	client, err := NewClient(Config{Brokers: broker.Brokers(), ClientID: "test"})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return kadm.NewClient(client)
}

func TestApplyMakesAllTopicsOnce(t *testing.T) {
	t.Parallel()
	adm := adminOf(t)
	made, err := Apply(t.Context(), adm, topics.Local(), 1)
	require.NoError(t, err)
	require.Len(t, made, len(topics.Local()))
	for _, c := range made {
		require.Equal(t, CreateTopic, c.Kind)
	}
	left, err := Diff(t.Context(), adm, topics.Local(), 1)
	require.NoError(t, err)
	require.Empty(t, left)
	again, err := Apply(t.Context(), adm, topics.Local(), 1)
	require.NoError(t, err)
	require.Empty(t, again)
}

func TestApplyMendsWhatDiffers(t *testing.T) {
	t.Parallel()
	adm := adminOf(t)
	before := []topics.Topic{
		{Name: "grows", Partitions: 2, Retention: time.Hour},
		{Name: "shrinks", Partitions: 4, Retention: time.Hour},
		{Name: "compacts", Partitions: 1, Retention: time.Hour},
		{Name: "stranger", Partitions: 1, Retention: time.Hour},
	}
	_, err := Apply(t.Context(), adm, before, 1)
	require.NoError(t, err)
	want := []topics.Topic{
		{Name: "grows", Partitions: 5, Retention: 2 * time.Hour},
		{Name: "shrinks", Partitions: 1, Retention: time.Hour},
		{Name: "compacts", Partitions: 1, Compact: true},
	}
	expected := []Change{
		{"grows", AddPartitions, "partitions", "2", "5"},
		{"grows", SetConfig, "retention.ms", "3600000", "7200000"},
		{"shrinks", Differs, "partitions", "4", "1"},
		{"compacts", SetConfig, "cleanup.policy", "delete", "compact"},
	}
	found, err := Diff(t.Context(), adm, want, 1)
	require.NoError(t, err)
	require.Equal(t, expected, found)
	done, err := Apply(t.Context(), adm, want, 1)
	require.NoError(t, err)
	require.Equal(t, expected, done)
	left, err := Diff(t.Context(), adm, want, 1)
	require.NoError(t, err)
	require.Equal(t, []Change{{"shrinks", Differs, "partitions", "4", "1"}}, left)
	all, err := adm.ListTopics(t.Context())
	require.NoError(t, err)
	require.True(t, all.Has("stranger"), "apply never deletes")
	require.Len(t, all["shrinks"].Partitions, 4)
	require.Len(t, all["grows"].Partitions, 5)
}

// Brokers that stop answering while changes settle are told by what is missing, also if they have never named it.
func TestUnansweredChangeIsNamed(t *testing.T) {
	t.Parallel()
	adm := adminOf(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := awaitApplied(ctx, adm, topics.Local(), 1, "+ events: create with 4 partitions, 1 replicas")
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, `the first missing one is "+ events: create with 4 partitions, 1 replicas"`)
}

func TestTopicConfigsOfProduction(t *testing.T) {
	t.Parallel()
	configs := topicConfigs(topics.Topic{Name: "a", Retention: time.Hour}, 3)
	require.Equal(t, "2", configs["min.insync.replicas"])
	require.Equal(t, "false", configs["unclean.leader.election.enable"])
	require.NotContains(t, topicConfigs(topics.Topic{Name: "a", Compact: true}, 3), "retention.ms")
}

func TestChangeIsOneLine(t *testing.T) {
	t.Parallel()
	require.Equal(t, "+ events: create with 9 partitions, 1 replicas", Change{Topic: "events", Kind: CreateTopic, To: "9 partitions, 1 replicas"}.String())
	require.Equal(t, "~ events: retention.ms (unset) -> 5", Change{Topic: "events", Kind: SetConfig, Key: "retention.ms", To: "5"}.String())
	require.Equal(t, "! events: partitions is 9, declared 4; left as it is", Change{"events", Differs, "partitions", "9", "4"}.String())
}
