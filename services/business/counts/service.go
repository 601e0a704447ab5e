// Package counts manages counts of stock: a list of goods, what is expected of each, and what people counted. Goods are sold meanwhile: the
// difference of a line is to what was on stock when it was counted, and posting the count moves the differences. Products, stock and users
// belong to other domains, which it uses through [stockdoc.Sources] and the interface below.
package counts

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/stockdoc"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Levels reads stock.
type Levels interface {
	// StockedIn returns up to limit goods that have a stock record in the warehouse.
	StockedIn(ctx context.Context, q db.Querier, company tenant.ID, warehouse uuid.UUID, limit int) ([]trade.StockKey, error)
	// Quantities returns the physical quantities in the warehouse of those goods that have a stock record there.
	Quantities(ctx context.Context, q db.Querier, company tenant.ID, warehouse uuid.UUID, keys []trade.StockKey) (map[trade.StockKey]money.Qty, error)
}

// Config holds the dependencies of the service.
type Config struct {
	DB *db.DB
	stockdoc.Sources
	Levels Levels
}

// Service manages the counts of all companies.
type Service struct {
	stockdoc.Reads[Count, ListItem, Filter]
	cfg Config
}

// New returns a service.
func New(cfg Config) *Service {
	return &Service{stockdoc.NewReads(cfg.DB, cfg.Sources, table, items), cfg}
}

// Create begins a count.
//
// Errors: 400 for a whole warehouse with more than 500 stock records, and those of [Service.AddLines].
func (s *Service) Create(ctx context.Context, tx *db.Tx, by access.Caller, in Input) (Count, error) {
	if err := tx.LockInProcess(ctx, "stock_counts", by.Company); err != nil {
		return Count{}, err
	}
	warehouse, err := s.cfg.OrDefault(ctx, tx, by.Company, in.WarehouseID)
	if err != nil {
		return Count{}, err
	}
	c := Count{ListItem: ListItem{Header: stockdoc.NewHeader(tx, by, warehouse, in.Note, in.External), Status: statusCounting}}
	record.PlanOf[Count]().Normalise(&c)
	if in.Items, err = stockdoc.Identify(ctx, tx, s.cfg.Sources, by.Company, in.Items); err != nil {
		return Count{}, err
	}
	whole := in.Items == nil
	if whole {
		if in.Items, err = s.allOf(ctx, tx, &c); err != nil {
			return Count{}, err
		}
	}
	var refs reference.Set
	refs.AddNamed("WAREHOUSE", "warehouseId", &c.WarehouseID, s.cfg.Stock.WarehouseNames, &c.WarehouseName)
	if err := s.add(ctx, tx, &c, refs, in.Items, whole, table.NotTaken(nil, &c)); err != nil {
		return Count{}, err
	}
	if err := c.TakeNumber(ctx, tx, trade.DocumentCount); err != nil {
		return Count{}, err
	}
	return table.Create(ctx, tx, by, c, created)
}

// allOf are the goods of the whole warehouse.
func (s *Service) allOf(ctx context.Context, q db.Querier, c *Count) ([]stockdoc.ItemInput, error) {
	keys, err := s.cfg.Levels.StockedIn(ctx, q, c.CompanyID, c.WarehouseID, maxLines+1)
	if err != nil {
		return nil, err
	}
	if len(keys) > maxLines {
		return nil, apierr.InvalidField("items", apierr.Required, "is required, because the warehouse has more than %d stock records; count them in parts", maxLines)
	}
	all := make([]stockdoc.ItemInput, len(keys))
	for i, k := range keys {
		all[i] = stockdoc.ItemInput{ProductID: &k.Product, VariantID: k.VariantID()}
	}
	return all, nil
}

// add puts goods on the list. Of a whole warehouse, those that have no stock any more and those in open counts are left out.
func (s *Service) add(ctx context.Context, q db.Querier, c *Count, refs reference.Set, in []stockdoc.ItemInput, whole bool, others ...batchloader.Read) error {
	goods, err := stockdoc.Load(ctx, q, s.cfg.Sources, &c.Header, refs, in, others...)
	if err != nil {
		return err
	}
	taken, err := openGoods(ctx, q, c, in)
	if err != nil {
		return err
	}
	if whole {
		in = slices.DeleteFunc(goods.Stocked(in), func(in stockdoc.ItemInput) bool { _, is := taken[in.Key()]; return is })
	}
	added, err := stockdoc.Build(goods, in, func(i int, _ stockdoc.ItemInput, item stockdoc.Item, of trade.Item) (Line, error) {
		item.SortOrder += int32(len(c.Lines))
		return Line{Item: item, OpenIn: &c.WarehouseID}, stockdoc.CheckStocked(i, item, of)
	})
	if err != nil {
		return err
	}
	n := len(c.Lines)
	c.Lines = append(c.Lines, added...)
	if len(c.Lines) > maxLines {
		return apierr.InvalidField("items", apierr.Max, "a count has at most %d lines; begin another one", maxLines)
	}
	if err := checkOverlaps(c, c.Lines[n:], taken); err != nil {
		return err
	}
	expected := make([]*Line, len(added))
	for i := range added {
		expected[i] = &c.Lines[n+i]
	}
	return s.expect(ctx, q, c, expected)
}

