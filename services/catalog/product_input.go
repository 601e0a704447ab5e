package catalog

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/money"
)

const (
	maxName        = 255   // characters
	maxDescription = 20000 // characters
	maxLocale      = 16    // characters
)

// ProductInput is what clients of the API send. Besides the fields it has lists that are not stored as they come; of a
// list that was not sent the stored one stays. A list that was sent replaces the stored one as a whole.
type ProductInput struct {
	ProductFields
	CostComponents []CostComponentInput         `json:"costComponents" maxItems:"100"`
	ModifierGroups []ModifierGroupInput         `json:"modifierGroups" maxItems:"20"`
	Attributes     []ProductAttributeValueInput `json:"attributes" maxItems:"200" doc:"the complete set of attribute values"`
}

// CostComponentInput is a part of what a product costs, as clients send it.
type CostComponentInput struct {
	Label     string        `json:"label" minLength:"1" maxLength:"255"`
	ProductID *uuid.UUID    `json:"productId,omitempty" format:"uuid" nullable:"true"`
	Qty       *money.Qty    `json:"qty,omitempty" nullable:"true" exclusiveMinimum:"0" maximum:"1000000"`
	UnitID    *uuid.UUID    `json:"unitId,omitempty" format:"uuid" nullable:"true"`
	UnitCost  *money.Amount `json:"unitCost,omitempty" nullable:"true" minimum:"0"`
	Amount    *money.Amount `json:"amount,omitempty" minimum:"0" doc:"qty times unitCost when left out"`
}

// ModifierGroupInput is a group of modifiers as clients send it.
type ModifierGroupInput struct {
	ID        *uuid.UUID            `json:"id,omitempty" format:"uuid" doc:"made when left out"`
	Name      string                `json:"name" minLength:"1" maxLength:"255"`
	MinSelect int32                 `json:"minSelect,omitempty" minimum:"0" maximum:"50"`
	MaxSelect *int32                `json:"maxSelect,omitempty" nullable:"true" minimum:"1" maximum:"50"`
	Options   []ModifierOptionInput `json:"options,omitempty" maxItems:"50"`
	SortOrder int32                 `json:"sortOrder,omitempty" minimum:"-1000000" maximum:"1000000"`
}

// ModifierOptionInput is an option of a group of modifiers as clients send it.
type ModifierOptionInput struct {
	ID        *uuid.UUID   `json:"id,omitempty" format:"uuid" doc:"made when left out"`
	Name      string       `json:"name" minLength:"1" maxLength:"255"`
	Surcharge money.Amount `json:"surcharge,omitempty" minimum:"0"`
	ProductID *uuid.UUID   `json:"productId,omitempty" format:"uuid" nullable:"true"`
	IsDefault bool         `json:"isDefault,omitempty"`
	SortOrder int32        `json:"sortOrder,omitempty" minimum:"-1000000" maximum:"1000000"`
}

// ProductAttributeValueInput is the value of one attribute as clients send it: exactly the field of its type is set.
type ProductAttributeValueInput struct {
	AttributeID uuid.UUID   `json:"attributeId" format:"uuid"`
	ValueText   *string     `json:"valueText,omitempty" nullable:"true" maxLength:"4000"`
	ValueNumber *money.Qty  `json:"valueNumber,omitempty" nullable:"true"`
	ValueBool   *bool       `json:"valueBool,omitempty" nullable:"true"`
	OptionIDs   []uuid.UUID `json:"optionIds,omitempty" maxItems:"50"`
	OptionID    *uuid.UUID  `json:"optionId,omitempty" format:"uuid" doc:"short for one entry of optionIds"`
}

