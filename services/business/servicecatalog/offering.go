package servicecatalog

import (
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/translation"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/sku"
)

const services = db.Table("services")

// States of a service; see docs/reference/states.md#service.
const (
	StatusActive = "active"
	StatusHidden = "hidden"
)

// defaultModel is the price model of a service whose body names none.
const defaultModel = "fixed"

// defaultPrefix is the prefix of generated SKUs if the category has none.
const defaultPrefix = "S"

// Offering is a service of the catalog; see docs/reference/rules.md#services.
type Offering struct {
	record.Key
	Fields
	TotalCost money.Amount       `json:"totalCost" doc:"sum of the amounts of costItems"`
	CostItems []OfferingCostItem `json:"costItems"`
	record.Meta
}

// Fields are the fields that API clients set and that are stored unchanged.
type Fields struct {
	SKU                 string            `json:"sku" minLength:"1" maxLength:"64" search:"text" doc:"unique, ignoring case; generated if omitted"`
	Name                string            `json:"name" required:"true" minLength:"1" maxLength:"255" search:"text"`
	NameI18n            translation.Names `json:"nameI18n" maxProperties:"30" doc:"translations by locale"`
	CategoryID          *uuid.UUID        `json:"categoryId" format:"uuid"`
	PriceModel          string            `json:"priceModel" enum:"fixed,per_hour,per_minute,per_day,per_item" default:"fixed" doc:"what the price is for"`
	Price               money.Amount      `json:"price" required:"true" minimum:"0"`
	TaxRateID           *uuid.UUID        `json:"taxRateId" format:"uuid" doc:"of lines of documents that name the service; null = no tax"`
	DurationMinutes     *int32            `json:"durationMinutes" minimum:"1" maximum:"1440" doc:"duration of a booking and step of its slots; null = those of the resource"`
	BufferBeforeMinutes *int32            `json:"bufferBeforeMinutes" minimum:"0" maximum:"480" doc:"kept free before a booking, such as to prepare; null = as the resource has it"`
	BufferAfterMinutes  *int32            `json:"bufferAfterMinutes" minimum:"0" maximum:"480" doc:"kept free after a booking, such as to clean; null = as the resource has it"`
	Status              string            `json:"status" enum:"active,hidden" default:"active"`
	record.External
}

// OfferingCostItem is one part of the cost of a service.
type OfferingCostItem struct {
	ID        uuid.UUID    `json:"id" format:"uuid"`
	Label     string       `json:"label"`
	ProductID *uuid.UUID   `json:"productId" format:"uuid"`
	Qty       money.Qty    `json:"qty"`
	UnitID    *uuid.UUID   `json:"unitId" format:"uuid"`
	UnitCost  money.Amount `json:"unitCost"`
	Amount    money.Amount `json:"amount"`
	SortOrder int32        `json:"sortOrder"`
}

// OfferingListItem is a service in a list.
type OfferingListItem struct {
	record.Key
	Fields
	TotalCost money.Amount        `json:"totalCost" doc:"sum of the amounts of the cost items"`
	CostItems *[]OfferingCostItem `json:"costItems,omitempty" doc:"only with include=costItems"`
	record.Meta
}

// Filter filters and sorts services.
type Filter struct {
	list.Params
	CategoryID jsontype.IDOrNull `query:"categoryId" doc:"id of a category, including those below it, or null for services without one"`
	Status     []string          `query:"status" enum:"active,hidden,all" maxItems:"3" doc:"default active, or all if updatedSince is set, so that incremental reads include hidden services"`
	PriceModel []string          `query:"priceModel" enum:"fixed,per_hour,per_minute,per_day,per_item" where:"price_model = ANY(?::TEXT[])" doc:"comma-separated"`
	PriceMin   *money.Amount     `query:"priceMin" minimum:"0" where:"price >= ?" doc:"minor units, inclusive"`
	PriceMax   *money.Amount     `query:"priceMax" minimum:"0" where:"price <= ?" doc:"minor units, inclusive"`
	SKU        string            `query:"sku" maxLength:"64" doc:"exact, ignoring case"`
	list.ByExternal
	Sort    string   `query:"sort" enum:"name,sku,price,totalCost,createdAt"`
	Include []string `query:"include" enum:"costItems" maxItems:"10"`
}

var (
	table = resource.Of[Offering](services, "SERVICE")
	items = list.Of[OfferingListItem, Filter](services, list.Spec{Permanent: true})
)

// Known returns those ids that are services of the company.
var Known = table.Known

// statuses are the states that the list shows; nil = all.
func (f Filter) statuses() []string {
	switch {
	case slices.Contains(f.Status, "all"), len(f.Status) == 0 && f.UpdatedSince != nil:
		return nil
	case len(f.Status) == 0:
		return []string{StatusActive}
	default:
		return f.Status
	}
}

// name is what the service reserves.
func (o Offering) name() sku.Item {
	return sku.Item{Entity: sku.Service, ID: o.ID, SKU: o.SKU, Status: o.Status}
}

// IsHidden implements [httpapi.Hideable].
func (o Offering) IsHidden() bool { return o.Status == StatusHidden }
