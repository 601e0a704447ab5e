package lineitem

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Naming names the item of a line in a request by something else than its ids, which decide if they are sent.
type Naming struct {
	SKU        *string `json:"sku,omitempty" nullable:"true" minLength:"1" maxLength:"64" doc:"in place of the id of the item: SKU of a product, variant or service"`
	Barcode    *string `json:"barcode,omitempty" nullable:"true" minLength:"1" maxLength:"64" doc:"in place of the id of the item: barcode of a product or variant"`
	Source     *string `json:"source,omitempty" nullable:"true" minLength:"1" maxLength:"255" doc:"system that externalId belongs to; default: any"`
	ExternalID *string `json:"externalId,omitempty" nullable:"true" minLength:"1" maxLength:"255" doc:"in place of the id of the item: external id of a product, variant or service"`

	by string // the field that named the item; "" = its id
}

// fields are the fields that name an item, with their values.
func (n *Naming) fields() []namingField {
	all := []namingField{{"sku", n.SKU}, {"barcode", n.Barcode}, {"externalId", n.ExternalID}}
	return slices.DeleteFunc(all, func(f namingField) bool { return f.value == nil })
}

type namingField struct {
	name  string
	value *string
}

// CheckNaming adds a fault unless the item is named in exactly one way. idField is what names it by its id.
func (n *Naming) CheckNaming(i int, idField string, faults *apierr.Fields) {
	named := n.fields()
	switch {
	case len(named) > 1:
		faults.Add(At(i, named[1].name), apierr.Conflict, "cannot be combined with %s; send one of them", named[0].name)
	case len(named) == 1:
	case n.Source != nil:
		faults.Add(At(i, "externalId"), apierr.Required, "is required with source")
	default:
		faults.Add(At(i, idField), apierr.Required, "is required, or sku, barcode or externalId")
	}
}

// name is what names the item. The naming has been checked.
func (n *Naming) name(kind string) trade.ItemName {
	name := trade.ItemName{Kind: kind, SKU: record.OrZero(n.SKU), Barcode: record.OrZero(n.Barcode), ExternalID: record.OrZero(n.ExternalID)}
	if n.ExternalID != nil {
		name.Source = record.OrZero(n.Source)
	}
	return name
}

// Field returns the field of the i-th line that tells its item: the one that names it, or otherwise.
func (n *Naming) Field(i int, otherwise string) string {
	if n.by != "" {
		return At(i, n.by)
	}
	return At(i, otherwise)
}

// Catalog finds items by what names them.
type Catalog interface {
	// NamedItems returns the items of each name; those of names that nothing has are missing.
	NamedItems(ctx context.Context, q db.Querier, company tenant.ID, names []trade.ItemName) (map[trade.ItemName][]trade.ItemRef, error)
}

// named is a line in a request whose item can be named.
type named[T any] interface {
	*T
	// Unidentified returns the naming of an item whose id was not sent, and its kind; nil if it was, or the line has no item.
	Unidentified() (n *Naming, kind string)
	// Identify sets the ids.
	Identify(r trade.ItemRef)
}

// Identify returns the lines with the ids of the items that they name; it changes none of those given, so that a transaction can try
// again. It reads nothing if all lines have ids, and otherwise makes one round trip, or two for variants. The lines have passed [Check].
func Identify[T any, P named[T]](ctx context.Context, q db.Querier, catalog Catalog, company tenant.ID, items []T) ([]T, error) {
	var names []trade.ItemName
	for i := range items {
		if n, kind := P(&items[i]).Unidentified(); n != nil && !slices.Contains(names, n.name(kind)) {
			names = append(names, n.name(kind))
		}
	}
	if names == nil {
		return items, nil
	}
	found, err := catalog.NamedItems(ctx, q, company, names)
	if err != nil {
		return nil, err
	}
	items = slices.Clone(items)
	for i := range items {
		n, kind := P(&items[i]).Unidentified()
		if n == nil {
			continue
		}
		field := n.fields()[0]
		refs := found[n.name(kind)]
		if len(refs) != 1 {
			return nil, notOne(i, field, kind, refs)
		}
		n.by = field.name
		P(&items[i]).Identify(refs[0])
	}
	return items, nil
}

// notOne is the error of a name that no item has, or several have.
func notOne(i int, field namingField, kind string, refs []trade.ItemRef) error {
	if len(refs) == 0 {
		return apierr.ReferenceNotFound(map[string]string{trade.KindService: "SERVICE", trade.KindProduct: "PRODUCT"}[kind], At(i, field.name), *field.value)
	}
	items := make([]map[string]any, len(refs))
	for i, r := range refs {
		items[i] = map[string]any{"id": r.ID, "variantId": nil}
		if r.Variant != uuid.Nil {
			items[i]["variantId"] = r.Variant
		}
	}
	return apierr.StateConflict("CATALOG_ITEM_AMBIGUOUS", "%s: several items have it; name the item by its id or sku, or send the source of the external id", At(i, field.name)).
		With("field", At(i, field.name)).With("items", items)
}
