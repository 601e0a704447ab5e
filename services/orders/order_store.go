package orders

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/jsontype"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/resource"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// headers is the plan of the columns that are read and compared to detect changes.
var headers = record.PlanOf[Header]()

// row is an order as stored in its table.
type row struct {
	Header
	SourceKey  string `json:"-"` // source or "", so that external ids are also unique among orders without a source
	LinesCount int32  `json:"-"`
	Words      string `json:"-" db:"-" search:"text"` // number and names of lines, for searches
}

var table = resource.Of[row]("orders", "ORDER").OnConstraint("orders_external_key", errExternalTaken)

func rowOf(o *Order) *row {
	words := []string{strconv.FormatInt(o.Number, 10)}
	for _, l := range o.Lines {
		words = append(words, l.Name)
	}
	return &row{Header: o.Header, SourceKey: deref(o.Source), LinesCount: int32(len(o.Lines)), Words: strings.Join(words, "\n")}
}

func insertOrder(tx *db.Tx, o *Order) { table.Insert(tx, rowOf(o)) }

// updateOrder stores a changed order, and its lines if they have changed.
func updateOrder(tx *db.Tx, before, o *Order) {
	table.Update(tx, rowOf(o))
	if !slices.EqualFunc(before.Lines, o.Lines, sameLine) {
		tx.Queue(sqlDeleteLines, o.CompanyID, o.ID)
		insertLines(tx, o)
	}
}

// sameLine reports whether a stored line is unchanged.
func sameLine(a, b Line) bool {
	return a.ID == b.ID && a.DiscountAmount == b.DiscountAmount && a.ReservedQty == b.ReservedQty && a.ShippedQty == b.ShippedQty
}

const sqlSelectStored = `SELECT EXISTS (SELECT 1 FROM orders WHERE company_id = $1 AND id = $2)`

// stored returns a check whether the order was created. Orders are never deleted.
func stored(company tenant.ID, id uuid.UUID) db.CommitCheck {
	return func(ctx context.Context, q db.Querier) (found bool, err error) {
		err = q.QueryRow(ctx, sqlSelectStored, company, id).Scan(&found)
		return found, err
	}
}

var (
	sqlSelectOrder = `SELECT ` + headers.SelectList("") + ` FROM orders WHERE company_id = $1 AND id = $2`
	sqlLockOrder   = sqlSelectOrder + ` FOR UPDATE`
)

const sqlSelectLines = `SELECT order_id, ` + lineColumns + ` FROM order_lines WHERE company_id = $1 AND order_id = ANY($2::UUID[]) ORDER BY order_id, sort_order`

// selectOrder reads an order and its lines in one round trip, and locks the order if requested.
func selectOrder(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, lock bool) (Order, error) {
	o := Order{Lines: []Line{}}
	sql := sqlSelectOrder
	if lock {
		sql = sqlLockOrder
	}
	b := &pgx.Batch{}
	b.Queue(sql, company, id).QueryRow(func(row pgx.Row) error { return row.Scan(headers.Targets(&o.Header)...) })
	b.Queue(sqlSelectLines, company, []uuid.UUID{id}).Query(func(rows pgx.Rows) error {
		return readLines(rows, func(_ uuid.UUID, l Line) { o.Lines = append(o.Lines, l) })
	})
	err := q.SendBatch(ctx, b).Close()
	if db.IsNoRows(err) {
		return o, apierr.NotFound("ORDER", id.String())
	}
	if err != nil {
		return o, fmt.Errorf("select order: %w", err)
	}
	o.derive()
	return o, nil
}

// selectLines returns the lines of several orders by order id.
func selectLines(ctx context.Context, q db.Querier, company tenant.ID, orders []uuid.UUID) (map[uuid.UUID][]Line, error) {
	rows, err := q.Query(ctx, sqlSelectLines, company, orders)
	if err != nil {
		return nil, fmt.Errorf("select order lines: %w", err)
	}
	lines := map[uuid.UUID][]Line{}
	err = readLines(rows, func(order uuid.UUID, l Line) { lines[order] = append(lines[order], l) })
	return lines, err
}

const lineColumns = `id, kind, ref_id, variant_id, sku, name, unit, qty, unit_price, amount, discount_amount, total, reserved_qty, shipped_qty, modifiers, stock, note, sort_order`

func readLines(rows pgx.Rows, each func(order uuid.UUID, l Line)) error {
	defer rows.Close()
	for rows.Next() {
		var order uuid.UUID
		var l Line
		var modifiers, stock string
		err := rows.Scan(&order, &l.ID, &l.Kind, &l.RefID, &l.VariantID, &l.SKU, &l.Name, &l.Unit, &l.Qty, &l.UnitPrice, &l.Amount, &l.DiscountAmount, &l.Total,
			&l.ReservedQty, &l.ShippedQty, &modifiers, &stock, &l.Note, &l.SortOrder)
		if err != nil {
			return fmt.Errorf("read order line: %w", err)
		}
		if err := json.Unmarshal([]byte(modifiers), &l.Modifiers); err != nil {
			return fmt.Errorf("read modifiers of order line: %w", err)
		}
		if err := json.Unmarshal([]byte(stock), &l.Stock); err != nil {
			return fmt.Errorf("read stock of order line: %w", err)
		}
		each(order, l)
	}
	return rows.Err()
}

