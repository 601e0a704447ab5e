package deals

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/lineitem"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/resource"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// plan is the plan of the columns that are read and compared to detect changes.
var plan = record.PlanOf[Deal]()

// row is a deal as stored in its table.
type row struct {
	Deal
	BoardOrder int64  `json:"-"` // when the deal entered its stage, in microseconds
	LinesCount int32  `json:"-"`
	Words      string `json:"-" db:"-" search:"text"` // number, for searches
}

var table = resource.Of[row]("deals", "DEAL")

func rowOf(d *Deal) *row {
	return &row{
		Deal: *d, BoardOrder: d.StageEnteredAt.Std().UnixMicro(), LinesCount: int32(len(d.Lines)), Words: strconv.FormatInt(d.Number, 10),
	}
}

func insertDeal(tx *db.Tx, d *Deal) {
	table.Insert(tx, rowOf(d))
	insertLines(tx, d)
}

// updateDeal stores a changed deal, and its lines if they have changed.
func updateDeal(tx *db.Tx, before, d *Deal) {
	table.Update(tx, rowOf(d))
	if !slices.EqualFunc(before.Lines, d.Lines, sameLine) {
		tx.Queue(sqlDeleteLines, d.CompanyID, d.ID)
		insertLines(tx, d)
	}
}

var (
	sqlSelectDeal = `SELECT ` + plan.SelectList("") + ` FROM deals WHERE company_id = $1 AND id = $2`
	sqlLockDeal   = sqlSelectDeal + ` FOR UPDATE`
)

const sqlSelectLines = `SELECT ` + lineColumns + ` FROM deal_lines WHERE company_id = $1 AND deal_id = $2 ORDER BY sort_order`

// selectDeal reads a deal and its lines in one round trip, and locks the deal if requested.
func selectDeal(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, lock bool) (Deal, error) {
	d := Deal{Lines: []Line{}}
	sql := sqlSelectDeal
	if lock {
		sql = sqlLockDeal
	}
	b := &pgx.Batch{}
	b.Queue(sql, company, id).QueryRow(func(row pgx.Row) error { return row.Scan(plan.Targets(&d)...) })
	b.Queue(sqlSelectLines, company, id).Query(func(rows pgx.Rows) (err error) {
		d.Lines, err = pgx.AppendRows(d.Lines, rows, scanLine)
		return err
	})
	err := q.SendBatch(ctx, b).Close()
	if db.IsNoRows(err) {
		return d, apierr.NotFound("DEAL", id.String())
	}
	if err != nil {
		return d, fmt.Errorf("select deal: %w", err)
	}
	return d, nil
}

const lineColumns = `id, kind, ref_id, variant_id, sku, name, unit, qty, per_guest, effective_qty, unit_price, unit_cost, amount, discount_amount, total, cost, modifiers, note, sort_order`

func scanLine(row pgx.CollectableRow) (l Line, err error) {
	var modifiers string
	err = row.Scan(&l.ID, &l.Kind, &l.RefID, &l.VariantID, &l.SKU, &l.Name, &l.Unit, &l.Qty, &l.PerGuest, &l.EffectiveQty, &l.UnitPrice, &l.UnitCost,
		&l.Amount, &l.DiscountAmount, &l.Total, &l.Cost, &modifiers, &l.Note, &l.SortOrder)
	if err != nil {
		return l, fmt.Errorf("read deal line: %w", err)
	}
	if err := json.Unmarshal([]byte(modifiers), &l.Modifiers); err != nil {
		return l, fmt.Errorf("read modifiers of deal line: %w", err)
	}
	return l, nil
}

const sqlDeleteLines = `DELETE FROM deal_lines WHERE company_id = $1 AND deal_id = $2`

const sqlInsertLines = `INSERT INTO deal_lines (company_id, deal_id, ` + lineColumns + `)
SELECT $1, $2, u.id, u.kind, u.ref, u.variant, u.sku, u.name, u.unit, u.qty, u.guest, u.effective, u.price, u.unit_cost, u.amount, u.discount, u.total, u.cost, u.modifiers, u.note, u.sort
FROM unnest($3::UUID[], $4::TEXT[], $5::UUID[], $6::UUID[], $7::TEXT[], $8::TEXT[], $9::TEXT[], $10::DECIMAL[], $11::BOOLEAN[], $12::DECIMAL[], $13::BIGINT[], $14::BIGINT[],
$15::BIGINT[], $16::BIGINT[], $17::BIGINT[], $18::BIGINT[], $19::TEXT[], $20::TEXT[], $21::INT4[])
AS u(id, kind, ref, variant, sku, name, unit, qty, guest, effective, price, unit_cost, amount, discount, total, cost, modifiers, note, sort)`

func insertLines(tx *db.Tx, d *Deal) {
	n := len(d.Lines)
	if n == 0 {
		return
	}
	tx.Queue(sqlInsertLines, d.CompanyID, d.ID,
		column(d.Lines, func(l *Line) uuid.UUID { return l.ID }),
		column(d.Lines, func(l *Line) string { return l.Kind }),
		column(d.Lines, func(l *Line) *uuid.UUID { return l.RefID }),
		column(d.Lines, func(l *Line) *uuid.UUID { return l.VariantID }),
		column(d.Lines, func(l *Line) *string { return l.SKU }),
		column(d.Lines, func(l *Line) string { return l.Name }),
		column(d.Lines, func(l *Line) *string { return l.Unit }),
		column(d.Lines, func(l *Line) money.Qty { return l.Qty }),
		column(d.Lines, func(l *Line) bool { return l.PerGuest }),
		column(d.Lines, func(l *Line) money.Qty { return l.EffectiveQty }),
		column(d.Lines, func(l *Line) money.Amount { return l.UnitPrice }),
		column(d.Lines, func(l *Line) money.Amount { return l.UnitCost }),
		column(d.Lines, func(l *Line) money.Amount { return l.Amount }),
		column(d.Lines, func(l *Line) money.Amount { return l.DiscountAmount }),
		column(d.Lines, func(l *Line) money.Amount { return l.Total }),
		column(d.Lines, func(l *Line) money.Amount { return l.Cost }),
		column(d.Lines, func(l *Line) string { return modifiersJSON(l.Modifiers) }),
		column(d.Lines, func(l *Line) *string { return l.Note }),
		column(d.Lines, func(l *Line) int32 { return l.SortOrder }),
	).Expect(int64(n), nil)
}

// column returns one value of each line.
func column[V any](lines []Line, value func(*Line) V) []V {
	all := make([]V, len(lines))
	for i := range lines {
		all[i] = value(&lines[i])
	}
	return all
}

func modifiersJSON(all []lineitem.Modifier) string {
	if len(all) == 0 {
		return "[]"
	}
	raw, err := json.Marshal(all)
	if err != nil {
		panic(err) // structs of numbers and strings always encode
	}
	return string(raw)
}
