package kafka

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

// call is one of HandleBatch.
type call struct {
	at      time.Duration
	records int
}

// batches runs a batcher. How long a call takes depends on its first record; the load offers records to partitions.
func batches(t *testing.T, took func(first string) time.Duration, load func(offer func(partition int, value string))) (calls []call) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var mu sync.Mutex
		cfg := ConsumerConfig{MaxBatch: 50, BatchCalls: 2, WindowRecords: 1000, WindowBytes: 1 << 20, HandleBatch: func(_ context.Context, batch []*Record) {
			mu.Lock()
			calls = append(calls, call{time.Since(began), len(batch)})
			mu.Unlock()
			time.Sleep(took(string(batch[0].Value)))
			for _, r := range batch {
				r.Done()
			}
		}}
		c := &consumer{cfg: cfg, work: t.Context(), advanced: make(chan struct{}, 1)}
		c.batches.prepare(cfg.MaxBatch)
		ctx, cancel := context.WithCancel(t.Context())
		var runs sync.WaitGroup
		for range cfg.BatchCalls {
			runs.Go(func() { c.batches.run(ctx, cfg) })
		}
		var partitions [4]*partition
		for i := range partitions {
			partitions[i] = newPartition(c, topicPartition{"t", int32(i)})
		}
		offset := int64(0)
		load(func(i int, value string) {
			partitions[i].add([]*kgo.Record{{Offset: offset, Value: []byte(value)}})
			offset++
		})
		time.Sleep(time.Minute)
		cancel()
		runs.Wait()
	})
	return calls
}

// A record waits for none that came alone, however soon it follows.
func TestLonelyRecordsDoNotWait(t *testing.T) {
	t.Parallel()
	got := batches(t, func(string) time.Duration { return 9 * time.Millisecond }, func(offer func(int, string)) {
		for i := range 3 {
			offer(i, "")
			time.Sleep(10 * time.Millisecond)
		}
	})
	require.Equal(t, []call{{0, 1}, {10 * time.Millisecond, 1}, {20 * time.Millisecond, 1}}, got)
}

// The next batch begins when the call before has been over for twice as long as it took.
func TestBatchesGrowWithTheTimeOfCalls(t *testing.T) {
	t.Parallel()
	got := batches(t, func(string) time.Duration { return 5100 * time.Microsecond }, func(offer func(int, string)) {
		for i := range 36 {
			offer(i%4, "")
			time.Sleep(time.Millisecond)
		}
	})
	require.Equal(t, []call{{0, 1}, {5100 * time.Microsecond, 5}, {20400 * time.Microsecond, 15}, {35700 * time.Microsecond, 15}}, got)
}

// A call that hangs delays the records of other partitions by a moment, and only once.
func TestLongCallsHoldUpTheirOwnPartitions(t *testing.T) {
	t.Parallel()
	got := batches(t, func(first string) time.Duration {
		if first == "hangs" {
			return time.Second
		}
		return 0
	}, func(offer func(int, string)) {
		offer(0, "hangs")
		time.Sleep(time.Millisecond)
		offer(1, "")
		time.Sleep(longestPause)
		offer(0, "behind it")
		time.Sleep(longestPause)
		offer(2, "")
	})
	require.Equal(t, []call{{0, 1}, {longestPause, 1}, {2*longestPause + time.Millisecond, 1}, {time.Second, 1}}, got)
}

// A full batch does not wait.
func TestFullBatchesDoNotWait(t *testing.T) {
	t.Parallel()
	got := batches(t, func(string) time.Duration { return 20 * time.Millisecond }, func(offer func(int, string)) {
		offer(0, "")
		time.Sleep(time.Millisecond)
		for i := range 120 {
			offer(1+i%3, "")
		}
	})
	require.Equal(t, []call{{0, 1}, {time.Millisecond, 50}}, got[:2])
	require.Equal(t, 121, got[0].records+got[1].records+got[2].records+got[3].records)
}
