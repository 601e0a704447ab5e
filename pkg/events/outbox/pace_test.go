package outbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const ms = time.Millisecond

// paceOf is the pace after scans that took so long, again and again.
func paceOf(turns int, took ...time.Duration) *pace {
	p := &pace{}
	for i := range turns {
		p.observe(took[i%len(took)])
	}
	return p
}

// Batches follow one another at once where scans take what they take at rest, however long that is, and further apart the longer
// they wait.
func TestBatchesFollowTheLoad(t *testing.T) {
	t.Parallel()
	require.Zero(t, (&pace{}).pause(false), "nothing is known yet")
	for _, rest := range []time.Duration{ms / 2, 20 * ms} { // a database on this machine, and one that is far away
		p := paceOf(1000, rest, rest+ms/10)
		require.Less(t, p.pause(false), ms)
		require.Equal(t, pauseBusy, p.pause(true))
		for range 4 * paceMean {
			p.observe(rest + 5*ms)
		}
		require.Greater(t, p.pause(false), 10*ms)
		require.Equal(t, p.pause(false), p.pause(true))
		for range 4 * paceMean {
			p.observe(rest + 100*ms)
		}
		require.Equal(t, pauseMost, p.pause(false))
		for range 10 * paceMean {
			p.observe(rest)
		}
		require.Less(t, p.pause(false), ms, "the load is over")
	}
	p := paceOf(1, ms/2)
	for range 10 * paceRest {
		p.observe(10 * ms)
	}
	require.Less(t, p.pause(false), ms, "a database that became slower for good is at rest")
	p.observe(ms)
	require.Equal(t, ms, p.rest)
}

// Batches wait for one another unless there is a backlog.
func TestBatchesWaitForMoreRows(t *testing.T) {
	t.Parallel()
	r, err := NewRelay(nil, nil, RelayConfig{EventRetention: 30 * day})
	require.NoError(t, err)
	p := r.parts[7]
	p.held, p.until = true, time.Now().Add(time.Hour)
	r.pace, r.launched = pace{rest: ms, mean: 50 * ms}, time.Now().Add(time.Minute)
	r.enqueue(p)
	require.Positive(t, r.launch(t.Context()))
	require.Len(t, r.ready, 1)
	r.launched = time.Now()
	require.LessOrEqual(t, r.launch(t.Context()), pauseMost)
	p.backlog, p.held = true, false // so that nothing is started
	require.Zero(t, r.launch(t.Context()))
	require.Empty(t, r.ready)
}
