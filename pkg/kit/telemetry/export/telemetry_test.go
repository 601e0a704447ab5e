package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry/export"
)

func start(t *testing.T, cfg export.Config) *export.Telemetry {
	t.Helper()
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	tel, err := export.Start(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { tel.Stop(context.Background()) })
	return tel
}

type health struct {
	OK      bool              `json:"ok"`
	Reasons map[string]string `json:"reasons"`
}

func get(t *testing.T, tel *export.Telemetry, path string) (status int, body string) {
	t.Helper()
	w := httptest.NewRecorder()
	tel.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

func getHealth(t *testing.T, tel *export.Telemetry, path string) (status int, h health) {
	t.Helper()
	status, body := get(t, tel, path)
	require.NoError(t, json.Unmarshal([]byte(body), &h), body)
	return status, h
}

// /readyz names everything that is not ready, and only that; /livez is about the process alone.
func TestReadinessNamesItsReasons(t *testing.T) {
	t.Parallel()
	tel := start(t, export.Config{})
	var database, kafka error
	tel.Ready("database", func(context.Context) error { return database })
	tel.Ready("kafka", func(context.Context) error { return kafka })
	for _, tc := range []struct {
		database, kafka error
		reasons         map[string]string
	}{
		{nil, nil, nil},
		{errors.New("no route"), nil, map[string]string{"database": "no route"}},
		{nil, errors.New("no broker"), map[string]string{"kafka": "no broker"}},
		{errors.New("no route"), errors.New("no broker"), map[string]string{"database": "no route", "kafka": "no broker"}},
		{nil, nil, nil},
	} {
		database, kafka = tc.database, tc.kafka
		status, h := getHealth(t, tel, "/readyz")
		require.Equal(t, tc.reasons, h.Reasons)
		require.Equal(t, tc.reasons == nil, h.OK)
		want := http.StatusOK
		if tc.reasons != nil {
			want = http.StatusServiceUnavailable
		}
		require.Equal(t, want, status)
		status, h = getHealth(t, tel, "/livez")
		require.Equal(t, http.StatusOK, status)
		require.True(t, h.OK)
	}
}

// A check gets a deadline of its own: one that hangs is a reason, not an answer that never comes.
// Where a process has several roles, /readyz names the one whose check failed, and answers for each alone: an API does not stop taking
// requests because the dispatcher beside it has no brokers.
func TestReadinessOfOneRoleOfSeveral(t *testing.T) {
	t.Parallel()
	tel := start(t, export.Config{})
	var database error
	tel.ReadyOf("", "database", func(context.Context) error { return database })
	tel.ReadyOf("relay", "kafka", func(context.Context) error { return nil })
	tel.ReadyOf("dispatcher", "kafka", func(context.Context) error { return errors.New("away") })
	_, h := getHealth(t, tel, "/readyz")
	require.Equal(t, map[string]string{"dispatcher/kafka": "away"}, h.Reasons)
	for role, want := range map[string]int{"api": http.StatusOK, "relay": http.StatusOK, "dispatcher": http.StatusServiceUnavailable} {
		status, _ := getHealth(t, tel, "/readyz?role="+role)
		require.Equal(t, want, status, role)
	}
	database = errors.New("gone")
	_, h = getHealth(t, tel, "/readyz?role=api")
	require.Equal(t, map[string]string{"database": "gone"}, h.Reasons)
}

func TestReadinessChecksHaveADeadline(t *testing.T) {
	t.Parallel()
	tel := start(t, export.Config{})
	tel.Ready("database", func(ctx context.Context) error {
		if _, ok := ctx.Deadline(); !ok {
			return errors.New("no deadline")
		}
		return nil
	})
	status, h := getHealth(t, tel, "/readyz")
	require.Equal(t, http.StatusOK, status, h.Reasons)
}

// A process that is told to stop is not ready from then on, whatever its checks say, and answers until it has drained.
func TestStoppingIsAReason(t *testing.T) {
	t.Parallel()
	tel := start(t, export.Config{})
	ln := listen(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	drained, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- tel.ServeWhile(ctx, ln, func(context.Context) error { <-drained; return nil }) }()
	get := func(path string) (int, string) {
		resp, err := http.Get("http://" + ln.Addr().String() + path)
		if err != nil {
			return 0, err.Error()
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return 0, err.Error()
		}
		return resp.StatusCode, string(body)
	}
	status, body := get("/readyz")
	require.Equal(t, http.StatusOK, status, body)
	require.JSONEq(t, `{"ok": true}`, body)

	stop()
	require.Eventually(t, func() bool {
		status, body = get("/readyz")
		return status == http.StatusServiceUnavailable
	}, time.Minute, 5*time.Millisecond)
	require.JSONEq(t, `{"ok": false, "reasons": {"process": "is stopping"}}`, body)
	status, body = get("/livez")
	require.Equal(t, http.StatusOK, status, "a process that drains is alive: %s", body)
	close(drained)
	require.NoError(t, <-ended)
}

func TestListenerThatFailsEndsTheProcess(t *testing.T) {
	t.Parallel()
	ln := listen(t)
	err := start(t, export.Config{}).ServeWhile(t.Context(), ln, func(ctx context.Context) error {
		require.NoError(t, ln.Close())
		<-ctx.Done()
		return nil
	})
	require.ErrorContains(t, err, "serve metrics on "+ln.Addr().String())
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return ln
}

func TestMetricsAreServed(t *testing.T) {
	t.Parallel()
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "tradegrid_test_total", Help: "test"})
	counter.Add(3)
	tel := start(t, export.Config{Metrics: []prometheus.Collector{counter}})
	late := prometheus.NewGauge(prometheus.GaugeOpts{Name: "tradegrid_test_late", Help: "test"})
	require.NoError(t, tel.Register(late))
	status, body := get(t, tel, "/metrics")
	require.Equal(t, http.StatusOK, status)
	for _, want := range []string{"tradegrid_test_total 3", "tradegrid_test_late 0", "go_goroutines", "process_open_fds"} {
		require.Contains(t, body, want)
	}
	require.ErrorContains(t, tel.Register(late), "register metrics")
	_, err := export.Start(t.Context(), export.Config{Metrics: []prometheus.Collector{counter, counter}, Log: slog.New(slog.DiscardHandler)})
	require.ErrorContains(t, err, "register metrics", "two metrics of one name are a wiring mistake")
}

