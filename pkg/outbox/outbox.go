// Package outbox carries facts from a business transaction to Kafka. [Append] writes them with the change;
// a [Relay] publishes them, deletes them once Kafka has acknowledged, and keeps the event log.
package outbox

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/propagation"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/topics"
)

// Buckets is the number of parts of the outbox. It is fixed: positions of the event log depend on it.
const Buckets = 256

// Bucket is the part of the outbox that holds a company's facts.
func Bucket(company tenant.ID) int32 {
	h := fnv.New32a()
	_, _ = h.Write(company[:]) // a hash never fails
	return int32(h.Sum32() % Buckets)
}

// Message is one fact to be published.
type Message struct {
	ID        uuid.UUID // event id; UUIDv7
	Topic     string    // empty = topics.Events
	Key       string    // empty = the company id
	Name      string    // event name
	AggType   string    // kind of the record, such as order
	AggID     uuid.UUID // the record
	Version   int64     // the record's version after the change
	Pos       int64     // the record's ev_pos: orders the facts of one record
	Payload   []byte    // frozen bytes: published and signed as they are
	CreatedAt time.Time // UTC
}

const sqlInsert = `INSERT INTO outbox (bucket, pos, id, company_id, topic, key, event, agg_type, agg_id, agg_version, payload, traceparent, tracestate, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`

// Append announces a fact in the transaction that makes it true. It is the only way to announce one.
// The trace of ctx is kept with the row, so that what follows belongs to the request that caused it.
func Append(ctx context.Context, tx *db.Tx, company tenant.ID, m Message) error {
	if m.ID == uuid.Nil || m.Name == "" || m.Pos == 0 {
		return fmt.Errorf("append %q to the outbox: id, name and position are required", m.Name)
	}
	if m.Topic == "" {
		m.Topic = topics.Events
	}
	if m.Key == "" {
		m.Key = company.String()
	}
	if m.Payload == nil {
		m.Payload = []byte{} // a tombstone
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	tx.Queue(sqlInsert, Bucket(company), m.Pos, m.ID, company, m.Topic, m.Key, m.Name, m.AggType, m.AggID,
		m.Version, m.Payload, carrier["traceparent"], carrier["tracestate"], m.CreatedAt)
	return nil
}
