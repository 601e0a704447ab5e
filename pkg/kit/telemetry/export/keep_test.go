package export

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// kept runs work in a provider whose share is nothing, and lists the spans that were kept all the same.
func kept(t *testing.T, share float64, work func(trace.Tracer)) (names []string) {
	t.Helper()
	out := tracetest.NewInMemoryExporter()
	k := newKeeper(sdktrace.NewBatchSpanProcessor(out), time.Second)
	p := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(k), sdktrace.WithSampler(recorded{sdktrace.ParentBased(newShareSampler(share))}))
	work(p.Tracer("test"))
	require.NoError(t, p.ForceFlush(t.Context()))
	for _, s := range out.GetSpans() {
		require.True(t, s.SpanContext.IsSampled())
		names = append(names, s.Name)
	}
	require.Empty(t, k.open, "nothing waits for what has ended")
	require.Zero(t, k.waiting)
	slices.Sort(names)
	return names
}

// family makes a span with a child, to which end is done.
func family(ctx context.Context, tracer trace.Tracer, end func(trace.Span)) {
	ctx, root := tracer.Start(ctx, "root")
	_, child := tracer.Start(ctx, "child")
	end(child)
	child.End()
	root.End()
}

func TestWorthwhileTracesAreKept(t *testing.T) {
	t.Parallel()
	remote := propagation.TraceContext{}.Extract(t.Context(), propagation.MapCarrier{
		"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
	})
	both := []string{"child", "root"}
	for name, tc := range map[string]struct {
		share float64
		ctx   context.Context
		end   func(trace.Span)
		want  []string
	}{
		"plain":                 {end: func(trace.Span) {}},
		"in the share":          {share: 1, end: func(trace.Span) {}, want: both},
		"with an error":         {end: func(s trace.Span) { s.SetStatus(codes.Error, "no") }, want: both},
		"with an error, remote": {ctx: remote, end: func(s trace.Span) { s.SetStatus(codes.Error, "no") }, want: both},
		"second attempt":        {end: func(s trace.Span) { s.SetAttributes(attribute.Int("http.request.resend_count", 1)) }},
		"third attempt":         {end: func(s trace.Span) { s.SetAttributes(attribute.Int("http.request.resend_count", 2)) }, want: both},
		"a recorded error":      {end: func(s trace.Span) { s.RecordError(errors.New("seen")) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := tc.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			require.Equal(t, tc.want, kept(t, tc.share, func(tracer trace.Tracer) { family(ctx, tracer, tc.end) }))
		})
	}
}

func TestSlowTracesAreKept(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration][]string{time.Second - 1: nil, time.Second: {"root"}} {
		require.Equal(t, want, kept(t, 0, func(tracer trace.Tracer) {
			start := time.Now()
			_, s := tracer.Start(t.Context(), "root", trace.WithTimestamp(start))
			s.End(trace.WithTimestamp(start.Add(took)))
		}))
	}
}

// What outlives its parent is still part of the trace.
func TestLateSpansAreWaitedFor(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"late", "root"}, kept(t, 0, func(tracer trace.Tracer) {
		ctx, root := tracer.Start(t.Context(), "root")
		_, late := tracer.Start(ctx, "late")
		root.SetStatus(codes.Error, "no")
		root.End()
		late.End()
	}))
}

// A trace without end takes no more memory than its bound.
func TestLargeTracesAreCut(t *testing.T) {
	t.Parallel()
	names := kept(t, 0, func(tracer trace.Tracer) {
		ctx, root := tracer.Start(t.Context(), "root")
		for i := range 3 * maxTraceSize {
			_, s := tracer.Start(ctx, fmt.Sprintf("s%d", i))
			s.End()
		}
		root.SetStatus(codes.Error, "no")
		root.End()
	})
	require.Len(t, names, maxTraceSize)
}

// sink takes spans as a batch processor does, without sending them.
type sink struct{ n atomic.Int64 }

func (s *sink) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	s.n.Add(int64(len(spans)))
	return nil
}
func (*sink) Shutdown(context.Context) error { return nil }

// BenchmarkKeep compares traces of eight spans with and without the rule that keeps the worthwhile ones.
func BenchmarkKeep(b *testing.B) {
	run := func(b *testing.B, t *Telemetry) {
		tracer := t.Provider.Tracer("bench")
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				ctx, root := tracer.Start(context.Background(), "root", trace.WithAttributes(attribute.String("http.request.method", "POST")))
				for range 7 {
					_, s := tracer.Start(ctx, "child")
					s.SetAttributes(attribute.String("db.operation.name", "INSERT"), attribute.Int("n", 1))
					s.End()
				}
				root.End()
			}
		})
	}
	for name, slow := range map[string]time.Duration{"share": 0, "share and rule": time.Second} {
		b.Run(name, func(b *testing.B) {
			t := &Telemetry{sample: newShareSampler(0.05)}
			sampler, proc := sdktrace.ParentBased(t.sample), sdktrace.NewBatchSpanProcessor(&sink{})
			if slow > 0 {
				sampler, proc = recorded{sampler}, newKeeper(proc, slow)
			}
			t.Provider = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(proc), sdktrace.WithSampler(sampler))
			run(b, t)
		})
	}
}
