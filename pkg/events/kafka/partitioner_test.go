package kafka

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Records with a key use added partitions after a while, and at once those of a topic that was created again.
func TestAddedPartitionsAreUsedAfterAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPartitioner().ForTopic("webhook.deliveries")
		placed := func(n int) (like int) {
			t.Helper()
			var at []int32
			for key := range 100 {
				at = append(at, int32(p.Partition(&kgo.Record{Key: []byte(strconv.Itoa(key))}, n)))
			}
			for like = 1; like <= 64; like++ {
				same := true
				for key := range 100 {
					same = same && at[key] == PartitionOf([]byte(strconv.Itoa(key)), int32(like))
				}
				if same {
					return like
				}
			}
			return 0
		}
		require.Equal(t, 8, placed(8))
		require.Equal(t, 8, placed(16))
		time.Sleep(growthWait - time.Millisecond)
		require.Equal(t, 8, placed(16))
		time.Sleep(time.Millisecond)
		require.Equal(t, 16, placed(16))
		require.Equal(t, 4, placed(4), "created again")
		require.Equal(t, 4, placed(8))
		require.Equal(t, 4, placed(4), "a broker that knew less")
		time.Sleep(growthWait)
		require.Equal(t, 4, placed(8), "the time begins anew")
	})
}

func TestRecordsOfATopicNameTheirPartitions(t *testing.T) {
	t.Parallel()
	c := &chosen{partitioner: newPartitioner(), topic: "events"}
	r := &kgo.Record{Key: []byte("a"), Partition: 5}
	require.Equal(t, 5, c.ForTopic("events").Partition(r, 8))
	require.EqualValues(t, PartitionOf(r.Key, 8), c.ForTopic("other").Partition(r, 8))
}
