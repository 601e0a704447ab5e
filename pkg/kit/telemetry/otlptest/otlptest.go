// Package otlptest is a collector for tests: it takes traces, metrics and logs as OTLP over HTTP, as a real one does, and
// keeps them to be looked at.
package otlptest

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	logspb "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	datapb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"
)

// Span is what tests look at of a span; ids are hexadecimal.
type Span struct {
	Name, Service, Trace, ID, Parent string
	Kind                             string // such as SPAN_KIND_SERVER
	Attrs                            map[string]string
}

// Line is one line of a log.
type Line struct {
	Service, Text, Severity, Trace string
	Attrs                          map[string]string
}

// Collector takes OTLP over HTTP. Its URL is the endpoint.
type Collector struct {
	*httptest.Server
	t testing.TB

	mu       sync.Mutex
	spans    []Span
	lines    []Line
	metrics  map[string]*datapb.Metric
	resource map[string]string
}

// New starts a collector for the time of a test.
func New(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{t: t, metrics: map[string]*datapb.Metric{}, resource: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", take(c, func() *tracepb.ExportTraceServiceRequest { return &tracepb.ExportTraceServiceRequest{} }, c.traced))
	mux.HandleFunc("POST /v1/metrics", take(c, func() *metricspb.ExportMetricsServiceRequest { return &metricspb.ExportMetricsServiceRequest{} }, c.measured))
	mux.HandleFunc("POST /v1/logs", take(c, func() *logspb.ExportLogsServiceRequest { return &logspb.ExportLogsServiceRequest{} }, c.logged))
	c.Server = httptest.NewServer(mux)
	t.Cleanup(c.Close)
	return c
}

// Spans are all that arrived, in that order.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Lines are all that arrived, in that order.
func (c *Collector) Lines() []Line {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.lines)
}

// Metrics are the last that arrived, by name.
func (c *Collector) Metrics() map[string]*datapb.Metric {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.metrics)
}

// Resource tells who sent the last spans.
func (c *Collector) Resource() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.resource)
}

func take[M proto.Message](c *Collector, empty func() M, keep func(M)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest) // a process that ends breaks off
			return
		}
		if r.Header.Get("Content-Encoding") == "gzip" {
			if raw, err = unzip(raw); err != nil {
				c.t.Error(err)
				return
			}
		}
		m := empty()
		if err := proto.Unmarshal(raw, m); err != nil {
			c.t.Error(err)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		keep(m)
	}
}

func unzip(raw []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("unzip: %w", err)
	}
	return io.ReadAll(z)
}

func (c *Collector) traced(m *tracepb.ExportTraceServiceRequest) {
	for _, rs := range m.GetResourceSpans() {
		c.resource = texts(rs.GetResource().GetAttributes())
		for _, ss := range rs.GetScopeSpans() {
			for _, s := range ss.GetSpans() {
				c.spans = append(c.spans, Span{
					Name: s.GetName(), Service: c.resource["service.name"], Trace: hex.EncodeToString(s.GetTraceId()), ID: hex.EncodeToString(s.GetSpanId()),
					Parent: hex.EncodeToString(s.GetParentSpanId()), Kind: s.GetKind().String(), Attrs: texts(s.GetAttributes()),
				})
			}
		}
	}
}

func (c *Collector) measured(m *metricspb.ExportMetricsServiceRequest) {
	for _, rm := range m.GetResourceMetrics() {
		for _, sm := range rm.GetScopeMetrics() {
			for _, m := range sm.GetMetrics() {
				c.metrics[m.GetName()] = m
			}
		}
	}
}

func (c *Collector) logged(m *logspb.ExportLogsServiceRequest) {
	for _, rl := range m.GetResourceLogs() {
		service := texts(rl.GetResource().GetAttributes())["service.name"]
		for _, sl := range rl.GetScopeLogs() {
			for _, r := range sl.GetLogRecords() {
				c.lines = append(c.lines, Line{
					Service: service, Text: r.GetBody().GetStringValue(), Severity: r.GetSeverityText(), Trace: hex.EncodeToString(r.GetTraceId()), Attrs: texts(r.GetAttributes()),
				})
			}
		}
	}
}

// texts are the attributes that are texts.
func texts(attrs []*commonpb.KeyValue) map[string]string {
	all := map[string]string{}
	for _, a := range attrs {
		all[a.GetKey()] = a.GetValue().GetStringValue()
	}
	return all
}
