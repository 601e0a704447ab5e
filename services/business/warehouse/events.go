package warehouse

import "github.com/tradegrid/tradegrid/pkg/events/event"

var (
	movementCreated = event.New[Movement]("stock.movement.created", "A physical quantity changed; one event per movement.").By(
		`POST /warehouse/stocks/adjust {"warehouseId":"$warehouse","productId":"$product","targetQty":5,"reason":"count"}`,
	)
	// [Service.SetStock] sets the additional fields.
	stockAdjusted = event.With[Stock, adjusted]("stock.adjusted", "A quantity was adjusted manually.", nil).By(
		`POST /warehouse/stocks/adjust {"warehouseId":"$warehouse","productId":"$product","targetQty":5,"reason":"count"}`,
	)
	stockLow = event.New[Stock]("stock.low", "A quantity fell to its reorder point or below it.").By(
		`POST /warehouse/stocks/adjust {"warehouseId":"$warehouse","productId":"$product","targetQty":5,"reason":"count","reorderPoint":2}`,
		`POST /warehouse/stocks/adjust {"warehouseId":"$warehouse","productId":"$product","targetQty":1,"reason":"count"}`,
	)
)

var availableChanged = event.New[Stock]("stock.available_changed", "What is available of a stock record changed, by a movement or a reserve; at most about one event a second per record, with what is available then.").
	NotByClients("the platform raises it about a second after an order, a sale, a receipt or an adjustment")

// Types of the records that events are about.
const (
	aggregateMovement = "stock_movement"
	aggregateStock    = "stock"
)
