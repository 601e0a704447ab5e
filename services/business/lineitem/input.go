// Package lineitem holds what the lines of orders, deals and sales have in common: the input of a line and its rules, the
// building of lines from items of the catalog, their amounts, and the share of each in the discount of the document. A
// document embeds [Input] in the lines of its requests and [Line] in the lines of its responses, and adds fields of its
// own. See docs/reference/rules.md#lines.
package lineitem

import (
	"fmt"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Input is one line in a request.
type Input struct {
	Kind            string          `json:"kind,omitempty" enum:"product,service,custom" default:"product"`
	RefID           *uuid.UUID      `json:"refId,omitempty" format:"uuid" nullable:"true" doc:"of the product or service; or sku, barcode or externalId, which are ignored if refId is sent, and for custom"`
	VariantID       *uuid.UUID      `json:"variantId,omitempty" format:"uuid" nullable:"true" doc:"required if the product has variants"`
	Name            *string         `json:"name,omitempty" minLength:"1" maxLength:"255" doc:"required for custom; otherwise overrides the name in the catalog"`
	Qty             *money.Qty      `json:"qty,omitempty" exclusiveMinimum:"0" maximum:"1000000" doc:"default 1"`
	UnitPrice       *money.Amount   `json:"unitPrice,omitempty" minimum:"0" doc:"required for custom; default: price of the price list or the catalog plus modifiers"`
	DiscountPercent *money.Percent  `json:"discountPercent,omitempty" doc:"discount of this line; default 0"`
	FixedDiscount   *money.Amount   `json:"fixedDiscount,omitempty" minimum:"0" doc:"discount of this line in minor units, after discountPercent and at most what is left of its amount; default 0"`
	TaxRateID       *uuid.UUID      `json:"taxRateId,omitempty" format:"uuid" nullable:"true" doc:"default: that of the product or service"`
	Modifiers       []ModifierInput `json:"modifiers,omitempty" maxItems:"50"`
	Naming
}

// ModifierInput is a selected option in a request.
type ModifierInput struct {
	OptionID uuid.UUID  `json:"optionId" format:"uuid"`
	Qty      *money.Qty `json:"qty,omitempty" exclusiveMinimum:"0" maximum:"1000000" doc:"default 1"`
}

// input is a line in a request of any document: a struct that embeds [Input].
type input interface{ common() Input }

func (in Input) common() Input { return in }

// TransformSchema implements [huma.SchemaTransformer] for every line of a request: which of its fields are required follows from its kind.
func (Input) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Required = nil
	return s
}

// At returns the path of a field of the i-th line in the body.
func At(i int, field string) string { return fmt.Sprintf("items[%d].%s", i, field) }

func modifierAt(i, j int) string { return fmt.Sprintf("items[%d].modifiers[%d].optionId", i, j) }

// Check checks the rules of lines that depend on no other record, and reports all faults at once.
func Check[T input](items []T) error {
	var faults apierr.Fields
	for i := range items {
		items[i].common().check(i, &faults)
	}
	return faults.Err()
}

func (in Input) check(i int, faults *apierr.Fields) {
	if in.Kind == trade.KindCustom {
		in.checkCustom(i, faults)
	} else if in.RefID == nil {
		in.checkNamed(i, faults)
	}
	if in.Kind == trade.KindService && in.VariantID != nil {
		faults.Add(At(i, "variantId"), apierr.Conflict, "is allowed only for products; omit it")
	}
	for j, m := range in.Modifiers {
		if selected(in.Modifiers[:j], m.OptionID) {
			faults.Add(modifierAt(i, j), apierr.Conflict, "is a duplicate; send the option once, with a qty")
		}
	}
}

// checkNamed checks a line of the catalog without an id. A name is that of the variant, where there is one.
func (in Input) checkNamed(i int, faults *apierr.Fields) {
	if in.SKU == nil && in.Barcode == nil && in.Source == nil && in.ExternalID == nil {
		faults.Add(At(i, "refId"), apierr.Required, "is required for a %s, or sku, barcode or externalId; use kind custom for an item that is not in the catalog", in.Kind)
		return
	}
	in.CheckNaming(i, "refId", faults)
	if in.VariantID != nil {
		faults.Add(At(i, "variantId"), apierr.Conflict, "is allowed only with refId; name the variant itself by sku, barcode or externalId")
	}
	if in.Kind == trade.KindService && in.Barcode != nil {
		faults.Add(At(i, "barcode"), apierr.Conflict, "is allowed only for products; use sku or externalId")
	}
}

// Unidentified implements [named].
func (in *Input) Unidentified() (n *Naming, kind string) {
	if in.Kind == trade.KindCustom || in.RefID != nil {
		return nil, ""
	}
	return &in.Naming, in.Kind
}

// Identify implements [named].
func (in *Input) Identify(r trade.ItemRef) {
	in.RefID = &r.ID
	if r.Variant != uuid.Nil {
		in.VariantID = &r.Variant
	}
}

func (in Input) checkCustom(i int, faults *apierr.Fields) {
	if in.RefID != nil {
		faults.Add(At(i, "refId"), apierr.Conflict, "is not allowed for a custom line; omit it")
	}
	if in.VariantID != nil {
		faults.Add(At(i, "variantId"), apierr.Conflict, "is not allowed for a custom line; omit it")
	}
	if in.Name == nil {
		faults.Add(At(i, "name"), apierr.Required, "is required for a custom line")
	}
	if in.UnitPrice == nil {
		faults.Add(At(i, "unitPrice"), apierr.Required, "is required for a custom line")
	}
	if len(in.Modifiers) > 0 {
		faults.Add(At(i, "modifiers"), apierr.Conflict, "is not allowed for a custom line; omit it")
	}
}

func selected(modifiers []ModifierInput, option uuid.UUID) bool {
	for _, m := range modifiers {
		if m.OptionID == option {
			return true
		}
	}
	return false
}

// Ref returns the catalog item of the line; ok is false for a custom line.
func (in Input) Ref() (r trade.ItemRef, ok bool) { return ref(in.Kind, in.RefID, in.VariantID) }

func ref(kind string, id, variant *uuid.UUID) (r trade.ItemRef, ok bool) {
	if kind == trade.KindCustom || id == nil {
		return r, false
	}
	r = trade.ItemRef{Kind: kind, ID: *id}
	if variant != nil {
		r.Variant = *variant
	}
	return r, true
}

// Refs returns the distinct catalog items of the lines.
func Refs[T input](items []T) []trade.ItemRef {
	var refs []trade.ItemRef
	seen := map[trade.ItemRef]bool{}
	for i := range items {
		if r, ok := items[i].common().Ref(); ok && !seen[r] {
			seen[r] = true
			refs = append(refs, r)
		}
	}
	return refs
}

// TaxRates returns the tax rates that the lines name.
func TaxRates[T input](items []T) []uuid.UUID {
	var ids []uuid.UUID
	for i := range items {
		if id := items[i].common().TaxRateID; id != nil && !slices.Contains(ids, *id) {
			ids = append(ids, *id)
		}
	}
	return ids
}

func orOne(qty *money.Qty) money.Qty {
	if qty == nil {
		return money.Units(1)
	}
	return *qty
}
