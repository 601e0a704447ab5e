package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/numbering"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// entityProduct is the kind of product in the tables of SKUs and barcodes, which variants and services are in, too.
const entityProduct = "product"

// defaultProductPrefix is that of generated SKUs of products whose category has none.
const defaultProductPrefix = "P"

// skuKey is the form in which SKUs are compared; see docs/reference/rules.md#skus.
func skuKey(sku string) string { return strings.ToLower(sku) }

const sqlSelectSKUHolder = `SELECT s.sku, s.entity, s.entity_id, COALESCE(p.status, 'active')
FROM skus s LEFT JOIN products p ON p.company_id = s.company_id AND p.id = s.entity_id
WHERE s.company_id = $1 AND s.sku_key = $2 AND s.entity_id <> $3`

func checkSKU(ctx context.Context, q db.Querier, company tenant.ID, p Product) error {
	var sku, entity, status string
	var id uuid.UUID
	err := q.QueryRow(ctx, sqlSelectSKUHolder, company, skuKey(p.SKU), p.ID).Scan(&sku, &entity, &id, &status)
	if db.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for the holder of a SKU: %w", err)
	}
	return fault.StateConflict("SKU_TAKEN", "sku: %s belongs to another %s; choose another, or leave it out to get one", sku, entity).
		With("sku", sku).With("entity", entity).With("id", id).With("status", status)
}

const sqlSelectBarcodeHolder = `SELECT entity, entity_id FROM barcodes WHERE company_id = $1 AND barcode = $2 AND entity_id <> $3`

func checkBarcode(ctx context.Context, q db.Querier, company tenant.ID, p Product) error {
	var entity string
	var id uuid.UUID
	err := q.QueryRow(ctx, sqlSelectBarcodeHolder, company, p.activeBarcode(), p.ID).Scan(&entity, &id)
	if db.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for the holder of a barcode: %w", err)
	}
	return fault.StateConflict("BARCODE_TAKEN", "barcode: %s belongs to another active %s; hide that one first, or choose another", p.activeBarcode(), entity).
		With("barcode", p.activeBarcode()).With("entity", entity).With("id", id)
}

// claimNames moves the product's claims on SKU and barcode from those of the state before.
func claimNames(tx *db.Tx, before, p Product) {
	if before.SKU != p.SKU {
		releaseSKU(tx, p.CompanyID, p.ID, before.SKU)
		claimSKU(tx, p.CompanyID, p.ID, p.SKU)
	}
	if before.activeBarcode() != p.activeBarcode() {
		releaseBarcode(tx, p.CompanyID, p.ID, before.activeBarcode())
		claimBarcode(tx, p.CompanyID, p.ID, p.activeBarcode())
	}
}

const (
	sqlInsertSKU     = `INSERT INTO skus (company_id, sku_key, entity, entity_id, sku) VALUES ($1, $2, $3, $4, $5)`
	sqlDeleteSKU     = `DELETE FROM skus WHERE company_id = $1 AND sku_key = $2 AND entity_id = $3`
	sqlInsertBarcode = `INSERT INTO barcodes (company_id, barcode, entity, entity_id) VALUES ($1, $2, $3, $4)`
	sqlDeleteBarcode = `DELETE FROM barcodes WHERE company_id = $1 AND barcode = $2 AND entity_id = $3`
)

// claimSKU takes the SKU for the product. Whoever loses a race for it tries again and then sees its holder.
func claimSKU(tx *db.Tx, company tenant.ID, product uuid.UUID, sku string) {
	tx.Queue(sqlInsertSKU, company, skuKey(sku), entityProduct, product, sku).OnConstraint("skus_pkey", db.ErrStale)
}

func releaseSKU(tx *db.Tx, company tenant.ID, product uuid.UUID, sku string) {
	if sku != "" {
		tx.Queue(sqlDeleteSKU, company, skuKey(sku), product).Expect(1, db.ErrStale)
	}
}

// claimBarcode takes the barcode, if there is one, as [claimSKU] does.
func claimBarcode(tx *db.Tx, company tenant.ID, product uuid.UUID, barcode string) {
	if barcode != "" {
		tx.Queue(sqlInsertBarcode, company, barcode, entityProduct, product).OnConstraint("barcodes_pkey", db.ErrStale)
	}
}

func releaseBarcode(tx *db.Tx, company tenant.ID, product uuid.UUID, barcode string) {
	if barcode != "" {
		tx.Queue(sqlDeleteBarcode, company, barcode, product).Expect(1, db.ErrStale)
	}
}

const sqlSelectTakenSKUs = `SELECT sku_key FROM skus WHERE company_id = $1 AND sku_key = ANY($2::TEXT[])`

// skuWindow is how many numbers are compared with SKUs given by hand at a time.
const skuWindow = 20

// nextSKU takes the next SKU PREFIX-NNNN, skipping those that were given by hand.
func nextSKU(ctx context.Context, tx *db.Tx, company tenant.ID, prefix string) (string, error) {
	kind := "sku:" + prefix
	n, err := numbering.Take(ctx, tx, company, kind, 1)
	if err != nil {
		return "", err
	}
	for from := n; ; from += skuWindow {
		window := make([]string, skuWindow)
		for i := range window {
			window[i] = skuKey(formatSKU(prefix, from+int64(i)))
		}
		rows, err := tx.Query(ctx, sqlSelectTakenSKUs, company, window)
		if err != nil {
			return "", fmt.Errorf("select taken SKUs: %w", err)
		}
		taken, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return "", fmt.Errorf("read taken SKUs: %w", err)
		}
		i := slices.IndexFunc(window, func(key string) bool { return !slices.Contains(taken, key) })
		if i < 0 {
			continue
		}
		free := from + int64(i)
		if free != n {
			numbering.Skip(tx, company, kind, free)
		}
		return formatSKU(prefix, free), nil
	}
}

func formatSKU(prefix string, n int64) string { return fmt.Sprintf("%s-%04d", prefix, n) }
