package clients

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Items reads items of the catalog.
type Items interface {
	lineitem.Catalog
	// OrderItems reads the items of the refs. Unknown items are omitted.
	OrderItems(ctx context.Context, q db.Querier, company tenant.ID, refs []trade.ItemRef) (map[trade.ItemRef]trade.Item, error)
}

// ListPrice is the price of an item in a price list; see docs/reference/rules.md#price-lists.
type ListPrice struct {
	record.Key
	PriceListID uuid.UUID `json:"priceListId" format:"uuid" db:",insert"`
	PriceFields
	record.Meta
}

// PriceFields are an item and its price.
type PriceFields struct {
	Kind      string       `json:"kind" enum:"product,service" default:"product" db:",insert"`
	RefID     uuid.UUID    `json:"refId" required:"true" format:"uuid" db:",insert"`
	VariantID *uuid.UUID   `json:"variantId" format:"uuid" db:",insert" doc:"null = the product, and those of its variants that have no price of their own in the list"`
	Price     money.Amount `json:"price" required:"true" minimum:"0" doc:"minor units per unit"`
}

func (f PriceFields) ref() trade.ItemRef {
	r := trade.ItemRef{Kind: f.Kind, ID: f.RefID}
	if f.VariantID != nil {
		r.Variant = *f.VariantID
	}
	return r
}

// PriceFilter filters and sorts the prices of a list.
type PriceFilter struct {
	list.Params
	Sort  string     `query:"sort" enum:"price,createdAt,updatedAt"`
	Kind  []string   `query:"kind" enum:"product,service" where:"kind = ANY(?::TEXT[])" doc:"comma-separated"`
	RefID *uuid.UUID `query:"refId" format:"uuid" where:"ref_id = ?"`
}

var (
	prices     = resource.Of[ListPrice](priceListPrices, "PRICE")
	priceItems = list.Of[ListPrice, PriceFilter](priceListPrices)
)

const sqlSelectPrices = `SELECT kind, ref_id, COALESCE(variant_id, '00000000-0000-0000-0000-000000000000'), price
FROM price_list_prices WHERE company_id = $1 AND price_list_id = $2 AND ref_id = ANY($3::UUID[])`

// Prices returns the prices of those refs that are in the list. A variant without a price of its own has that of its product.
func (s *Service) Prices(ctx context.Context, q db.Querier, company tenant.ID, priceList uuid.UUID, refs []trade.ItemRef) (map[trade.ItemRef]money.Amount, error) {
	ids := make([]uuid.UUID, len(refs))
	for i, r := range refs {
		ids[i] = r.ID
	}
	rows, err := q.Query(ctx, sqlSelectPrices, company, priceList, ids)
	if err != nil {
		return nil, fmt.Errorf("select prices of a list: %w", err)
	}
	stored := map[trade.ItemRef]money.Amount{}
	var r trade.ItemRef
	var price money.Amount
	_, err = pgx.ForEachRow(rows, []any{&r.Kind, &r.ID, &r.Variant, &price}, func() error {
		stored[r] = price
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read prices of a list: %w", err)
	}
	found := make(map[trade.ItemRef]money.Amount, len(refs))
	for _, r := range refs {
		if p, ok := stored[r]; ok {
			found[r] = p
		} else if p, ok := stored[trade.ItemRef{Kind: r.Kind, ID: r.ID}]; ok {
			found[r] = p
		}
	}
	return found, nil
}

// ListPrices returns a page of the prices of a price list.
func (s *Service) ListPrices(ctx context.Context, by access.Caller, priceList uuid.UUID, f PriceFilter) (*list.Page[ListPrice], error) {
	if _, err := priceLists.Get(ctx, s.cfg.DB, by.Company, priceList); err != nil {
		return nil, err
	}
	q, err := priceItems.Query(by.Company, f)
	if err != nil {
		return nil, err
	}
	q.Where("price_list_id = ?", priceList)
	return priceItems.Fetch(ctx, s.cfg.DB, q)
}

const sqlSelectPriceID = `SELECT id FROM price_list_prices
WHERE company_id = $1 AND price_list_id = $2 AND kind = $3 AND ref_id = $4 AND variant_id IS NOT DISTINCT FROM $5::UUID`

// SetPrice sets the price of an item in a price list.
func (s *Service) SetPrice(ctx context.Context, tx *db.Tx, by access.Caller, priceList uuid.UUID, in PriceFields) (ListPrice, error) {
	tx.ReadsMore()
	if _, err := priceLists.Lock(ctx, tx, by, priceList); err != nil { // changes of one list wait for each other
		return ListPrice{}, err
	}
	if err := s.checkPriced(ctx, tx, by.Company, in); err != nil {
		return ListPrice{}, err
	}
	var id uuid.UUID
	err := tx.QueryRow(ctx, sqlSelectPriceID, by.Company, priceList, in.Kind, in.RefID, in.VariantID).Scan(&id)
	if db.IsNoRows(err) {
		return prices.Create(ctx, tx, by, ListPrice{PriceListID: priceList, PriceFields: in})
	}
	if err != nil {
		return ListPrice{}, fmt.Errorf("look up price: %w", err)
	}
	return prices.Change(ctx, tx, by.Unconditional(), id, func(_ ListPrice, p *ListPrice) error { p.Price = in.Price; return nil })
}

// checkPriced checks the item of a price.
func (s *Service) checkPriced(ctx context.Context, q db.Querier, company tenant.ID, in PriceFields) error {
	r := in.ref()
	items, err := s.cfg.Items.OrderItems(ctx, q, company, []trade.ItemRef{r})
	if err != nil {
		return err
	}
	if in.Kind == trade.KindService && in.VariantID != nil {
		return apierr.InvalidField("variantId", apierr.Conflict, "is allowed only for products; omit it")
	}
	return unknownItem(items, r, "refId", "variantId")
}

// unknownItem is the 404 of an item that the catalog does not have; nil if it does.
func unknownItem(items map[trade.ItemRef]trade.Item, r trade.ItemRef, refField, variantField string) error {
	item, found := items[r]
	switch {
	case !found && r.Kind == trade.KindService:
		return apierr.ReferenceNotFound("SERVICE", refField, r.ID.String())
	case !found:
		return apierr.ReferenceNotFound("PRODUCT", refField, r.ID.String())
	case item.UnknownVariant:
		return apierr.ReferenceNotFound("PRODUCT_VARIANT", variantField, r.Variant.String())
	}
	return nil
}

// RemovePrice removes a price from a price list.
func (s *Service) RemovePrice(ctx context.Context, tx *db.Tx, by access.Caller, priceList, id uuid.UUID) error {
	if _, err := priceLists.Lock(ctx, tx, by.Unconditional(), priceList); err != nil {
		return err
	}
	return prices.Delete(ctx, tx, by, id, func(p ListPrice) error {
		if p.PriceListID != priceList {
			return apierr.NotFound("PRICE", id.String())
		}
		return nil
	})
}

const priceListPrices = db.Table("price_list_prices")

var sqlDeletePrices = priceListPrices.Delete(`WHERE company_id = $1 AND price_list_id = $2`)

// removePrices queues the deletion of all prices of a list.
func removePrices(tx *db.Tx, company tenant.ID, priceList uuid.UUID) {
	tx.Queue(sqlDeletePrices, company, priceList)
}
