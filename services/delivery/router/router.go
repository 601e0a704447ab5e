// Package router turns events into deliveries; see docs/architecture.md#router.
package router

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/deadletter"
	"github.com/tradegrid/tradegrid/services/delivery/match"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

const (
	cachedCompanies = 100_000 // whose subscriptions are in memory
	maxBatch        = 500     // events
)

// Config configures a [Router]. Zero values take the defaults named beside the fields.
type Config struct {
	Kafka      kafka.Config
	Group      string               // topics.Routers
	InstanceID string               // static membership in the group; empty = none
	TTL        time.Duration        // time to live of a delivery; required
	cacheTTL   time.Duration        // maximum age of cached subscriptions; 5 s
	Backoff    time.Duration        // first pause after a failed step, doubling up to 64 times that; 50 ms
	tracer     trace.TracerProvider // the global one
	Log        *slog.Logger
}

func (c *Config) setDefaults() {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.tracer == nil {
		c.tracer = otel.GetTracerProvider()
	}
	c.Group = cmp.Or(c.Group, topics.Routers)
	c.cacheTTL = cmp.Or(c.cacheTTL, 5*time.Second)
	c.Backoff = cmp.Or(c.Backoff, 50*time.Millisecond)
}

// producer produces records and waits for the acknowledgements.
type producer interface {
	ProduceSync(ctx context.Context, records ...*kgo.Record) kgo.ProduceResults
}

// incoming is a consumed event.
type incoming struct {
	*match.Event
	rec  *kafka.Record
	span trace.Span
}

// first reports whether the event is here for the first time: no other router can have read the record, and no other relay
// can have published the event before.
func (e *incoming) first() bool {
	return e.rec.Unread() && e.rec.Timestamp.Sub(e.CommittedAt) < recently
}

// delivery is one event for one subscription, and its row.
type delivery struct {
	match.Delivery
	row     store.NewDelivery
	follows bool // the row is written with the result, or after the record
}

// Router turns each event into one delivery per matching subscription: it inserts the rows of the deliveries, produces them
// to topics.Deliveries, and only then commits the event. The rows of deliveries that nobody can have made before follow their
// records, because most are written with their results by then.
type Router struct {
	cfg        Config
	db         *db.DB
	registry   *event.Registry
	components match.Components
	subs       *match.Cache
	client     *kgo.Client
	out        producer // client, unless a test makes it fail
	dead       *deadletter.Writer
	following  *following
	first      func(*incoming) bool // the method, unless a test takes a record for one that others may have read
	tracer     trace.Tracer
	now        func() time.Time
}

// newerPatience is how long records wait for a router of a later release. It is longer than a rolling upgrade leaves partitions
// with routers of the release before. After a rollback, the last events of the later release hold up their partitions so long.
const newerPatience = 10 * time.Minute

// New connects to the brokers; Run does the rest.
func New(d *db.DB, registry *event.Registry, components match.Components, cfg Config) (*Router, error) {
	cfg.setDefaults()
	if cfg.TTL <= 0 {
		return nil, errors.New("start router: TTL is required")
	}
	subs, err := match.NewCache(d, cachedCompanies, cfg.cacheTTL, cfg.Log)
	if err != nil {
		return nil, err
	}
	client, err := kafka.NewClient(cfg.Kafka)
	if err != nil {
		return nil, fmt.Errorf("start router: %w", err)
	}
	return &Router{
		cfg: cfg, db: d, registry: registry, components: components, subs: subs,
		client: client, out: client, dead: deadletter.New(client), following: newFollowing(d, cfg.Log, cfg.Backoff), first: (*incoming).first, tracer: cfg.tracer.Tracer("tradegrid/dispatch"), now: time.Now,
	}, nil
}

// Run routes events until ctx is done. Batches under way are finished first.
func (r *Router) Run(ctx context.Context) error {
	defer r.client.Close()
	group, ctx := errgroup.WithContext(ctx)
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	group.Go(func() error {
		return kafka.Tail(ctx, r.cfg.Kafka, nil, r.subscriptionChanged, topics.Subscriptions)
	})
	group.Go(func() error {
		r.following.run(ctx, work)
		return nil
	})
	group.Go(func() error {
		defer cancel()
		return kafka.Consume(ctx, kafka.ConsumerConfig{
			Client: r.cfg.Kafka, Group: r.cfg.Group, Topics: []string{topics.Events}, InstanceID: r.cfg.InstanceID,
			MaxBatch: maxBatch, HandleBatch: r.route,
		})
	})
	return group.Wait()
}

