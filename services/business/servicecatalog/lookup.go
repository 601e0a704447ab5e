package servicecatalog

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/sku"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// settle checks new references and the SKU, in at most one round trip. prefix is the prefix for a generated SKU.
func (s *Service) settle(ctx context.Context, q db.Querier, company tenant.ID, before, o Offering, sent OfferingInput) (prefix string, err error) {
	prefix = defaultPrefix
	var refs reference.Set
	refs.Add("CATEGORY", "categoryId", before.CategoryID, o.CategoryID, func(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error) {
		prefixes, err := s.cfg.CategoryPrefixes(ctx, q, company, ids)
		if p := prefixes[ids[0]]; p != nil {
			prefix = *p
		}
		return slices.Collect(maps.Keys(prefixes)), err
	})
	refs.Add("TAX_RATE", "taxRateId", before.TaxRateID, o.TaxRateID, s.cfg.TaxRates)
	for i, c := range sent.CostItems {
		refs.Add("PRODUCT", fmt.Sprintf("costItems[%d].productId", i), nil, c.ProductID, s.cfg.Products)
		refs.Add("UNIT", fmt.Sprintf("costItems[%d].unitId", i), nil, c.UnitID, s.cfg.Units)
	}
	err = batchloader.Load(ctx, q, append(refs.Reads(company), o.name().Checks(company, before.name())...)...)
	return prefix, err
}

// refers reports whether anything is to be looked up, as a rule.
func (in OfferingInput) refers() bool {
	return in.SKU != "" || in.CategoryID != nil || in.TaxRateID != nil || in.CostItems != nil
}

// findBySKU returns the id of the service with a SKU.
func findBySKU(ctx context.Context, q db.Querier, company tenant.ID, text string) (uuid.UUID, error) {
	id, err := sku.Find(ctx, q, company, sku.Service, text)
	if err == nil && id == uuid.Nil {
		err = apierr.NotFound("SERVICE", text)
	}
	return id, err
}

const sqlSelectItems = `SELECT s.id, s.sku, s.name, s.price, s.total_cost, s.status = 'hidden', s.tax_rate_id,
  (SELECT percent_bp FROM tax_rates AS t WHERE t.company_id = s.company_id AND t.id = s.tax_rate_id)
FROM services AS s WHERE s.company_id = $1 AND s.id = ANY($2::UUID[])`

