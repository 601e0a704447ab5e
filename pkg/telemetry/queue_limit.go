package telemetry

import (
	"context"
	"sync/atomic"

	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// maxQueued bounds the spans, and the log lines, that wait to be sent or are under way.
const maxQueued = 2048

// room is the room in the queue of a signal. The queues of OpenTelemetry drop what finds them full and tell nobody, so it
// is turned away and counted before them.
type room struct {
	signal string
	taken  atomic.Int64
}

// enter takes a place, or counts a loss.
func (r *room) enter() bool {
	if r.taken.Add(1) <= maxQueued {
		return true
	}
	r.taken.Add(-1)
	lost.WithLabelValues(r.signal).Inc()
	return false
}

// left counts what the collector did not take of n that had a place, and gives the places back.
func (r *room) left(err error, n int) error {
	r.taken.Add(-int64(n))
	return count(err, r.signal, n)
}

// roomySpans hands on what has room.
type roomySpans struct {
	sdktrace.SpanProcessor
	*room
}

// OnEnd implements [sdktrace.SpanProcessor].
func (p roomySpans) OnEnd(s sdktrace.ReadOnlySpan) {
	if s.SpanContext().IsSampled() && p.enter() {
		p.SpanProcessor.OnEnd(s)
	}
}

// roomyLogs hands on what has room.
type roomyLogs struct {
	sdklog.Processor
	*room
}

// OnEmit implements [sdklog.Processor].
func (p roomyLogs) OnEmit(ctx context.Context, r *sdklog.Record) error {
	if !p.enter() {
		return nil
	}
	return p.Processor.OnEmit(ctx, r)
}
