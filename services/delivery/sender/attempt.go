package sender

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/services/delivery/egress"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// attempted is the result of one request to a receiver.
type attempted struct {
	at         time.Time
	took       time.Duration
	status     int // 0 without a response
	body       []byte
	retryAfter string
	err        string // empty for 2xx
	kind       string // error.type of the span
	aborted    bool   // by this process
	trace      trace.SpanContext
}

func (a *attempted) cause() cause {
	if a.status != 0 {
		return answered
	}
	return unanswered
}

// attempt sends the body once, signed with the current secret.
func (s *Sender) attempt(ctx context.Context, j *job, r *receiver) *attempted {
	m := j.msg
	ctx, span := s.startSpan(ctx, m, r)
	a := &attempted{at: s.now(), trace: span.SpanContext()}
	s.sched.begin(j, a.at)
	deliveryInflight.Inc()
	client, err := j.queue.client.get(r, s.egress)
	if err = errors.Join(r.faulty, err); err != nil {
		a.err, a.kind = "no request can be made: "+err.Error(), "subscription"
	} else {
		s.post(ctx, client, m, r, a)
	}
	deliveryInflight.Dec()
	a.took = max(s.now().Sub(a.at), time.Nanosecond)
	endSpan(span, a)
	return a
}

func (s *Sender) post(ctx context.Context, client *egress.Client, m *webhook.Message, r *receiver, a *attempted) {
	header := make(http.Header, 16+len(r.headers))
	maps.Copy(header, r.headers)
	r.signerAt(a.at).Sign(header, webhook.Attempt{
		Event: m.Event, EventID: m.EventID.String(), DeliveryID: m.DeliveryID.String(),
		WebhookID: m.SubscriptionID.String(), Number: m.Attempt, At: a.at,
	}, m.Body)
	if s.cfg.PropagateTrace {
		propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(header))
	}
	answer, err := client.Post(ctx, r.URL, header, m.Body)
	a.body, a.retryAfter = answer.Body, answer.RetryAfter
	var failure *egress.Error
	switch {
	case errors.As(err, &failure):
		a.err, a.kind = failure.Message, string(failure.Kind)
	case err != nil:
		a.aborted, a.err, a.kind = true, err.Error(), "aborted"
	default:
		a.status = answer.Status
		if a.status < 200 || a.status > 299 {
			a.err, a.kind = fmt.Sprintf("the receiver answered %d", a.status), strconv.Itoa(a.status)
		}
	}
}

// startSpan continues the trace of the change for the first attempt. A later attempt gets a trace of its own with a link,
// so that traces stay short.
func (s *Sender) startSpan(ctx context.Context, m *webhook.Message, r *receiver) (context.Context, trace.Span) {
	creation := creationContext(m)
	opts := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient)}
	if m.Attempt == 1 && m.Postponements == 0 {
		ctx = trace.ContextWithRemoteSpanContext(ctx, creation)
	} else {
		opts = append(opts, trace.WithNewRoot(), trace.WithLinks(trace.Link{SpanContext: creation}))
	}
	ctx, span := s.tracer.Start(ctx, http.MethodPost, opts...)
	if span.IsRecording() {
		span.SetAttributes(
			attribute.String("http.request.method", http.MethodPost), attribute.String("server.address", r.URL.Hostname()),
			attribute.String("url.full", r.URL.Scheme+"://"+r.URL.Host+r.URL.Path), attribute.Int("http.request.resend_count", m.Attempt-1),
			attribute.String("messaging.system", "kafka"), attribute.String("messaging.message.id", m.DeliveryID.String()),
			attribute.String("app.company.id", m.Company.String()), attribute.String("app.subscription.id", m.SubscriptionID.String()),
			attribute.String("app.event", m.Event),
		)
	}
	return ctx, span
}

func creationContext(m *webhook.Message) trace.SpanContext {
	if m.TraceParent == "" {
		return trace.SpanContext{}
	}
	carrier := propagation.MapCarrier{"traceparent": m.TraceParent, "tracestate": m.TraceState}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
}

func endSpan(span trace.Span, a *attempted) {
	if a.status != 0 {
		span.SetAttributes(attribute.Int("http.response.status_code", a.status))
	}
	if a.err != "" {
		span.SetAttributes(attribute.String("error.type", a.kind))
		span.SetStatus(codes.Error, a.err)
	}
	span.End()
}

// tier tells deliveries that were postponed, or whose circuit breaker was open or whose receiver was down since the commit, from
// the others: their delay is not this platform's, and the objectives leave them out.
func (j *job) tier() string {
	if j.msg.Postponements == 0 && j.queue.breaker.closedSince(j.msg.CommittedAt) {
		return store.TierHealthy
	}
	return store.TierBlocked
}

// observeLatency records times since the commit of the change.
func observeLatency(ctx context.Context, j *job, a *attempted, succeeded bool) {
	which, tier := "later", j.tier()
	if j.msg.Attempt == 1 {
		which = "first"
		if tier == store.TierHealthy {
			telemetry.Observe(ctx, firstAttempt, max(a.at.Sub(j.msg.CommittedAt), 0).Seconds())
		}
	}
	if succeeded {
		telemetry.Observe(ctx, deliveryLatency.WithLabelValues(which, tier), a.at.Add(a.took).Sub(j.msg.CommittedAt).Seconds())
	}
}

// observe counts and logs an attempt.
func (s *Sender) observe(ctx context.Context, j *job, r *receiver, a *attempted, d decision) {
	ctx = trace.ContextWithSpanContext(ctx, a.trace) // the log line and the exemplars belong to the attempt
	m, result := j.msg, "retry"
	switch d.outcome {
	case success:
		result = "success"
	case deadLetter:
		result = "failed"
	case retry, postpone, holdInDatabase, holdLast:
	}
	deliveryTotal.WithLabelValues(result, strconv.Itoa(m.Attempt)).Inc()
	s.counts.add(d.outcome)
	end := a.at.Add(a.took)
	if !m.CommittedAt.IsZero() {
		observeLatency(ctx, j, a, d.outcome == success)
	}
	if !s.log.Enabled(ctx, slog.LevelInfo) || d.outcome == success && !s.logSuccess() {
		return
	}
	attrs := []slog.Attr{
		slog.String("company_id", m.Company.String()), slog.String("subscription_id", m.SubscriptionID.String()),
		slog.String("delivery_id", m.DeliveryID.String()), slog.String("event_id", m.EventID.String()), slog.String("event", m.Event),
		slog.Int("attempt", m.Attempt), slog.String("result", result), slog.String("host", r.URL.Host), slog.Int("http_code", a.status),
		slog.Int64("duration_ms", a.took.Milliseconds()), slog.Int64("next_in_ms", d.wait.Milliseconds()), slog.String("error", a.err),
	}
	if !m.CommittedAt.IsZero() {
		attrs = append(attrs, slog.Int64("age_ms", end.Sub(m.CommittedAt).Milliseconds()))
	}
	s.log.LogAttrs(ctx, slog.LevelInfo, "delivery attempted", attrs...)
}

// logSuccess reports whether a success is in the sample that is logged. Failed attempts are always logged.
func (s *Sender) logSuccess() bool {
	return s.cfg.LogSuccess <= 1 || rand.N(s.cfg.LogSuccess) == 0 || s.log.Enabled(s.work, slog.LevelDebug)
}
