package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/failpoint"
	"github.com/tradegrid/tradegrid/pkg/kafka"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// RouterGroup is the consumer group of the routers.
const RouterGroup = "tradegrid-router"

// RouterConfig says how events become deliveries. Zero values take the defaults named beside the fields.
type RouterConfig struct {
	Kafka      kafka.Config
	Group      string               // RouterGroup
	InstanceID string               // of the group's static membership; empty = none
	TTL        time.Duration        // time to live of a delivery; 22 h
	CacheTTL   time.Duration        // longest time that an unannounced change of a subscription stays unseen; 5 s
	CacheSize  int                  // companies whose subscriptions are held; 100 000
	Batch      int                  // events per step; 500
	Backoff    time.Duration        // first pause after a failed step, doubling up to 64 times that; 50 ms
	Tracer     trace.TracerProvider // the global one
	Log        *slog.Logger
}

func (c *RouterConfig) setDefaults() {
	if c.Group == "" {
		c.Group = RouterGroup
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Tracer == nil {
		c.Tracer = otel.GetTracerProvider()
	}
	c.TTL = orDefault(c.TTL, 22*time.Hour)
	c.CacheTTL = orDefault(c.CacheTTL, 5*time.Second)
	c.CacheSize = orDefault(c.CacheSize, 100_000)
	c.Batch = orDefault(c.Batch, 500)
	c.Backoff = orDefault(c.Backoff, 50*time.Millisecond)
}

// Router turns each event into one delivery per subscription that wants it (specification, section 6): it
// matches, writes the delivery rows, hands them to the sender by topics.Deliveries, and only then lets go of the event.
type Router struct {
	cfg      RouterConfig
	db       *db.DB
	registry *event.Registry
	modules  Modules
	subs     *subscriptionCache
	client   *kgo.Client
	out      producer // client, unless a test makes it fail
	dead     *DeadLetters
	now      func() time.Time
}

// NewRouter connects to the brokers; Run does the rest.
func NewRouter(d *db.DB, registry *event.Registry, modules Modules, cfg RouterConfig) (*Router, error) {
	cfg.setDefaults()
	subs, err := newSubscriptionCache(d, cfg.CacheSize, cfg.CacheTTL, cfg.Log)
	if err != nil {
		return nil, err
	}
	client, err := kafka.NewClient(cfg.Kafka)
	if err != nil {
		return nil, fmt.Errorf("router: %w", err)
	}
	return &Router{
		cfg: cfg, db: d, registry: registry, modules: modules, subs: subs,
		client: client, out: client, dead: NewDeadLetters(client), now: time.Now,
	}, nil
}

// Run routes until ctx is done and what was begun is finished.
func (r *Router) Run(ctx context.Context) error {
	defer r.client.Close()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return kafka.Tail(ctx, r.cfg.Kafka, nil, r.subscriptionChanged, topics.Subscriptions)
	})
	group.Go(func() error {
		return kafka.Consume(ctx, kafka.ConsumerConfig{
			Client: r.cfg.Kafka, Group: r.cfg.Group, Topics: []string{topics.Events}, InstanceID: r.cfg.InstanceID,
			MaxBatch: r.cfg.Batch, HandleBatch: r.route,
		})
	})
	return group.Wait()
}

func (r *Router) subscriptionChanged(rec *kgo.Record) {
	key, err := webhook.ParseSubscriptionKey(rec.Key)
	if err != nil {
		r.cfg.Log.Warn("change of a subscription is not understood", "error", err)
		return
	}
	r.subs.drop(key.Company)
}

