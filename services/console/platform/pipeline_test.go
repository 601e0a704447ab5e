package platform

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/operations"
)

// The change token of the pipeline is another one exactly when its page would be.
func TestChangeTokenOfThePipeline(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
	of := func(s operations.Pipeline, brokers error, at time.Time) string {
		token, err := pipelineToken(s, brokers, at)
		require.NoError(t, err)
		return token
	}
	rest := operations.Pipeline{Groups: []operations.GroupLag{{Group: "tradegrid-router", State: "Stable", Members: 1}}}
	at := of(rest, nil, now)
	require.Equal(t, at, of(rest, nil, now.Add(time.Hour)), "nothing gets older")
	require.NotEqual(t, at, of(rest, operations.ErrNoBrokers, now))
	for name, s := range map[string]operations.Pipeline{
		"lag":          {Groups: []operations.GroupLag{{Group: "tradegrid-router", State: "Stable", Members: 1, Lag: 2}}},
		"dead":         {Groups: rest.Groups, OutboxDead: 1},
		"outbox":       {Groups: rest.Groups, OutboxRows: 1, OutboxOldest: &now},
		"waiting":      {Groups: rest.Groups, Waiting: []store.WaitingCount{{For: "answer", Count: 1, Oldest: now}}},
		"open circuit": {Groups: rest.Groups, OpenCircuits: []store.OpenCircuit{{Opens: 1}}},
	} {
		require.NotEqual(t, at, of(s, nil, now), name)
	}
	waits := operations.Pipeline{OutboxRows: 1, OutboxOldest: &now}
	require.Equal(t, of(waits, nil, now), of(waits, nil, now.Add(watchEvery-1)))
	require.NotEqual(t, of(waits, nil, now), of(waits, nil, now.Add(watchEvery)), "the page shows its age")
}
