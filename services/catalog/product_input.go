package catalog

import (
	"bytes"
	"encoding/json"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// ProductInput is the body of a new product.
type ProductInput struct {
	SKU               string                       `json:"sku,omitempty" minLength:"1" maxLength:"64" doc:"generated when left out"`
	Barcode           *string                      `json:"barcode,omitempty" nullable:"true" minLength:"1" maxLength:"64"`
	Name              string                       `json:"name" minLength:"1" maxLength:"255"`
	Description       *string                      `json:"description,omitempty" nullable:"true" maxLength:"20000"`
	NameI18n          map[string]string            `json:"nameI18n,omitempty" maxProperties:"30"`
	DescriptionI18n   map[string]string            `json:"descriptionI18n,omitempty" maxProperties:"30"`
	CategoryID        *uuid.UUID                   `json:"categoryId,omitempty" format:"uuid" nullable:"true"`
	Price             money.Amount                 `json:"price" minimum:"0"`
	Cost              money.Amount                 `json:"cost,omitempty" minimum:"0"`
	Unit              string                       `json:"unit,omitempty" minLength:"1" maxLength:"16" doc:"unit code; pcs when left out"`
	UnitID            *uuid.UUID                   `json:"unitId,omitempty" format:"uuid" nullable:"true" doc:"decides about unit when both are given"`
	PackQty           *money.Qty                   `json:"packQty,omitempty" nullable:"true" exclusiveMinimum:"0" maximum:"1000000"`
	PackUnitID        *uuid.UUID                   `json:"packUnitId,omitempty" format:"uuid" nullable:"true"`
	MinOrderQty       *money.Qty                   `json:"minOrderQty,omitempty" nullable:"true" exclusiveMinimum:"0" maximum:"1000000"`
	OrderStepQty      *money.Qty                   `json:"orderStepQty,omitempty" nullable:"true" exclusiveMinimum:"0" maximum:"1000000"`
	CostComponents    []CostComponentInput         `json:"costComponents,omitempty" maxItems:"100"`
	IsBundle          bool                         `json:"isBundle,omitempty"`
	ModifierGroups    []ModifierGroupInput         `json:"modifierGroups,omitempty" maxItems:"20"`
	Status            string                       `json:"status,omitempty" enum:"active,hidden" default:"active"`
	HasStock          bool                         `json:"hasStock,omitempty"`
	DefaultSupplierID *uuid.UUID                   `json:"defaultSupplierId,omitempty" format:"uuid" nullable:"true"`
	Emoji             *string                      `json:"emoji,omitempty" nullable:"true" maxLength:"16"`
	Brand             *string                      `json:"brand,omitempty" nullable:"true" maxLength:"255"`
	Model             *string                      `json:"model,omitempty" nullable:"true" maxLength:"255"`
	Attributes        []ProductAttributeValueInput `json:"attributes,omitempty" maxItems:"200" doc:"the complete set of attribute values"`
}

// ProductPatch is the body of a change: what is absent stays, arrays and dictionaries are replaced as a whole.
type ProductPatch struct {
	SKU               wire.Optional[string]                       `json:"sku,omitzero" minLength:"1" maxLength:"64"`
	Barcode           wire.Optional[string]                       `json:"barcode,omitzero" nullable:"true" minLength:"1" maxLength:"64"`
	Name              wire.Optional[string]                       `json:"name,omitzero" minLength:"1" maxLength:"255"`
	Description       wire.Optional[string]                       `json:"description,omitzero" nullable:"true" maxLength:"20000"`
	NameI18n          wire.Optional[map[string]string]            `json:"nameI18n,omitzero" maxProperties:"30"`
	DescriptionI18n   wire.Optional[map[string]string]            `json:"descriptionI18n,omitzero" maxProperties:"30"`
	CategoryID        wire.Optional[uuid.UUID]                    `json:"categoryId,omitzero" format:"uuid" nullable:"true"`
	Price             wire.Optional[money.Amount]                 `json:"price,omitzero" minimum:"0"`
	Cost              wire.Optional[money.Amount]                 `json:"cost,omitzero" minimum:"0"`
	Unit              wire.Optional[string]                       `json:"unit,omitzero" minLength:"1" maxLength:"16"`
	UnitID            wire.Optional[uuid.UUID]                    `json:"unitId,omitzero" format:"uuid" nullable:"true"`
	PackQty           wire.Optional[money.Qty]                    `json:"packQty,omitzero" nullable:"true" exclusiveMinimum:"0" maximum:"1000000"`
	PackUnitID        wire.Optional[uuid.UUID]                    `json:"packUnitId,omitzero" format:"uuid" nullable:"true"`
	MinOrderQty       wire.Optional[money.Qty]                    `json:"minOrderQty,omitzero" nullable:"true" exclusiveMinimum:"0" maximum:"1000000"`
	OrderStepQty      wire.Optional[money.Qty]                    `json:"orderStepQty,omitzero" nullable:"true" exclusiveMinimum:"0" maximum:"1000000"`
	CostComponents    wire.Optional[[]CostComponentInput]         `json:"costComponents,omitzero" maxItems:"100"`
	IsBundle          wire.Optional[bool]                         `json:"isBundle,omitzero"`
	ModifierGroups    wire.Optional[[]ModifierGroupInput]         `json:"modifierGroups,omitzero" maxItems:"20"`
	Status            wire.Optional[string]                       `json:"status,omitzero" enum:"active,hidden"`
	HasStock          wire.Optional[bool]                         `json:"hasStock,omitzero"`
	DefaultSupplierID wire.Optional[uuid.UUID]                    `json:"defaultSupplierId,omitzero" format:"uuid" nullable:"true"`
	Emoji             wire.Optional[string]                       `json:"emoji,omitzero" nullable:"true" maxLength:"16"`
	Brand             wire.Optional[string]                       `json:"brand,omitzero" nullable:"true" maxLength:"255"`
	Model             wire.Optional[string]                       `json:"model,omitzero" nullable:"true" maxLength:"255"`
	Attributes        wire.Optional[[]ProductAttributeValueInput] `json:"attributes,omitzero" maxItems:"200"`
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

// patch is the input as a change of an empty product, so that both follow the same rules.
func (in ProductInput) patch() ProductPatch {
	return ProductPatch{
		SKU: given(in.SKU), Barcode: optional(in.Barcode), Name: wire.Some(in.Name), Description: optional(in.Description),
		NameI18n:        wire.Optional[map[string]string]{Set: in.NameI18n != nil, Value: in.NameI18n},
		DescriptionI18n: wire.Optional[map[string]string]{Set: in.DescriptionI18n != nil, Value: in.DescriptionI18n},
		CategoryID:      optional(in.CategoryID), Price: wire.Some(in.Price), Cost: wire.Some(in.Cost), Unit: given(in.Unit), UnitID: optional(in.UnitID),
		PackQty: optional(in.PackQty), PackUnitID: optional(in.PackUnitID), MinOrderQty: optional(in.MinOrderQty), OrderStepQty: optional(in.OrderStepQty),
		CostComponents: wire.Some(in.CostComponents), IsBundle: wire.Some(in.IsBundle), ModifierGroups: wire.Some(in.ModifierGroups),
		Status: given(in.Status), HasStock: wire.Some(in.HasStock), DefaultSupplierID: optional(in.DefaultSupplierID),
		Emoji: optional(in.Emoji), Brand: optional(in.Brand), Model: optional(in.Model), Attributes: wire.Some(in.Attributes),
	}
}

func given(text string) wire.Optional[string] {
	return wire.Optional[string]{Set: text != "", Value: text}
}

func optional[T any](v *T) wire.Optional[T] {
	if v == nil {
		return wire.Optional[T]{}
	}
	return wire.Some(*v)
}

// productChanges names the fields in which two states of a product differ.
func productChanges(a, b Product) record.Changes {
	var ch record.Changes
	ch.If(a.SKU != b.SKU, "sku")
	ch.If(!same(a.Barcode, b.Barcode), "barcode")
	ch.If(a.Name != b.Name, "name")
	ch.If(!same(a.Description, b.Description), "description")
	ch.If(!sameJSON(a.NameI18n, b.NameI18n), "nameI18n")
	ch.If(!sameJSON(a.DescriptionI18n, b.DescriptionI18n), "descriptionI18n")
	ch.If(!same(a.CategoryID, b.CategoryID), "categoryId")
	ch.If(!same(a.Brand, b.Brand), "brand")
	ch.If(!same(a.Model, b.Model), "model")
	ch.If(a.Price != b.Price, "price")
	ch.If(a.Cost != b.Cost, "cost")
	ch.If(a.Unit != b.Unit, "unit")
	ch.If(!same(a.UnitID, b.UnitID), "unitId")
	ch.If(!same(a.PackQty, b.PackQty), "packQty")
	ch.If(!same(a.PackUnitID, b.PackUnitID), "packUnitId")
	ch.If(!same(a.MinOrderQty, b.MinOrderQty), "minOrderQty")
	ch.If(!same(a.OrderStepQty, b.OrderStepQty), "orderStepQty")
	ch.If(!sameJSON(a.CostComponents, b.CostComponents), "costComponents")
	ch.If(a.IsBundle != b.IsBundle, "isBundle")
	ch.If(!sameJSON(a.ModifierGroups, b.ModifierGroups), "modifierGroups")
	ch.If(a.Status != b.Status, "status")
	ch.If(a.HasStock != b.HasStock, "hasStock")
	ch.If(!same(a.DefaultSupplierID, b.DefaultSupplierID), "defaultSupplierId")
	ch.If(!same(a.Emoji, b.Emoji), "emoji")
	return ch
}

func same[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
