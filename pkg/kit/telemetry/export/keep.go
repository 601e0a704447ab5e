package export

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Limits of the spans buffered until their trace ends.
const (
	maxWaiting   = 50_000 // spans in total
	maxTraceSize = 500    // spans of one trace in this process
)

// Spans of repeated requests have the number of earlier attempts; from the third attempt on, their trace is kept.
const (
	resendCount = attribute.Key("http.request.resend_count")
	keepResends = 2
)

var (
	keptTraces = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_trace_kept_total", Help: "Traces kept although they were not sampled, by reason: error, slow, attempt.",
	}, []string{"reason"})
	droppedSpans = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_trace_dropped_total", Help: "Spans dropped before the end of their trace, by reason: waiting (too many spans in total), size (too many in the trace).",
	}, []string{"reason"})
)

// recorded records the spans that its sampler drops, so that a [keeper] can decide when the trace ends.
type recorded struct{ sdktrace.Sampler }

// ShouldSample implements [sdktrace.Sampler].
func (r recorded) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	res := r.Sampler.ShouldSample(p)
	if res.Decision == sdktrace.Drop {
		res.Decision = sdktrace.RecordOnly
	}
	return res
}

// keeper does tail sampling: it passes on sampled spans immediately, and of the others keeps the traces that have an error,
// are slow or belong to a late attempt. It decides when all spans of a trace in this process have ended; other processes
// decide for their own spans.
type keeper struct {
	next sdktrace.SpanProcessor
	slow time.Duration

	mu      sync.Mutex
	open    map[trace.SpanID]*local // by the id of spans that have not ended
	waiting int                     // spans of all locals
}

// local is the part of a trace below a span that started in this process.
type local struct {
	open   int
	reason string
	ended  []sdktrace.ReadOnlySpan
}

func newKeeper(next sdktrace.SpanProcessor, slow time.Duration) *keeper {
	return &keeper{next: next, slow: slow, open: map[trace.SpanID]*local{}}
}

// OnStart implements [sdktrace.SpanProcessor].
func (k *keeper) OnStart(ctx context.Context, s sdktrace.ReadWriteSpan) {
	sc := s.SpanContext()
	if sc.IsSampled() {
		k.next.OnStart(ctx, s)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.open[s.Parent().SpanID()]
	if l == nil {
		l = &local{}
	}
	switch {
	case k.waiting >= maxWaiting:
		droppedSpans.WithLabelValues("waiting").Inc()
		return
	case l.open+len(l.ended) >= maxTraceSize:
		droppedSpans.WithLabelValues("size").Inc()
		return
	}
	l.open++
	k.waiting++
	k.open[sc.SpanID()] = l
}

// OnEnd implements [sdktrace.SpanProcessor].
func (k *keeper) OnEnd(s sdktrace.ReadOnlySpan) {
	sc := s.SpanContext()
	if sc.IsSampled() {
		k.next.OnEnd(s)
		return
	}
	for _, kept := range k.end(sc.SpanID(), s) {
		k.next.OnEnd(keptSpan{kept})
	}
}

// end records the end of a span. Once all spans of its trace have ended, it returns those to keep.
func (k *keeper) end(id trace.SpanID, s sdktrace.ReadOnlySpan) []sdktrace.ReadOnlySpan {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.open[id]
	if l == nil {
		return nil
	}
	delete(k.open, id)
	l.open--
	l.ended = append(l.ended, s)
	if l.reason == "" {
		l.reason = k.reason(s)
	}
	if l.open > 0 {
		return nil
	}
	k.waiting -= len(l.ended)
	if l.reason == "" {
		return nil
	}
	keptTraces.WithLabelValues(l.reason).Inc()
	return l.ended
}

// reason returns why the trace of a span is kept; "" if the span gives no reason.
func (k *keeper) reason(s sdktrace.ReadOnlySpan) string {
	switch {
	case s.Status().Code == codes.Error:
		return "error"
	case s.EndTime().Sub(s.StartTime()) >= k.slow:
		return "slow"
	}
	for _, a := range s.Attributes() {
		if a.Key == resendCount && a.Value.AsInt64() >= keepResends {
			return "attempt"
		}
	}
	return ""
}

// Shutdown implements [sdktrace.SpanProcessor].
func (k *keeper) Shutdown(ctx context.Context) error { return k.next.Shutdown(ctx) }

// ForceFlush implements [sdktrace.SpanProcessor].
func (k *keeper) ForceFlush(ctx context.Context) error { return k.next.ForceFlush(ctx) }

// keptSpan is a span marked as sampled for the next processor.
type keptSpan struct{ sdktrace.ReadOnlySpan }

// SpanContext implements [sdktrace.ReadOnlySpan].
func (s keptSpan) SpanContext() trace.SpanContext {
	sc := s.ReadOnlySpan.SpanContext()
	return sc.WithTraceFlags(sc.TraceFlags().WithSampled(true))
}
