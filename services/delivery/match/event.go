package match

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// Event is an event to be matched with subscriptions.
type Event struct {
	Company     tenant.ID
	ID          uuid.UUID
	Type        event.Type
	Body        []byte
	CommittedAt time.Time
	TraceParent string
	TraceState  string
	Entity      uuid.UUID // the record that it is about; the nil UUID if unknown
	Version     int64     // of the record after the change
	Changes     *int64    // of the company's subscriptions after the event was committed; nil = unknown

	candidate webhook.Candidate
}

// ErrNewer means that a record was made by a later release, in a form that this one does not know. It is to be left to a
// process of that release. Company, id and name of the event must be readable: anybody can write a record that nobody reads, and
// such a record must not wait for ever.
var ErrNewer = errors.New("the event is of a later release")

// Decode reads an event from the headers of a record and checks its body. An error other than [ErrNewer] means that the
// record can never be routed.
func Decode(rec *kgo.Record, registry *event.Registry) (*Event, error) {
	e := &Event{Body: rec.Value}
	var errs []error
	var name, schema string
	for _, h := range rec.Headers {
		var err error
		switch h.Key {
		case "ce_id":
			e.ID, err = uuid.ParseBytes(h.Value)
		case "companyid":
			e.Company, err = tenant.Parse(string(h.Value))
		case "agg_id":
			e.Entity, _ = uuid.ParseBytes(h.Value) // without it only the order of its deliveries is at risk
		case "version":
			e.Version, _ = strconv.ParseInt(string(h.Value), 10, 64)
		case "committed_at":
			var us int64
			us, err = strconv.ParseInt(string(h.Value), 10, 64)
			e.CommittedAt = time.UnixMicro(us).UTC()
		case store.ChangesOfSubscriptions.Header:
			var n int64
			n, err = strconv.ParseInt(string(h.Value), 10, 64)
			e.Changes = &n
		case "ce_type":
			name = string(h.Value)
		case "schema":
			schema = string(h.Value)
		case "traceparent":
			e.TraceParent = string(h.Value)
		case "tracestate":
			e.TraceState = string(h.Value)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("header %s: %w", h.Key, err))
		}
	}
	errs = append(errs, e.checkEnvelope(name, schema))
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := e.checkContent(name, registry); err != nil {
		return nil, err
	}
	return e, nil
}

// FromLog returns for an entry of the event log what [Decode] returns for its record.
func FromLog(entry Event, name string, registry *event.Registry) (*Event, error) {
	if err := entry.checkContent(name, registry); err != nil {
		return nil, err
	}
	return &entry, nil
}

// schemaVersion is the supported version of records.
const schemaVersion = 1

// checkEnvelope checks what records of all releases have in the same form.
func (e *Event) checkEnvelope(name, schema string) error {
	version, err := strconv.Atoi(schema)
	switch {
	case e.ID == uuid.Nil:
		return errors.New("header ce_id: event id is missing")
	case e.Company.IsZero():
		return errors.New("header companyid: company is missing")
	case name == "":
		return errors.New("header ce_type: name of the event is missing")
	case err != nil || version < 1:
		return fmt.Errorf("header schema: %q is not a version", schema)
	case version > schemaVersion:
		return fmt.Errorf("%w: header schema: version %d is not supported", ErrNewer, version)
	}
	return nil
}

func (e *Event) checkContent(name string, registry *event.Registry) error {
	var known bool
	e.Type, known = registry.Lookup(name)
	switch {
	case len(e.Body) < 2 || e.Body[0] != '{' || e.Body[len(e.Body)-1] != '}': // the rest was checked when the event was raised
		return errors.New("body is not a JSON object")
	case len(e.Body) > event.MaxBody:
		return fmt.Errorf("body has %d bytes, limit is %d", len(e.Body), event.MaxBody)
	case !known:
		return fmt.Errorf("%w: header ce_type: unknown event %q", ErrNewer, name)
	}
	e.candidate = webhook.Candidate{Name: name, Component: e.Type.Component, Scope: e.Type.Scope, Doc: webhook.NewDoc(e.Body)}
	return nil
}
