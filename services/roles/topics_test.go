package roles

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/kit/embedded"
	"github.com/tradegrid/tradegrid/topics"
)

// Partitions that an operator has added stay for good, so a check may accept them, and nothing else.
func TestDiffAcceptsMorePartitions(t *testing.T) {
	t.Parallel()
	broker, err := embedded.StartKafka(embedded.KafkaConfig{})
	require.NoError(t, err)
	t.Cleanup(broker.Close)
	flags := TopicsFlags{Local: true, KafkaFlags: KafkaFlags{KafkaBrokers: broker.Brokers(), Settings: config.Defaults[kafka.Settings]()}}
	log, out := slog.New(slog.DiscardHandler), new(bytes.Buffer)
	require.NoError(t, (&TopicsApplyCmd{flags}).Run(t.Context(), log, out))
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.Brokers()...))
	require.NoError(t, err)
	t.Cleanup(client.Close)
	adm := kadm.NewClient(client)
	_, err = adm.CreatePartitions(t.Context(), 1, topics.Events)
	require.NoError(t, err)

	require.ErrorIs(t, (&TopicsDiffCmd{TopicsFlags: flags}).Run(t.Context(), log, out), errTopicsDiffer)
	require.NoError(t, (&TopicsDiffCmd{MorePartitions: true, TopicsFlags: flags}).Run(t.Context(), log, out))
	retention := "1"
	_, err = adm.AlterTopicConfigs(t.Context(), []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "retention.ms", Value: &retention}}, topics.Events)
	require.NoError(t, err)
	require.ErrorIs(t, (&TopicsDiffCmd{MorePartitions: true, TopicsFlags: flags}).Run(t.Context(), log, out), errTopicsDiffer)
}
