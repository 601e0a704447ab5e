package export

import (
	"context"
	"sync/atomic"

	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// maxQueued limits the spans, and the log records, that are queued or being sent.
const maxQueued = 2048

// queueLimit limits the queue of a signal. The queues of OpenTelemetry drop silently when they are full, so excess items are
// dropped and counted before they get there.
type queueLimit struct {
	signal string
	taken  atomic.Int64
}

// enter reserves a place in the queue; if there is none, it counts a loss and returns false.
func (r *queueLimit) enter() bool {
	if r.taken.Add(1) <= maxQueued {
		return true
	}
	r.taken.Add(-1)
	lost.WithLabelValues(r.signal).Inc()
	return false
}

// left frees the places of n sent items, and counts them as lost if err is not nil.
func (r *queueLimit) left(err error, n int) error {
	r.taken.Add(-int64(n))
	return count(err, r.signal, n)
}

// limitedSpans passes on the spans that have a place in the queue.
type limitedSpans struct {
	sdktrace.SpanProcessor
	*queueLimit
}

// OnEnd implements [sdktrace.SpanProcessor].
func (p limitedSpans) OnEnd(s sdktrace.ReadOnlySpan) {
	if s.SpanContext().IsSampled() && p.enter() {
		p.SpanProcessor.OnEnd(s)
	}
}

// limitedLogs passes on the log records that have a place in the queue.
type limitedLogs struct {
	sdklog.Processor
	*queueLimit
}

// OnEmit implements [sdklog.Processor].
func (p limitedLogs) OnEmit(ctx context.Context, r *sdklog.Record) error {
	if !p.enter() {
		return nil
	}
	return p.Processor.OnEmit(ctx, r)
}
