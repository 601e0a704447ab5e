package catalog

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/sku"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

const (
	sqlSelectExternalItems = `SELECT id, '00000000-0000-0000-0000-000000000000'::UUID, external_id, COALESCE(source, '') FROM products WHERE company_id = $1 AND external_id = ANY($2::TEXT[])
UNION ALL SELECT product_id, id, external_id, COALESCE(source, '') FROM product_variants WHERE company_id = $1 AND external_id = ANY($2::TEXT[])`
	sqlSelectWrittenBarcodes = `SELECT id, '00000000-0000-0000-0000-000000000000'::UUID, barcode, '' FROM products WHERE company_id = $1 AND barcode = ANY($2::TEXT[])
UNION ALL SELECT product_id, id, barcode, '' FROM product_variants WHERE company_id = $1 AND barcode = ANY($2::TEXT[])`
	sqlSelectProductsOf = `SELECT id, product_id FROM product_variants WHERE company_id = $1 AND id = ANY($2::UUID[])`
)

// namedRef is an item with the barcode or external id by which it was found.
type namedRef struct {
	ref          trade.ItemRef
	name, source string
}

// namings are what is found for names.
type namings struct {
	skus, barcodes map[string]sku.Holder
	written        []namedRef // by barcodes as they are written, of hidden items, too
	external       []namedRef
	products       map[uuid.UUID]uuid.UUID // of the variants among the holders
}

// NamedItems returns the products and variants that have the names, of which it ignores those of services. A SKU has one item. A barcode
// is that of the active item that has it, otherwise of all hidden ones.
func (s *Service) NamedItems(ctx context.Context, q db.Querier, company tenant.ID, names []trade.ItemName) (map[trade.ItemName][]trade.ItemRef, error) {
	var skus, barcodes, written, external []string
	for _, n := range names {
		switch {
		case n.Kind != trade.KindProduct:
		case n.SKU != "":
			skus = append(skus, list.Key(n.SKU))
		case n.Barcode != "":
			barcodes, written = append(barcodes, list.Key(n.Barcode)), append(written, n.Barcode)
		default:
			external = append(external, n.ExternalID)
		}
	}
	var l namings
	err := batchloader.Load(ctx, q, func(ctx context.Context, q db.Querier) (err error) {
		l.skus, err = sku.Holders(ctx, q, company, skus)
		return err
	}, func(ctx context.Context, q db.Querier) (err error) {
		l.barcodes, err = sku.BarcodeHolders(ctx, q, company, barcodes)
		return err
	}, func(ctx context.Context, q db.Querier) (err error) {
		l.written, err = readNamed(ctx, q, "find items by barcodes as written", sqlSelectWrittenBarcodes, company, written)
		return err
	}, func(ctx context.Context, q db.Querier) (err error) {
		l.external, err = readNamed(ctx, q, "find items by external ids", sqlSelectExternalItems, company, external)
		return err
	})
	if err == nil {
		err = l.readProducts(ctx, q, company)
	}
	if err != nil {
		return nil, err
	}
	found := make(map[trade.ItemName][]trade.ItemRef, len(names))
	for _, n := range names {
		if refs := l.of(n); len(refs) > 0 && n.Kind == trade.KindProduct {
			found[n] = refs
		}
	}
	return found, nil
}

func readNamed(ctx context.Context, q db.Querier, what, sql string, company tenant.ID, names []string) ([]namedRef, error) {
	if len(names) == 0 {
		return nil, nil
	}
	return db.Collect(ctx, q, what, func(row pgx.CollectableRow) (n namedRef, err error) {
		n.ref.Kind = trade.KindProduct
		err = row.Scan(&n.ref.ID, &n.ref.Variant, &n.name, &n.source)
		return n, err
	}, sql, company, names)
}

// readProducts reads the products of the variants that hold a SKU or barcode.
func (l *namings) readProducts(ctx context.Context, q db.Querier, company tenant.ID) (err error) {
	var ids []uuid.UUID
	for _, holders := range []map[string]sku.Holder{l.skus, l.barcodes} {
		for _, h := range holders {
			if h.Entity == sku.Variant {
				ids = append(ids, h.ID)
			}
		}
	}
	if len(ids) > 0 {
		l.products, err = db.Map[uuid.UUID, uuid.UUID](ctx, q, "read products of variants", sqlSelectProductsOf, company, ids)
	}
	return err
}

// of returns the items that have a name.
func (l *namings) of(n trade.ItemName) []trade.ItemRef {
	switch {
	case n.SKU != "":
		return l.held(l.skus[list.Key(n.SKU)])
	case n.Barcode != "":
		if refs := l.held(l.barcodes[list.Key(n.Barcode)]); refs != nil {
			return refs
		}
		return refsOf(l.written, func(w namedRef) bool { return w.name == n.Barcode })
	}
	return refsOf(l.external, func(e namedRef) bool { return e.name == n.ExternalID && (n.Source == "" || n.Source == e.source) })
}

// held returns the product or variant that a SKU or barcode leads to.
func (l *namings) held(h sku.Holder) []trade.ItemRef {
	switch h.Entity {
	case sku.Product:
		return []trade.ItemRef{{Kind: trade.KindProduct, ID: h.ID}}
	case sku.Variant:
		return []trade.ItemRef{{Kind: trade.KindProduct, ID: l.products[h.ID], Variant: h.ID}}
	}
	return nil
}

func refsOf(all []namedRef, is func(namedRef) bool) (refs []trade.ItemRef) {
	for _, n := range all {
		if is(n) {
			refs = append(refs, n.ref)
		}
	}
	return refs
}
