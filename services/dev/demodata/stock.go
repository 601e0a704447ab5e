package demodata

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/receipts"
	"github.com/tradegrid/tradegrid/services/business/stockdoc"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
)

// makeStock names the first warehouse, adds the depot, and fills both by receipts.
func (s *shop) makeStock(ctx context.Context) error {
	err := s.setup.tx(ctx, "warehouses", func(ctx context.Context, tx *db.Tx) error {
		first, ok, err := s.setup.Warehouse.FindWarehouse(ctx, tx, s.cfg.Office.Company, nil)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("company %s has no default warehouse", s.cfg.Office.Company)
		}
		depot, err := s.setup.Warehouse.Create(ctx, tx, s.cfg.Office, warehouse.Input{
			Fields:   warehouse.Fields{Name: "Depot North", Address: new("Industriestraße 18, 13407 Berlin"), ManagerUserID: &s.cfg.Staff[1]},
			BranchID: s.cfg.Depot,
		})
		s.warehouses = [2]uuid.UUID{first, depot.ID}
		return err
	})
	if err != nil {
		return err
	}
	for i := range s.suppliers {
		if err := s.receive(ctx, i); err != nil {
			return err
		}
	}
	s.planDeliveries()
	s.planStockDocuments()
	for _, g := range s.goods {
		if g.stock > 0 {
			s.stocked = append(s.stocked, g)
		}
	}
	return s.countStock(ctx)
}

// mostLines is the number of lines of the largest receipt.
const mostLines = 400

// receive posts what a supplier delivers at the start: most of it to the shop, the rest to the depot.
func (s *shop) receive(ctx context.Context, supplier int) error {
	for at, w := range s.warehouses {
		var lines []receipts.LineInput
		for i, g := range s.goods {
			pieces := g.stock
			if at == 1 {
				pieces = g.stock / 2
			}
			if g.from == supplier && pieces > 0 && (at == 0 || i < s.described) {
				lines = append(lines, lineOf(g, pieces))
			}
		}
		for len(lines) > 0 {
			n := min(mostLines, len(lines))
			in := receipts.Input{WarehouseID: w, Items: lines[:n], SupplierID: &s.suppliers[supplier], Note: new("First delivery")}
			if _, err := s.post(ctx, s.setup, in); err != nil {
				return err
			}
			lines = lines[n:]
		}
	}
	return nil
}

func lineOf(g *good, pieces int64) receipts.LineInput {
	return receipts.LineInput{CostInput: stockdoc.CostInput{QtyInput: stockdoc.QtyInput{
		ItemInput: stockdoc.ItemInput{ProductID: &g.product, VariantID: g.variant}, Qty: money.Units(pieces),
	}}}
}

func (s *shop) post(ctx context.Context, l *lane, in receipts.Input) (id uuid.UUID, err error) {
	defer l.tick()
	err = l.tx(ctx, "receipt", func(ctx context.Context, tx *db.Tx) error {
		in.Date = new(jsontype.At(tx.Now()))
		made, err := l.Receipts.Create(ctx, tx, s.cfg.Office, in)
		id = made.ID
		return err
	})
	return id, err
}

// planDeliveries plans a delivery to the shop each week, with what sells best. One of them is posted twice.
func (s *shop) planDeliveries() {
	for week := 1; week*7 < s.scale.days; week++ {
		at := s.between(s.day(week*7), 9, 11)
		supplier := 2 + week%2
		var lines []receipts.LineInput
		for _, g := range s.goods {
			if g.from == supplier && g.stock >= 40 && len(lines) < 8 && s.chance(60) {
				lines = append(lines, lineOf(g, 10+s.rng.Int64N(4)*5))
			}
		}
		if len(lines) == 0 {
			continue
		}
		in := receipts.Input{WarehouseID: s.warehouses[0], Items: lines, SupplierID: &s.suppliers[supplier], Note: new("Weekly delivery")}
		s.agenda.add(at, laneOrders, func(ctx context.Context, l *lane) error {
			_, err := s.post(ctx, l, in)
			return err
		})
		if week == 2 {
			s.postTwice(at.Add(20*time.Minute), in)
		}
	}
}

// postTwice posts a receipt once more and cancels the repeat.
func (s *shop) postTwice(at time.Time, in receipts.Input) {
	in.Note = new("Posted twice by mistake")
	var id uuid.UUID
	s.agenda.add(at, laneOrders, func(ctx context.Context, l *lane) (err error) {
		id, err = s.post(ctx, l, in)
		return err
	})
	s.agenda.add(at.Add(4*time.Minute), laneOrders, func(ctx context.Context, l *lane) error {
		return l.tx(ctx, "receipt cancel", func(ctx context.Context, tx *db.Tx) error {
			_, err := l.Receipts.Cancel(ctx, tx, s.cfg.Office, id)
			return err
		})
	})
}

// countStock is the stocktaking before the shop opens: it sets the reorder points, and finds that a few pieces are missing.
func (s *shop) countStock(ctx context.Context) error {
	return s.setup.tx(ctx, "stocktaking", func(ctx context.Context, tx *db.Tx) error {
		for i, g := range s.goods[:s.described] {
			g.left = g.stock
			in := warehouse.Adjustment{
				ProductID: g.product, VariantID: g.variant, WarehouseID: s.warehouses[0], TargetQty: &g.left, Reason: "Stocktaking", ReorderPoint: new(money.Units(g.reorder)),
			}
			switch {
			case i%9 == 4:
				g.left, in.Reason = g.stock-1, "Damaged in transit"
			case i%13 == 6: // a few goods are about to run out
				g.left, in.Reason = g.reorder, "Returned to the supplier"
			}
			if _, err := s.setup.Warehouse.SetStock(ctx, tx, s.cfg.Office, in); err != nil {
				return err
			}
		}
		return nil
	})
}
