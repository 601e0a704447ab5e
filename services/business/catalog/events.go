package catalog

import "github.com/tradegrid/tradegrid/pkg/events/event"

var (
	categoryCreated = event.New[Category]("category.created", "A category was created.")
	categoryUpdated = event.WithChanges[Category]("category.updated", "A category was changed; changedFields lists the changed fields.")
	categoryDeleted = event.New[Category]("category.deleted", "A category was deleted; data is its last state.")
	productCreated  = event.New[Product]("product.created", "A product was created.")
	productUpdated  = event.WithChanges[Product]("product.updated", "A product or its variants were changed; changedFields lists the changed fields.")
	productDeleted  = event.New[Product]("product.deleted", "A product was hidden.")

	productsRepriced = event.New[Repricing]("product.bulk_repriced", "The prices of many products were changed by one rule. The products raise no events of their own.")
)
