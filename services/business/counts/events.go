package counts

import "github.com/tradegrid/tradegrid/pkg/events/event"

var (
	created = event.New[Count]("warehouse.count.created", "A count of stock began.").By(`$count`)
	updated = event.WithChanges[Count]("warehouse.count.updated", "Quantities of a count were recorded, goods were put on its list, or what identifies it changed; changedFields names what.").By(
		`PATCH /warehouse/counts/$count {"metadata":{"trigger":"$run"}}`,
	)
	posted    = event.New[Count]("warehouse.count.posted", "A count was posted: the differences of its lines moved stock.").By(`POST /warehouse/counts/$count/post`)
	cancelled = event.New[Count]("warehouse.count.cancelled", "A count was cancelled; it moved nothing.").By(`POST /warehouse/counts/$count/cancel`)
)
