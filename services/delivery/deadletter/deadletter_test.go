package deadletter_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/services/delivery/deadletter"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/topics"
)

func TestDeadLettersAreCounted(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, nil)
	admin := kadm.NewClient(k.Client)
	count := func() map[string]int64 {
		depth, err := deadletter.Depth(t.Context(), admin)
		require.NoError(t, err)
		return depth
	}
	require.Equal(t, map[string]int64{topics.DeliveriesDead: 0, topics.EventsDead: 0}, count())
	for range 3 {
		k.Produce(&kgo.Record{Topic: topics.DeliveriesDead, Key: []byte(uuid.NewString())})
	}
	k.Produce(&kgo.Record{Topic: topics.EventsDead})
	require.Equal(t, map[string]int64{topics.DeliveriesDead: 3, topics.EventsDead: 1}, count())

	ends, err := admin.ListEndOffsets(t.Context(), topics.EventsDead)
	require.NoError(t, err)
	_, err = admin.DeleteRecords(t.Context(), ends.Offsets())
	require.NoError(t, err)
	require.Equal(t, map[string]int64{topics.DeliveriesDead: 3, topics.EventsDead: 0}, count(), "what was deleted is not kept")
}
