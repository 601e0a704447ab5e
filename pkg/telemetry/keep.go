package telemetry

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

// Bounds of what waits for the end of its trace.
const (
	maxWaiting   = 50_000 // spans in all
	maxTraceSize = 500    // spans of one trace in this process
)

// A request that was sent in vain before says how often; from the third attempt on its trace is kept.
const (
	resendCount = attribute.Key("http.request.resend_count")
	keepResends = 2
)

var (
	keptTraces = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_trace_kept_total", Help: "Traces kept though they were not in the share, by reason: error, slow, attempt.",
	}, []string{"reason"})
	droppedSpans = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_trace_dropped_total", Help: "Spans that could not wait for the end of their trace, by reason: waiting (too many in all), size (too many of the trace).",
	}, []string{"reason"})
)

// recorded records what its sampler leaves out, so that a [keeper] can decide at the end.
type recorded struct{ sdktrace.Sampler }

// ShouldSample implements [sdktrace.Sampler].
func (r recorded) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	res := r.Sampler.ShouldSample(p)
	if res.Decision == sdktrace.Drop {
		res.Decision = sdktrace.RecordOnly
	}
	return res
}

// keeper hands on what is sampled at once. Of the rest it keeps the traces that are worth a look: with an error, slow, or of
// a late attempt. It decides when all spans of a trace that began in this process have ended; other processes decide for theirs.
type keeper struct {
	next sdktrace.SpanProcessor
	slow time.Duration

	mu      sync.Mutex
	open    map[trace.SpanID]*local // of spans that have not ended
	waiting int                     // spans of all locals
}

// local is the part of a trace below a span that began here.
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

// end books the end of a span and returns what is to be kept, once all of its trace has ended.
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

// reason tells why a span is worth its trace; "" if it is not.
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

// keptSpan counts as sampled for those behind.
type keptSpan struct{ sdktrace.ReadOnlySpan }

// SpanContext implements [sdktrace.ReadOnlySpan].
func (s keptSpan) SpanContext() trace.SpanContext {
	sc := s.ReadOnlySpan.SpanContext()
	return sc.WithTraceFlags(sc.TraceFlags().WithSampled(true))
}
