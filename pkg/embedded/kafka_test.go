package embedded

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

func kafka(t *testing.T, cfg KafkaConfig) *Kafka {
	t.Helper()
	k, err := StartKafka(cfg)
	require.NoError(t, err)
	t.Cleanup(k.Close)
	return k
}

func kafkaClient(t *testing.T, k *Kafka, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append(opts, kgo.SeedBrokers(k.Brokers()...))...)
	require.NoError(t, err)
	t.Cleanup(cl.Close)
	return cl
}

func TestKafkaKeepsRecordsAndOffsetsOverRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	k := kafka(t, KafkaConfig{Dir: dir, SyncWrites: true})
	cl := kafkaClient(t, k)
	_, err := kadm.NewClient(cl).CreateTopic(t.Context(), 2, 1, nil, "kept")
	require.NoError(t, err)
	require.NoError(t, cl.ProduceSync(t.Context(), &kgo.Record{Topic: "kept", Key: []byte("k"), Value: []byte("v")}).FirstErr())
	offsets := make(kadm.Offsets)
	offsets.AddOffset("kept", 0, 1, -1)
	require.NoError(t, kadm.NewClient(cl).CommitAllOffsets(t.Context(), "group", offsets))
	_, err = StartKafka(KafkaConfig{Dir: dir})
	require.ErrorIs(t, err, ErrInUse)
	cl.Close()
	k.Close()

	again := kafka(t, KafkaConfig{Dir: dir})
	reader := kafkaClient(t, again, kgo.ConsumeTopics("kept"))
	fetches := reader.PollFetches(t.Context())
	require.NoError(t, fetches.Err())
	require.Equal(t, "v", string(fetches.Records()[0].Value))
	committed, err := kadm.NewClient(reader).FetchOffsets(t.Context(), "group")
	require.NoError(t, err)
	at, ok := committed.Lookup("kept", 0)
	require.True(t, ok)
	require.EqualValues(t, 1, at.At)
}

func TestKafkaMakesNoTopicsByItself(t *testing.T) {
	t.Parallel()
	k := kafka(t, KafkaConfig{})
	cl := kafkaClient(t, k, kgo.AllowAutoTopicCreation(), kgo.UnknownTopicRetries(0))
	err := cl.ProduceSync(context.Background(), &kgo.Record{Topic: "absent", Value: []byte("v")}).FirstErr()
	require.ErrorIs(t, err, kerr.UnknownTopicOrPartition)
}
