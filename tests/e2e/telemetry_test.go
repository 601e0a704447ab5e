package e2e

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"

	"github.com/tradegrid/tradegrid/pkg/kit/telemetry/otlptest"
	"github.com/tradegrid/tradegrid/tests/role"
)

// An order placed at one process and delivered by another is one trace at the collector, from the request to the POST at the
// receiver; what the processes log of it names that trace, and their latencies arrive as well.
func TestOneOrderIsOneTraceAtTheCollector(t *testing.T) {
	t.Parallel()
	c := otlptest.New(t)
	r := newKit(t)
	r.env = append(r.env, "TRADEGRID_OTLP_ENDPOINT="+c.URL, "TRADEGRID_OTLP_INTERVAL=200ms", "TRADEGRID_TRACE_SAMPLE=1", "TRADEGRID_LOG_SUCCESS=1", "OTEL_BSP_SCHEDULE_DELAY=100", "OTEL_BLRP_SCHEDULE_DELAY=100")
	api := r.platform()
	api.subscribe("all", "order.created")
	o := api.order(api.product())
	r.await("all", "order.created", o.ID)

	// path are the spans that lead from the POST at the receiver back to the request.
	var path []otlptest.Span
	role.Eventually(t, func() bool {
		path = pathTo(c.Spans(), r.hookURL)
		return len(path) > 0 && path[len(path)-1].Kind == "SPAN_KIND_SERVER"
	}, "the trace of the order is complete")
	first, last := path[0], path[len(path)-1]
	require.Equal(t, "POST /api/external/v1/orders", last.Name)
	require.Equal(t, "tradegrid-api", last.Service)
	require.Equal(t, "tradegrid-dispatcher", first.Service)
	require.Equal(t, last.Trace, first.Trace)

	role.Eventually(t, func() bool {
		return slices.ContainsFunc(c.Lines(), func(l otlptest.Line) bool { return l.Text == "delivery attempted" && l.Trace == last.Trace })
	}, "the line of the attempt names the trace")
	// Each process sends all of them, and the collector keeps those of the last: so what was seen once has been seen.
	missing := []string{
		"http_server_request_duration_seconds", "db_client_operation_duration_seconds",
		"tradegrid_outbox_publish_latency_seconds", "tradegrid_delivery_latency_seconds",
	}
	role.Eventually(t, func() bool {
		missing = slices.DeleteFunc(missing, func(name string) bool { return hasExemplar(c.Metrics()[name]) })
		return len(missing) == 0
	}, "the latencies of all roles arrive, with traces as examples")
}

// hasExemplar tells whether a histogram names a trace.
func hasExemplar(m *metricspb.Metric) bool {
	return slices.ContainsFunc(m.GetHistogram().GetDataPoints(), func(p *metricspb.HistogramDataPoint) bool {
		return slices.ContainsFunc(p.GetExemplars(), func(e *metricspb.Exemplar) bool { return len(e.GetTraceId()) == 16 })
	})
}

// pathTo follows parents from the POST of an order's event at the receiver; nil while it is not there.
func pathTo(spans []otlptest.Span, receiver string) (path []otlptest.Span) {
	byID := map[string]otlptest.Span{}
	for _, s := range spans {
		byID[s.ID] = s
	}
	for _, s := range spans {
		if s.Kind != "SPAN_KIND_CLIENT" || s.Attrs["app.event"] != "order.created" || s.Attrs["url.full"] != receiver+"all" {
			continue
		}
		for at, ok := s, true; ok; at, ok = byID[at.Parent] {
			path = append(path, at)
		}
		return path
	}
	return nil
}
