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
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
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
	for i, c := range sent.CostItems {
		refs.Add("PRODUCT", fmt.Sprintf("costItems[%d].productId", i), nil, c.ProductID, s.cfg.Products)
		refs.Add("UNIT", fmt.Sprintf("costItems[%d].unitId", i), nil, c.UnitID, s.cfg.Units)
	}
	err = batchloader.Load(ctx, q, append(refs.Reads(company), o.name().Checks(company, before.name())...)...)
	return prefix, err
}

// refers reports whether anything is to be looked up, as a rule.
func (in OfferingInput) refers() bool {
	return in.SKU != "" || in.CategoryID != nil || in.CostItems != nil
}

// findBySKU returns the id of the service with a SKU.
func findBySKU(ctx context.Context, q db.Querier, company tenant.ID, text string) (uuid.UUID, error) {
	id, err := sku.Find(ctx, q, company, sku.Service, text)
	if err == nil && id == uuid.Nil {
		err = apierr.NotFound("SERVICE", text)
	}
	return id, err
}

const sqlSelectItems = `SELECT id, sku, name, price, total_cost, status = 'hidden' FROM services WHERE company_id = $1 AND id = ANY($2::UUID[])`

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
	_, err = pgx.ForEachRow(rows, []any{&id, &it.SKU, &it.Name, &it.Price, &it.Cost, &it.Hidden}, func() error {
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

const sqlSelectBooked = `SELECT id, name, price_model, price, duration_minutes, status = 'hidden' FROM services WHERE company_id = $1 AND id = $2`

// Booked reads the service of a booking; found is false if there is none.
func Booked(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (b trade.BookedService, found bool, err error) {
	err = q.QueryRow(ctx, sqlSelectBooked, company, id).Scan(&b.ID, &b.Name, &b.PriceModel, &b.Price, &b.DurationMinutes, &b.Hidden)
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