const sqlInsertLines = `INSERT INTO order_lines (company_id, order_id, ` + lineColumns + `)
SELECT u.company, u.doc, u.id, u.kind, u.ref, u.variant, u.sku, u.name, u.unit, u.qty, u.price, u.amount, u.discount, u.total, u.reserved, u.shipped, u.modifiers, u.stock, u.note, u.sort
FROM unnest($1::UUID[], $2::UUID[], $3::UUID[], $4::TEXT[], $5::UUID[], $6::UUID[], $7::TEXT[], $8::TEXT[], $9::TEXT[], $10::DECIMAL[], $11::BIGINT[], $12::BIGINT[],
$13::BIGINT[], $14::BIGINT[], $15::DECIMAL[], $16::DECIMAL[], $17::TEXT[], $18::TEXT[], $19::TEXT[], $20::INT4[])
AS u(company, doc, id, kind, ref, variant, sku, name, unit, qty, price, amount, discount, total, reserved, shipped, modifiers, stock, note, sort)`

func insertLines(tx *db.Tx, o *Order) {
	n := len(o.Lines)
	companies, orders := slices.Repeat([]tenant.ID{o.CompanyID}, n), slices.Repeat([]uuid.UUID{o.ID}, n)
	ids, kinds, refs, variants := make([]uuid.UUID, n), make([]string, n), make([]*uuid.UUID, n), make([]*uuid.UUID, n)
	skus, names, units, notes := make([]*string, n), make([]string, n), make([]*string, n), make([]*string, n)
	qtys, reserved, shipped := make([]money.Qty, n), make([]money.Qty, n), make([]money.Qty, n)
	prices, amounts, discounts, totals := make([]money.Amount, n), make([]money.Amount, n), make([]money.Amount, n), make([]money.Amount, n)
	modifiers, stock, sort := make([]string, n), make([]string, n), make([]int32, n)
	for i, l := range o.Lines {
		ids[i], kinds[i], refs[i], variants[i] = l.ID, l.Kind, l.RefID, l.VariantID
		skus[i], names[i], units[i], notes[i] = l.SKU, l.Name, l.Unit, l.Note
		qtys[i], reserved[i], shipped[i] = l.Qty, l.ReservedQty, l.ShippedQty
		prices[i], amounts[i], discounts[i], totals[i] = l.UnitPrice, l.Amount, l.DiscountAmount, l.Total
		modifiers[i], stock[i], sort[i] = jsonArray(l.Modifiers), jsonArray(l.Stock), l.SortOrder
	}
	tx.QueueRows(sqlInsertLines, companies, orders, ids, kinds, refs, variants, skus, names, units, qtys, prices, amounts, discounts, totals,
		reserved, shipped, modifiers, stock, notes, sort).Expect(int64(n), nil)
}

// jsonArray encodes a slice, nil as [].
func jsonArray[T any](all []T) string {
	if len(all) == 0 {
		return "[]"
	}
	raw, err := json.Marshal(all)
	if err != nil {
		panic(err) // structs of numbers and strings always encode
	}
	return string(raw)
}

const sqlDeleteLines = `DELETE FROM order_lines WHERE company_id = $1 AND order_id = $2`

const sqlInsertPayment = `INSERT INTO order_payments (company_id, order_id, id, delta, created_by_id, created_at) VALUES ($1, $2, $3, $4, $5, $6)`

func insertPayment(tx *db.Tx, o *Order, by access.Caller, delta money.Amount, at jsontype.Time) {
	tx.QueueRow(sqlInsertPayment, o.CompanyID, o.ID, record.NewID(), delta, actor(by), at)
}

const sqlSelectExternal = `SELECT id FROM orders WHERE company_id = $1 AND source_key = $2 AND external_id = $3`

// selectExternal returns the id of the order of a source with an external id, or nil.
func selectExternal(ctx context.Context, q db.Querier, company tenant.ID, source *string, external string) (*uuid.UUID, error) {
	var id uuid.UUID
	err := q.QueryRow(ctx, sqlSelectExternal, company, deref(source), external).Scan(&id)
	if db.IsNoRows(err) {
		return nil, nil //nolint:nilnil // no such order
	}
	if err != nil {
		return nil, fmt.Errorf("select order by external id: %w", err)
	}
	return &id, nil
}

const sqlSelectOpenDue = `SELECT COALESCE(sum(total + delivery_cost - prepaid_amount), 0)::BIGINT FROM orders
WHERE company_id = $1 AND customer_id = $2 AND status IN ('confirmed', 'in_progress', 'ready')`

// selectOpenDue returns the sum of the amounts due of the client's open orders.
func selectOpenDue(ctx context.Context, q db.Querier, company tenant.ID, client uuid.UUID) (due money.Amount, err error) {
	if err = q.QueryRow(ctx, sqlSelectOpenDue, company, client).Scan(&due); err != nil {
		return 0, fmt.Errorf("sum open orders of client: %w", err)
	}
	return due, nil
}
