package warehouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

const stockChanges = db.Table("stock_changes")

// A hot row has its mark already, so that a document mostly looks for it and writes nothing.
var sqlMarkChanged = stockChanges.InsertRows(`(company_id, warehouse_id, product_id, variant_id)
SELECT DISTINCT u.c, u.w, u.p, u.v FROM unnest($1::UUID[], $2::UUID[], $3::UUID[], $4::UUID[]) AS u(c, w, p, v) ORDER BY u.c, u.w, u.p, u.v
ON CONFLICT (company_id, warehouse_id, product_id, variant_id) DO NOTHING`)

// markChanged queues the marks of rows whose available quantity the deltas change, behind the writes of these rows. Both that and
// [Announcer] hold the lock of a row when they look at its mark, so that the last change is always told.
func markChanged(tx *db.Tx, company tenant.ID, deltas []trade.StockDelta) {
	var companies []tenant.ID
	var warehouses, products, variants []uuid.UUID
	for _, d := range deltas {
		if d.Qty != d.Reserved {
			companies, warehouses = append(companies, company), append(warehouses, d.Warehouse)
			products, variants = append(products, d.Product), append(variants, d.Variant)
		}
	}
	if len(companies) > 0 {
		tx.QueueRows(sqlMarkChanged, companies, warehouses, products, variants)
	}
}

const (
	announceEvery = time.Second
	announcePage  = 200 // marked rows that are read together
	// Rows that are locked and told together. Orders of these rows wait meanwhile, and so do the events behind theirs: with all rows of a
	// second together, the slowest percent of webhooks took three times as long (BenchmarkCost, steady).
	tellTogether = 20
	tellRest     = 25 * time.Millisecond // between them, while a pass has time
)

// Announcer tells what is available of the stock rows that have changed, by an event each, at most about once a second. Documents only
// mark these rows: an event, and the index entries of a new updated_at, for each line of each order would cost more than the order.
type Announcer struct {
	stock *Service
	log   *slog.Logger
}

// NewAnnouncer returns an announcer of the stock of all companies.
func NewAnnouncer(stock *Service, log *slog.Logger) *Announcer { return &Announcer{stock, log} }

// Run tells changes while owner says that this process is in charge, until ctx is done.
func (a *Announcer) Run(ctx context.Context, owner func() bool) {
	tick := time.NewTicker(announceEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		a.pass(ctx, owner, time.Now())
	}
}

// pass tells what has changed until now, if this process is in charge.
func (a *Announcer) pass(ctx context.Context, owner func() bool, now time.Time) {
	if !owner() {
		toldThrough.Store(0)
		return
	}
	toldThrough.CompareAndSwap(0, now.UnixNano()) // what the process before has left is told within this pass
	err := a.Announce(telemetry.Untraced(ctx), owner)
	if err == nil {
		toldThrough.Store(now.UnixNano())
	} else if ctx.Err() == nil {
		a.log.WarnContext(ctx, "changes of available stock not told; tried again in a second", "error", err)
	}
}

// toldThrough is the start of the last pass of this process that told everything, in nanoseconds; 0 = another one is in charge.
var toldThrough atomic.Int64

var untold = prometheus.NewGaugeFunc(prometheus.GaugeOpts{
	Name: "tradegrid_stock_untold_seconds", Help: "How old a change of available stock can be that no stock.available_changed has told yet: the time since the start of the last pass over all companies that told everything. Measured by the owner of bucket 0; 0 in other processes.",
}, func() float64 { return untoldAt(time.Now()) })

func untoldAt(now time.Time) float64 {
	at := toldThrough.Load()
	if at == 0 {
		return 0
	}
	return now.Sub(time.Unix(0, at)).Seconds()
}

// changedRow is the key of a marked row.
type changedRow struct {
	Company                     tenant.ID
	Warehouse, Product, Variant uuid.UUID
}

const sqlSelectChanged = `SELECT company_id, warehouse_id, product_id, variant_id FROM stock_changes WHERE (company_id, warehouse_id, product_id, variant_id) > ($1, $2, $3, $4)
ORDER BY company_id, warehouse_id, product_id, variant_id LIMIT $5`

