package sweeper

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/topics"
)

// Who holds the lease says which partitions no group reads, until it loses the lease.
func TestTheOwnerOfTheLeaseNamesStalledPartitions(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.OpenNew(t))
	a, b := newSweeper(k, "a", nil), newSweeper(k, "b", nil)
	now := time.Now()
	a.now = func() time.Time { return now }
	pass := func(s *Sweeper) error {
		return s.ifHeld(t.Context(), func() error {
			_, err := s.pass(t.Context())
			return err
		})
	}
	k.Eventually(func() bool {
		now = now.Add(groupsEvery)
		return pass(a) == nil
	}, "a new cluster makes its topic of offsets when it is asked for some")
	require.Empty(t, a.PartitionNotes())
	k.Produce(&kgo.Record{Topic: topics.DelayTiers()[0].Topic, Key: []byte("k"), Value: []byte("v")}, &kgo.Record{Topic: topics.Events, Key: []byte("k"), Value: []byte("v")})
	for range 2 {
		now = now.Add(3 * time.Minute)
		require.NoError(t, pass(a))
	}
	require.Len(t, a.PartitionNotes(), 2)
	require.Contains(t, a.PartitionNotes()[0], topics.Delays+" commits nothing in partition ")
	require.Contains(t, a.PartitionNotes()[1], topics.Routers+" commits nothing in partition ")
	require.NoError(t, a.lease.Release(t.Context()))
	require.NoError(t, pass(b))
	require.NoError(t, pass(a))
	require.Empty(t, a.PartitionNotes(), "the other measures now")
}
