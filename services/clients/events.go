package clients

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/outbox"
)

// Names of the events of this domain.
const (
	eventCreated  = "client.created"
	eventUpdated  = "client.updated"
	eventArchived = "client.archived"
	eventRestored = "client.restored"
)

// Events are the events that this domain raises (specification, section 6).
func Events() []event.Type {
	return []event.Type{
		event.Of[Client](eventCreated, component, scope, "A client was created."),
		event.Extended[Client, event.Changed](eventUpdated, component, scope, "A client was changed; changedFields names what."),
		event.Of[Client](eventArchived, component, scope, "A client was archived."),
		event.Of[Client](eventRestored, component, scope, "An archived client was restored."),
	}
}

func raise(ctx context.Context, tx *db.Tx, by access.Caller, name string, c Client, extra any) error {
	return outbox.Raise(ctx, tx, by.Company, outbox.Event{
		Name: name, Actor: by.Actor, Type: "client", ID: c.ID, Meta: c.Meta, Data: c, Extra: extra,
	})
}
