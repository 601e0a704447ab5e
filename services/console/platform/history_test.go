package platform

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/operations"
)

// Samples are summed up by steps: the most that waited, and how much a minute was published. What no process has seen is not known.
func TestStepsOfTheHistory(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
	over := historyOver{1, 10 * time.Minute}
	sample := func(minute int, published, rows int64) operations.Sample {
		return operations.Sample{At: from.Add(time.Duration(minute) * time.Minute), Published: published, OutboxRows: rows, OutboxAge: time.Duration(rows) * time.Second}
	}
	all := stepsOf([]operations.Sample{
		sample(-1, 100, 90), sample(0, 110, 5), sample(1, 130, 9), sample(2, 130, 0),
		sample(35, 5000, 2),                    // nobody sampled for half an hour
		sample(36, 5006, 3), sample(37, 10, 1), // a restore
		sample(60, 20, 50),
	}, from, over)
	require.Len(t, all, 6)
	require.InDelta(t, 10, all[0].published, 1e-9)
	require.InDelta(t, 9, all[0].outboxRows, 1e-9)
	require.InDelta(t, 9, all[0].outboxAge, 1e-9)
	for _, i := range []int{1, 2, 4, 5} {
		require.True(t, math.IsNaN(all[i].published) && math.IsNaN(all[i].outboxRows), i)
	}
	require.InDelta(t, 6, all[3].published, 1e-9)
	require.InDelta(t, 3, all[3].outboxRows, 1e-9)
}

// Attempts are shown a minute, over the minutes of a step in which senders ran; a minute belongs to the step that it lies in.
func TestAttemptsOfTheHistory(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
	over := historyOver{1, 10 * time.Minute}
	count := func(minute int, delivered, retried, failed int64) store.AttemptCount {
		return store.AttemptCount{At: from.Add(time.Duration(minute) * time.Minute), Delivered: delivered, Retried: retried, Failed: failed}
	}
	all := stepsOf(nil, from, over)
	addAttempts(all, []store.AttemptCount{count(0, 99, 0, 0), count(1, 4, 1, 0), count(10, 6, 0, 1), count(11, 0, 0, 0), count(60, 0, 0, 8), count(61, 99, 0, 0)}, from, over)
	require.InDeltaSlice(t, []float64{5, 0.5, 0.5}, []float64{all[0].delivered, all[0].retried, all[0].failed}, 1e-9)
	require.Zero(t, all[1].delivered, "senders ran, and had nothing to send")
	require.True(t, math.IsNaN(all[2].delivered), "no sender ran")
	require.InDelta(t, 8, all[5].failed, 1e-9)
}
