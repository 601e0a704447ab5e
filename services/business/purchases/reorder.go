package purchases

import (
	"bytes"
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/numbering"
	"github.com/tradegrid/tradegrid/services/business/stockdoc"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// ReorderInput says what is to be ordered.
type ReorderInput struct {
	WarehouseID uuid.UUID  `json:"warehouseId" format:"uuid" doc:"default: the default warehouse"`
	SupplierID  *uuid.UUID `json:"supplierId" format:"uuid" doc:"only goods of this supplier"`
}

// Reordered are the drafts that goods below their reorder points became.
type Reordered struct {
	Orders          []ListItem  `json:"orders" doc:"one draft per supplier"`
	WithoutSupplier []uuid.UUID `json:"withoutSupplier" format:"uuid" doc:"products below their reorder point that have no default supplier"`
	More            bool        `json:"more" doc:"there were more than 500 goods below their reorder point: repeat the request"`
}

type reorderRequest struct {
	httpapi.Call
	Body ReorderInput `body:"command"`
}

func (s *Service) httpReorder(ctx context.Context, tx *db.Tx, in *reorderRequest) (Reordered, error) {
	return s.Reorder(ctx, tx, in.Caller, in.Body)
}

// maxReordered is how many goods a request looks at, as many as one order has lines.
const maxReordered = 500

// Reorder drafts an order per supplier for the goods of a warehouse of which no more is available and expected than the reorder point: as much as
// makes up twice the reorder point.
//
// Errors: 404 WAREHOUSE_NOT_FOUND.
func (s *Service) Reorder(ctx context.Context, tx *db.Tx, by access.Caller, in ReorderInput) (r Reordered, err error) {
	r = Reordered{Orders: []ListItem{}, WithoutSupplier: []uuid.UUID{}}
	if err := tx.LockInProcess(ctx, "purchase_orders", by.Company); err != nil {
		return r, err
	}
	// A request at another node waits here until its goods are drafted, and then finds them expected.
	if err := numbering.Lock(ctx, tx, by.Company, trade.DocumentPurchaseOrder); err != nil {
		return r, err
	}
	if in.WarehouseID, err = s.cfg.OrDefault(ctx, tx, by.Company, in.WarehouseID); err != nil {
		return r, err
	}
	low, err := s.cfg.Levels.LowStock(ctx, tx, by.Company, in.WarehouseID, maxReordered+1)
	if err != nil {
		return r, err
	}
	if r.More = len(low) > maxReordered; r.More {
		low = low[:maxReordered]
	}
	bySupplier, err := s.missing(ctx, tx, by, in, low, &r)
	if err != nil {
		return r, err
	}
	suppliers := make([]uuid.UUID, 0, len(bySupplier))
	for id := range bySupplier {
		suppliers = append(suppliers, id)
	}
	slices.SortFunc(suppliers, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	for _, id := range suppliers {
		o, err := s.Create(ctx, tx, by, Input{SupplierID: id, WarehouseID: in.WarehouseID, Items: bySupplier[id]})
		if err != nil {
			return r, err
		}
		r.Orders = append(r.Orders, o.ListItem)
	}
	return r, nil
}

// missing are the lines to order of each supplier.
func (s *Service) missing(
	ctx context.Context, tx *db.Tx, by access.Caller, in ReorderInput, low []trade.LowStock, r *Reordered,
) (map[uuid.UUID][]stockdoc.CostInput, error) {
	products := make([]uuid.UUID, len(low))
	for i, l := range low {
		products[i] = l.Product
	}
	suppliers, err := s.cfg.DefaultSuppliers(ctx, tx, by.Company, products)
	if err != nil {
		return nil, err
	}
	expected, err := selectExpected(ctx, tx, by.Company, in.WarehouseID, products)
	if err != nil {
		return nil, err
	}
	lines := map[uuid.UUID][]stockdoc.CostInput{}
	for _, l := range low {
		supplier, has := suppliers[l.Product]
		there := l.Available + expected[l.StockKey]
		switch {
		case there > l.ReorderPoint || has && in.SupplierID != nil && *in.SupplierID != supplier:
		case !has:
			if in.SupplierID == nil && !slices.Contains(r.WithoutSupplier, l.Product) {
				r.WithoutSupplier = append(r.WithoutSupplier, l.Product)
			}
		default:
			lines[supplier] = append(lines[supplier], lineOf(l.StockKey, min(2*l.ReorderPoint-there, mostOrdered)))
		}
	}
	return lines, nil
}

// mostOrdered is the largest quantity of a line.
const mostOrdered = money.Qty(1_000_000_000)

func lineOf(k trade.StockKey, qty money.Qty) stockdoc.CostInput {
	return stockdoc.CostInput{QtyInput: stockdoc.QtyInput{ItemInput: stockdoc.ItemInput{ProductID: &k.Product, VariantID: k.VariantID()}, Qty: qty}}
}
