package kafka_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tradegrid/tradegrid/pkg/kafka"
)

// A commit that the broker refuses is repeated though nothing more finishes, and once all is committed, no request follows.
func TestRefusedCommitIsRepeatedAndThenNoneFollows(t *testing.T) {
	t.Parallel()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, topic),
		kfake.BrokerConfigs(map[string]string{"group.initial.rebalance.delay.ms": "0"}))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	b := &broker{cfg: kafka.Config{Brokers: cluster.ListenAddrs(), ClientID: "test"}}
	b.client, err = kafka.NewClient(b.cfg, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	require.NoError(t, err)
	t.Cleanup(b.client.Close)

	const refusals = 3
	var commits atomic.Int64
	cluster.ControlKey(kmsg.OffsetCommit.Int16(), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if commits.Add(1) > refusals {
			return nil, nil, false
		}
		req, _ := request.(*kmsg.OffsetCommitRequest)
		resp, _ := req.ResponseKind().(*kmsg.OffsetCommitResponse)
		for _, rt := range req.Topics {
			refused := kmsg.OffsetCommitResponseTopic{Topic: rt.Topic, TopicID: rt.TopicID}
			for _, rp := range rt.Partitions {
				refused.Partitions = append(refused.Partitions, kmsg.OffsetCommitResponseTopicPartition{
					Partition: rp.Partition, ErrorCode: kerr.UnknownServerError.Code,
				})
			}
			resp.Topics = append(resp.Topics, refused)
		}
		return resp, nil, true
	})
	b.start(t, kafka.ConsumerConfig{Group: "g", Handle: func(_ context.Context, r *kafka.Record) { r.Done() }})
	b.produce(t, 0, 5, 1)
	require.Eventually(t, func() bool { return b.committed(t, "g") == 5 }, time.Minute, 5*time.Millisecond)
	made := commits.Load()
	require.Greater(t, made, int64(refusals))
	require.Never(t, func() bool { return commits.Load() > made }, 500*time.Millisecond, 20*time.Millisecond, "an idle member commits nothing")
}
