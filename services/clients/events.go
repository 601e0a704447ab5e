package clients

import "github.com/tradegrid/tradegrid/pkg/event"

var (
	created  = event.New[Client]("client.created", "A client was created.")
	updated  = event.WithChanges[Client]("client.updated", "A client was changed; changedFields lists the changed fields.")
	archived = event.New[Client]("client.archived", "A client was archived.")
	restored = event.New[Client]("client.restored", "An archived client was restored.")
)
