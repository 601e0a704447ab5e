package warehouse

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// rowKey identifies a stock row of a company.
type rowKey struct {
	warehouse uuid.UUID
	trade.StockKey
}

func rowOf(d trade.StockDelta) rowKey { return rowKey{d.Warehouse, d.StockKey} }

// sum adds up the deltas of each row, drops those that change nothing, and sorts them in the order in which all documents
// lock stock rows, which prevents deadlocks.
func sum(deltas []trade.StockDelta) []trade.StockDelta {
	rows := map[rowKey]trade.StockDelta{}
	for _, d := range deltas {
		at := rows[rowOf(d)]
		d.Qty, d.Reserved = d.Qty+at.Qty, d.Reserved+at.Reserved
		rows[rowOf(d)] = d
	}
	var all []trade.StockDelta
	for _, d := range rows {
		if d.Qty != 0 || d.Reserved != 0 {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b trade.StockDelta) int {
		return cmp.Or(bytes.Compare(a.Warehouse[:], b.Warehouse[:]), bytes.Compare(a.Product[:], b.Product[:]), bytes.Compare(a.Variant[:], b.Variant[:]))
	})
	return all
}

// Reserve queues changes of reserved quantities by positive or negative amounts. If the company does not allow negative
// stock, exceeding the available quantity is 409 STOCK_INSUFFICIENT with meta.lines. A warehouse that was deleted in the
// meantime is 409 WAREHOUSE_DELETED.
func (s *Service) Reserve(tx *db.Tx, by access.Caller, deltas []trade.StockDelta) {
	deltas = sum(deltas)
	if len(deltas) == 0 {
		return
	}
	if !by.Settings.BlocksStock() {
		reserveStocks(tx, by.Company, deltas, nil)
		return
	}
	reserveStocks(tx, by.Company, deltas, func(after map[rowKey]Stock) error { return checkPolicy(deltas, after) })
}

// Move changes physical and reserved quantities, stores a movement of each changed physical quantity and raises its event. If
// the company does not allow negative stock, it must not make the available or the physical quantity negative: 409
// STOCK_INSUFFICIENT with meta.lines. A deleted warehouse is 409 WAREHOUSE_DELETED.
//
// It reads and writes at once. A document that also takes a number takes it before.
func (s *Service) Move(ctx context.Context, tx *db.Tx, by access.Caller, doc trade.StockDocument, deltas []trade.StockDelta) error {
	return s.move(ctx, tx, by, doc, deltas, func(deltas []trade.StockDelta, after map[rowKey]Stock) error {
		if by.Settings.BlocksStock() {
			return checkPolicy(deltas, after)
		}
		return nil
	})
}

// CheckMove returns the error that [Service.Move] would return now because of what is in stock. It changes nothing.
func (s *Service) CheckMove(ctx context.Context, q db.Querier, by access.Caller, deltas []trade.StockDelta) error {
	if deltas = sum(deltas); len(deltas) == 0 || !by.Settings.BlocksStock() {
		return nil
	}
	after, err := selectAfter(ctx, q, by.Company, deltas)
	if err != nil {
		return err
	}
	return checkPolicy(deltas, after)
}

// Withdraw is [Service.Move] for goods that must be there whatever the policy of the company: if a physical quantity would
// become negative, it fails with what refuse makes of the shortages.
func (s *Service) Withdraw(
	ctx context.Context, tx *db.Tx, by access.Caller, doc trade.StockDocument, deltas []trade.StockDelta, refuse func([]trade.StockShortage) error,
) error {
	return s.move(ctx, tx, by, doc, deltas, func(deltas []trade.StockDelta, after map[rowKey]Stock) error {
		var short []trade.StockShortage
		for _, d := range deltas {
			if qty := after[rowOf(d)].Qty; d.Qty < 0 && qty < 0 {
				short = append(short, trade.StockShortage{StockKey: d.StockKey, Qty: qty - d.Qty, Required: -d.Qty})
			}
		}
		if short == nil {
			return nil
		}
		return refuse(short)
	})
}