// route takes a batch of one partition all the way. A step that fails is tried until it works or the partition
// goes away; then the batch is left to the next owner, who recognises what was done.
func (r *Router) route(ctx context.Context, batch []*kafka.Record) {
	events, ok := r.decode(ctx, batch)
	defer func() {
		for _, e := range events {
			e.span.End()
		}
	}()
	var deliveries []*delivery
	ok = ok && r.try(ctx, batch, "match", func() (err error) {
		deliveries, err = r.match(ctx, events)
		return err
	})
	now := r.now().UTC().Truncate(time.Microsecond)
	ok = ok && r.try(ctx, batch, "insert", func() error {
		return insertDeliveries(ctx, r.db, deliveries, now, now.Add(r.cfg.TTL))
	})
	if len(deliveries) > 0 {
		failpoint.Hit("router.inserted")
	}
	ok = ok && r.send(ctx, batch, deliveries, now)
	if len(deliveries) > 0 {
		failpoint.Hit("router.produced")
	}
	for _, rec := range batch {
		if ok {
			rec.Done()
		} else {
			rec.Drop()
		}
	}
}

// try repeats a step with growing pauses. It reports false when the partition stops before the step worked.
func (r *Router) try(ctx context.Context, batch []*kafka.Record, step string, do func() error) bool {
	for n := 0; ; n++ {
		err := do()
		if err == nil {
			return true
		}
		routerRetries.WithLabelValues(step).Inc()
		r.cfg.Log.WarnContext(ctx, "routing step failed", "step", step, "partition", batch[0].Partition, "offset", batch[0].Offset, "error", err)
		pause := time.NewTimer(r.cfg.Backoff << min(n, 6))
		select {
		case <-pause.C:
		case <-ctx.Done():
			return false
		case <-batch[0].Stopping():
			return false
		}
	}
}

// decode reads the batch; what cannot be read goes to the dead letters.
func (r *Router) decode(ctx context.Context, batch []*kafka.Record) (events []*incoming, ok bool) {
	events = make([]*incoming, 0, len(batch))
	for _, rec := range batch {
		e, cause := decodeEvent(rec, r.registry)
		if cause == nil {
			e.span = r.startSpan(ctx, e)
			events = append(events, e)
			continue
		}
		r.cfg.Log.ErrorContext(ctx, "event cannot be routed", "partition", rec.Partition, "offset", rec.Offset, "error", cause)
		if !r.try(ctx, batch, "dead letter", func() error {
			return r.dead.Record(ctx, topics.EventsDead, rec.Record, DeadDecode, cause)
		}) {
			return events, false
		}
		routedEvents.WithLabelValues("dead").Inc()
	}
	return events, true
}

// startSpan makes the routing a part of the trace of the request that caused the event.
func (r *Router) startSpan(ctx context.Context, e *incoming) trace.Span {
	carrier := propagation.MapCarrier{"traceparent": e.traceParent, "tracestate": e.traceState}
	ctx = propagation.TraceContext{}.Extract(ctx, carrier)
	//nolint:spancheck // the span lives until the event was routed
	_, span := r.cfg.Tracer.Tracer("tradegrid/dispatch").Start(ctx, "process "+topics.Events, trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(
			attribute.String("messaging.system", "kafka"),
			attribute.String("messaging.operation.name", "process"),
			attribute.String("messaging.operation.type", "process"),
			attribute.String("messaging.destination.name", topics.Events),
			attribute.Int("messaging.destination.partition.id", int(e.rec.Partition)),
			attribute.Int64("messaging.kafka.offset", e.rec.Offset),
			attribute.String("messaging.consumer.group.name", r.cfg.Group),
			attribute.String("messaging.message.id", e.id.String()),
			attribute.String("app.company.id", e.company.String()),
			attribute.String("app.event", e.kind.Name),
		))
	return span //nolint:spancheck // as above
}

// match finds the deliveries of the events, in their order.
func (r *Router) match(ctx context.Context, events []*incoming) ([]*delivery, error) {
	byCompany, err := r.subs.load(ctx, companiesOf(events))
	if err != nil {
		return nil, err
	}
	var all []*delivery
	for _, e := range events {
		before := len(all)
		if all, err = r.matchOne(ctx, e, byCompany[e.company], all); err != nil {
			return nil, err
		}
		if len(all) == before {
			routedEvents.WithLabelValues("unmatched").Inc()
			continue
		}
		routedEvents.WithLabelValues("matched").Inc()
		e.span.SetAttributes(attribute.Int("app.deliveries", len(all)-before))
	}
	return all, nil
}

