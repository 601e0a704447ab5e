package outbox

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Event is a change of a record as it is sent to receivers; see docs/reference/events.md#envelope.
type Event struct {
	Name    string      // name of a declared event, such as order.created
	Actor   string      // who made the change, see [access.Principal.ActorID]; "" = the platform itself
	Type    string      // type of the record, such as order
	ID      uuid.UUID   // id of the record
	Meta    record.Meta // after the change
	Offset  int64       // index among the events of the record in one transaction: 0, 1, …
	Data    any         // the record after the change
	EventID uuid.UUID   // zero = a new one; set by who raises the same event again after a restore of the database
	Extra   any         // additional fields of this event, such as previousStatus; may be nil
}

// Raise serializes the event and appends it to the outbox in the transaction of the change. When a transaction raises several
// events of one record, Offset numbers them, and the position of the last one must be stored with the record:
// see [record.Meta.Touch].
func Raise(ctx context.Context, tx *db.Tx, company tenant.ID, e Event) error {
	data, err := eventData(e.Data, e.Extra)
	if err != nil {
		return fmt.Errorf("write data of %s: %w", e.Name, err)
	}
	id := e.EventID
	if id == uuid.Nil {
		id = uuid.Must(uuid.NewV7())
	}
	body, err := event.Envelope{
		Event: e.Name, CompanyID: company, OccurredAt: e.Meta.UpdatedAt.Std(), ActorID: cmp.Or(e.Actor, access.ActorSystem), Data: data, EventID: id.String(),
	}.Freeze()
	if err != nil {
		return err
	}
	return Append(ctx, tx, company, Message{
		ID: id, Name: e.Name, AggType: e.Type, AggID: e.ID, Version: e.Meta.Version, Pos: e.Meta.EvPos + e.Offset,
		Payload: body, CreatedAt: e.Meta.UpdatedAt.Std(),
	})
}

// eventData returns data as a JSON object with the fields of extra appended.
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

// rawJSON encodes v; a json.RawMessage is returned unchanged.
func rawJSON(v any) (json.RawMessage, error) {
	if raw, ok := v.(json.RawMessage); ok {
		return raw, nil
	}
	return jsontype.Marshal(v)
}
