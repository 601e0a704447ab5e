package outbox_test

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// The event is a row of the transaction that makes the change: both are stored, or neither. Package resource does this for records; a relay
// publishes the row and deletes it once Kafka has it.
func ExampleRaise() {
	announce := func(ctx context.Context, tx *db.Tx, by access.Caller, lead uuid.UUID, after record.Meta) error {
		return outbox.Raise(ctx, tx, by.Company, outbox.Event{
			Name: "lead.converted", Actor: by.ActorID(), Type: "lead", ID: lead, Meta: after,
			Data: map[string]any{"id": lead, "status": "converted"},
		})
	}
	_ = announce
}
