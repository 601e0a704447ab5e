// Package sku keeps the SKUs and barcodes of a company unique over products, variants and services, and generates SKUs.
// Each item reserves its own in the transaction that stores the item. See docs/reference/rules.md#skus.
package sku

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// Entities that have a SKU.
const (
	Product = "product"
	Variant = "variant"
	Service = "service"
)

// active is the status of an item that reserves its barcode. A hidden one keeps its SKU only.
const active = "active"

// Errors documents the error codes of this package.
func Errors() []apierr.Doc {
	return []apierr.Doc{
		{Status: 409, Code: "SKU_TAKEN", Advice: "Another product, service or variant, possibly a hidden one, has this SKU; meta identifies it. Choose another SKU."},
		{Status: 409, Code: "BARCODE_TAKEN", Advice: "Another active product or variant has this barcode. Choose another barcode."},
	}
}

// Item is what an item reserves.
type Item struct {
	Entity  string // Product, Variant or Service
	ID      uuid.UUID
	SKU     string
	Barcode *string // nil for services
	Status  string  // active or hidden
}

// Equal reports whether two SKUs or barcodes are the same one.
func Equal(one, other string) bool { return list.Key(one) == list.Key(other) }

// barcode is the barcode that the item reserves, or "".
func (it Item) barcode() string {
	if it.Barcode == nil || it.Status != active {
		return ""
	}
	return *it.Barcode
}

// Checks returns the look-ups that find out whether the SKU and the barcode of the item, if they differ from those before,
// belong to another item: 409 SKU_TAKEN and 409 BARCODE_TAKEN. A SKU that is "" is not checked, because it is generated.
func (it Item) Checks(company tenant.ID, before Item) []batchloader.Read {
	var reads []batchloader.Read
	if it.SKU != "" && it.SKU != before.SKU {
		reads = append(reads, func(ctx context.Context, q db.Querier) error { return it.checkSKU(ctx, q, company) })
	}
	if b := it.barcode(); b != "" && b != before.barcode() {
		reads = append(reads, func(ctx context.Context, q db.Querier) error { return it.checkBarcode(ctx, q, company) })
	}
	return reads
}

const sqlSelectSKUHolder = `SELECT sku, entity, entity_id, status FROM skus WHERE company_id = $1 AND sku_key = $2 AND entity_id <> $3`

func (it Item) checkSKU(ctx context.Context, q db.Querier, company tenant.ID) error {
	var sku, entity, status string
	var id uuid.UUID
	err := q.QueryRow(ctx, sqlSelectSKUHolder, company, list.Key(it.SKU), it.ID).Scan(&sku, &entity, &id, &status)
	if db.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look up the owner of a SKU: %w", err)
	}
	return apierr.StateConflict("SKU_TAKEN", "sku: %s belongs to another %s; choose another, or omit sku to generate one", sku, entity).
		With("sku", sku).With("entity", entity).With("id", id).With("status", status)
}

const sqlSelectBarcodeHolder = `SELECT entity, entity_id FROM barcodes WHERE company_id = $1 AND barcode_key = $2 AND entity_id <> $3`

func (it Item) checkBarcode(ctx context.Context, q db.Querier, company tenant.ID) error {
	var entity string
	var id uuid.UUID
	err := q.QueryRow(ctx, sqlSelectBarcodeHolder, company, list.Key(it.barcode()), it.ID).Scan(&entity, &id)
	if db.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look up the owner of a barcode: %w", err)
	}
	return apierr.StateConflict("BARCODE_TAKEN", "barcode: %s belongs to another active %s; hide that one first, or choose another", it.barcode(), entity).
		With("barcode", it.barcode()).With("entity", entity).With("id", id)
}

const sqlSelectBySKU = `SELECT entity_id FROM skus WHERE company_id = $1 AND sku_key = $2 AND entity = $3`

// Find returns the id of the item with a SKU, or the nil UUID. Case, forms of characters and surrounding space do not count.
func Find(ctx context.Context, q db.Querier, company tenant.ID, entity, sku string) (id uuid.UUID, err error) {
	err = q.QueryRow(ctx, sqlSelectBySKU, company, list.Key(sku), entity).Scan(&id)
	if err != nil && !db.IsNoRows(err) {
		return id, fmt.Errorf("find the item with a SKU: %w", err)
	}
	return id, nil
}

const (
	sqlSelectSKUOwner     = `SELECT entity, entity_id FROM skus WHERE company_id = $1 AND sku_key = $2`
	sqlSelectBarcodeOwner = `SELECT entity, entity_id FROM barcodes WHERE company_id = $1 AND barcode_key = $2`
)

// Owner returns the item with a SKU, of any entity, or the nil UUID. It compares as [Find] does.
func Owner(ctx context.Context, q db.Querier, company tenant.ID, sku string) (entity string, id uuid.UUID, err error) {
	return owner(q.QueryRow(ctx, sqlSelectSKUOwner, company, list.Key(sku)))
}

// BarcodeOwner returns the active product or variant with a barcode, or the nil UUID.
func BarcodeOwner(ctx context.Context, q db.Querier, company tenant.ID, barcode string) (entity string, id uuid.UUID, err error) {
	return owner(q.QueryRow(ctx, sqlSelectBarcodeOwner, company, list.Key(barcode)))
}

