package kafka_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func TestClientsAreMeasured(t *testing.T) {
	t.Parallel()
	const group = "measured"
	b := setup(t, 1)
	measured := func(name string, labels ...string) float64 {
		return dbtest.Series(t, kafka.Metrics(), name, append(labels, "messaging_system", "kafka")...)
	}
	sent := measured("messaging_client_sent_messages_total", "messaging_destination_name", topic, "error_type", "")
	b.produce(t, 0, 7, 1)
	require.GreaterOrEqual(t, measured("messaging_client_sent_messages_total", "messaging_destination_name", topic, "error_type", "")-sent, 7.0)

	var taken atomic.Int32
	stop := b.start(t, kafka.ConsumerConfig{Group: group, Handle: func(_ context.Context, r *kafka.Record) {
		if taken.Add(1) <= 5 {
			r.Done()
			r.Done() // counts once
			return
		}
		<-r.Stopping()
		r.Drop()
	}})
	require.Eventually(t, func() bool { return taken.Load() == 6 }, time.Minute, 5*time.Millisecond)
	require.InDelta(t, 7, measured("messaging_client_consumed_messages_total", "messaging_consumer_group_name", group, "messaging_destination_name", topic), 0)
	require.InDelta(t, 5, measured("messaging_process_duration_seconds", "messaging_consumer_group_name", group), 0, "what was not finished does not count")
	for _, op := range []string{"send", "poll", "commit"} {
		require.Eventually(t, func() bool {
			return measured("messaging_client_operation_duration_seconds", "messaging_operation_name", op, "error_type", "") > 0
		}, time.Minute, 5*time.Millisecond, op)
	}
	stop()
}

func TestFailedSendsAreMeasured(t *testing.T) {
	t.Parallel()
	b := setup(t, 1)
	failed := func(kind string) float64 {
		return dbtest.Series(t, kafka.Metrics(), "messaging_client_sent_messages_total", "messaging_destination_name", topic, "error_type", kind)
	}
	large, canceled := failed("MESSAGE_TOO_LARGE"), failed("canceled")
	require.Error(t, b.client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: make([]byte, 3<<20)}).FirstErr())
	require.GreaterOrEqual(t, failed("MESSAGE_TOO_LARGE")-large, 1.0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, b.client.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte("x")}).FirstErr())
	require.GreaterOrEqual(t, failed("canceled")-canceled, 1.0)
}
