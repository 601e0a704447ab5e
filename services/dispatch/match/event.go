package match

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/compress"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/webhook"
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

	doc *webhook.Doc
}

// ErrNewer means that a record was made by a later release, in a form that this one does not know. It is to be left to a
// process of that release.
var ErrNewer = errors.New("the event is of a later release")

// Decode reads an event from the headers of a record and checks its body. An error other than [ErrNewer] means that the
// record can never be routed.
func Decode(rec *kgo.Record, registry *event.Registry) (*Event, error) {
	e := &Event{}
	var errs []error
	var err error
	// A relay of a release that knows no compressed bodies publishes them as they are stored.
	if e.Body, err = compress.Open(rec.Value); err != nil {
		if errors.Is(err, compress.ErrNewer) {
			err = fmt.Errorf("%w: %w", ErrNewer, err)
		}
		errs = append(errs, err)
	}
	var name, schema string
	for _, h := range rec.Headers {
		var err error
		switch h.Key {
		case "ce_id":
			e.ID, err = uuid.ParseBytes(h.Value)
		case "companyid":
			e.Company, err = tenant.Parse(string(h.Value))
		case "committed_at":
			var us int64
			us, err = strconv.ParseInt(string(h.Value), 10, 64)
			e.CommittedAt = time.UnixMicro(us).UTC()
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
	errs = append(errs, e.check(name, schema, registry))
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	e.doc = webhook.NewDoc(e.Body)
	return e, nil
}

// FromLog returns for an entry of the event log what [Decode] returns for its record.
func FromLog(entry Event, name string, registry *event.Registry) (*Event, error) {
	if err := entry.check(name, schemaVersion, registry); err != nil {
		return nil, err
	}
	entry.doc = webhook.NewDoc(entry.Body)
	return &entry, nil
}

// schemaVersion is the supported version of records.
const schemaVersion = "1"

func (e *Event) check(name, schema string, registry *event.Registry) error {
	var known bool
	e.Type, known = registry.Lookup(name)
	switch {
	case schema != schemaVersion:
		return fmt.Errorf("%w: header schema: version %q is not supported", ErrNewer, schema)
	case e.ID == uuid.Nil:
		return errors.New("header ce_id: event id is missing")
	case e.Company.IsZero():
		return errors.New("header companyid: company is missing")
	case !known:
		return fmt.Errorf("%w: header ce_type: unknown event %q", ErrNewer, name)
	case len(e.Body) < 2 || e.Body[0] != '{' || e.Body[len(e.Body)-1] != '}': // the rest was checked when the event was raised
		return errors.New("body is not a JSON object")
	case len(e.Body) > webhook.MaxBody:
		return fmt.Errorf("body has %d bytes, limit is %d", len(e.Body), webhook.MaxBody)
	}
	return nil
}

// actor is the id of the user or token that caused the event.
func (e *Event) actor() string {
	var body struct {
		ActorID string `json:"actorId"`
	}
	_ = json.Unmarshal(e.Body, &body) // the body is valid JSON; an actor of another type matches nobody
	return body.ActorID
}
