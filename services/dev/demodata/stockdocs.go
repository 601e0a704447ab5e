package demodata

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/counts"
	"github.com/tradegrid/tradegrid/services/business/purchases"
	"github.com/tradegrid/tradegrid/services/business/receipts"
	"github.com/tradegrid/tradegrid/services/business/returns"
	"github.com/tradegrid/tradegrid/services/business/stockdoc"
	"github.com/tradegrid/tradegrid/services/business/transfers"
	"github.com/tradegrid/tradegrid/services/business/writeoffs"
)

// command changes a document.
type command[T any] func(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (T, error)

// document plans a document that is made in the morning of a day, and the commands that follow in steps of some hours.
func document[T any](s *shop, day int, create func(ctx context.Context, l *lane, tx *db.Tx) (uuid.UUID, error), then ...func(l *lane) command[T]) {
	at := s.day(day).Add(9*time.Hour + 40*time.Minute)
	var id uuid.UUID
	s.agenda.add(at, laneOrders, func(ctx context.Context, l *lane) error {
		return l.tx(ctx, "document about stock", func(ctx context.Context, tx *db.Tx) (err error) {
			id, err = create(ctx, l, tx)
			return err
		})
	})
	for i, run := range then {
		s.agenda.add(at.Add(time.Duration(i+1)*100*time.Minute), laneOrders, func(ctx context.Context, l *lane) error {
			return l.tx(ctx, "document about stock", func(ctx context.Context, tx *db.Tx) error {
				_, err := run(l)(ctx, tx, s.cfg.Office, id)
				return err
			})
		})
	}
}

// some are lines with a few of the goods that are described one by one.
func (s *shop) some(from, n int, pieces int64) []stockdoc.QtyInput {
	var lines []stockdoc.QtyInput
	for _, g := range s.goods[:s.described] {
		if g.stock >= 20 && len(lines) < from+n {
			lines = append(lines, stockdoc.QtyInput{ItemInput: stockdoc.ItemInput{ProductID: &g.product, VariantID: g.variant}, Qty: money.Units(pieces)})
		}
	}
	return lines[min(from, len(lines)):]
}

// planStockDocuments plans what the warehouses do besides receiving and selling.
func (s *shop) planStockDocuments() {
	s.planTransfers()
	s.planWriteoffs()
	s.planCounts()
	s.planPurchases()
	s.planReturns()
}

// planTransfers brings goods from the depot to the shop: one transfer arrived whole, of one a piece is missing, one is on the way, one is a draft.
func (s *shop) planTransfers() {
	send := func(l *lane) command[transfers.Transfer] { return l.Transfers.Send }
	receive := func(l *lane) command[transfers.Transfer] {
		return func(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (transfers.Transfer, error) {
			return l.Transfers.Receive(ctx, tx, by, id, transfers.Arrival{})
		}
	}
	short := func(l *lane) command[transfers.Transfer] {
		return func(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (transfers.Transfer, error) {
			t, err := l.Transfers.Get(ctx, by, id)
			if err != nil {
				return t, err
			}
			return l.Transfers.Receive(ctx, tx, by, id, transfers.Arrival{Items: []transfers.Arrived{{LineID: t.Lines[0].ID, Qty: t.Lines[0].Qty - money.Units(1)}}})
		}
	}
	last := s.scale.days - 1
	for i, of := range []struct {
		day  int
		note string
		then []func(l *lane) command[transfers.Transfer]
	}{
		{7, "For the spring sale", []func(l *lane) command[transfers.Transfer]{send, receive}},
		{16, "For the weekend", []func(l *lane) command[transfers.Transfer]{send, short}},
		{last - 1, "With the afternoon tour", []func(l *lane) command[transfers.Transfer]{send}},
		{last, "For next week", nil},
	} {
		document(s, of.day, func(ctx context.Context, l *lane, tx *db.Tx) (uuid.UUID, error) {
			t, err := l.Transfers.Create(ctx, tx, s.cfg.Office, transfers.Input{
				WarehouseID: s.warehouses[1], ToWarehouseID: s.warehouses[0], Items: s.some(i, 3, 4), Note: &of.note,
			})
			return t.ID, err
		}, of.then...)
	}
}

// planWriteoffs writes off what broke and what was used up; one write-off was a mistake.
func (s *shop) planWriteoffs() {
	cancel := func(l *lane) command[writeoffs.Writeoff] { return l.Writeoffs.Cancel }
	for i, of := range []struct {
		day          int
		reason, note string
		then         []func(l *lane) command[writeoffs.Writeoff]
	}{
		{5, "damaged", "The box fell off the rack", nil},
		{12, "own_use", "For the workshop", nil},
		{19, "lost", "Found again on the same day", []func(l *lane) command[writeoffs.Writeoff]{cancel}},
		{s.scale.days - 2, "sample", "Handed out at the bicycle fair", nil},
	} {
		document(s, of.day, func(ctx context.Context, l *lane, tx *db.Tx) (uuid.UUID, error) {
			w, err := l.Writeoffs.Create(ctx, tx, s.cfg.Office, writeoffs.Input{WarehouseID: s.warehouses[0], Items: costed(s.some(i+2, 2, 1)), Reason: of.reason, Note: &of.note})
			return w.ID, err
		}, of.then...)
	}
}

// costed are lines at the costs of the catalog.
func costed(lines []stockdoc.QtyInput) []stockdoc.CostInput {
	all := make([]stockdoc.CostInput, len(lines))
	for i, l := range lines {
		all[i].QtyInput = l
	}
	return all
}

// planCounts counts some shelves: one count was posted with a piece too few, one was called off, and one is open, half of it counted.
func (s *shop) planCounts() {
	record := func(part int) func(l *lane) command[counts.Count] {
		return func(l *lane) command[counts.Count] {
			return func(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (counts.Count, error) {
				c, err := l.Counts.Get(ctx, by, id)
				if err != nil {
					return c, err
				}
				var in counts.Quantities
				for i, line := range c.Lines[:len(c.Lines)/part] {
					qty := max(line.ExpectedQty, 0)
					if i == 1 {
						qty = max(qty-money.Units(1), 0)
					}
					in.Items = append(in.Items, counts.Counted{LineID: line.ID, Qty: &qty})
				}
				return l.Counts.Record(ctx, tx, by, id, in)
			}
		}
	}
	post := func(l *lane) command[counts.Count] { return l.Counts.Post }
	cancel := func(l *lane) command[counts.Count] { return l.Counts.Cancel }
	last := s.scale.days - 1
	for i, of := range []struct {
		day  int
		note string
		then []func(l *lane) command[counts.Count]
	}{
		{10, "Helmets and lights", []func(l *lane) command[counts.Count]{record(1), post}},
		{14, "Called off: too many customers", []func(l *lane) command[counts.Count]{cancel}},
		{last, "Monthly count", []func(l *lane) command[counts.Count]{record(2)}},
	} {
		document(s, of.day, func(ctx context.Context, l *lane, tx *db.Tx) (uuid.UUID, error) {
			var list []stockdoc.ItemInput
			for _, line := range s.some(i, 4, 1) {
				list = append(list, line.ItemInput)
			}
			c, err := l.Counts.Create(ctx, tx, s.cfg.Office, counts.Input{WarehouseID: s.warehouses[0], Items: list, Note: &of.note})
			return c.ID, err
		}, of.then...)
	}
}

// planPurchases orders goods: an order arrived in two parts, of one the half is there, one was cancelled, one is a draft.
func (s *shop) planPurchases() {
	send := func(l *lane) command[purchases.Order] { return l.Purchases.Send }
	cancel := func(l *lane) command[purchases.Order] { return l.Purchases.Cancel }
	receive := func(l *lane) command[purchases.Order] {
		return func(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (purchases.Order, error) {
			o, err := l.Purchases.Get(ctx, by, id)
			if err != nil {
				return o, err
			}
			in := receipts.Input{WarehouseID: o.WarehouseID, SupplierID: &o.SupplierID, PurchaseOrderID: &id}
			for _, line := range o.Lines {
				in.Items = append(in.Items, receipts.LineInput{CostInput: stockdoc.CostInput{QtyInput: stockdoc.QtyInput{
					ItemInput: stockdoc.ItemInput{ProductID: &line.ProductID, VariantID: line.VariantID}, Qty: line.Qty / 2,
				}}})
			}
			_, err = l.Receipts.Create(ctx, tx, by, in)
			return o, err
		}
	}
	for i, of := range []struct {
		day  int
		note string
		then []func(l *lane) command[purchases.Order]
	}{
		{6, "For the season", []func(l *lane) command[purchases.Order]{send, receive, receive}},
		{15, "By the end of the month", []func(l *lane) command[purchases.Order]{send, receive}},
		{18, "Ordered twice by mistake", []func(l *lane) command[purchases.Order]{send, cancel}},
		{s.scale.days - 1, "To be agreed", nil},
	} {
		document(s, of.day, func(ctx context.Context, l *lane, tx *db.Tx) (uuid.UUID, error) {
			o, err := l.Purchases.Create(ctx, tx, s.cfg.Office, purchases.Input{
				SupplierID: s.suppliers[i], WarehouseID: s.warehouses[1], Items: costed(s.some(i, 3, 10)), Note: &of.note,
			})
			return o.ID, err
		}, of.then...)
	}
}

// planReturns sends goods back to suppliers; one return was cancelled, because the supplier repaired them in the shop.
func (s *shop) planReturns() {
	cancel := func(l *lane) command[returns.Return] { return l.Returns.Cancel }
	for i, of := range []struct {
		day    int
		reason string
		then   []func(l *lane) command[returns.Return]
	}{
		{9, "Wrong size", nil},
		{17, "Scratched frame", []func(l *lane) command[returns.Return]{cancel}},
		{s.scale.days - 3, "Recall by the manufacturer", nil},
	} {
		document(s, of.day, func(ctx context.Context, l *lane, tx *db.Tx) (uuid.UUID, error) {
			r, err := l.Returns.Create(ctx, tx, s.cfg.Office, returns.Input{
				SupplierID: s.suppliers[i], WarehouseID: s.warehouses[1], Items: costed(s.some(i+1, 2, 1)), Reason: &of.reason,
			})
			return r.ID, err
		}, of.then...)
	}
}
