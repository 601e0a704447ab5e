package clients

import (
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
)

var (
	created  = event.New[Client]("client.created", "A client was created.").By(`$client`)
	updated  = event.WithChanges[Client]("client.updated", "A client was changed; changedFields lists the changed fields.").By(`PATCH /clients/$client {"note":"triggered"}`)
	archived = event.New[Client]("client.archived", "A client was archived.").By(`POST /clients/$client/archive`)
	restored = event.New[Client]("client.restored", "An archived client was restored.").By(`POST /clients/$client/archive`, `POST /clients/$client/restore`)

	merged = event.New[Client]("client.merged", "A client was merged into another one, mergedIntoId, whose client.updated follows if its fields changed.").By(`POST /clients/$client/merge {"intoId":"$twin"}`)

	interacted = event.With("client.interaction.created", "An interaction with a client was recorded.", clientOf).By(
		`POST /clients/$client/interactions {"type":"call","direction":"in","subject":"Trigger $run"}`,
	)
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
