package servicecatalog

import "github.com/tradegrid/tradegrid/pkg/events/event"

var (
	created = event.New[Offering]("service.created", "A service was created.").By(`$service`)
	updated = event.WithChanges[Offering]("service.updated", "A service was changed; changedFields lists the changed fields.").By(`PATCH /catalog/services/$service {"price":3200}`)
	deleted = event.New[Offering]("service.deleted", "A service was hidden.").By(`DELETE /catalog/services/$service`)
)
