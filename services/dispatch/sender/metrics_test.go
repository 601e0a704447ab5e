package sender

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// Whatever puts a delivery off without an attempt is counted from the start: a rate does not see the first of a new series. The
// metrics are those of the process, so no other test may run beside it.
func TestEveryReasonOfAWaitIsCounted(t *testing.T) {
	laneParked.Reset()
	Metrics()
	registry := prometheus.NewRegistry()
	registry.MustRegister(laneParked)
	families, err := registry.Gather()
	require.NoError(t, err)
	counted := map[string]bool{}
	for _, m := range families[0].GetMetric() {
		counted[m.GetLabel()[0].GetValue()] = true
	}
	want := map[string]bool{parkedNewer: true}
	c := RetryConfig{MaxAttempts: 7}
	c.setDefaults()
	for why := answered; why <= blocked; why++ {
		switch c.decide(retryInput{cause: why, attempt: 1}).outcome {
		case park, parkInStore, keepLast:
			want[why.String()] = true
		case success, retry, deadLetter:
		}
	}
	require.Equal(t, want, counted)
}