// expect sets what is expected of lines: what is on stock now.
func (s *Service) expect(ctx context.Context, q db.Querier, c *Count, all []*Line) error {
	keys := make([]trade.StockKey, len(all))
	for i, l := range all {
		keys[i] = l.Key()
	}
	qty, err := s.cfg.Levels.Quantities(ctx, q, c.CompanyID, c.WarehouseID, keys)
	if err != nil {
		return err
	}
	for i, l := range all {
		l.ExpectedQty = qty[keys[i]]
	}
	return nil
}

// AddLines puts more goods on the list.
//
// Errors: 400 for more than 500 lines, 404, 404 for a product, 412, 409 STOCK_COUNT_NOT_OPEN, 409 STOCK_COUNT_OVERLAPS, 409
// PRODUCT_VARIANT_REQUIRED, 409 STOCK_ACCOUNTING_DISABLED.
func (s *Service) AddLines(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in Lines) (Count, error) {
	return table.Change(ctx, tx, by, id, func(_ Count, c *Count) error {
		if err := c.checkOpen(); err != nil {
			return err
		}
		items, err := stockdoc.Identify(ctx, tx, s.cfg.Sources, by.Company, in.Items)
		if err != nil {
			return err
		}
		return s.add(ctx, tx, c, reference.Set{}, items, false)
	}, updated)
}

// Record sets what was counted of lines. What is expected of them is what is on stock now. A line can be counted again.
//
// Errors: 400 for a line that is named twice, 404, 404 STOCK_COUNT_LINE_NOT_FOUND, 412, 409 STOCK_COUNT_NOT_OPEN.
func (s *Service) Record(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in Quantities) (Count, error) {
	return table.Change(ctx, tx, by, id, func(_ Count, c *Count) error {
		if err := c.checkOpen(); err != nil {
			return err
		}
		counted, err := c.linesOf(in.Items)
		if err != nil {
			return err
		}
		for i, l := range counted {
			l.CountedQty, l.CountedAt = in.Items[i].Qty, nil
			if l.CountedQty != nil {
				l.CountedAt = new(jsontype.At(tx.Now()))
			}
		}
		if err := s.expect(ctx, tx, c, counted); err != nil {
			return err
		}
		c.Derive()
		return s.cfg.NameCreator(&c.Header)(ctx, tx)
	}, updated)
}

// Update changes the note, the external id and the metadata of a count.
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[ChangeFields]) (Count, error) {
	return table.Change(ctx, tx, by, id, func(_ Count, c *Count) error {
		v := ChangeFields{c.Note, c.External}
		in.Apply(&v)
		c.Note, c.External = v.Note, v.External
		return s.cfg.NameCreator(&c.Header)(ctx, tx)
	}, updated)
}

// Post moves the differences of the lines that were counted. What was not counted stays as it is. As an adjustment, a count is not bound
// by the policy for stock.
//
// Errors: 404, 412, 409 STOCK_COUNT_STATUS_TRANSITION_INVALID, 409 WAREHOUSE_DELETED.
func (s *Service) Post(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Count, error) {
	return table.Change(ctx, tx, by, id, func(before Count, c *Count) error {
		if err := states.Check(entity, before.Status, statusPosted); err != nil {
			return err
		}
		if err := s.cfg.CheckWarehouses(ctx, tx, &c.Header, c.WarehouseID); err != nil {
			return err
		}
		c.end(statusPosted)
		c.PostedAt = new(jsontype.At(tx.Now()))
		return s.cfg.Stock.Withdraw(ctx, tx, by, c.Moves(trade.DocumentCount, trade.MovementCount), c.deltas(), func([]trade.StockShortage) error { return nil })
	}, posted)
}

// Cancel ends a count that moves nothing.
//
// Errors: 404, 412, 409 STOCK_COUNT_STATUS_TRANSITION_INVALID.
func (s *Service) Cancel(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Count, error) {
	return table.Change(ctx, tx, by, id, func(before Count, c *Count) error {
		if err := states.Check(entity, before.Status, statusCancelled); err != nil {
			return err
		}
		c.end(statusCancelled)
		c.CancelledAt = new(jsontype.At(tx.Now()))
		return s.cfg.NameCreator(&c.Header)(ctx, tx)
	}, cancelled)
}
