package clients

import (
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
)

var (
	created  = event.New[Client]("client.created", "A client was created.")
	updated  = event.WithChanges[Client]("client.updated", "A client was changed; changedFields lists the changed fields.")
	archived = event.New[Client]("client.archived", "A client was archived.")
	restored = event.New[Client]("client.restored", "An archived client was restored.")

	interacted = event.With("client.interaction.created", "An interaction with a client was recorded.", clientOf)
)

// interactionExtra holds the fields that the event adds to the interaction.
type interactionExtra struct {
	Client interactionClient `json:"client"`
}

type interactionClient struct {
	ID          uuid.UUID `json:"id" format:"uuid"`
	DisplayName string    `json:"displayName"`
}

func clientOf(_, after *Interaction) interactionExtra {
	return interactionExtra{interactionClient{ID: after.ClientID, DisplayName: after.clientName}}
}
