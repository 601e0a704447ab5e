package transport

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// What a path holds as a secret is in no span, whether it is a route or not.
func TestSecretsInPathsAreNotTraced(t *testing.T) { //nolint:paralleltest // sets the tracer of the process
	spans := tracetest.NewInMemoryExporter()
	before := otel.GetTracerProvider()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)))
	t.Cleanup(func() { otel.SetTracerProvider(before) })
	s := New(Config{Base: "/api", Log: slog.New(slog.DiscardHandler)})
	s.SecretRoute(http.MethodGet, "/b/", "segment", func(fc *fiber.Ctx) error { return fc.SendString(fc.Params("segment")) })
	for path, status := range map[string]int{"/b/k.secret-x_1": 200, "/b/secret/more": 404, "/api/secretless": 404} {
		res, err := s.App().Test(httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil), -1)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, status, res.StatusCode, path)
	}
	require.Len(t, spans.GetSpans(), 3)
	for _, span := range spans.GetSpans() {
		for _, a := range span.Attributes {
			require.NotContains(t, a.Value.String(), "secret-x")
			require.NotContains(t, a.Value.String(), "secret/more")
		}
		require.NotContains(t, span.Name, "secret-x")
	}
}
