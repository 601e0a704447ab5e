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
	"github.com/tradegrid/tradegrid/pkg/wire"
)

const (
	maxName        = 255   // characters
	maxDescription = 20000 // characters
	maxLocale      = 16    // characters
)

// apply changes the product as far as the input alone decides; all faults of the input are reported at once.
// What needs the database is left to [found.check].
func (in ProductPatch) apply(p *Product) error {
	var faults fault.Fields
	wire.Apply(&p.SKU, in.SKU)
	wire.ApplyNullable(&p.Barcode, in.Barcode)
	wire.Apply(&p.Name, in.Name)
	wire.ApplyNullable(&p.Description, in.Description)
	wire.ApplyNullable(&p.CategoryID, in.CategoryID)
	wire.ApplyNullable(&p.Brand, in.Brand)
	wire.ApplyNullable(&p.Model, in.Model)
	wire.Apply(&p.Price, in.Price)
	wire.Apply(&p.Cost, in.Cost)
	wire.ApplyNullable(&p.PackQty, in.PackQty)
	wire.ApplyNullable(&p.PackUnitID, in.PackUnitID)
	wire.ApplyNullable(&p.MinOrderQty, in.MinOrderQty)
	wire.ApplyNullable(&p.OrderStepQty, in.OrderStepQty)
	wire.Apply(&p.IsBundle, in.IsBundle)
	wire.Apply(&p.Status, in.Status)
	wire.Apply(&p.HasStock, in.HasStock)
	wire.ApplyNullable(&p.DefaultSupplierID, in.DefaultSupplierID)
	wire.ApplyNullable(&p.Emoji, in.Emoji)
	if in.NameI18n.Set {
		p.NameI18n = translations(&faults, "nameI18n", in.NameI18n.Value, maxName)
	}
	if in.DescriptionI18n.Set {
		p.DescriptionI18n = translations(&faults, "descriptionI18n", in.DescriptionI18n.Value, maxDescription)
	}
	if in.CostComponents.Set {
		p.CostComponents = costComponents(&faults, p.ID, in.CostComponents.Value)
	}
	if in.ModifierGroups.Set {
		p.ModifierGroups = modifierGroups(&faults, in.ModifierGroups.Value)
	}
	if len(in.Attributes.Value) > 0 {
		faults.Add("attributes", fault.Max, "must be empty: no attributes are defined; send [] or leave the field out")
	}
	return faults.Err()
}

var locale = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)

// translations checks a dictionary of texts by locale.
func translations(faults *fault.Fields, field string, texts map[string]string, limit int) map[string]string {
	out := make(map[string]string, len(texts))
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		path, text := field+"."+key, texts[key]
		if len(key) > maxLocale || !locale.MatchString(key) {
			faults.Add(path, fault.Format, "the key must be a BCP 47 locale of at most %d characters, such as de or pt-BR", maxLocale)
		}
		if n := utf8.RuneCountInString(text); n == 0 || n > limit {
			faults.Add(path, fault.Length, "must have 1 to %d characters, has %d; leave the locale out to remove it", limit, n)
		}
		out[key] = text
	}
	return out
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