// How long rows wait for documents that are at one of them: those of several companies together, and then those of each by itself. What
// was not told stays marked for the next pass.
const (
	patience      = 20 * time.Millisecond
	patienceAlone = 500 * time.Millisecond
)

// Announce tells each change once that is marked now, as long as owner agrees. Companies share transactions: with one for each,
// small shops paid more for the commits than for what they tell (BenchmarkCost, apart/steady). What is told within a pass is spread over
// half of it at most.
func (a *Announcer) Announce(ctx context.Context, owner func() bool) error {
	var left error
	restUntil := time.Now().Add(announceEvery / 2)
	for last := (changedRow{}); owner(); {
		page, err := db.Collect(ctx, a.stock.cfg.DB, "select changed stock", pgx.RowToStructByPos[changedRow], sqlSelectChanged,
			last.Company, last.Warehouse, last.Product, last.Variant, announcePage)
		if err != nil || len(page) == 0 {
			return errors.Join(left, err)
		}
		for rows := range slices.Chunk(page, tellTogether) {
			if last != (changedRow{}) && time.Now().Before(restUntil) {
				select {
				case <-time.After(tellRest):
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			last = rows[len(rows)-1]
			busy, err := a.tellOrLeave(ctx, rows)
			if err != nil {
				return err
			}
			left = cmp.Or(busy, left)
		}
	}
	return left
}

// tellOrLeave tells rows, sorted, except of companies with documents at them. busy names the last of these companies; its rows stay marked.
func (a *Announcer) tellOrLeave(ctx context.Context, rows []changedRow) (busy, err error) {
	companies := runs(rows, func(r *changedRow) tenant.ID { return r.Company })
	if err = a.tell(ctx, companies, patience); !errors.Is(err, db.ErrLocked) {
		return nil, err
	}
	for i := range companies {
		err = a.tell(ctx, companies[i:i+1], patienceAlone)
		switch {
		case errors.Is(err, db.ErrLocked):
			busy = fmt.Errorf("rows of company %s: %w", companies[i][0].Company, err)
		case err != nil:
			return busy, err
		}
	}
	return busy, nil
}

// runs cuts sorted rows into those of each company.
func runs[T any](rows []T, company func(*T) tenant.ID) (all [][]T) {
	for first, i := 0, 1; i <= len(rows); i++ {
		if i == len(rows) || company(&rows[i]) != company(&rows[first]) {
			all, first = append(all, rows[first:i]), i
		}
	}
	return all
}

const sqlLockChanged = `SELECT s.company_id, s.warehouse_id, s.product_id, s.variant_id, s.id, s.qty, s.reserved, s.reorder_point, s.told, s.version, s.ev_pos, s.created_at, s.updated_at
FROM stocks AS s JOIN unnest($1::UUID[], $2::UUID[], $3::UUID[], $4::UUID[]) AS u(c, w, p, v) ON s.company_id = u.c AND s.warehouse_id = u.w AND s.product_id = u.p AND s.variant_id = u.v
ORDER BY s.company_id, s.warehouse_id, s.product_id, s.variant_id FOR UPDATE OF s`

var (
	sqlTell = stocks.Update(`SET told = stocks.qty - stocks.reserved, ev_pos = u.pos, updated_at = u.at
FROM unnest($1::UUID[], $2::UUID[], $3::BIGINT[], $4::TIMESTAMPTZ[]) AS u(c, id, pos, at) WHERE stocks.company_id = u.c AND stocks.id = u.id`)

	sqlUnmark = stockChanges.Delete(`WHERE (company_id, warehouse_id, product_id, variant_id) IN (SELECT c, w, p, v FROM unnest($1::UUID[], $2::UUID[], $3::UUID[], $4::UUID[]) AS u(c, w, p, v))`)
)

// toldStock is a locked row with what was told of it.
type toldStock struct {
	Stock
	told *money.Qty
}

// tell raises the events of marked rows, which are sorted, and deletes their marks, in one transaction.
func (a *Announcer) tell(ctx context.Context, companies [][]changedRow, patience time.Duration) error {
	return a.stock.cfg.DB.RunTx(ctx, "warehouse.available", func(ctx context.Context, tx *db.Tx) error { return a.raise(ctx, tx, companies) },
		db.ReadCommitted(), db.Repeatable(), db.LockTimeout(patience)) // repeatable: what it has told, it does not tell again
}

// raise also gives each row the time from which on updatedSince finds it: its version may have changed although as much is available as
// before.
func (a *Announcer) raise(ctx context.Context, tx *db.Tx, companies [][]changedRow) error {
	marked := keyColumns(slices.Concat(companies...))
	all, err := lockChanged(ctx, tx, marked)
	if err != nil {
		return err
	}
	if err := a.describe(ctx, tx, all); err != nil {
		return err
	}
	var owners []tenant.ID
	var ids []uuid.UUID
	var positions []int64
	var times []time.Time
	now := tx.Now()
	for i := range all {
		st := &all[i]
		st.EvPos = max(st.EvPos+1, now.UnixMicro())
		if now.After(st.UpdatedAt.Std()) {
			st.UpdatedAt = jsontype.At(now)
		}
		owners, ids, positions, times = append(owners, st.CompanyID), append(ids, st.ID), append(positions, st.EvPos), append(times, st.UpdatedAt.Std())
		if st.told != nil && *st.told == st.Available {
			continue
		}
		if err := outbox.Raise(ctx, tx, st.CompanyID, outbox.Event{Name: availableChanged.Name, Type: aggregateStock, ID: st.ID, Meta: st.Meta, Data: st.Stock}); err != nil {
			return err
		}
	}
	tx.Queue(sqlTell, owners, ids, positions, times)
	tx.Queue(sqlUnmark, marked...)
	return nil
}

// keyColumns are the parameters for unnest of the keys of rows.
func keyColumns(rows []changedRow) []any {
	companies, keys := make([]tenant.ID, len(rows)), [3][]uuid.UUID{}
	for i, r := range rows {
		companies[i] = r.Company
		keys[0], keys[1], keys[2] = append(keys[0], r.Warehouse), append(keys[1], r.Product), append(keys[2], r.Variant)
	}
	return []any{companies, keys[0], keys[1], keys[2]}
}

// lockChanged locks the rows in the order in which documents do. A row may be gone with its warehouse.
func lockChanged(ctx context.Context, tx *db.Tx, marked []any) (all []toldStock, err error) {
	rows, err := tx.Query(ctx, sqlLockChanged, marked...)
	if err != nil {
		return nil, fmt.Errorf("lock changed stock: %w", err)
	}
	var k trade.StockKey
	var st toldStock
	targets := append([]any{&st.CompanyID, &st.WarehouseID, &k.Product, &k.Variant, &st.ID, &st.Qty, &st.Reserved, &st.ReorderPoint, &st.told}, st.Targets()...)
	if _, err := pgx.ForEachRow(rows, targets, func() error {
		next := st
		next.ProductID, next.VariantID = k.Product, k.VariantID()
		next.derive()
		all = append(all, next)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read changed stock: %w", err)
	}
	return all, nil
}

// describe reads the names of sorted rows, of all companies at once.
func (a *Announcer) describe(ctx context.Context, q db.Querier, rows []toldStock) error {
	var reads []batchloader.Read
	for _, of := range runs(rows, func(r *toldStock) tenant.ID { return r.CompanyID }) {
		reads = append(reads, func(ctx context.Context, q db.Querier) error {
			keys, warehouses := make([]trade.StockKey, len(of)), make([]uuid.UUID, len(of))
			for i := range of {
				keys[i], warehouses[i] = of[i].key(), of[i].WarehouseID
			}
			described, names, err := a.stock.describeAll(ctx, q, of[0].CompanyID, keys, warehouses)
			for i := range of {
				of[i].StockedProduct, of[i].WarehouseName = describe(keys[i], described[keys[i]]), names[of[i].WarehouseID]
			}
			return err
		})
	}
	return batchloader.Load(ctx, q, reads...)
}