func (r *Router) matchOne(ctx context.Context, e *incoming, subs []subscription, to []*delivery) ([]*delivery, error) {
	return matchEvent(ctx, r.modules, e, subs, to)
}

// matchEvent adds the deliveries of an event.
func matchEvent(ctx context.Context, modules Modules, e *incoming, subs []subscription, to []*delivery) ([]*delivery, error) {
	asked := access.AlwaysOn(e.kind.Module)
	for i := range subs {
		sub := &subs[i]
		if !sub.matches(e) {
			continue
		}
		if !asked {
			active, err := modules.Active(ctx, e.company, e.kind.Module)
			if err != nil {
				return to, fmt.Errorf("is module %s active: %w", e.kind.Module, err)
			}
			if !active {
				return to, nil
			}
			asked = true
		}
		to = append(to, &delivery{event: e, sub: sub, id: webhook.DeliveryID(e.id, sub.id, 0), parked: sub.paused})
	}
	return to, nil
}

// send produces what has to be sent and waits for the brokers. Records that failed are tried again.
func (r *Router) send(ctx context.Context, batch []*kafka.Record, deliveries []*delivery, now time.Time) bool {
	var records []*kgo.Record
	for _, d := range deliveries {
		switch {
		case d.known:
			duplicatesDropped.WithLabelValues("router").Inc()
			routedDeliveries.WithLabelValues("repeated").Inc()
		case d.parked:
			routedDeliveries.WithLabelValues("parked").Inc()
		default:
			records = append(records, r.message(d, now).Record(topics.Deliveries))
		}
	}
	total := len(records)
	ok := total == 0 || r.try(ctx, batch, "produce", func() (err error) {
		records, err = r.produce(ctx, records)
		return err
	})
	if ok {
		routedDeliveries.WithLabelValues("sent").Add(float64(total))
	}
	return ok
}

func (r *Router) message(d *delivery, now time.Time) *webhook.Message {
	return &webhook.Message{
		Company: d.event.company, DeliveryID: d.id, SubscriptionID: d.sub.id, Event: d.event.kind.Name, EventID: d.event.id,
		Attempt: 1, ExpiresAt: now.Add(r.cfg.TTL), CommittedAt: d.event.committedAt,
		TraceParent: d.event.traceParent, TraceState: d.event.traceState, Body: d.event.rec.Value,
	}
}

// produce returns the records that the brokers did not take, as copies that can be produced again.
func (r *Router) produce(ctx context.Context, records []*kgo.Record) (failed []*kgo.Record, err error) {
	for _, res := range r.out.ProduceSync(ctx, records...) {
		switch {
		case res.Err == nil:
		case errors.Is(res.Err, kerr.MessageTooLarge):
			// It will never fit. The row stays open and fails when its time is up; the sweeper says so.
			if err := r.dead.Record(ctx, topics.DeliveriesDead, res.Record, DeadRefused, res.Err); err != nil {
				return records, err
			}
		default:
			failed = append(failed, &kgo.Record{Topic: res.Record.Topic, Key: res.Record.Key, Value: res.Record.Value, Headers: res.Record.Headers})
			err = res.Err
		}
	}
	return failed, err
}

// moduleTable is a [Modules] that asks for the components of a company and keeps them for a while.
type moduleTable struct {
	cache *ttlCache[tenant.ID, access.Components]
}

// NewModules makes a [Modules] of a function that reads the components of a company. Each answer is kept for ttl.
func NewModules(ttl time.Duration, read func(ctx context.Context, company tenant.ID) (access.Components, error)) Modules {
	return &moduleTable{cache: newTTLCache(100_000, ttl, read)}
}

// Active implements [Modules].
func (t *moduleTable) Active(ctx context.Context, company tenant.ID, module string) (bool, error) {
	components, err := t.cache.get(ctx, company)
	return err == nil && components.Has(module), err
}
