package outbox

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/topics"
)

// The record keeps the trace of the request; the relay's own span only links to it. The test sets the tracer of the
// process, so it does not run in parallel with others.
func TestBatchLinksToTheRequests(t *testing.T) { //nolint:paralleltest // sets the tracer of the process
	spans := tracetest.NewSpanRecorder()
	before := otel.GetTracerProvider()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans), sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.AlwaysSample())))
	otel.SetTracerProvider(provider)
	t.Cleanup(func() { otel.SetTracerProvider(before) })
	g := setup(t)
	ctx, request := provider.Tracer("test").Start(t.Context(), "request")
	c := company()
	m := message(uuid.New(), 1, nowMicro())
	require.NoError(t, g.db.RunTx(ctx, "test", func(ctx context.Context, tx *db.Tx) error { return Append(ctx, tx, c, m) }))
	request.End()
	stop := g.run(g.relay("a"))
	g.drained()
	stop()
	var kept trace.SpanContext
	var sends []sdktrace.ReadOnlySpan
	for _, s := range spans.Ended() {
		switch s.Name() {
		case "send events":
			sends = append(sends, s)
		case "tx test":
			kept = s.SpanContext()
		case "tx outbox.renew", "tx outbox.acquire", "tx outbox.release":
			require.Fail(t, "leases are not traced")
		}
	}
	require.Len(t, sends, 1)
	require.Equal(t, trace.SpanKindProducer, sends[0].SpanKind())
	require.Len(t, sends[0].Links(), 1)
	require.Equal(t, request.SpanContext().TraceID(), sends[0].Links()[0].SpanContext.TraceID())
	require.NotEqual(t, request.SpanContext().TraceID(), sends[0].SpanContext().TraceID())
	got := g.records(topics.Events)
	require.Len(t, got, 1)
	require.Contains(t, header(got[0].rec, "traceparent"), kept.TraceID().String()+"-"+kept.SpanID().String())
}
