package catalog

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

const productColumns = `company_id, id, sku, barcode, name, description, name_i18n, description_i18n, category_id, brand, model, price, cost,
unit, unit_id, pack_qty, pack_unit_id, min_order_qty, order_step_qty, cost_components, is_bundle, modifier_groups, status, has_stock,
default_supplier_id, emoji, photo_file_id, thumbnail_file_id, version, ev_pos, created_at, updated_at`

func productTargets(p *Product) []any {
	p.AttributeValues = []ProductAttributeValue{}
	return append([]any{
		&p.CompanyID, &p.ID, &p.SKU, &p.Barcode, &p.Name, &p.Description, &p.NameI18n, &p.DescriptionI18n, &p.CategoryID, &p.Brand, &p.Model, &p.Price, &p.Cost,
		&p.Unit, &p.UnitID, &p.PackQty, &p.PackUnitID, &p.MinOrderQty, &p.OrderStepQty, &p.CostComponents, &p.IsBundle, &p.ModifierGroups, &p.Status, &p.HasStock,
		&p.DefaultSupplierID, &p.Emoji, &p.PhotoFileID, &p.ThumbnailFileID,
	}, p.Targets()...)
}

const sqlSelectProduct = `SELECT ` + productColumns + ` FROM products WHERE company_id = $1 AND id = $2`

func selectProduct(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (Product, error) {
	return record.One(q.QueryRow(ctx, sqlSelectProduct, company, id), productTargets, "PRODUCT", id)
}

const sqlLockProduct = sqlSelectProduct + ` FOR UPDATE`

func lockProduct(ctx context.Context, tx *db.Tx, company tenant.ID, id uuid.UUID) (Product, error) {
	return record.One(tx.QueryRow(ctx, sqlLockProduct, company, id), productTargets, "PRODUCT", id)
}

const sqlLockProductsOf = `SELECT ` + productColumns + ` FROM products WHERE company_id = $1 AND category_id = $2 AND status = 'active' ORDER BY id FOR UPDATE`

func lockProductsOf(ctx context.Context, tx *db.Tx, company tenant.ID, category uuid.UUID) ([]Product, error) {
	rows, err := tx.Query(ctx, sqlLockProductsOf, company, category)
	if err != nil {
		return nil, fmt.Errorf("select products of category: %w", err)
	}
	return pgx.CollectRows(rows, db.RowTo(productTargets))
}

const sqlDetachHidden = `UPDATE products SET category_id = NULL, version = version + 1, ev_pos = GREATEST(ev_pos + 1, $3::BIGINT), updated_at = $4
WHERE company_id = $1 AND category_id = $2 AND status = 'hidden'`

func detachHidden(tx *db.Tx, company tenant.ID, category uuid.UUID, now time.Time) {
	tx.Queue(sqlDetachHidden, company, category, now.UnixMicro(), wire.At(now))
}

const sqlInsertProduct = `INSERT INTO products (company_id, id, sku, barcode, name, description, name_i18n, description_i18n, category_id, brand, model, price, cost,
unit, unit_id, pack_qty, pack_unit_id, min_order_qty, order_step_qty, cost_components, component_ids, is_bundle, modifier_groups, status, has_stock,
default_supplier_id, emoji, photo_file_id, thumbnail_file_id, search_text, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34)`

func insertProduct(tx *db.Tx, p Product) {
	tx.Queue(sqlInsertProduct, append(productValues(p), p.CreatedAt, p.UpdatedAt)...)
}

const sqlUpdateProduct = `UPDATE products SET sku = $3, barcode = $4, name = $5, description = $6, name_i18n = $7, description_i18n = $8, category_id = $9,
brand = $10, model = $11, price = $12, cost = $13, unit = $14, unit_id = $15, pack_qty = $16, pack_unit_id = $17, min_order_qty = $18, order_step_qty = $19,
cost_components = $20, component_ids = $21, is_bundle = $22, modifier_groups = $23, status = $24, has_stock = $25, default_supplier_id = $26, emoji = $27,
photo_file_id = $28, thumbnail_file_id = $29, search_text = $30, version = $31, ev_pos = $32, updated_at = $33
WHERE company_id = $1 AND id = $2 AND version = $31 - 1`

func updateProduct(tx *db.Tx, p Product) {
	tx.Queue(sqlUpdateProduct, append(productValues(p), p.UpdatedAt)...).Expect(1, db.ErrStale)
}

// productValues are the values of the columns up to ev_pos, as both statements above number them.
func productValues(p Product) []any {
	search := []string{p.Name, p.SKU}
	if p.Barcode != nil {
		search = append(search, *p.Barcode)
	}
	components := []uuid.UUID{}
	for _, c := range p.CostComponents {
		if c.ProductID != nil {
			components = append(components, *c.ProductID)
		}
	}
	return []any{
		p.CompanyID, p.ID, p.SKU, p.Barcode, p.Name, p.Description, p.NameI18n, p.DescriptionI18n, p.CategoryID, p.Brand, p.Model, p.Price, p.Cost,
		p.Unit, p.UnitID, p.PackQty, p.PackUnitID, p.MinOrderQty, p.OrderStepQty, p.CostComponents, components, p.IsBundle, p.ModifierGroups, p.Status, p.HasStock,
		p.DefaultSupplierID, p.Emoji, p.PhotoFileID, p.ThumbnailFileID, list.SearchText(search), p.Version, p.EvPos,
	}
}