func owner(row pgx.Row) (entity string, id uuid.UUID, err error) {
	if err = row.Scan(&entity, &id); err != nil && !db.IsNoRows(err) {
		return "", uuid.Nil, fmt.Errorf("find the owner of a SKU or barcode: %w", err)
	}
	return entity, id, nil
}

// Holder is an item that has a SKU or barcode.
type Holder struct {
	Entity string
	ID     uuid.UUID
}

const (
	sqlSelectSKUHolders     = `SELECT sku_key, entity, entity_id FROM skus WHERE company_id = $1 AND sku_key = ANY($2::TEXT[])`
	sqlSelectBarcodeHolders = `SELECT barcode_key, entity, entity_id FROM barcodes WHERE company_id = $1 AND barcode_key = ANY($2::TEXT[])`
)

// Holders returns the items with SKUs, by the keys of these: see [list.Key].
func Holders(ctx context.Context, q db.Querier, company tenant.ID, keys []string) (map[string]Holder, error) {
	return holders(ctx, q, "find items by SKUs", sqlSelectSKUHolders, company, keys)
}

// BarcodeHolders returns the active products and variants with barcodes, by the keys of these.
func BarcodeHolders(ctx context.Context, q db.Querier, company tenant.ID, keys []string) (map[string]Holder, error) {
	return holders(ctx, q, "find items by barcodes", sqlSelectBarcodeHolders, company, keys)
}

func holders(ctx context.Context, q db.Querier, what, sql string, company tenant.ID, keys []string) (map[string]Holder, error) {
	all := make(map[string]Holder, len(keys))
	if len(keys) == 0 {
		return all, nil
	}
	_, err := db.Collect(ctx, q, what, func(row pgx.CollectableRow) (h Holder, err error) {
		var key string
		err = row.Scan(&key, &h.Entity, &h.ID)
		all[key] = h
		return h, err
	}, sql, company, keys)
	return all, err
}

// Filter adds to a list of items of an entity the condition that they have this SKU, as [Find] compares it; "" adds none.
func Filter(q *list.Query, company tenant.ID, entity, sku string) {
	if key := list.Key(sku); key != "" {
		q.Reading(skus).Where("id IN (SELECT entity_id FROM skus WHERE company_id = ? AND sku_key = ? AND entity = ?)", company, key, entity)
	}
}

// FilterBarcode adds to a list of the items of a table the condition that they have this barcode; "" adds none. Hidden items reserve
// none, and are found as it is written.
func FilterBarcode(q *list.Query, company tenant.ID, items db.Table, entity, barcode string) {
	if barcode = strings.TrimSpace(barcode); barcode != "" {
		q.Reading(barcodes).Where("id = ANY(ARRAY(SELECT i.id FROM "+string(items)+" AS i WHERE i.company_id = ? AND i.barcode = ? AND i.barcode IS NOT NULL UNION "+
			"SELECT b.entity_id FROM barcodes AS b WHERE b.company_id = ? AND b.barcode_key = ? AND b.entity = ?))",
			company, barcode, company, list.Key(barcode), entity)
	}
}

const (
	barcodes = db.Table("barcodes")
	skus     = db.Table("skus")
)

var (
	sqlInsertSKU     = skus.Insert(`(company_id, sku_key, entity, entity_id, sku, status) VALUES ($1, $2, $3, $4, $5, $6)`)
	sqlUpdateStatus  = skus.Update(`SET status = $4 WHERE company_id = $1 AND sku_key = $2 AND entity_id = $3`)
	sqlDeleteSKU     = skus.Delete(`WHERE company_id = $1 AND sku_key = $2 AND entity_id = $3`)
	sqlInsertBarcode = barcodes.Insert(`(company_id, barcode_key, entity, entity_id) VALUES ($1, $2, $3, $4)`)
	sqlDeleteBarcode = barcodes.Delete(`WHERE company_id = $1 AND barcode_key = $2 AND entity_id = $3`)
)

// Claim updates the reservations of an item to its new state; before is the zero Item for a new one. A transaction that
// loses a race for a SKU or barcode is retried, and then [Item.Checks] finds the owner.
func (it Item) Claim(tx *db.Tx, company tenant.ID, before Item) {
	switch {
	case before.SKU != it.SKU:
		if before.SKU != "" {
			tx.Queue(sqlDeleteSKU, company, list.Key(before.SKU), it.ID).Expect(1, db.ErrStale)
		}
		tx.Queue(sqlInsertSKU, company, list.Key(it.SKU), it.Entity, it.ID, it.SKU, it.Status).OnConstraint("skus_pkey", db.ErrStale)
	case before.Status != it.Status:
		tx.Queue(sqlUpdateStatus, company, list.Key(it.SKU), it.ID, it.Status).Expect(1, db.ErrStale)
	}
	if old, now := before.barcode(), it.barcode(); old != now {
		if old != "" {
			tx.Queue(sqlDeleteBarcode, company, list.Key(old), it.ID).Expect(1, db.ErrStale)
		}
		if now != "" {
			tx.Queue(sqlInsertBarcode, company, list.Key(now), it.Entity, it.ID).OnConstraint("barcodes_pkey", db.ErrStale)
		}
	}
}
