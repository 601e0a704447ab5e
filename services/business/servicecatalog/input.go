package servicecatalog

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

// OfferingInput is the body that API clients send. Cost items that were sent replace the stored ones as a whole.
type OfferingInput struct {
	Fields
	CostItems []OfferingCostItemInput `json:"costItems" maxItems:"100"`
}

// OfferingCostItemInput is a [OfferingCostItem] in a request.
type OfferingCostItemInput struct {
	Label     string        `json:"label" minLength:"1" maxLength:"255"`
	ProductID *uuid.UUID    `json:"productId,omitempty" format:"uuid" nullable:"true"`
	Qty       *money.Qty    `json:"qty,omitempty" exclusiveMinimum:"0" maximum:"1000000" doc:"default 1"`
	UnitID    *uuid.UUID    `json:"unitId,omitempty" format:"uuid" nullable:"true"`
	UnitCost  money.Amount  `json:"unitCost,omitempty" minimum:"0"`
	Amount    *money.Amount `json:"amount,omitempty" minimum:"0" doc:"default: qty times unitCost"`
}

// take applies the cost items of the input and checks rules that tags cannot express. It reports all faults. Checks that
// need the database are in [Service.settle].
func (o *Offering) take(in OfferingInput) error {
	var faults apierr.Fields
	if in.CostItems != nil {
		o.CostItems = costItems(&faults, o.CostItems, in.CostItems)
		total, err := totalOf(o.CostItems)
		if err != nil {
			faults.Add("costItems", apierr.Max, "the sum of the amounts exceeds %d; lower one of them", money.MaxAmount)
		}
		o.TotalCost = total
	}
	return faults.Err()
}

// costItems computes the items of a request. An item that equals the stored one in its place keeps the id.
func costItems(faults *apierr.Fields, before []OfferingCostItem, in []OfferingCostItemInput) []OfferingCostItem {
	out := make([]OfferingCostItem, len(in))
	for i, c := range in {
		now := OfferingCostItem{Label: c.Label, ProductID: c.ProductID, Qty: money.Units(1), UnitID: c.UnitID, UnitCost: c.UnitCost, SortOrder: int32(i)}
		if c.Qty != nil {
			now.Qty = *c.Qty
		}
		if c.Amount != nil {
			now.Amount = *c.Amount
		} else if amount, err := money.LineAmount(now.Qty, now.UnitCost); err == nil {
			now.Amount = amount
		} else {
			faults.Add(fmt.Sprintf("costItems[%d].amount", i), apierr.Max, "qty times unitCost exceeds %d; lower one of them", money.MaxAmount)
		}
		if i < len(before) && now.equals(before[i]) {
			now.ID = before[i].ID
		} else {
			now.ID = uuid.Must(uuid.NewV7())
		}
		out[i] = now
	}
	return out
}

// equals reports whether both items have the same content.
func (c OfferingCostItem) equals(other OfferingCostItem) bool {
	same := func(a, b *uuid.UUID) bool { return a == b || a != nil && b != nil && *a == *b }
	return c.Label == other.Label && c.Qty == other.Qty && c.UnitCost == other.UnitCost && c.Amount == other.Amount &&
		same(c.ProductID, other.ProductID) && same(c.UnitID, other.UnitID)
}

func totalOf(items []OfferingCostItem) (money.Amount, error) {
	amounts := make([]money.Amount, len(items))
	for i, c := range items {
		amounts[i] = c.Amount
	}
	return money.Sum(amounts...)
}
