package catalog

import "github.com/tradegrid/tradegrid/pkg/events/event"

var (
	categoryCreated = event.New[Category]("category.created", "A category was created.").By(`$category`)
	categoryUpdated = event.WithChanges[Category]("category.updated", "A category was changed; changedFields lists the changed fields.").By(`PATCH /catalog/categories/$category {"color":"#112233"}`)
	categoryDeleted = event.New[Category]("category.deleted", "A category was deleted; data is its last state.").By(`DELETE /catalog/categories/$category`)
	productCreated  = event.New[Product]("product.created", "A product was created.").By(`$product`)
	productUpdated  = event.WithChanges[Product]("product.updated", "A product or its variants were changed; changedFields lists the changed fields.").By(
		`PATCH /catalog/products/$product {"price":1300}`,
	)
	productDeleted = event.New[Product]("product.deleted", "A product was hidden.").By(`DELETE /catalog/products/$product`)

	productsRepriced = event.New[Repricing]("product.bulk_repriced", "The prices of up to 500 products were changed by one rule, which may change more in further parts. The products raise no events of their own.").By(
		`$product`,
		`POST /catalog/products/bulk-price {"filter":{"categoryId":"$category"},"rule":{"type":"percent","value":5}}`,
	)
)
