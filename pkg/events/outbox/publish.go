package outbox

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/compress"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/topics"
)

var (
	errAbandoned = errors.New("relay stopped before Kafka responded")
	errLeaseOver = errors.New("lease expired before the batch was sent")
	errHeldBack  = errors.New("held back because an earlier row of the batch failed")
)

// legalTopic matches the topic names that Kafka accepts.
var legalTopic = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)

// batch is the outcome of publishing rows of one bucket.
type batch struct {
	p         *part
	decided   []row       // those that Kafka accepted or rejected, by position
	poison    []poisonRow // the rejected ones among them
	bytes     int         // that they store
	firstOpen int64       // position of the first row that was neither; 0 = none
	failure   error       // why
}

type poisonRow struct {
	row
	reason error
}

// deadPayload is what operators find in outbox_dead: the payload in clear if it can be read.
func (p *poisonRow) deadPayload() []byte {
	if p.corrupt != nil {
		return p.Stored
	}
	return p.Payload
}

// publication is the sending of the rows of one bucket.
type publication struct {
	view *view
	ctx  context.Context // of the span
	span trace.Span
	stop context.CancelFunc
	errs []error       // one per row
	done chan struct{} // closed once each row has its result
	over time.Time     // when that was
}

// publish starts to send the rows of a bucket, in order. The caller waits for the end and calls [Relay.result], which also
// ends the span.
func (r *Relay) publish(ctx context.Context, v *view) (*publication, error) {
	if !r.stillOwned(v.p) {
		return nil, errLeaseOver
	}
	if err := r.cfg.inject.At(ctx, beforeProduce); err != nil {
		return nil, err
	}
	ctx, span := startSend(ctx, v.rows)
	pub := &publication{view: v, ctx: ctx, span: span, errs: make([]error, len(v.rows)), done: make(chan struct{})}
	ctx, pub.stop = context.WithTimeout(ctx, r.cfg.PublishTimeout)
	r.produce(ctx, pub)
	return pub, nil
}

// result sorts the rows of a publication that is done. An error means that their outcome is unknown; they are published again.
func (r *Relay) result(pub *publication) (*batch, error) {
	defer pub.span.End()
	defer pub.stop()
	if err := r.cfg.inject.At(pub.ctx, afterAck); err != nil {
		return nil, err
	}
	b := r.sort(pub.ctx, pub)
	if b.failure != nil {
		pub.span.SetStatus(codes.Error, b.failure.Error())
	}
	return b, nil
}

// abandon gives up a publication whose outcome is unknown.
func (pub *publication) abandon(err error) {
	pub.span.SetStatus(codes.Error, err.Error())
	pub.span.End()
	pub.stop()
}

func (r *Relay) stillOwned(p *part) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return p.usable(time.Now())
}

// produce sends the rows of a publication. After the first retriable failure it sends no later rows, because they could
// overtake the failed one.
func (r *Relay) produce(ctx context.Context, pub *publication) {
	var open atomic.Int64 // rows without a result, and this loop
	open.Store(1)
	end := func() {
		if open.Add(-1) == 0 {
			pub.over = time.Now()
			close(pub.done)
		}
	}
	defer end()
	partitions := r.partitionsOf(pub.view.p)
	var failed atomic.Bool
	for i := range pub.view.rows {
		m := &pub.view.rows[i]
		if failed.Load() {
			pub.errs[i] = errHeldBack
			continue
		}
		if pub.errs[i] = m.unsendable(partitions); pub.errs[i] != nil {
			failed.Store(!isPoison(pub.errs[i]))
			continue
		}
		open.Add(1)
		r.client.Produce(ctx, r.kafkaRecord(m, partitions), func(_ *kgo.Record, err error) {
			pub.errs[i] = err
			if err != nil && !isPoison(err) {
				failed.Store(true)
			}
			end()
		})
	}
}

// sort groups the rows by Kafka's response.
func (r *Relay) sort(ctx context.Context, pub *publication) *batch {
	v, rows := pub.view, pub.view.rows
	b := &batch{p: v.p, decided: make([]row, 0, len(rows))}
	open := 0
	for i, err := range pub.errs {
		at := pub.over
		if err != nil && isPoison(err) {
			// Kafka rejects whole batches, so send the row alone to find out whether it is the cause.
			err = r.produceAlone(ctx, v.p, &rows[i])
			at = time.Now()
		}
		switch {
		case err == nil:
			b.decide(rows[i], at)
			publishedRows.WithLabelValues(rows[i].Topic).Inc()
			telemetry.Observe(rows[i].origin(ctx), publishLatency, max(at.Sub(rows[i].CreatedAt), 0).Seconds())
		case isPoison(err):
			b.decide(rows[i], at)
			b.poison = append(b.poison, poisonRow{rows[i], err})
		default:
			if open++; open == 1 {
				b.firstOpen = rows[i].Pos
				b.failure = err
			}
			publishFailures.WithLabelValues(rows[i].Topic).Inc()
		}
	}
	batchSize.Observe(float64(len(rows)))
	if b.failure != nil {
		r.client.ForceMetadataRefresh() // it may not know partitions that another relay found
		b.failure = fmt.Errorf("publish %d of %d rows, the first to topic %s: %w", open, len(rows), topicAt(rows, b.firstOpen), b.failure)
	}
	return b
}

