package catalog

import (
	"github.com/tradegrid/tradegrid/pkg/event"
)

// Names of the events of this domain.
const (
	eventCategoryCreated = "category.created"
	eventCategoryUpdated = "category.updated"
	eventCategoryDeleted = "category.deleted"
	eventProductCreated  = "product.created"
	eventProductUpdated  = "product.updated"
	eventProductDeleted  = "product.deleted"
)

// Events are the events that this domain raises (specification, section 6).
func Events() []event.Type {
	return []event.Type{
		event.Of[Category](eventCategoryCreated, component, scope, "A category was created."),
		event.Extended[Category, event.Changed](eventCategoryUpdated, component, scope, "A category was changed; changedFields names what."),
		event.Of[Category](eventCategoryDeleted, component, scope, "A category was deleted; data is its last state."),
		event.Of[Product](eventProductCreated, component, scope, "A product was created."),
		event.Extended[Product, event.Changed](eventProductUpdated, component, scope, "A product was changed; changedFields names what."),
		event.Of[Product](eventProductDeleted, component, scope, "A product was hidden."),
	}
}
