package clients

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// PricesInput is the body of a change of many prices of a list.
type PricesInput struct {
	Items []PricedItem `json:"items" required:"true" minItems:"1" maxItems:"1000" doc:"prices of other items stay; of an item that occurs twice, the last price counts"`
}

// PricedItem is the price of an item, which it names as a line of a document does.
type PricedItem struct {
	Kind      string       `json:"kind,omitempty" enum:"product,service" default:"product"`
	RefID     *uuid.UUID   `json:"refId,omitempty" format:"uuid" nullable:"true" doc:"of the product or service; or sku, barcode or externalId, which are ignored if refId is sent"`
	VariantID *uuid.UUID   `json:"variantId,omitempty" format:"uuid" nullable:"true" doc:"null = the product, and those of its variants that have no price of their own in the list"`
	Price     money.Amount `json:"price" minimum:"0" doc:"minor units per unit"`
	lineitem.Naming
}

// PricesSet counts what a change of many prices has done.
type PricesSet struct {
	Changed   int `json:"changed" doc:"prices that are new or different"`
	Unchanged int `json:"unchanged" doc:"prices that were the same"`
}

// Unidentified tells [lineitem.Identify] what names the item, if its id was not sent.
func (in *PricedItem) Unidentified() (n *lineitem.Naming, kind string) {
	if in.RefID != nil {
		return nil, ""
	}
	return &in.Naming, in.Kind
}

// Identify sets the ids of the item.
func (in *PricedItem) Identify(r trade.ItemRef) {
	in.RefID = &r.ID
	if r.Variant != uuid.Nil {
		in.VariantID = &r.Variant
	}
}

func (in *PricedItem) fields() PriceFields {
	return PriceFields{Kind: in.Kind, RefID: *in.RefID, VariantID: in.VariantID, Price: in.Price}
}

// check returns all faults of items that are named in no way, or in several.
func (in PricesInput) check() error {
	var faults apierr.Fields
	for i := range in.Items {
		item := &in.Items[i]
		if item.RefID == nil {
			item.CheckNaming(i, "refId", &faults)
		}
		if item.VariantID != nil && (item.RefID == nil || item.Kind == trade.KindService) {
			faults.Add(lineitem.At(i, "variantId"), apierr.Conflict, "is allowed only with the refId of a product")
		}
	}
	return faults.Err()
}

// SetPrices sets the prices of many items in a price list, in one transaction: all, or none.
func (s *Service) SetPrices(ctx context.Context, tx *db.Tx, by access.Caller, priceList uuid.UUID, in PricesInput) (out PricesSet, err error) {
	if err := in.check(); err != nil {
		return out, err
	}
	tx.ReadsMore()
	if _, err := priceLists.Lock(ctx, tx, by, priceList); err != nil { // changes of one list wait for each other
		return out, err
	}
	items, err := lineitem.Identify(ctx, tx, s.cfg.Items, by.Company, in.Items)
	if err != nil {
		return out, err
	}
	if err := s.checkAllPriced(ctx, tx, by.Company, items); err != nil {
		return out, err
	}
	stored, err := readPrices(ctx, tx, by.Company, priceList, items)
	if err != nil {
		return out, err
	}
	wanted := map[trade.ItemRef]PriceFields{} // of an item that occurs twice, the last price
	for i := range items {
		f := items[i].fields()
		wanted[f.ref()] = f
	}
	for ref, f := range wanted {
		before, known := stored[ref]
		switch {
		case !known:
			prices.Add(tx, by.Company, &ListPrice{PriceListID: priceList, PriceFields: f})
		case before.Price == f.Price:
			out.Unchanged++
			continue
		default:
			snapshot := prices.Snapshot(before)
			before.Price = f.Price
			if err := prices.Store(ctx, tx, by, snapshot, &before); err != nil {
				return out, err
			}
		}
		out.Changed++
	}
	return out, nil
}

// checkAllPriced returns the error of the first item that the catalog does not have.
func (s *Service) checkAllPriced(ctx context.Context, q db.Querier, company tenant.ID, items []PricedItem) error {
	refs := make([]trade.ItemRef, len(items))
	for i := range items {
		refs[i] = items[i].fields().ref()
	}
	known, err := s.cfg.Items.OrderItems(ctx, q, company, refs)
	if err != nil {
		return err
	}
	for i, r := range refs {
		if err := unknownItem(known, r, lineitem.At(i, "refId"), lineitem.At(i, "variantId")); err != nil {
			return err
		}
	}
	return nil
}

var (
	pricePlan           = record.PlanOf[ListPrice]()
	sqlSelectListPrices = "SELECT " + pricePlan.SelectList("") + " FROM price_list_prices WHERE company_id = $1 AND price_list_id = $2 AND ref_id = ANY($3::UUID[])"
)

// readPrices reads the prices that the list has of the items, and of their variants.
func readPrices(ctx context.Context, q db.Querier, company tenant.ID, priceList uuid.UUID, items []PricedItem) (map[trade.ItemRef]ListPrice, error) {
	ids := make([]uuid.UUID, len(items))
	for i := range items {
		ids[i] = *items[i].RefID
	}
	all, err := db.Collect(ctx, q, "select prices of items", db.RowTo(func(p *ListPrice) []any { return pricePlan.Targets(p) }), sqlSelectListPrices, company, priceList, ids)
	found := make(map[trade.ItemRef]ListPrice, len(all))
	for _, p := range all {
		found[p.ref()] = p
	}
	return found, err
}
