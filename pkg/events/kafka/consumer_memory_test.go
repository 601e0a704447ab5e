package kafka

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

// window is a consumer that may hold 100 KiB, and its partitions.
func window(t *testing.T, n int) (*consumer, []*partition) {
	t.Helper()
	client, err := kgo.NewClient()
	require.NoError(t, err)
	t.Cleanup(client.Close)
	cfg := ConsumerConfig{WindowRecords: 1000, WindowBytes: 100 << 10, HandleBatch: func(context.Context, []*Record) {}}
	c := &consumer{cfg: cfg, client: client, work: t.Context(), advanced: make(chan struct{}, 1), partitions: map[topicPartition]*partition{}}
	c.batches.prepare(1)
	parts := make([]*partition, n)
	for i := range parts {
		parts[i] = c.partition("t", int32(i))
	}
	return c, parts
}

// adds a record of so many KiB.
func (p *partition) hold(offset int64, kib int) {
	p.add([]*kgo.Record{{Offset: offset, Value: make([]byte, kib<<10)}})
}

// One partition takes half of the memory at most, whatever the number of its records.
func TestOnePartitionLeavesMemoryToOthers(t *testing.T) {
	t.Parallel()
	_, parts := window(t, 4)
	for i := range int64(4) {
		parts[0].hold(i, 12)
	}
	require.False(t, parts[0].paused)
	parts[0].hold(4, 12)
	require.True(t, parts[0].paused)
	for _, r := range parts[0].take(3) {
		r.Done()
	}
	require.False(t, parts[0].paused, "half of that is free")
}

// While all partitions together take what they may, each keeps its share: those that hold more wait.
func TestPartitionsShareTheMemory(t *testing.T) {
	t.Parallel()
	c, parts := window(t, 4)
	for i, kib := range []int{40, 40, 15, 10} {
		parts[i].hold(0, kib)
	}
	parts[3].hold(1, 1)
	require.Greater(t, c.held.Load(), c.cfg.WindowBytes)
	require.False(t, parts[3].paused, "less than a quarter")
	parts[2].hold(1, 15)
	require.True(t, parts[2].paused, "more than a quarter")
	for _, p := range parts[:2] {
		p.take(1)[0].Done()
	}
	require.Less(t, c.held.Load(), c.cfg.WindowBytes)
	parts[3].hold(2, 30)
	require.False(t, parts[3].paused, "there is room again")

	parts[2].stop() // its records are no longer held
	taken := parts[3].take(3)
	parts[3].stop()
	for _, r := range taken {
		r.Done()
	}
	require.Zero(t, c.held.Load())
}