// decide adds a row that Kafka answered at a time. Its payload is needed no more.
func (b *batch) decide(m row, at time.Time) {
	m.Payload, m.answered = nil, at
	b.decided, b.bytes = append(b.decided, m), b.bytes+len(m.Stored)
}

func (r *Relay) produceAlone(ctx context.Context, p *part, m *row) error {
	partitions := r.partitionsOf(p)
	if err := m.unsendable(partitions); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, r.cfg.PublishTimeout)
	defer cancel()
	return r.client.ProduceSync(ctx, r.kafkaRecord(m, partitions)).FirstErr()
}

// unsendable is why Kafka need not be asked about a row; nil = it must be.
func (m *row) unsendable(partitions int32) error {
	switch {
	case errors.Is(m.corrupt, compress.ErrNewer):
		return m.corrupt // not poison: a relay of the later release publishes it
	case m.corrupt != nil:
		return errors.Join(kerr.InvalidRecord, m.corrupt)
	case !legalTopic.MatchString(m.Topic):
		return kerr.InvalidTopicException // brokers report it like a missing topic
	case m.Topic == topics.Events && partitions == 0:
		return errUnplaced
	}
	return nil
}

func topicAt(rows []row, pos int64) string {
	for i := range rows {
		if rows[i].Pos == pos {
			return rows[i].Topic
		}
	}
	return ""
}

// isPoison reports whether Kafka will never accept the record. Missing topics and missing permissions do not
// count: once an operator has fixed them, the rows are published.
func isPoison(err error) bool {
	for _, never := range []error{
		kerr.MessageTooLarge, kerr.RecordListTooLarge, kerr.InvalidTopicException, kerr.InvalidRecord,
		kerr.InvalidTimestamp, kerr.PolicyViolation, kerr.UnsupportedForMessageFormat,
	} {
		if errors.Is(err, never) {
			return true
		}
	}
	return false
}

// kafkaRecord converts a row to a record, with the trace context of the request that made the change. Events are spread over that
// many partitions.
func (r *Relay) kafkaRecord(m *row, partitions int32) *kgo.Record {
	h := kafka.NewHeaders(13, 3*36+4*20+2*12+len(m.Event)+len(m.AggType)+len(m.Traceparent)+len(m.Tracestate))
	h.UUID("ce_id", m.ID)
	h.Text("ce_type", m.Event)
	h.Text("ce_source", "tradegrid")
	h.UUID("companyid", uuid.UUID(m.Company))
	h.Text("agg_type", m.AggType)
	h.UUID("agg_id", m.AggID)
	h.Int("version", m.AggVersion)
	h.Int("pos", m.Pos)
	h.Text("schema", "1")
	if m.Traceparent != "" {
		h.Text("traceparent", m.Traceparent)
	}
	if m.Tracestate != "" {
		h.Text("tracestate", m.Tracestate)
	}
	h.Int("committed_at", m.CreatedAt.UnixMicro())
	if r.cfg.Stamp.Header != "" {
		h.Int(r.cfg.Stamp.Header, m.Stamp)
	}
	rec := &kgo.Record{Topic: m.Topic, Key: []byte(m.Key), Headers: h.List()}
	if m.Topic == topics.Events {
		rec.Partition = kafka.PartitionOf(rec.Key, partitions)
	}
	if len(m.Payload) > 0 { // otherwise a tombstone
		rec.Value = m.Payload
	}
	return rec
}

// startSend starts the span of a batch, with a link to each request whose changes it contains.
func startSend(ctx context.Context, rows []row) (context.Context, trace.Span) {
	ctx, span := otel.Tracer("tradegrid/outbox").Start(ctx, "send "+rows[0].Topic, trace.WithSpanKind(trace.SpanKindProducer))
	if !span.IsRecording() {
		return ctx, span
	}
	span.SetAttributes(
		attribute.String("messaging.system", "kafka"),
		attribute.String("messaging.operation.name", "send"),
		attribute.String("messaging.operation.type", "send"),
		attribute.String("messaging.destination.name", rows[0].Topic),
		attribute.Int("messaging.batch.message_count", len(rows)),
	)
	for i := range rows {
		if creation := trace.SpanContextFromContext(rows[i].origin(ctx)); creation.IsRemote() {
			span.AddLink(trace.Link{SpanContext: creation, Attributes: []attribute.KeyValue{
				attribute.String("messaging.message.id", rows[i].ID.String()),
			}})
		}
	}
	return ctx, span
}

// origin returns the context of the request that wrote the row if its trace is sampled, otherwise ctx without a span.
func (m *row) origin(ctx context.Context) context.Context {
	ctx = trace.ContextWithSpanContext(ctx, trace.SpanContext{})
	if !strings.HasSuffix(m.Traceparent, "1") { // the last bit is the sampled flag; most traces are not sampled
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": m.Traceparent, "tracestate": m.Tracestate})
}
