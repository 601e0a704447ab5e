package sender

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// Each cause has a row, and what it leaves a delivery waiting for is in the table of reasons.
func TestEveryCauseHasARow(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, row := range causes {
		require.NotEmpty(t, row.name)
		require.False(t, names[row.name], row.name)
		names[row.name] = true
		require.Equal(t, row.postpones(), row.meaning != "", "%s: metrics tell operators what puts deliveries off", row.name)
		if row.waits != "" {
			require.Equal(t, webhook.OutcomePending, webhook.Reason(row.waits).Outcome(), row.name)
		}
		require.Equal(t, row.outcome == deadLetter || row.outcome == retry, row.dead != "", "%s: what may be over has the reason of its dead letter", row.name)
	}
}

// Whatever puts a delivery off without an attempt is counted from the start: a rate does not see the first of a new series. The
// metrics are those of the process, so no other test may run beside it.
func TestEveryReasonOfAWaitIsCounted(t *testing.T) {
	postponedTotal.Reset()
	Metrics()
	registry := prometheus.NewRegistry()
	registry.MustRegister(postponedTotal)
	families, err := registry.Gather()
	require.NoError(t, err)
	counted := map[string]bool{}
	for _, m := range families[0].GetMetric() {
		counted[m.GetLabel()[0].GetValue()] = true
	}
	want := map[string]bool{postponedNewer: true}
	c := RetryConfig{MaxAttempts: 7}
	c.setDefaults()
	for why := range causeCount {
		switch c.decide(retryInput{cause: why, attempt: 1}).outcome {
		case postpone, holdInDatabase, holdLast:
			want[why.String()] = true
		case success, retry, deadLetter:
		}
	}
	require.Equal(t, want, counted)
}
