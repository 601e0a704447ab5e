package transport

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
)

// Headers of every response.
const (
	HeaderRequestID = "X-Request-Id"
	HeaderRelease   = "X-Api-Release"
)

var validRequestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// middleware gives every request an ID, a span and metrics, rejects requests that match no route, and responds even if
// the handler panics.
func (s *Server) middleware(fc *fiber.Ctx) (err error) {
	start := time.Now()
	s.identify(fc)
	ctx, span := begin(propagation.TraceContext{}.Extract(contextOf(fc), headerCarrier{fc}), fc.Method(), s.shown(fc.Path()))
	defer span.End()
	fc.SetUserContext(telemetry.WithRequest(ctx, RequestID(fc)))
	defer func() {
		if p := recover(); p != nil {
			s.Fail(fc, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
		took := time.Since(start)
		measure(fc.UserContext(), span, incomingOf(fc).method, fc.Route().Path, fc.Response().StatusCode(), took)
		if s.cfg.Answered != nil {
			s.cfg.Answered(fc, start, took)
		}
	}()
	if refused := s.refuse(fc, incomingOf(fc)); refused != nil {
		s.Fail(fc, refused)
		return nil
	}
	if err := fc.Next(); err != nil {
		return s.routeError(fc, err)
	}
	return nil
}

// begin begins the span of a request.
func begin(ctx context.Context, method, path string) (context.Context, trace.Span) {
	return otel.Tracer("tradegrid/httpapi").Start(ctx, method, trace.WithSpanKind(trace.SpanKindServer), //nolint:spancheck // callers end it
		trace.WithAttributes(attribute.String("http.request.method", method), attribute.String("url.path", path)))
}

// identify sets the headers of every response.
func (s *Server) identify(fc *fiber.Ctx) {
	id := fc.Get(HeaderRequestID)
	if !validRequestID.MatchString(id) {
		id = uuid.Must(uuid.NewV7()).String()
	}
	fc.Set(HeaderRequestID, id)
	fc.Set(HeaderRelease, s.cfg.Release)
	fc.Set(fiber.HeaderXContentTypeOptions, "nosniff")
}

// RequestID is the id of a request, which its response carries.
func RequestID(fc *fiber.Ctx) string { return string(fc.Response().Header.Peek(HeaderRequestID)) }

// measure records the outcome of the request.
func measure(ctx context.Context, span trace.Span, method, route string, status int, took time.Duration) {
	if !slices.Contains(fiber.DefaultMethods, method) {
		method = "_OTHER" // bounds the label: clients can send any method
	}
	span.SetName(method + " " + route)
	span.SetAttributes(attribute.String("http.route", route), attribute.Int("http.response.status_code", status))
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, http.StatusText(status))
	}
	telemetry.Observe(ctx, requestDuration.WithLabelValues(method, route, strconv.Itoa(status)), took.Seconds())
}

// headerCarrier lets the propagator read the headers of a request.
type headerCarrier struct{ fc *fiber.Ctx }

func (c headerCarrier) Get(key string) string { return c.fc.Get(key) }
func (c headerCarrier) Set(string, string)    {}
func (c headerCarrier) Keys() []string        { return nil }
