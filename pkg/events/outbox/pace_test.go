package outbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const ms = time.Millisecond

// scans has the pace see scans, 10 ms apart, that find so many rows and take so long.
func (p *pace) scans(n, rows int, took ...time.Duration) {
	for i := range n {
		p.observe(p.last.Add(10*ms), took[i%len(took)], rows)
	}
}

// Batches follow one another at once where scans take what they take at rest, however long that is, and further apart the longer
// they wait, unless too few rows come for that to pay.
func TestBatchesFollowTheLoad(t *testing.T) {
	t.Parallel()
	require.Zero(t, (&pace{}).pause(false), "nothing is known yet")
	for _, rest := range []time.Duration{ms / 2, 20 * ms} { // a database on this machine, and one that is far away
		p := &pace{}
		p.scans(1000, 10, rest, rest+ms/10)
		require.Less(t, p.pause(false), ms)
		require.Equal(t, pauseBusy, p.pause(true))
		p.scans(4*paceMean, 10, rest+5*ms)
		require.Greater(t, p.pause(false), 10*ms)
		require.Equal(t, p.pause(false), p.pause(true))
		p.scans(4*paceMean, 10, rest+100*ms)
		require.Equal(t, pauseMost, p.pause(false))
		p.scans(150, 1, rest+100*ms)
		require.Zero(t, p.pause(false), "2.5 rows come in the longest pause")
		p.scans(150, paceRows+1, time.Second)
		require.Equal(t, pauseMost, p.pause(false), "a scan of many rows tells of their rate only")
		p.scans(10*paceMean, 10, rest)
		require.Less(t, p.pause(false), ms, "the load is over")
	}
	p := &pace{}
	p.scans(1, 10, ms/2)
	p.scans(10*paceRest, 10, 10*ms)
	require.Less(t, p.pause(false), ms, "a database that became slower for good is at rest")
	p.scans(1, 10, ms)
	require.Equal(t, ms, p.rest)
}

// Batches wait for one another unless there is a backlog.
func TestBatchesWaitForMoreRows(t *testing.T) {
	t.Parallel()
	r, err := NewRelay(nil, nil, RelayConfig{EventRetention: 30 * day})
	require.NoError(t, err)
	p := r.parts[7]
	p.held, p.until = true, time.Now().Add(time.Hour)
	r.pace, r.launched = pace{rest: ms, mean: 50 * ms, rate: 1000}, time.Now().Add(time.Minute)
	r.enqueue(p)
	require.Positive(t, r.launch(t.Context()))
	require.Len(t, r.ready, 1)
	r.launched = time.Now()
	require.LessOrEqual(t, r.launch(t.Context()), pauseMost)
	p.backlog, p.held = true, false // so that nothing is started
	require.Zero(t, r.launch(t.Context()))
	require.Empty(t, r.ready)
}
