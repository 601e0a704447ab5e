package outbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/webhook"
)

// Event is a change of a record as receivers learn of it; see docs/reference/events.md#envelope.
type Event struct {
	Name   string      // a declared event, such as order.created
	Actor  uuid.UUID   // who made the change; zero = the platform itself
	Type   string      // kind of the record, such as order
	ID     uuid.UUID   // the record
	Meta   record.Meta // after the change
	Offset int64       // place among several events of the record in one transaction: 0, 1, …
	Data   any         // the record as it stands after the change
	Extra  any         // fields that this event adds to the record's own, such as previousStatus; may be nil
}

// SystemActor is the actorId of changes that nobody asked for.
const SystemActor = "system"

// Raise freezes the event and appends it to the transaction of the change. When a transaction raises several
// events of one record, Offset counts them and the last one's position must be stored with the record:
// see [record.Meta.Touch].
func Raise(ctx context.Context, tx *db.Tx, company tenant.ID, e Event) error {
	data, err := eventData(e.Data, e.Extra)
	if err != nil {
		return fmt.Errorf("write data of %s: %w", e.Name, err)
	}
	id := uuid.Must(uuid.NewV7())
	actor := SystemActor
	if e.Actor != uuid.Nil {
		actor = e.Actor.String()
	}
	body, err := webhook.Envelope{
		Event: e.Name, CompanyID: company, OccurredAt: e.Meta.UpdatedAt.Std(), ActorID: actor, Data: data, EventID: id.String(),
	}.Freeze()
	if err != nil {
		return err
	}
	return Append(ctx, tx, company, Message{
		ID: id, Name: e.Name, AggType: e.Type, AggID: e.ID, Version: e.Meta.Version, Pos: e.Meta.EvPos + e.Offset,
		Payload: body, CreatedAt: e.Meta.UpdatedAt.Std(),
	})
}

// eventData is the JSON object of data with the fields of extra behind its own.
func eventData(data, extra any) (json.RawMessage, error) {
	raw, err := rawJSON(data)
	if err != nil || extra == nil {
		return raw, err
	}
	more, err := rawJSON(extra)
	if err != nil {
		return nil, err
	}
	if len(more) <= len("{}") {
		return raw, nil
	}
	joined := append(bytes.TrimSuffix(bytes.Clone(raw), []byte("}")), ',')
	return append(joined, more[1:]...), nil
}

// rawJSON writes v without HTML escapes; bytes that are JSON already stay as they are.
func rawJSON(v any) (json.RawMessage, error) {
	if raw, ok := v.(json.RawMessage); ok {
		return raw, nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
