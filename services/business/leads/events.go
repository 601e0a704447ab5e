package leads

import (
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
)

var (
	created       = event.New[Lead]("lead.created", "A lead was created.").By(`$lead`)
	updated       = event.WithChanges[Lead]("lead.updated", "A lead was changed; changedFields lists the changed fields.").By(`PATCH /leads/$lead {"message":"triggered"}`)
	statusChanged = event.With("lead.status_changed", "The status of a lead changed.", func(before, _ *Lead) moved { return moved{before.Status} }).By(
		`PATCH /leads/$lead/status {"status":"in_progress"}`,
	)
	assigned = event.With("lead.assigned", "A lead was assigned to another user or to nobody.", func(before, _ *Lead) reassigned {
		return reassigned{before.AssignedToID}
	}).By(`POST /leads/$lead/assign {"assigneeId":"$user"}`)
	converted = event.New[Lead]("lead.converted", "A lead was converted to a client or a deal.").By(`POST /leads/$lead/convert`)
)

// moved holds the field that a status event adds to the lead.
type moved struct {
	PreviousStatus string `json:"previousStatus"`
}

// reassigned holds the field that an assignment adds to the lead.
type reassigned struct {
	PreviousAssignedToID *uuid.UUID `json:"previousAssignedToId" format:"uuid"`
}
