package catalog

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

// ProductInput is the body that API clients send: the fields, and lists that are converted before they are stored. A list
// that was sent replaces the stored one as a whole; otherwise the stored one stays unchanged.
type ProductInput struct {
	ProductFields
	CostComponents []CostComponentInput         `json:"costComponents" maxItems:"100"`
	ModifierGroups []ModifierGroupInput         `json:"modifierGroups" maxItems:"20"`
	Attributes     []ProductAttributeValueInput `json:"attributes" maxItems:"200" doc:"the complete set of attribute values"`
}

// CostComponentInput is a [CostComponent] in a request.
type CostComponentInput struct {
	Label     string        `json:"label" minLength:"1" maxLength:"255"`
	ProductID *uuid.UUID    `json:"productId,omitempty" format:"uuid" nullable:"true"`
	Qty       *money.Qty    `json:"qty,omitempty" nullable:"true" exclusiveMinimum:"0" maximum:"1000000"`
	UnitID    *uuid.UUID    `json:"unitId,omitempty" format:"uuid" nullable:"true"`
	UnitCost  *money.Amount `json:"unitCost,omitempty" nullable:"true" minimum:"0"`
	Amount    *money.Amount `json:"amount,omitempty" minimum:"0" doc:"default: qty times unitCost"`
}

// ModifierGroupInput is a [ModifierGroup] in a request.
type ModifierGroupInput struct {
	ID        *uuid.UUID            `json:"id,omitempty" format:"uuid" doc:"generated if omitted"`
	Name      string                `json:"name" minLength:"1" maxLength:"255"`
	MinSelect int32                 `json:"minSelect,omitempty" minimum:"0" maximum:"50"`
	MaxSelect *int32                `json:"maxSelect,omitempty" nullable:"true" minimum:"1" maximum:"50"`
	Options   []ModifierOptionInput `json:"options,omitempty" maxItems:"50"`
	SortOrder int32                 `json:"sortOrder,omitempty" minimum:"-1000000" maximum:"1000000"`
}

// ModifierOptionInput is a [ModifierOption] in a request.
type ModifierOptionInput struct {
	ID        *uuid.UUID   `json:"id,omitempty" format:"uuid" doc:"generated if omitted"`
	Name      string       `json:"name" minLength:"1" maxLength:"255"`
	Surcharge money.Amount `json:"surcharge,omitempty" minimum:"0"`
	ProductID *uuid.UUID   `json:"productId,omitempty" format:"uuid" nullable:"true"`
	IsDefault bool         `json:"isDefault,omitempty"`
	SortOrder int32        `json:"sortOrder,omitempty" minimum:"-1000000" maximum:"1000000"`
}

// ProductAttributeValueInput is a [ProductAttributeValue] in a request. Exactly one value field must be set, as required
// by the type of the attribute.
type ProductAttributeValueInput struct {
	AttributeID uuid.UUID   `json:"attributeId" format:"uuid"`
	ValueText   *string     `json:"valueText,omitempty" nullable:"true" maxLength:"4000"`
	ValueNumber *money.Qty  `json:"valueNumber,omitempty" nullable:"true" minimum:"-999999999999999" maximum:"999999999999999"`
	ValueBool   *bool       `json:"valueBool,omitempty" nullable:"true"`
	OptionIDs   []uuid.UUID `json:"optionIds,omitempty" format:"uuid" nullable:"true" maxItems:"50"`
	OptionID    *uuid.UUID  `json:"optionId,omitempty" format:"uuid" nullable:"true" doc:"shorthand for optionIds with a single entry"`
}

// take applies the lists of the input and checks rules that tags cannot express. It reports all faults. Checks that need
// the database are in [Service.settle].
func (p *Product) take(in ProductInput) error {
	var faults apierr.Fields
	if in.CostComponents != nil {
		p.CostComponents = costComponents(&faults, p.ID, in.CostComponents)
	}
	if in.ModifierGroups != nil {
		p.ModifierGroups = modifierGroups(&faults, in.ModifierGroups, p.ModifierGroups)
	}
	return faults.Err()
}

func costComponents(faults *apierr.Fields, product uuid.UUID, in []CostComponentInput) []CostComponent {
	out := make([]CostComponent, len(in))
	for i, c := range in {
		path := fmt.Sprintf("costComponents[%d].", i)
		out[i] = CostComponent{Label: c.Label, ProductID: c.ProductID, Qty: c.Qty, UnitID: c.UnitID, UnitCost: c.UnitCost}
		if c.ProductID != nil && *c.ProductID == product {
			faults.Add(path+"productId", apierr.Conflict, "must not be the product itself; choose another product")
		}
		switch {
		case c.Amount != nil:
			out[i].Amount = *c.Amount
		case c.Qty == nil || c.UnitCost == nil:
			faults.Add(path+"amount", apierr.Required, "is required unless qty and unitCost are set")
		default:
			amount, err := money.LineAmount(*c.Qty, *c.UnitCost)
			if err != nil {
				faults.Add(path+"amount", apierr.Max, "qty times unitCost exceeds %d; lower one of them", money.MaxAmount)
			}
			out[i].Amount = amount
		}
	}
	return out
}

// modifierGroups makes the groups of a product. A group or option without an id keeps that of the one with the same name at its place
// before, so that nothing changes if a client sends the groups of a product again.
func modifierGroups(faults *apierr.Fields, in []ModifierGroupInput, before []ModifierGroup) []ModifierGroup {
	seen := map[uuid.UUID]bool{}
	out := make([]ModifierGroup, len(in))
	for i, g := range in {
		path := fmt.Sprintf("modifierGroups[%d].", i)
		var was ModifierGroup
		if i < len(before) && before[i].Name == g.Name {
			was = before[i]
		}
		out[i] = ModifierGroup{
			ID: idOrNew(faults, path+"id", seen, g.ID, was.ID), Name: g.Name, MinSelect: g.MinSelect, MaxSelect: g.MaxSelect,
			Options: make([]ModifierOption, len(g.Options)), SortOrder: g.SortOrder,
		}
		if g.MaxSelect != nil && *g.MaxSelect < g.MinSelect {
			faults.Add(path+"maxSelect", apierr.Min, "must be at least minSelect, which is %d", g.MinSelect)
		}
		if int(g.MinSelect) > len(g.Options) {
			faults.Add(path+"minSelect", apierr.Max, "must be at most the number of options, which is %d", len(g.Options))
		}
		for j, o := range g.Options {
			var kept uuid.UUID
			if j < len(was.Options) && was.Options[j].Name == o.Name {
				kept = was.Options[j].ID
			}
			out[i].Options[j] = ModifierOption{
				ID: idOrNew(faults, fmt.Sprintf("%soptions[%d].id", path, j), seen, o.ID, kept), Name: o.Name, Surcharge: o.Surcharge,
				ProductID: o.ProductID, IsDefault: o.IsDefault, SortOrder: o.SortOrder,
			}
		}
	}
	return out
}

// idOrNew returns the client's id of a group or option, or the one that it had, or a new one. Ids must be unique within the product.
func idOrNew(faults *apierr.Fields, path string, seen map[uuid.UUID]bool, id *uuid.UUID, had uuid.UUID) uuid.UUID {
	if id == nil {
		if had == uuid.Nil || seen[had] {
			had = uuid.Must(uuid.NewV7())
		}
		seen[had] = true
		return had
	}
	if seen[*id] {
		faults.Add(path, apierr.Conflict, "%s is a duplicate; omit the id for a new group or option", *id)
	}
	seen[*id] = true
	return *id
}
