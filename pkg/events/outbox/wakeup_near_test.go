package outbox

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

// A bucket of the relay in this process needs no Kafka; one that another has, nobody has, or that is being handed over, does.
func TestNearWakeupsGoThroughKafkaOnlyToOtherRelays(t *testing.T) {
	t.Parallel()
	client, err := kgo.NewClient(kgo.SeedBrokers("127.0.0.1:1")) // nothing is sent
	require.NoError(t, err)
	t.Cleanup(client.Close)
	relay, err := NewRelay(nil, client, RelayConfig{EventRetention: 1})
	require.NoError(t, err)
	far := NewWakeups(client, slog.New(slog.DiscardHandler))
	near := NewNearWakeups(relay, far)
	relay.parts[1].held = true
	relay.parts[2].held, relay.parts[2].leaving = true, true
	for _, bucket := range []int32{1, 2, 3, 70} {
		near.Wake(bucket)
	}
	require.Equal(t, bucketSet{1<<2 | 1<<3, 1 << 6}, far.pending)
	require.True(t, relay.parts[1].queued)
	require.False(t, relay.parts[3].queued)
}
