package dbtest

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/embedded"
	"github.com/tradegrid/tradegrid/topics"
)

// Broker gives the addresses of a broker with the topics of package topics. It is the test's own and in memory,
// unless TRADEGRID_TEST_KAFKA_BROKERS names a cluster: tests share that, so each uses consumer
// groups of its own and looks only for its own records.
func Broker(t testing.TB) []string {
	t.Helper()
	brokers := strings.Split(os.Getenv(envKafka), ",")
	if os.Getenv(envKafka) == "" {
		k, err := embedded.StartKafka(embedded.KafkaConfig{})
		require.NoError(t, err)
		t.Cleanup(k.Close)
		brokers = k.Brokers()
	}
	ctx, cancel := context.WithTimeout(context.Background(), setUpTimeout)
	defer cancel()
	require.NoError(t, makeTopics(ctx, brokers))
	return brokers
}

func makeTopics(ctx context.Context, brokers []string) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		return err
	}
	defer cl.Close()
	admin := kadm.NewClient(cl)
	for _, topic := range topics.Local() {
		policy := "delete"
		if topic.Compact {
			policy = "compact"
		}
		_, err := admin.CreateTopic(ctx, topic.Partitions, 1, map[string]*string{"cleanup.policy": &policy}, topic.Name)
		if err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
			return err
		}
	}
	return nil
}
