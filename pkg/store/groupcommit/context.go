package groupcommit

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// txTimeout is that of one transaction, retries included.
const txTimeout = 25 * time.Second

var groupCommitSize = prometheus.NewHistogram(prometheus.HistogramOpts{
	Name: "tradegrid_group_commit_size", Help: "Records that one transaction stored, or tried to store.",
	Buckets: []float64{1, 2, 4, 8, 16, 32, 64},
})

// Metrics are the collectors of this package, to be registered once per process.
func Metrics() []prometheus.Collector { return []prometheus.Collector{groupCommitSize} }

// context makes the context of a transaction, independent of those of the members, so that one cannot cancel the others.
// It links the spans of the members and of the batch.
func (g *Group[M]) context(batch []*Member[M]) (context.Context, func()) {
	if len(batch) == 1 {
		return context.WithTimeout(context.WithoutCancel(batch[0].Ctx), txTimeout)
	}
	links := make([]trace.Link, len(batch))
	for i, m := range batch {
		links[i] = trace.LinkFromContext(m.Ctx)
	}
	about := []attribute.KeyValue{attribute.Int("tradegrid.group_commit.size", len(batch))}
	if !Several(batch) {
		about = append(about, attribute.String("app.company.id", batch[0].Key.Company.String()))
	}
	ctx, cancel := context.WithTimeout(context.Background(), txTimeout)
	if !Several(batch) {
		ctx = tenant.With(ctx, batch[0].Key.Company)
	}
	ctx, span := otel.Tracer("tradegrid/groupcommit").Start(ctx, "group commit "+batch[0].Key.Kind, trace.WithLinks(links...), trace.WithAttributes(about...))
	for _, m := range batch {
		trace.SpanFromContext(m.Ctx).AddLink(trace.Link{SpanContext: span.SpanContext()})
	}
	return ctx, func() {
		span.End()
		cancel()
	}
}