// OrderItems reads the services that document lines refer to, in one query. Unknown ones and other kinds are omitted.
// Services have no variants: an item whose variant is set has UnknownVariant set.
func OrderItems(ctx context.Context, q db.Querier, company tenant.ID, refs []trade.ItemRef) (map[trade.ItemRef]trade.Item, error) {
	var ids []uuid.UUID
	for _, r := range refs {
		if r.Kind == trade.KindService && !slices.Contains(ids, r.ID) {
			ids = append(ids, r.ID)
		}
	}
	rows, err := q.Query(ctx, sqlSelectItems, company, ids)
	if err != nil {
		return nil, fmt.Errorf("select services of a document: %w", err)
	}
	byID := map[uuid.UUID]trade.Item{}
	var id uuid.UUID
	var it trade.Item
	var rate *uuid.UUID
	var percent *money.Percent
	_, err = pgx.ForEachRow(rows, []any{&id, &it.SKU, &it.Name, &it.Price, &it.Cost, &it.Hidden, &rate, &percent}, func() error {
		if it.Tax = nil; percent != nil {
			it.Tax = &trade.TaxRate{ID: *rate, Percent: *percent}
		}
		byID[id] = it
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read services of a document: %w", err)
	}
	found := make(map[trade.ItemRef]trade.Item, len(refs))
	for _, r := range refs {
		if it, ok := byID[r.ID]; ok && r.Kind == trade.KindService {
			it.UnknownVariant = r.Variant != uuid.Nil
			found[r] = it
		}
	}
	return found, nil
}

const sqlSelectExternal = `SELECT id, external_id, COALESCE(source, '') FROM services WHERE company_id = $1 AND external_id = ANY($2::TEXT[])`

// NamedItems returns the services that have the names, of which it ignores those of products. Services have no barcodes.
func NamedItems(ctx context.Context, q db.Querier, company tenant.ID, names []trade.ItemName) (map[trade.ItemName][]trade.ItemRef, error) {
	var skus, external []string
	for _, n := range names {
		switch {
		case n.Kind != trade.KindService:
		case n.SKU != "":
			skus = append(skus, list.Key(n.SKU))
		default:
			external = append(external, n.ExternalID)
		}
	}
	var held map[string]sku.Holder
	var others []externalService
	err := batchloader.Load(ctx, q, func(ctx context.Context, q db.Querier) (err error) {
		held, err = sku.Holders(ctx, q, company, skus)
		return err
	}, func(ctx context.Context, q db.Querier) (err error) {
		if len(external) > 0 {
			others, err = db.Collect(ctx, q, "find services by external ids", db.RowTo((*externalService).targets), sqlSelectExternal, company, external)
		}
		return err
	})
	found := make(map[trade.ItemName][]trade.ItemRef, len(names))
	for _, n := range names {
		if n.Kind != trade.KindService {
			continue
		}
		if h := held[list.Key(n.SKU)]; h.Entity == sku.Service {
			found[n] = []trade.ItemRef{{Kind: trade.KindService, ID: h.ID}}
		}
		for _, o := range others {
			if n.ExternalID == o.name && (n.Source == "" || n.Source == o.source) {
				found[n] = append(found[n], trade.ItemRef{Kind: trade.KindService, ID: o.id})
			}
		}
	}
	return found, err
}

type externalService struct {
	id           uuid.UUID
	name, source string
}

func (s *externalService) targets() []any { return []any{&s.id, &s.name, &s.source} }

const sqlSelectBooked = `SELECT id, name, price_model, price, duration_minutes, buffer_before_minutes, buffer_after_minutes, status = 'hidden' FROM services WHERE company_id = $1 AND id = $2`

// Booked reads the service of a booking; found is false if there is none.
func Booked(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (b trade.BookedService, found bool, err error) {
	err = q.QueryRow(ctx, sqlSelectBooked, company, id).Scan(&b.ID, &b.Name, &b.PriceModel, &b.Price, &b.DurationMinutes, &b.BufferBeforeMinutes, &b.BufferAfterMinutes, &b.Hidden)
	if db.IsNoRows(err) {
		return b, false, nil
	}
	if err != nil {
		return b, false, fmt.Errorf("select service of booking: %w", err)
	}
	return b, true, nil
}

const sqlCountActive = `SELECT count(*) FROM services WHERE company_id = $1 AND category_id = $2 AND status = 'active'`

// InCategories is what categories need to know of the services in them.
type InCategories struct{}

// CountActive counts the active services in a category, not in those below it.
func (InCategories) CountActive(ctx context.Context, q db.Querier, company tenant.ID, category uuid.UUID) (n int64, err error) {
	if err := q.QueryRow(ctx, sqlCountActive, company, category).Scan(&n); err != nil {
		return 0, fmt.Errorf("count services of category: %w", err)
	}
	return n, nil
}

var (
	plan              = record.PlanOf[Offering]()
	sqlLockOfCategory = "SELECT " + plan.SelectList("") + " FROM services WHERE company_id = $1 AND category_id = $2 AND status = 'active' ORDER BY id FOR UPDATE"
)

var sqlDetachHidden = services.Update(`SET category_id = NULL, version = version + 1, ev_pos = GREATEST(ev_pos + 1, $3::BIGINT), updated_at = $4
WHERE company_id = $1 AND category_id = $2 AND status = 'hidden'`)

// EmptyCategory removes the services from a category before it is deleted. Active ones move to the other category, each
// with an event; hidden ones lose their category without an event.
func (InCategories) EmptyCategory(ctx context.Context, tx *db.Tx, by access.Caller, category uuid.UUID, to *uuid.UUID) error {
	all, err := db.Collect(ctx, tx, "select services to move", db.RowTo(func(o *Offering) []any { return plan.Targets(o) }), sqlLockOfCategory, by.Company, category)
	if err != nil {
		return err
	}
	for _, o := range all {
		snapshot := table.Snapshot(o)
		o.CategoryID = to
		if err := table.Store(ctx, tx, by, snapshot, &o, updated); err != nil {
			return err
		}
	}
	tx.Queue(sqlDetachHidden, by.Company, category, tx.Now().UnixMicro(), jsontype.At(tx.Now()))
	return nil
}

const sqlSelectCards = `SELECT s.id, s.sku, s.name, s.category_id FROM services AS s WHERE s.company_id = $1 AND s.id = ANY($2::UUID[])`

// Cards reads what services are called and their categories. Unknown ones are omitted.
func Cards(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]trade.StockProduct, error) {
	type card struct {
		id uuid.UUID
		trade.StockProduct
	}
	all, err := db.Collect(ctx, q, "select names of services", func(row pgx.CollectableRow) (c card, err error) {
		return c, row.Scan(&c.id, &c.SKU, &c.Name, &c.CategoryID)
	}, sqlSelectCards, company, ids)
	found := make(map[uuid.UUID]trade.StockProduct, len(all))
	for _, c := range all {
		found[c.id] = c.StockProduct
	}
	return found, err
}
