// Package tradetest has the shop that tests of documents sell from, in place of the other domains.
package tradetest

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Shop is what other domains see of the catalog, the price lists and the users, the same for every company of a test. A test
// changes it only while no request runs.
type Shop struct {
	apitest.Users
	Items     map[trade.ItemRef]trade.Item
	PriceList map[trade.ItemRef]money.Amount // every price list
	Rates     map[uuid.UUID]money.Percent    // tax rates
}

// NewShop returns an empty shop.
func NewShop() *Shop { return &Shop{Users: apitest.Users{}, Items: map[trade.ItemRef]trade.Item{}} }

// Product returns the reference to a product, or to one of its variants.
func Product(id uuid.UUID, variant ...uuid.UUID) trade.ItemRef {
	ref := trade.ItemRef{Kind: trade.KindProduct, ID: id}
	if len(variant) > 0 {
		ref.Variant = variant[0]
	}
	return ref
}

// OrderItems returns the items. A variant that is not there is its product, with UnknownVariant.
func (s *Shop) OrderItems(_ context.Context, _ db.Querier, _ tenant.ID, refs []trade.ItemRef) (map[trade.ItemRef]trade.Item, error) {
	found := map[trade.ItemRef]trade.Item{}
	for _, r := range refs {
		if item, ok := s.Items[r]; ok {
			found[r] = item
		} else if item, ok := s.Items[trade.ItemRef{Kind: r.Kind, ID: r.ID}]; ok && r.Variant != uuid.Nil {
			item.UnknownVariant = true
			found[r] = item
		}
	}
	return found, nil
}

// NamedItems finds items by their SKUs.
func (s *Shop) NamedItems(_ context.Context, _ db.Querier, _ tenant.ID, names []trade.ItemName) (map[trade.ItemName][]trade.ItemRef, error) {
	found := map[trade.ItemName][]trade.ItemRef{}
	for _, n := range names {
		for ref, item := range s.Items {
			if ref.Kind == n.Kind && item.SKU == n.SKU {
				found[n] = append(found[n], ref)
			}
		}
	}
	return found, nil
}

// StockProducts returns what the warehouse knows of the items. All variants are of the size L.
func (s *Shop) StockProducts(_ context.Context, _ db.Querier, _ tenant.ID, keys []trade.StockKey) (map[trade.StockKey]trade.StockProduct, error) {
	found := map[trade.StockKey]trade.StockProduct{}
	for _, k := range keys {
		item, ok := s.Items[Product(k.Product, k.Variant)]
		if !ok {
			continue
		}
		p := trade.StockProduct{Name: item.Name, SKU: item.SKU, HasStock: item.HasStock, HasVariants: item.HasVariants}
		if k.Variant != uuid.Nil {
			p.VariantSKU, p.VariantAttributes = new(item.SKU+"-L"), map[string]string{"Size": "L"}
		}
		found[k] = p
	}
	return found, nil
}

// TaxRates returns all tax rates.
func (s *Shop) TaxRates(context.Context, db.Querier, tenant.ID, []uuid.UUID) (map[uuid.UUID]money.Percent, error) {
	return s.Rates, nil
}

// Prices returns the prices of the items in the price list.
func (s *Shop) Prices(context.Context, db.Querier, tenant.ID, uuid.UUID, []trade.ItemRef) (map[trade.ItemRef]money.Amount, error) {
	return s.PriceList, nil
}