// take sets what is not stored as it comes, and checks the fields that their tags do not check. It reports all faults.
// What needs the database is left to [Service.settle].
func (p *Product) take(in ProductInput) error {
	var faults fault.Fields
	checkTranslations(&faults, "nameI18n", p.NameI18n, maxName)
	checkTranslations(&faults, "descriptionI18n", p.DescriptionI18n, maxDescription)
	if in.CostComponents != nil {
		p.CostComponents = costComponents(&faults, p.ID, in.CostComponents)
	}
	if in.ModifierGroups != nil {
		p.ModifierGroups = modifierGroups(&faults, in.ModifierGroups)
	}
	if len(in.Attributes) > 0 {
		faults.Add("attributes", fault.Max, "must be empty: no attributes are defined; send [] or leave the field out")
	}
	return faults.Err()
}

var locale = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)

// checkTranslations checks a dictionary of texts by locale.
func checkTranslations(faults *fault.Fields, field string, texts map[string]string, limit int) {
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		path := field + "." + key
		if len(key) > maxLocale || !locale.MatchString(key) {
			faults.Add(path, fault.Format, "the key must be a BCP 47 locale of at most %d characters, such as de or pt-BR", maxLocale)
		}
		if n := utf8.RuneCountInString(texts[key]); n == 0 || n > limit {
			faults.Add(path, fault.Length, "must have 1 to %d characters, has %d; leave the locale out to remove it", limit, n)
		}
	}
}

func costComponents(faults *fault.Fields, product uuid.UUID, in []CostComponentInput) []CostComponent {
	out := make([]CostComponent, len(in))
	for i, c := range in {
		path := fmt.Sprintf("costComponents[%d].", i)
		out[i] = CostComponent{Label: c.Label, ProductID: c.ProductID, Qty: c.Qty, UnitID: c.UnitID, UnitCost: c.UnitCost}
		if c.ProductID != nil && *c.ProductID == product {
			faults.Add(path+"productId", fault.Conflict, "a product cannot be a component of itself; name another product")
		}
		switch {
		case c.Amount != nil:
			out[i].Amount = *c.Amount
		case c.Qty == nil || c.UnitCost == nil:
			faults.Add(path+"amount", fault.Required, "is required unless qty and unitCost are given")
		default:
			amount, err := money.LineAmount(*c.Qty, *c.UnitCost)
			if err != nil {
				faults.Add(path+"amount", fault.Max, "qty times unitCost exceeds %d; lower one of them", money.MaxAmount)
			}
			out[i].Amount = amount
		}
	}
	return out
}

func modifierGroups(faults *fault.Fields, in []ModifierGroupInput) []ModifierGroup {
	seen := map[uuid.UUID]bool{}
	out := make([]ModifierGroup, len(in))
	for i, g := range in {
		path := fmt.Sprintf("modifierGroups[%d].", i)
		out[i] = ModifierGroup{
			ID: idOrNew(faults, path+"id", seen, g.ID), Name: g.Name, MinSelect: g.MinSelect, MaxSelect: g.MaxSelect,
			Options: make([]ModifierOption, len(g.Options)), SortOrder: g.SortOrder,
		}
		if g.MaxSelect != nil && *g.MaxSelect < g.MinSelect {
			faults.Add(path+"maxSelect", fault.Min, "must be at least minSelect, which is %d", g.MinSelect)
		}
		if int(g.MinSelect) > len(g.Options) {
			faults.Add(path+"minSelect", fault.Max, "must be at most the number of options, which is %d", len(g.Options))
		}
		for j, o := range g.Options {
			out[i].Options[j] = ModifierOption{
				ID: idOrNew(faults, fmt.Sprintf("%soptions[%d].id", path, j), seen, o.ID), Name: o.Name, Surcharge: o.Surcharge,
				ProductID: o.ProductID, IsDefault: o.IsDefault, SortOrder: o.SortOrder,
			}
		}
	}
	return out
}

// idOrNew keeps the id that a client gave to a part of a product; ids are unique within the product.
func idOrNew(faults *fault.Fields, path string, seen map[uuid.UUID]bool, id *uuid.UUID) uuid.UUID {
	if id == nil {
		return uuid.Must(uuid.NewV7())
	}
	if seen[*id] {
		faults.Add(path, fault.Conflict, "%s is given twice; leave it out for a new group or option", *id)
	}
	seen[*id] = true
	return *id
}
