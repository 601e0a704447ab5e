package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/trace"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/kafka"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/webhook"
)

// Modules tells which components a company has. A company that is not known any more has all of them: what it
// raised while it existed is still delivered.
type Modules interface {
	Active(ctx context.Context, company tenant.ID, module string) (bool, error)
}

// subscription is what the router knows of a subscription that is neither inactive nor disabled.
type subscription struct {
	id         uuid.UUID
	patterns   []webhook.EventPattern
	filter     *webhook.Filter
	scopes     access.Scopes
	ownActor   uuid.UUID // events of this actor are left out
	excludeOwn bool
	paused     bool
}

// incoming is an event on its way through the router.
type incoming struct {
	rec         *kafka.Record
	company     tenant.ID
	id          uuid.UUID
	kind        event.Type
	doc         *webhook.Doc
	committedAt time.Time
	traceParent string
	traceState  string
	span        trace.Span
}

// decodeEvent reads the headers and checks the body. The error says what makes the record useless for good.
func decodeEvent(rec *kafka.Record, registry *event.Registry) (*incoming, error) {
	e := &incoming{rec: rec}
	var errs []error
	var name, schema string
	for _, h := range rec.Headers {
		value := string(h.Value)
		var err error
		switch h.Key {
		case "ce_id":
			e.id, err = uuid.Parse(value)
		case "companyid":
			e.company, err = tenant.Parse(value)
		case "committed_at":
			var us int64
			us, err = strconv.ParseInt(value, 10, 64)
			e.committedAt = time.UnixMicro(us).UTC()
		case "ce_type":
			name = value
		case "schema":
			schema = value
		case "traceparent":
			e.traceParent = value
		case "tracestate":
			e.traceState = value
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("header %s: %w", h.Key, err))
		}
	}
	errs = append(errs, e.check(name, schema, registry))
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	e.doc = webhook.NewDoc(rec.Value)
	return e, nil
}

func (e *incoming) check(name, schema string, registry *event.Registry) error {
	var known bool
	e.kind, known = registry.Lookup(name)
	switch {
	case schema != "1":
		return fmt.Errorf("header schema: version %q is not understood by this router", schema)
	case e.id == uuid.Nil:
		return errors.New("header ce_id: the event id is missing")
	case e.company.IsZero():
		return errors.New("header companyid: the company is missing")
	case !known:
		return fmt.Errorf("header ce_type: unknown event %q", name)
	case len(e.rec.Value) == 0 || e.rec.Value[0] != '{' || !json.Valid(e.rec.Value):
		return errors.New("the body is not a JSON object")
	case len(e.rec.Value) > webhook.MaxBody:
		return fmt.Errorf("the body has %d bytes, more than the %d that are sent", len(e.rec.Value), webhook.MaxBody)
	}
	return nil
}

// actor is who caused the event.
func (e *incoming) actor() string {
	var body struct {
		ActorID string `json:"actorId"`
	}
	_ = json.Unmarshal(e.rec.Value, &body) // checked on arrival; an actor of another type is nobody's own
	return body.ActorID
}

// matches reports whether the subscription wants the event and may see it. Whether the module is
// active is a matter of the company and asked once per event.
func (s *subscription) matches(e *incoming) bool {
	return webhook.MatchAny(s.patterns, e.kind.Name) &&
		s.scopes.Allows(e.kind.Scope, false) &&
		(!s.excludeOwn || e.actor() != s.ownActor.String()) &&
		s.filter.Match(e.doc)
}
