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
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// Kinds of records that have articles and barcodes.
const entityProduct = "product"

// defaultProductPrefix is that of generated articles of products whose category has none.
const defaultProductPrefix = "P"

// skuHolder is the record that has an article already.
type skuHolder struct {
	sku, entity, status string
	id                  uuid.UUID
}

// barcodeHolder is the active record that has a barcode already.
type barcodeHolder struct {
	entity string
	id     uuid.UUID
}

// skuKey is the form in which articles are compared.
func skuKey(sku string) string { return strings.ToLower(sku) }

const sqlSelectSKUHolder = `SELECT s.sku, s.entity, s.entity_id, COALESCE(p.status, 'active')
FROM skus s LEFT JOIN products p ON p.company_id = s.company_id AND p.id = s.entity_id
WHERE s.company_id = $1 AND s.sku_key = $2 AND s.entity_id <> $3`

const sqlSelectBarcodeHolder = `SELECT entity, entity_id FROM barcodes WHERE company_id = $1 AND barcode = $2 AND entity_id <> $3`

// queueHolders adds the reads of who holds the names that the product wants.
func (f *found) queueHolders(b *pgx.Batch, company tenant.ID) {
	if f.sku != "" {
		b.Queue(sqlSelectSKUHolder, company, skuKey(f.sku), f.self).QueryRow(func(row pgx.Row) error {
			var h skuHolder
			var taken bool
			err := ifRow(row.Scan(&h.sku, &h.entity, &h.id, &h.status), &taken)
			if taken {
				f.skuHolder = &h
			}
			return err
		})
	}
	if f.barcode != "" {
		b.Queue(sqlSelectBarcodeHolder, company, f.barcode, f.self).QueryRow(func(row pgx.Row) error {
			var h barcodeHolder
			var taken bool
			err := ifRow(row.Scan(&h.entity, &h.id), &taken)
			if taken {
				f.barcodeHolder = &h
			}
			return err
		})
	}
}

func (f *found) checkHolders() error {
	if h := f.skuHolder; h != nil {
		return &fault.Error{
			Status: 409, Code: "SKU_TAKEN", Message: fmt.Sprintf("sku: %s belongs to another %s; choose another, or leave it out to get one", h.sku, h.entity),
			Meta: map[string]any{"sku": h.sku, "entity": h.entity, "id": h.id, "status": h.status},
		}
	}
	if h := f.barcodeHolder; h != nil {
		return &fault.Error{
			Status: 409, Code: "BARCODE_TAKEN", Message: fmt.Sprintf("barcode: %s belongs to another active %s; hide that one first, or choose another", f.barcode, h.entity),
			Meta: map[string]any{"barcode": f.barcode, "entity": h.entity, "id": h.id},
		}
	}
	return nil
}

const sqlInsertSKU = `INSERT INTO skus (company_id, sku_key, entity, entity_id, sku) VALUES ($1, $2, $3, $4, $5)`

// claimSKU takes the article for the record. Whoever loses a race for it tries again and then sees its holder.
func claimSKU(tx *db.Tx, company tenant.ID, entity string, id uuid.UUID, sku string) {
	tx.Queue(sqlInsertSKU, company, skuKey(sku), entity, id, sku).OnConstraint("skus_pkey", db.ErrStale)
}

const sqlDeleteSKU = `DELETE FROM skus WHERE company_id = $1 AND sku_key = $2 AND entity_id = $3`

func releaseSKU(tx *db.Tx, company tenant.ID, id uuid.UUID, sku string) {
	tx.Queue(sqlDeleteSKU, company, skuKey(sku), id).Expect(1, db.ErrStale)
}

const sqlInsertBarcode = `INSERT INTO barcodes (company_id, barcode, entity, entity_id) VALUES ($1, $2, $3, $4)`

// claimBarcode takes the barcode, if there is one, as [claimSKU] does.
func claimBarcode(tx *db.Tx, company tenant.ID, entity string, id uuid.UUID, barcode string) {
	if barcode != "" {
		tx.Queue(sqlInsertBarcode, company, barcode, entity, id).OnConstraint("barcodes_pkey", db.ErrStale)
	}
}

const sqlDeleteBarcode = `DELETE FROM barcodes WHERE company_id = $1 AND barcode = $2 AND entity_id = $3`

func releaseBarcode(tx *db.Tx, company tenant.ID, id uuid.UUID, barcode string) {
	if barcode != "" {
		tx.Queue(sqlDeleteBarcode, company, barcode, id).Expect(1, db.ErrStale)
	}
}

const (
	sqlTakeNumber = `INSERT INTO counters (company_id, kind, n) VALUES ($1, $2, 1)
ON CONFLICT (company_id, kind) DO UPDATE SET n = counters.n + 1 RETURNING n`
	sqlSetNumber       = `UPDATE counters SET n = $3 WHERE company_id = $1 AND kind = $2`
	sqlSelectTakenSKUs = `SELECT sku_key FROM skus WHERE company_id = $1 AND sku_key = ANY($2::TEXT[])`
)

// skuWindow is how many numbers are compared with articles given by hand at a time.
const skuWindow = 20

// nextSKU takes the next article PREFIX-NNNN, skipping those that were given by hand.
func nextSKU(ctx context.Context, tx *db.Tx, company tenant.ID, prefix string) (string, error) {
	var n int64
	kind := "sku:" + prefix
	if err := tx.QueryRow(ctx, sqlTakeNumber, company, kind).Scan(&n); err != nil {
		return "", fmt.Errorf("take number of an article: %w", err)
	}
	for from := n; ; from += skuWindow {
		window := make([]string, skuWindow)
		for i := range window {
			window[i] = skuKey(formatSKU(prefix, from+int64(i)))
		}
		rows, err := tx.Query(ctx, sqlSelectTakenSKUs, company, window)
		if err != nil {
			return "", fmt.Errorf("select taken articles: %w", err)
		}
		taken, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return "", fmt.Errorf("read taken articles: %w", err)
		}
		i := slices.IndexFunc(window, func(key string) bool { return !slices.Contains(taken, key) })
		if i < 0 {
			continue
		}
		if free := from + int64(i); free != n {
			tx.Queue(sqlSetNumber, company, kind, free)
			return formatSKU(prefix, free), nil
		}
		return formatSKU(prefix, n), nil
	}
}

func formatSKU(prefix string, n int64) string { return fmt.Sprintf("%s-%04d", prefix, n) }
