package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// Message asks the sender for one attempt of one delivery. It is produced to the deliveries topic, the delay topics and,
// if the delivery fails for good, the dead-letter topic.
type Message struct {
	Company        tenant.ID
	DeliveryID     uuid.UUID
	SubscriptionID uuid.UUID
	Event          string // event name
	EventID        uuid.UUID
	Entity         uuid.UUID // the record that the event is about; the nil UUID if unknown
	Attempt        int       // the attempt to make, from 1
	NotBefore      time.Time // zero = immediately; milliseconds
	ExpiresAt      time.Time // no attempts are made afterwards; milliseconds
	Postponements  int       // how often it was postponed without an attempt
	CommittedAt    time.Time // commit time of the change; zero if unknown; microseconds
	IsTest         bool
	RowFollows     bool          // its row is written with a result, or a moment after its first record
	Yields         bool          // gives way to what else is sent to the receiver
	Asked          bool          // somebody asked for this attempt: it waits neither for an open circuit nor for a receiver that is down
	Gap            time.Duration // with Yields: least time between the starts of two such requests to the receiver; microseconds
	TraceParent    string        // of the request that caused the event
	TraceState     string
	Body           []byte // signed and sent unchanged
}

// Names of the headers of a delivery record.
const (
	recordDelivery      = "delivery_id"
	recordSubscription  = "subscription_id"
	recordCompany       = "companyid"
	recordEvent         = "event"
	recordEventID       = "event_id"
	recordEntity        = "entity_id"
	recordAttempt       = "attempt"
	recordNotBefore     = "not_before"
	recordExpiresAt     = "expires_at"
	recordPostponements = "parks"
	recordCommittedAt   = "committed_at"
	recordIsTest        = "is_test"
	recordRowFollows    = "row_follows"
	recordYields        = "yields"
	recordGap           = "gap"
	recordAsked         = "asked"
	recordTraceParent   = "traceparent"
	recordTraceState    = "tracestate"
	recordID            = "ce_id"
	recordSchema        = "schema"
)

// Record returns the message as a Kafka record: the body as value, everything else in headers.
func (m *Message) Record(topic string) *kgo.Record {
	isTest := ""
	if m.IsTest {
		isTest = "1"
	}
	h := kafka.NewHeaders(20, 5*36+5*20+len(m.Event)+len(m.TraceParent)+len(m.TraceState))
	id := h.UUID(recordDelivery, m.DeliveryID)
	subscription := h.UUID(recordSubscription, m.SubscriptionID)
	h.UUID(recordCompany, uuid.UUID(m.Company))
	h.Text(recordEvent, m.Event)
	h.UUID(recordEventID, m.EventID)
	if m.Entity != uuid.Nil {
		h.UUID(recordEntity, m.Entity)
	}
	h.Int(recordAttempt, int64(m.Attempt))
	h.Int(recordNotBefore, unix(m.NotBefore, time.Time.UnixMilli))
	h.Int(recordExpiresAt, unix(m.ExpiresAt, time.Time.UnixMilli))
	h.Int(recordPostponements, int64(m.Postponements))
	h.Int(recordCommittedAt, unix(m.CommittedAt, time.Time.UnixMicro))
	h.Text(recordIsTest, isTest)
	if m.RowFollows {
		h.Text(recordRowFollows, "1")
	}
	if m.Yields {
		h.Text(recordYields, "1")
		h.Int(recordGap, m.Gap.Microseconds())
	}
	if m.Asked {
		h.Text(recordAsked, "1")
	}
	h.Text(recordTraceParent, m.TraceParent)
	h.Text(recordTraceState, m.TraceState)
	h.Again(recordID, id)
	h.Text(recordSchema, strconv.Itoa(messageSchema))
	return &kgo.Record{Topic: topic, Key: subscription, Value: m.Body, Headers: h.List()}
}

func unix(t time.Time, unit func(time.Time) int64) int64 {
	if t.IsZero() {
		return 0
	}
	return unit(t)
}

// outboxForm is the message as the payload of an outbox row, whose other columns become the record's headers.
type outboxForm struct {
	DeliveryID     uuid.UUID `json:"deliveryId"`
	SubscriptionID uuid.UUID `json:"subscriptionId"`
	Event          string    `json:"event"`
	EventID        uuid.UUID `json:"eventId"`
	ExpiresAt      time.Time `json:"expiresAt"`
	IsTest         bool      `json:"isTest"`
	Yields         bool      `json:"yields,omitempty"`
	Gap            int64     `json:"gap,omitempty"`
	Attempt        int       `json:"attempt,omitempty"` // 0 = the first
	Entity         uuid.UUID `json:"entity,omitzero"`
	Asked          bool      `json:"asked,omitempty"`
	Body           []byte    `json:"body"`
}

// OutboxPayload returns the outbox payload of an attempt that is due at once, with topics.Deliveries as the topic and the subscription
// id as the key. Company, time and trace are stored in the columns of the row.
func (m *Message) OutboxPayload() ([]byte, error) {
	b, err := json.Marshal(outboxForm{m.DeliveryID, m.SubscriptionID, m.Event, m.EventID, m.ExpiresAt.UTC(), m.IsTest, m.Yields, m.Gap.Microseconds(), m.Attempt, m.Entity, m.Asked, m.Body})
	if err != nil {
		return nil, fmt.Errorf("encode delivery message %s: %w", m.DeliveryID, err)
	}
	return b, nil
}

