package reports

import (
	"context"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// OfItem is the item and the category of a row. SKU and names are those of now.
type OfItem struct {
	Kind         *string    `json:"kind" doc:"product or service; null without groupBy=product, and for lines that are no item of the catalog"`
	RefID        *uuid.UUID `json:"refId" format:"uuid" nullable:"true" doc:"id of the product, with all its variants, or of the service"`
	SKU          *string    `json:"sku" doc:"of refId; null if it was deleted"`
	Name         *string    `json:"name" doc:"of refId; null if it was deleted"`
	CategoryID   *uuid.UUID `json:"categoryId" format:"uuid" nullable:"true" doc:"of the item now; null without groupBy=category, and for lines without one"`
	CategoryName *string    `json:"categoryName"`
}

// OfHour is the hour of a row.
type OfHour struct {
	Hour *int32 `json:"hour" doc:"0 to 23, in the time zone of the company; null without groupBy=hour"`
}

// CostSums are sums of costs and margins. All are null for a token without the scope catalog:read, and where no cost is known.
type CostSums struct {
	CostedAmount *money.Amount `json:"costedAmount" doc:"total without tax, less what came back, of the lines whose cost is known: margin is what cost leaves of it; null without the scope catalog:read"`
	lineitem.Margins
}

// costSums returns the sums as a caller may see them.
func costSums(by access.Caller, cost, costed int64) CostSums {
	if !lineitem.SeesCosts(by) || cost == 0 && costed == 0 {
		return CostSums{}
	}
	return CostSums{new(money.Amount(costed)), lineitem.MarginsOf(money.Amount(cost), money.Amount(costed))}
}

// qtyOf is a sum of quantities, where they are of one item or category.
func qtyOf(names []string, thousandths int64) *money.Qty {
	if !slices.Contains(names, productDimension) && !slices.Contains(names, categoryDimension) {
		return nil
	}
	return new(money.Qty(thousandths))
}

// hour is [row.text] for a key that is an hour.
func (r *row) hour(key int) OfHour {
	n, err := strconv.ParseInt(r.keys[key], 10, 32)
	if err != nil {
		return OfHour{} // none
	}
	return OfHour{new(int32(n))}
}

// item is [row.text] for the keys of an item and a category.
func (r *row) item(cards map[trade.ItemRef]trade.StockProduct, names map[uuid.UUID]string, key, category int) (out OfItem) {
	if ref, ok := refOf(r.keys[key]); ok {
		out.Kind, out.RefID = &ref.Kind, &ref.ID
		if card, found := cards[ref]; found {
			out.SKU, out.Name = &card.SKU, &card.Name
		}
	}
	if out.CategoryID = r.id(category); out.CategoryID != nil {
		if name, ok := names[*out.CategoryID]; ok {
			out.CategoryName = &name
		}
	}
	return out
}

// keysAt are the different keys of the rows at an index.
func (t *table) keysAt(at int) map[string]bool {
	keys := map[string]bool{}
	for _, r := range t.rows {
		if r.keys[at] != "" {
			keys[r.keys[at]] = true
		}
	}
	return keys
}

// idsAt are the different ids of the rows at an index.
func (t *table) idsAt(at int) (ids []uuid.UUID) {
	for key := range t.keysAt(at) {
		if id, err := uuid.Parse(key); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// itemNames reads what the items and categories of the rows are called.
func (s *Service) itemNames(ctx context.Context, company tenant.ID, t *table, item, category int) (cards map[trade.ItemRef]trade.StockProduct, names map[uuid.UUID]string, err error) {
	if cards, err = s.items(ctx, company, t.keysAt(item)); err != nil {
		return nil, nil, err
	}
	ids := t.idsAt(category)
	if len(ids) == 0 {
		return cards, nil, nil
	}
	names, err = s.cfg.Categories(ctx, s.cfg.DB, company, ids)
	return cards, names, err
}
