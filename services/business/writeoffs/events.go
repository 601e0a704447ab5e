package writeoffs

import "github.com/tradegrid/tradegrid/pkg/events/event"

var (
	created = event.New[Writeoff]("warehouse.write_off.created", "Goods were written off.").By(`$writeOff`)
	updated = event.WithChanges[Writeoff]("warehouse.write_off.updated", "The external id or the metadata of a write-off changed; changedFields names what.").By(
		`PATCH /warehouse/write-offs/$writeOff {"metadata":{"trigger":"$run"}}`,
	)
	cancelled = event.New[Writeoff]("warehouse.write_off.cancelled", "A write-off was cancelled; its goods are back on stock.").By(`POST /warehouse/write-offs/$writeOff/cancel`)
)
