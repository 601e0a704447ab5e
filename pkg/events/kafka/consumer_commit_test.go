package kafka_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
)

// answering starts a broker whose answers to commits a function may replace.
func answering(t *testing.T, answer func(*kmsg.OffsetCommitRequest) *kmsg.OffsetCommitResponse) *broker {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, topic),
		kfake.BrokerConfigs(map[string]string{"group.initial.rebalance.delay.ms": "0"}))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	b := &broker{cfg: kafka.Config{Brokers: cluster.ListenAddrs(), ClientID: "test"}}
	b.client, err = kafka.NewClient(b.cfg, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	require.NoError(t, err)
	t.Cleanup(b.client.Close)
	cluster.ControlKey(kmsg.OffsetCommit.Int16(), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		req, _ := request.(*kmsg.OffsetCommitRequest)
		if resp := answer(req); resp != nil {
			return resp, nil, true
		}
		return nil, nil, false
	})
	return b
}

// refused is the answer to a commit that fails for each partition.
func refused(req *kmsg.OffsetCommitRequest, reason *kerr.Error) *kmsg.OffsetCommitResponse {
	resp, _ := req.ResponseKind().(*kmsg.OffsetCommitResponse)
	for _, rt := range req.Topics {
		of := kmsg.OffsetCommitResponseTopic{Topic: rt.Topic, TopicID: rt.TopicID}
		for _, rp := range rt.Partitions {
			of.Partitions = append(of.Partitions, kmsg.OffsetCommitResponseTopicPartition{Partition: rp.Partition, ErrorCode: reason.Code})
		}
		resp.Topics = append(resp.Topics, of)
	}
	return resp
}

// A commit that the broker refuses is repeated though nothing more finishes, and once all is committed, no request follows.
func TestRefusedCommitIsRepeatedAndThenNoneFollows(t *testing.T) {
	t.Parallel()
	const refusals = 3
	var commits atomic.Int64
	b := answering(t, func(req *kmsg.OffsetCommitRequest) *kmsg.OffsetCommitResponse {
		if commits.Add(1) > refusals {
			return nil
		}
		return refused(req, kerr.UnknownServerError)
	})
	b.start(t, kafka.ConsumerConfig{Group: "g", Handle: func(_ context.Context, r *kafka.Record) { r.Done() }})
	b.produce(t, 0, 5, 1)
	require.Eventually(t, func() bool { return b.committed(t, "g") == 5 }, time.Minute, 5*time.Millisecond)
	made := commits.Load()
	require.Greater(t, made, int64(refusals))
	require.Never(t, func() bool { return commits.Load() > made }, 500*time.Millisecond, 20*time.Millisecond, "an idle member commits nothing")
}

// slowPoll holds up the poll that returns the second record until a moment after a commit was refused.
type slowPoll struct{ polling, refused chan struct{} }

// OnFetchRecordUnbuffered implements [kgo.HookFetchRecordUnbuffered].
func (s *slowPoll) OnFetchRecordUnbuffered(r *kgo.Record, _ bool) {
	if r.Offset != 1 {
		return
	}
	select {
	case <-s.polling: // by the next member
		return
	default:
	}
	close(s.polling)
	<-s.refused
	<-time.After(50 * time.Millisecond) // for the commits that must not be
}

// The next try of a commit that found no topic could reach one that was made anew, and skip what that has.
func TestMemberCommitsNothingToATopicThatWasUnknown(t *testing.T) {
	t.Parallel()
	for _, reason := range []*kerr.Error{kerr.UnknownTopicOrPartition, kerr.UnknownTopicID} {
		t.Run(reason.Message, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var members []string // of the commits
			poll := &slowPoll{make(chan struct{}), make(chan struct{})}
			b := answering(t, func(req *kmsg.OffsetCommitRequest) *kmsg.OffsetCommitResponse {
				mu.Lock()
				defer mu.Unlock()
				if members = append(members, req.MemberID); len(members) > 1 {
					return nil
				}
				close(poll.refused)
				return refused(req, reason)
			})
			handled := map[int64]int{} // by offset
			cfg := kafka.ConsumerConfig{
				Group: "g", MaxBatch: 1, CommitEvery: time.Microsecond, Opts: []kgo.Opt{kgo.WithHooks(poll)},
				Handle: func(_ context.Context, r *kafka.Record) {
					<-poll.polling
					mu.Lock()
					defer mu.Unlock()
					handled[r.Offset]++
					r.Done()
				},
			}
			b.start(t, cfg)
			b.produce(t, 0, 5, 1)
			require.Eventually(t, func() bool { return b.committed(t, "g") == 5 }, time.Minute, 5*time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			require.NotContains(t, members[1:], members[0])
			require.Equal(t, 2, handled[0], "consumed again from the start: nothing was committed")
		})
	}
}