func TestOtherPathsAndMethodsAreRefused(t *testing.T) {
	t.Parallel()
	tel := start(t, export.Config{})
	status, _ := get(t, tel, "/")
	require.Equal(t, http.StatusNotFound, status)
	w := httptest.NewRecorder()
	tel.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/readyz", nil))
	require.Equal(t, http.StatusMethodNotAllowed, w.Code)
}

func TestWrongEndpointNamesTheFlag(t *testing.T) {
	t.Parallel()
	for _, endpoint := range []string{"://nowhere", "collector", "collector:4318", "grpc://collector:4317", "http://", "http://a b"} {
		_, err := export.Start(t.Context(), export.Config{Endpoint: endpoint, Log: slog.New(slog.DiscardHandler)})
		require.ErrorContains(t, err, "--otlp-endpoint", endpoint)
	}
}

// lines is a log that several goroutines write.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Without a collector spans end up in the debug log, and the share to keep decides only about traces that start here.
func TestSpansInTheDebugLog(t *testing.T) {
	t.Parallel()
	for sample, kept := range map[float64]bool{0: false, 1: true} {
		log := &lines{}
		tel := start(t, export.Config{Sample: sample, Log: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		tracer := tel.Provider.Tracer("test")
		ctx, root := tracer.Start(t.Context(), "root")
		_, child := tracer.Start(ctx, "child")
		child.End()
		root.End()
		remote := propagation.TraceContext{}.Extract(t.Context(), propagation.MapCarrier{
			"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		})
		_, kin := tracer.Start(remote, "kin")
		kin.End()
		tel.Stop(t.Context())
		require.Equal(t, kept, bytes.Contains([]byte(log.String()), []byte(`"name":"root"`)))
		require.Equal(t, kept, bytes.Contains([]byte(log.String()), []byte(`"name":"child"`)))
		require.Contains(t, log.String(), `"trace_id":"0af7651916cd43dd8448eb211c80319c"`)
	}
}

// Periodic work belongs to no trace, and its log lines show none.
func TestLogsOfUntracedWorkShowNoIDs(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(telemetry.Handler(slog.NewTextHandler(&out, nil), slog.LevelInfo))
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.AlwaysSample()))).Tracer("test")
	log.InfoContext(telemetry.Untraced(t.Context()), "of the work itself")
	ctx, span := tracer.Start(telemetry.Untraced(t.Context()), "statement")
	log.InfoContext(ctx, "of a part")
	span.End()
	require.NotContains(t, out.String(), "trace_id")
	ctx, span = tracer.Start(t.Context(), "request")
	log.InfoContext(ctx, "of a request")
	span.End()
	require.Contains(t, out.String(), "trace_id="+span.SpanContext().TraceID().String())
}