// messageSchema is the supported version of delivery records.
const messageSchema = 1

// ErrNewer means that a later release wrote the delivery record, in a form that this one does not know.
var ErrNewer = errors.New("the delivery record is of a later release")

// DecodeMessage decodes both forms. The error names the missing or malformed header or field; such a record can never be
// delivered. [ErrNewer] is the exception: a later release can deliver it. In the form of [Message.Record], the body aliases
// the record's value.
func DecodeMessage(r *kgo.Record) (*Message, error) {
	for _, h := range r.Headers {
		if h.Key != recordSchema {
			continue
		}
		if version, err := strconv.Atoi(string(h.Value)); err == nil && version > messageSchema {
			return nil, fmt.Errorf("%w: header %s: version %d is not supported", ErrNewer, recordSchema, version)
		}
	}
	d := decoder{}
	m := &Message{Attempt: 1, Body: r.Value}
	plain := false
	for _, h := range r.Headers {
		plain = plain || h.Key == recordDelivery
		d.header(m, h.Key, h.Value)
	}
	if !plain {
		d.outbox(m, r.Value)
	}
	if d.err != nil {
		return nil, d.err
	}
	return m, m.check()
}

// check returns an error if a required field is missing or invalid.
func (m *Message) check() error {
	switch {
	case m.Company.IsZero():
		return fmt.Errorf("delivery record: header %s is missing", recordCompany)
	case m.DeliveryID == uuid.Nil || m.SubscriptionID == uuid.Nil || m.EventID == uuid.Nil:
		return fmt.Errorf("delivery record: delivery, subscription and event ids are required")
	case m.Event == "":
		return fmt.Errorf("delivery record %s: the event name is missing", m.DeliveryID)
	case m.Attempt < 1 || m.Attempt > 1000:
		return fmt.Errorf("delivery record %s: header %s must be between 1 and 1000, is %d", m.DeliveryID, recordAttempt, m.Attempt)
	case m.ExpiresAt.IsZero():
		return fmt.Errorf("delivery record %s: the expiry time is missing", m.DeliveryID)
	case len(m.Body) == 0:
		return fmt.Errorf("delivery record %s: the body is empty", m.DeliveryID)
	}
	return nil
}

// decoder keeps the first error.
type decoder struct{ err error }

func (d *decoder) header(m *Message, key string, value []byte) {
	switch key {
	case recordDelivery:
		m.DeliveryID = d.uuid(key, value)
	case recordSubscription:
		m.SubscriptionID = d.uuid(key, value)
	case recordCompany:
		m.Company = tenant.ID(d.uuid(key, value))
	case recordEvent:
		m.Event = string(value)
	case recordEventID:
		m.EventID = d.uuid(key, value)
	case recordEntity:
		m.Entity = d.uuid(key, value)
	case recordAttempt:
		m.Attempt = int(d.int(key, value))
	case recordNotBefore:
		m.NotBefore = d.time(key, value, time.UnixMilli)
	case recordExpiresAt:
		m.ExpiresAt = d.time(key, value, time.UnixMilli)
	case recordPostponements:
		m.Postponements = int(d.int(key, value))
	case recordCommittedAt:
		m.CommittedAt = d.time(key, value, time.UnixMicro)
	case recordIsTest:
		m.IsTest = string(value) == "1"
	case recordRowFollows:
		m.RowFollows = string(value) == "1"
	case recordYields:
		m.Yields = string(value) == "1"
	case recordGap:
		m.Gap = time.Duration(d.int(key, value)) * time.Microsecond
	case recordAsked:
		m.Asked = string(value) == "1"
	case recordTraceParent:
		m.TraceParent = string(value)
	case recordTraceState:
		m.TraceState = string(value)
	}
}

func (d *decoder) outbox(m *Message, payload []byte) {
	var form outboxForm
	if err := json.Unmarshal(payload, &form); err != nil {
		d.fail(fmt.Errorf("delivery record without header %s: the value is not the JSON form: %w", recordDelivery, err))
		return
	}
	m.DeliveryID, m.SubscriptionID, m.Event, m.EventID = form.DeliveryID, form.SubscriptionID, form.Event, form.EventID
	m.ExpiresAt, m.IsTest, m.Body = form.ExpiresAt, form.IsTest, form.Body
	m.Yields, m.Gap = form.Yields, time.Duration(form.Gap)*time.Microsecond
	m.Entity, m.Asked = form.Entity, form.Asked
	if form.Attempt > 0 {
		m.Attempt = form.Attempt
	}
	if m.Asked {
		m.Postponements = 1 // another record of the attempt is on its way: the sender looks whether it was made
	}
}

func (d *decoder) uuid(key string, value []byte) uuid.UUID {
	id, err := uuid.ParseBytes(value)
	if err != nil {
		d.fail(fmt.Errorf("delivery record: header %s must be a UUID, is %.60q", key, value))
	}
	return id
}

func (d *decoder) int(key string, value []byte) int64 {
	if len(value) == 0 {
		return 0
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || n < 0 {
		d.fail(fmt.Errorf("delivery record: header %s must be a non-negative integer, is %.60q", key, value))
	}
	return n
}

func (d *decoder) time(key string, value []byte, unit func(int64) time.Time) time.Time {
	n := d.int(key, value)
	if n == 0 {
		return time.Time{}
	}
	return unit(n).UTC()
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}
