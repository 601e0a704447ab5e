package embedded

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
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
	k := kafka(t, KafkaConfig{Dir: dir})
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

// joiner is a member of groups that sends the requests itself.
type joiner struct {
	t  *testing.T
	cl *kgo.Client
}

func (j joiner) join(ctx context.Context, group, member string, session time.Duration) (*kmsg.JoinGroupResponse, error) {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID, req.ProtocolType = group, member, "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = int32(session.Milliseconds()), 60_000
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}}
	return req.RequestWith(ctx, j.cl)
}

// enter asks for the id of a new member, with which it can join.
func (j joiner) enter(group string, session time.Duration) (member string) {
	j.t.Helper()
	resp, err := j.join(j.t.Context(), group, "", session)
	require.NoError(j.t, err)
	require.Equal(j.t, kerr.MemberIDRequired.Code, resp.ErrorCode)
	return resp.MemberID
}

// lead joins and assigns something to every member.
func (j joiner) lead(group, member string) (members int) {
	j.t.Helper()
	joined, err := j.join(j.t.Context(), group, member, time.Minute)
	require.NoError(j.t, err)
	require.NoError(j.t, kerr.ErrorForCode(joined.ErrorCode))
	req := kmsg.NewPtrSyncGroupRequest()
	req.Group, req.MemberID, req.Generation = group, member, joined.Generation
	for _, m := range joined.Members {
		req.GroupAssignment = append(req.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: m.MemberID, MemberAssignment: []byte{0, 0, 0, 0, 0, 0}})
	}
	synced, err := req.RequestWith(j.t.Context(), j.cl)
	require.NoError(j.t, err)
	require.NoError(j.t, kerr.ErrorForCode(synced.ErrorCode))
	return len(joined.Members)
}

// A member that dies while it waits for the others of its group must not keep what the group assigns to it.
func TestKafkaForgetsMembersThatDieWhileTheyJoin(t *testing.T) {
	t.Parallel()
	k := kafka(t, KafkaConfig{})
	leader := joiner{t, kafkaClient(t, k)}
	type pair struct {
		group, leader string
		dying         *kgo.Client
	}
	pairs := make([]pair, 16)
	for i := range pairs {
		p := pair{group: fmt.Sprintf("group-%d", i), dying: kafkaClient(t, k)}
		p.leader = leader.enter(p.group, time.Minute)
		require.Equal(t, 1, leader.lead(p.group, p.leader))
		dying := joiner{t, p.dying}
		id := dying.enter(p.group, time.Second)
		go func() { _, _ = dying.join(context.Background(), p.group, id, time.Second) }() // until its connection ends
		pairs[i] = p
	}
	for _, p := range pairs {
		require.Eventually(t, func() bool { return len(k.Cluster().GroupInfo(p.group).Members) == 2 }, time.Minute, time.Millisecond)
	}
	for _, p := range pairs {
		p.dying.Close()
	}
	for _, p := range pairs {
		require.Equal(t, 2, leader.lead(p.group, p.leader), "the group does not know yet that the other is dead")
	}
	require.Eventually(t, func() bool {
		return !slices.ContainsFunc(pairs, func(p pair) bool { return len(k.Cluster().GroupInfo(p.group).Members) > 1 })
	}, 20*time.Second, 50*time.Millisecond, "dead members keep their partitions")
}

// However the network cuts requests, each is counted once, when its last byte is read.
func TestRequestsAreCountedInAnyPieces(t *testing.T) {
	t.Parallel()
	stream := []byte{0, 0, 0, 2, 'a', 'b', 0, 0, 0, 0, 0, 0, 0, 5, 'c', 'd', 'e', 'f', 'g', 0, 0}
	for size := 1; size <= len(stream); size++ {
		f, n := frame{}, int64(0)
		for piece := range slices.Chunk(stream, size) {
			n += f.ends(piece)
		}
		require.EqualValues(t, 3, n, "pieces of %d bytes", size)
		require.Len(t, f.length, 2)
	}
}