func (s *Service) move(
	ctx context.Context, tx *db.Tx, by access.Caller, doc trade.StockDocument, deltas []trade.StockDelta,
	check func(deltas []trade.StockDelta, after map[rowKey]Stock) error,
) error {
	deltas = sum(deltas)
	if len(deltas) == 0 {
		return nil
	}
	products, names, err := s.describeAll(ctx, tx, by.Company, keysOf(deltas), warehousesOf(deltas))
	if err != nil {
		return err
	}
	after, err := moveStocks(ctx, tx, by.Company, deltas)
	if err != nil {
		return err
	}
	if err := check(deltas, after); err != nil {
		return err
	}
	for _, d := range deltas {
		name, exists := names[d.Warehouse]
		if !exists {
			return errDeleted.With("warehouseId", d.Warehouse)
		}
		st := after[rowOf(d)]
		st.StockedProduct, st.WarehouseName = describe(d.StockKey, products[d.StockKey]), name
		st.derive()
		if err := s.announce(ctx, tx, by, doc, d, st); err != nil {
			return err
		}
	}
	return nil
}

// announce stores the movement of a row and raises the events. st is the row after the movement.
func (s *Service) announce(ctx context.Context, tx *db.Tx, by access.Caller, doc trade.StockDocument, d trade.StockDelta, st Stock) error {
	if d.Qty == 0 {
		return nil
	}
	if err := s.record(ctx, tx, by, newMovement(tx, by, doc, st, d.Qty)); err != nil {
		return err
	}
	if !st.IsLowStock || isLow(st.Qty-d.Qty, st.ReorderPoint) {
		return nil
	}
	return outbox.Raise(ctx, tx, by.Company, outbox.Event{Name: stockLow.Name, Actor: by.ActorID(), Type: aggregateStock, ID: st.ID, Meta: st.Meta, Data: st})
}

// checkPolicy checks the changed rows of a company that does not allow negative stock: what takes from the available quantity
// must leave it at 0 or above, and what takes from the physical quantity must not take more than is there. Other changes are
// allowed, also of rows that are negative already.
func checkPolicy(deltas []trade.StockDelta, after map[rowKey]Stock) error {
	var lines []map[string]any
	for _, d := range deltas {
		st := after[rowOf(d)]
		overbooked := d.Qty-d.Reserved < 0 && st.Qty-st.Reserved < 0
		if overbooked || (d.Qty < 0 && st.Qty < 0) {
			lines = append(lines, map[string]any{
				"productId": d.Product, "variantId": d.VariantID(), "warehouseId": d.Warehouse,
				"required": max(-d.Qty, d.Reserved), "available": st.Qty - st.Reserved - d.Qty + d.Reserved,
			})
		}
	}
	if lines == nil {
		return nil
	}
	return insufficient(lines)
}

func insufficient(lines []map[string]any) error {
	return apierr.StateConflict("STOCK_INSUFFICIENT", "not enough stock is available; reduce the quantities in meta.lines, or receive stock").
		With("lines", lines)
}

// describeAll reads the products and the names of warehouses, in one round trip.
func (s *Service) describeAll(
	ctx context.Context, q db.Querier, company tenant.ID, keys []trade.StockKey, warehouses []uuid.UUID,
) (products map[trade.StockKey]trade.StockProduct, names map[uuid.UUID]string, err error) {
	err = batchloader.Load(ctx, q, func(ctx context.Context, q db.Querier) (err error) {
		products, err = s.cfg.Products.StockProducts(ctx, q, company, keys)
		return err
	}, func(ctx context.Context, q db.Querier) (err error) {
		names, err = s.WarehouseNames(ctx, q, company, warehouses)
		return err
	})
	return products, names, err
}

func keysOf(deltas []trade.StockDelta) []trade.StockKey {
	keys := make([]trade.StockKey, len(deltas))
	for i, d := range deltas {
		keys[i] = d.StockKey
	}
	return keys
}

func warehousesOf(deltas []trade.StockDelta) []uuid.UUID {
	ids := make([]uuid.UUID, len(deltas))
	for i, d := range deltas {
		ids[i] = d.Warehouse
	}
	return ids
}
