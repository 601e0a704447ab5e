// Package outbox implements the transactional outbox. [Append] writes a message in the transaction of the change;
// a [Relay] publishes it to Kafka and, shortly after Kafka has acknowledged it, deletes it and writes the event log.
//
// A domain needs [Raise] at most, and not even that for records of package resource, which raises their events. A process that publishes runs a
// [Relay]; any number may run, they share the buckets of companies by leases. Duplicates are possible, loss is not, and the messages of one record
// are first published in the order of their positions. [DeadRows] are those that Kafka will not take, [ReadBacklog] counts what waits.
package outbox

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/propagation"

	"github.com/tradegrid/tradegrid/pkg/kit/compress"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/topics"
)

// Buckets is the number of partitions of the outbox. It must not change, because positions in the event log depend on it.
const Buckets = 256

// Bucket returns the bucket of the outbox that holds a company's messages.
func Bucket(company tenant.ID) int32 {
	h := fnv.New32a()
	_, _ = h.Write(company[:]) // hash.Hash never returns an error
	return int32(h.Sum32() % Buckets)
}

// Message is one message to publish.
type Message struct {
	ID        uuid.UUID // event id; UUIDv7
	Topic     string    // empty = topics.Events
	Key       string    // empty = the company id
	Name      string    // event name
	AggType   string    // type of the record, such as order
	AggID     uuid.UUID // id of the record
	Version   int64     // the record's version after the change
	Pos       int64     // the record's ev_pos, which orders the messages of one record
	Payload   []byte    // published and signed byte for byte
	CreatedAt time.Time // UTC
}

// The tables of this package.
const (
	outbox         = db.Table("outbox")
	outboxDead     = db.Table("outbox_dead")
	outboxLeases   = db.Table("outbox_leases")
	relayMembers   = db.Table("relay_members")
	events         = db.Table("events")
	eventLogHeads  = db.Table("event_log_heads")
	eventLogFloors = db.Table("event_log_floors")
	eventLogEpoch  = db.Table("event_log_epoch")
)

var sqlInsert = outbox.InsertRow("bucket", "pos", "id", "company_id", "topic", "key", "event", "agg_type", "agg_id", "agg_version", "payload",
	"traceparent", "tracestate", "request_id", "created_at")

// Append adds a message to the outbox in the transaction of the change. It is the only way to publish one.
// The trace context of ctx is stored with the row, so that publication and delivery join the trace of the request, and so is
// the id of the request.
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
	m.Payload = compress.Pack(m.Payload)
	tx.Signal(Bucket(company))
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	tx.QueueRow(sqlInsert, Bucket(company), m.Pos, m.ID, company, m.Topic, m.Key, m.Name, m.AggType, m.AggID,
		m.Version, m.Payload, carrier["traceparent"], carrier["tracestate"], telemetry.RequestOf(ctx), m.CreatedAt)
	return nil
}

const sqlSelectWaits = `SELECT EXISTS (SELECT 1 FROM outbox WHERE bucket = $1 AND pos = $2 AND company_id = $3 AND agg_id = $4)`

// Waits reports whether the message of a change, which its record and its position name, is still in the outbox.
func Waits(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, pos int64) (waits bool, err error) {
	if err := q.QueryRow(ctx, sqlSelectWaits, Bucket(company), pos, company, id).Scan(&waits); err != nil {
		return false, fmt.Errorf("look for message in the outbox: %w", err)
	}
	return waits, nil
}
