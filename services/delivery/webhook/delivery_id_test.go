package webhook_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

func TestDeliveryIDIsDeterministicAndSortsByTime(t *testing.T) {
	t.Parallel()
	event, other := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	s1, s2 := uuid.New(), uuid.New()
	id := webhook.DeliveryID(event, s1, 0)
	require.Equal(t, id, webhook.DeliveryID(event, s1, 0))
	require.EqualValues(t, 7, id.Version())
	require.Equal(t, uuid.RFC4122, id.Variant())
	require.Equal(t, event[:6], id[:6])
	for _, different := range []uuid.UUID{
		webhook.DeliveryID(event, s2, 0), webhook.DeliveryID(other, s1, 0), webhook.DeliveryID(event, s1, 1),
	} {
		require.NotEqual(t, id, different)
	}
}