func (r *Router) subscriptionChanged(rec *kgo.Record) {
	key, err := webhook.ParseSubscriptionKey(rec.Key)
	if err != nil {
		r.cfg.Log.Warn("subscription key decode failed", "error", err)
		return
	}
	r.subs.Drop(key.Company)
}

// route processes a batch. A failed step is retried until it works or a partition of the batch stops. The records of
// partitions that stop are dropped then: their next owner processes them again and recognises the rows that exist. The
// others start again.
func (r *Router) route(ctx context.Context, batch []*kafka.Record) {
	for len(batch) > 0 {
		if held, ok := r.routeOnce(ctx, batch); ok {
			batch = held
			r.waitForNewer(ctx, held)
		}
		batch = dropStopped(ctx, batch)
	}
}

// waitForNewer waits with records that only a later release can read, which is about to take their partitions over. It
// returns when one of these stops, or when one of the records has waited long enough.
func (r *Router) waitForNewer(ctx context.Context, held []*kafka.Record) {
	if len(held) == 0 {
		return
	}
	_, cause := match.Decode(held[0].Record, r.registry)
	r.try(ctx, held, "decode", func() error {
		for i, rec := range held {
			if !samePartition(held[:i], rec) && !r.mayWait(rec) {
				return nil
			}
		}
		return cause
	})
}

// mayWait reports whether a record that only a later release can read is still left to it.
func (r *Router) mayWait(rec *kafka.Record) bool { return r.now().Sub(rec.Timestamp) < newerPatience }

func samePartition(records []*kafka.Record, rec *kafka.Record) bool {
	return slices.ContainsFunc(records, func(other *kafka.Record) bool { return other.Partition == rec.Partition })
}

// dropStopped returns the records that still have to be routed.
func dropStopped(ctx context.Context, batch []*kafka.Record) (rest []*kafka.Record) {
	for _, rec := range batch {
		if stopped(ctx, rec) {
			rec.Drop()
		} else {
			rest = append(rest, rec)
		}
	}
	return rest
}

// stopped reports whether the partition of a record stops.
func stopped(ctx context.Context, rec *kafka.Record) bool {
	select {
	case <-rec.Stopping():
		return true
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

// routeOnce reports false when a partition stops before all records are routed. Records that only a later release can read,
// and those behind them in their partitions, are returned.
func (r *Router) routeOnce(ctx context.Context, batch []*kafka.Record) (held []*kafka.Record, ok bool) {
	events, held, ok := r.decode(ctx, batch)
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
	ok = ok && r.insert(ctx, batch, deliveries, now)
	ok = ok && r.send(ctx, batch, deliveries, now)
	if !ok {
		return nil, false
	}
	if len(deliveries) > 0 {
		failpoint.Pass("router.produced")
	}
	r.finish(batch, held, events, deliveries, now)
	return held, true
}

// finish lets go of the records, or leaves that to the rows that follow.
func (r *Router) finish(batch, held []*kafka.Record, events []*incoming, deliveries []*delivery, now time.Time) {
	follow := map[*match.Event][]*store.FollowingRow{}
	for _, d := range deliveries {
		if d.follows && !d.row.Known {
			follow[d.Event] = append(follow[d.Event], d.followingRow(now, r.cfg.TTL))
		}
	}
	wait := map[*kafka.Record]bool{}
	for _, e := range events {
		if rows := follow[e.Event]; len(rows) > 0 {
			wait[e.rec] = true
			r.following.add(&sent{e.rec, rows}, now)
		}
	}
	if len(wait) > 0 {
		failpoint.Pass("router.rows_follow")
	}
	for _, rec := range batch {
		if !wait[rec] && !slices.Contains(held, rec) {
			rec.Done()
		}
	}
}

// watchPartitions is how often a step that waits for its retry looks whether a partition stops.
const watchPartitions = 50 * time.Millisecond

// try retries a step with exponential backoff. It reports false when a partition stops first.
func (r *Router) try(ctx context.Context, batch []*kafka.Record, step string, do func() error) bool {
	for n := 0; ; n++ {
		err := do()
		if err == nil {
			return true
		}
		routerRetries.WithLabelValues(step).Inc()
		r.cfg.Log.WarnContext(ctx, "routing step failed", "step", step, "records", len(batch),
			"partition", batch[0].Partition, "offset", batch[0].Offset, "error", err)
		for left := r.cfg.Backoff << min(n, 6); ; left -= watchPartitions {
			if slices.ContainsFunc(batch, func(rec *kafka.Record) bool { return stopped(ctx, rec) }) {
				return false
			}
			if left <= 0 {
				break
			}
			select {
			case <-time.After(min(left, watchPartitions)):
			case <-ctx.Done():
			}
		}
	}
}

// decode decodes the batch. Records that are not valid go to the dead letter topic; those of a later release are held for a
// while, with those behind them in their partitions.
func (r *Router) decode(ctx context.Context, batch []*kafka.Record) (events []*incoming, held []*kafka.Record, ok bool) {
	events = make([]*incoming, 0, len(batch))
	for _, rec := range batch {
		if samePartition(held, rec) {
			held = append(held, rec)
			continue
		}
		decoded, cause := match.Decode(rec.Record, r.registry)
		if cause == nil {
			e := &incoming{Event: decoded, rec: rec}
			e.span = r.startSpan(ctx, e)
			events = append(events, e)
			continue
		}
		reason := deadletter.Decode
		if errors.Is(cause, match.ErrNewer) {
			reason = deadletter.Newer
		}
		if reason == deadletter.Newer && r.mayWait(rec) {
			r.cfg.Log.ErrorContext(ctx, "event of a later release waits for a dispatcher that reads it", "partition", rec.Partition, "offset", rec.Offset, "error", cause)
			routedEvents.WithLabelValues("newer").Inc()
			held = append(held, rec)
			continue
		}
		r.cfg.Log.ErrorContext(ctx, "event decode failed", "partition", rec.Partition, "offset", rec.Offset, "error", cause)
		if !r.try(ctx, batch, "dead letter", func() error {
			return r.dead.Record(ctx, topics.EventsDead, rec.Record, reason, cause)
		}) {
			return events, nil, false
		}
		routedEvents.WithLabelValues("dead").Inc()
	}
	return events, held, true
}

// startSpan continues the trace of the request that caused the event.
func (r *Router) startSpan(ctx context.Context, e *incoming) trace.Span {
	if e.TraceParent != "" {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": e.TraceParent, "tracestate": e.TraceState})
	}
	_, span := r.tracer.Start(ctx, "process "+topics.Events, trace.WithSpanKind(trace.SpanKindConsumer))
	if span.IsRecording() { // most are not sampled
		span.SetAttributes(
			attribute.String("messaging.system", "kafka"),
			attribute.String("messaging.operation.name", "process"),
			attribute.String("messaging.operation.type", "process"),
			attribute.String("messaging.destination.name", topics.Events),
			attribute.Int("messaging.destination.partition.id", int(e.rec.Partition)),
			attribute.Int64("messaging.kafka.offset", e.rec.Offset),
			attribute.String("messaging.consumer.group.name", r.cfg.Group),
			attribute.String("messaging.message.id", e.ID.String()),
			attribute.String("app.company.id", e.Company.String()),
			attribute.String("app.event", e.Type.Name),
		)
	}
	return span
}

// match lists the deliveries of the events, in the order of the events.
func (r *Router) match(ctx context.Context, events []*incoming) ([]*delivery, error) {
	companies := companiesOf(events)
	byCompany, err := r.subs.Load(ctx, companies, changesSeen(events))
	if err != nil {
		return nil, err
	}
	subscribed := slices.DeleteFunc(companies, func(c tenant.ID) bool { return len(byCompany[c]) == 0 })
	components, err := r.components.Of(ctx, subscribed)
	if err != nil {
		return nil, fmt.Errorf("read components of companies: %w", err)
	}
	var all []*delivery
	for _, e := range events {
		found := match.Match(e.Event, byCompany[e.Company], components[e.Company], nil)
		if len(found) == 0 {
			routedEvents.WithLabelValues("unmatched").Inc()
			continue
		}
		routedEvents.WithLabelValues("matched").Inc()
		if e.span.IsRecording() {
			e.span.SetAttributes(attribute.Int("app.deliveries", len(found)))
		}
		first := r.first(e)
		for _, m := range found {
			d := newDelivery(m)
			d.follows = first && !m.Paused && !m.Ordered
			all = append(all, d)
		}
	}
	return all, nil
}

// followingRow is the row of a delivery that is sent now.
func (d *delivery) followingRow(now time.Time, ttl time.Duration) *store.FollowingRow {
	return &store.FollowingRow{DeliveryKey: d.row.DeliveryKey, NewRow: store.NewRow{EventID: d.ID, Event: d.Type.Name, Expires: now.Add(ttl), Created: now}}
}

func newDelivery(m match.Delivery) *delivery {
	key := store.DeliveryKey{Subscription: webhook.SubscriptionKey{Company: m.Company, ID: m.Subscription}, ID: m.DeliveryID}
	row := store.NewDelivery{DeliveryKey: key, EventID: m.ID, Event: m.Type.Name, Held: m.Paused}
	if m.Ordered && m.Entity != uuid.Nil {
		row.Entity, row.Version = &m.Entity, &m.Version
	}
	return &delivery{Delivery: m, row: row}
}

// companiesOf lists each company once.
func companiesOf(events []*incoming) []tenant.ID {
	companies := make([]tenant.ID, 0, len(events))
	for _, e := range events {
		companies = append(companies, e.Company)
	}
	slices.SortFunc(companies, func(a, b tenant.ID) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(companies)
}

// changesSeen is how many changes of each company's subscriptions the last of its events knows of. Events of a relay that did not look
// say nothing, and their company is left out.
func changesSeen(events []*incoming) map[tenant.ID]int64 {
	seen := make(map[tenant.ID]int64, len(events))
	for _, e := range events {
		if e.Changes != nil {
			seen[e.Company] = max(seen[e.Company], *e.Changes)
		}
	}
	for _, e := range events {
		if e.Changes == nil {
			delete(seen, e.Company)
		}
	}
	return seen
}

// insert writes the rows that do not follow, and marks the deliveries that need no record.
func (r *Router) insert(ctx context.Context, batch []*kafka.Record, deliveries []*delivery, now time.Time) bool {
	rows := make([]*store.NewDelivery, 0, len(deliveries))
	follow := map[uuid.UUID]bool{}
	for _, d := range deliveries {
		if d.follows {
			d.row.Known = follow[d.row.ID] || r.following.has(d.row.ID)
			follow[d.row.ID] = true
		} else {
			rows = append(rows, &d.row)
		}
	}
	if len(follow) > 0 && !r.try(ctx, batch, "rows", r.following.room) {
		return false
	}
	if len(rows) == 0 {
		return true
	}
	ok := r.try(ctx, batch, "insert", func() error {
		return store.Insert(ctx, r.db, rows, now, now.Add(r.cfg.TTL))
	})
	if ok {
		failpoint.Pass("router.inserted")
	}
	return ok
}

// send produces the deliveries that are neither known nor held and waits for the brokers.
func (r *Router) send(ctx context.Context, batch []*kafka.Record, deliveries []*delivery, now time.Time) bool {
	var records []*kgo.Record
	for _, d := range deliveries {
		switch {
		case d.row.Known:
			store.CountDuplicate(store.HopRouter)
			routedDeliveries.WithLabelValues("repeated").Inc()
		case d.row.Held:
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
		Company: d.Company, DeliveryID: d.DeliveryID, SubscriptionID: d.Subscription, Event: d.Type.Name, EventID: d.ID, Entity: d.Entity,
		Attempt: 1, RowFollows: d.follows, ExpiresAt: now.Add(r.cfg.TTL), CommittedAt: d.CommittedAt, TraceParent: d.TraceParent, TraceState: d.TraceState, Body: d.Body,
	}
}

// produce returns copies of the records that failed, to be produced again.
func (r *Router) produce(ctx context.Context, records []*kgo.Record) (failed []*kgo.Record, err error) {
	for _, res := range r.out.ProduceSync(ctx, records...) {
		switch {
		case res.Err == nil:
		case errors.Is(res.Err, kerr.MessageTooLarge):
			// Retrying does not help. The row stays open until the sweeper fails it at the end of its lifetime.
			if err := r.dead.Record(ctx, topics.DeliveriesDead, res.Record, deadletter.Refused, res.Err); err != nil {
				return records, err
			}
		default:
			failed = append(failed, &kgo.Record{Topic: res.Record.Topic, Key: res.Record.Key, Value: res.Record.Value, Headers: res.Record.Headers})
			err = res.Err
		}
	}
	return failed, err
}
