package sales

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/jsontype"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/resource"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// headers is the plan of the columns that are read.
var headers = record.PlanOf[Header]()

// row is a sale as stored in its table.
type row struct {
	Header
	LinesCount int32  `json:"-"`
	Words      string `json:"-" db:"-" search:"text"` // number, for searches
}

var table = resource.Of[row]("sales", "SALE")

func insertSale(tx *db.Tx, s *Sale) {
	table.Insert(tx, &row{Header: s.Header, LinesCount: int32(len(s.Lines)), Words: strconv.FormatInt(s.Number, 10)})
}

const sqlSelectStored = `SELECT EXISTS (SELECT 1 FROM sales WHERE company_id = $1 AND id = $2)`

// stored returns a check whether the sale was created. Sales are never deleted.
func stored(company tenant.ID, id uuid.UUID) db.CommitCheck {
	return func(ctx context.Context, q db.Querier) (found bool, err error) {
		err = q.QueryRow(ctx, sqlSelectStored, company, id).Scan(&found)
		return found, err
	}
}

var sqlSelectSale = `SELECT ` + headers.SelectList("") + ` FROM sales WHERE company_id = $1 AND id = $2`

const (
	sqlSelectLines    = `SELECT sale_id, ` + lineColumns + ` FROM sale_lines WHERE company_id = $1 AND sale_id = ANY($2::UUID[]) ORDER BY sale_id, sort_order`
	sqlSelectPayments = `SELECT sale_id, ` + paymentColumns + ` FROM sale_payments WHERE company_id = $1 AND sale_id = ANY($2::UUID[]) ORDER BY sale_id, sort_order`
)

// selectSale reads a sale with its lines and payments in one round trip.
func selectSale(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (Sale, error) {
	s := Sale{Lines: []Line{}, Payments: []Payment{}}
	b := &pgx.Batch{}
	b.Queue(sqlSelectSale, company, id).QueryRow(func(row pgx.Row) error { return row.Scan(headers.Targets(&s.Header)...) })
	b.Queue(sqlSelectLines, company, []uuid.UUID{id}).Query(func(rows pgx.Rows) error {
		return readLines(rows, func(_ uuid.UUID, l Line) { s.Lines = append(s.Lines, l) })
	})
	b.Queue(sqlSelectPayments, company, []uuid.UUID{id}).Query(func(rows pgx.Rows) error {
		return readPayments(rows, func(_ uuid.UUID, p Payment) { s.Payments = append(s.Payments, p) })
	})
	err := q.SendBatch(ctx, b).Close()
	if db.IsNoRows(err) {
		return s, apierr.NotFound("SALE", id.String())
	}
	if err != nil {
		return s, fmt.Errorf("select sale: %w", err)
	}
	return s, nil
}

// selectLines returns the lines of several sales by sale id.
func selectLines(ctx context.Context, q db.Querier, company tenant.ID, sales []uuid.UUID) (map[uuid.UUID][]Line, error) {
	rows, err := q.Query(ctx, sqlSelectLines, company, sales)
	if err != nil {
		return nil, fmt.Errorf("select lines of sales: %w", err)
	}
	lines := map[uuid.UUID][]Line{}
	err = readLines(rows, func(sale uuid.UUID, l Line) { lines[sale] = append(lines[sale], l) })
	return lines, err
}

// selectPayments returns the payments of several sales by sale id.
func selectPayments(ctx context.Context, q db.Querier, company tenant.ID, sales []uuid.UUID) (map[uuid.UUID][]Payment, error) {
	rows, err := q.Query(ctx, sqlSelectPayments, company, sales)
	if err != nil {
		return nil, fmt.Errorf("select payments of sales: %w", err)
	}
	payments := map[uuid.UUID][]Payment{}
	err = readPayments(rows, func(sale uuid.UUID, p Payment) { payments[sale] = append(payments[sale], p) })
	return payments, err
}

const lineColumns = `id, kind, ref_id, variant_id, sku, name, unit, qty, unit_price, amount, discount_amount, total, modifiers, stock, sort_order`

func readLines(rows pgx.Rows, each func(sale uuid.UUID, l Line)) error {
	defer rows.Close()
	for rows.Next() {
		var sale uuid.UUID
		var l Line
		var modifiers, stock string
		err := rows.Scan(&sale, &l.ID, &l.Kind, &l.RefID, &l.VariantID, &l.SKU, &l.Name, &l.Unit, &l.Qty, &l.UnitPrice, &l.Amount, &l.DiscountAmount, &l.Total,
			&modifiers, &stock, &l.SortOrder)
		if err != nil {
			return fmt.Errorf("read line of sale: %w", err)
		}
		if err := json.Unmarshal([]byte(modifiers), &l.Modifiers); err != nil {
			return fmt.Errorf("read modifiers of line: %w", err)
		}
		if err := json.Unmarshal([]byte(stock), &l.Stock); err != nil {
			return fmt.Errorf("read stock of line: %w", err)
		}
		each(sale, l)
	}
	return rows.Err()
}

const sqlInsertLines = `INSERT INTO sale_lines (company_id, sale_id, ` + lineColumns + `)
SELECT $1, $2, u.id, u.kind, u.ref, u.variant, u.sku, u.name, u.unit, u.qty, u.price, u.amount, u.discount, u.total, u.modifiers, u.stock, u.sort
FROM unnest($3::UUID[], $4::TEXT[], $5::UUID[], $6::UUID[], $7::TEXT[], $8::TEXT[], $9::TEXT[], $10::DECIMAL[], $11::BIGINT[], $12::BIGINT[], $13::BIGINT[], $14::BIGINT[],
$15::TEXT[], $16::TEXT[], $17::INT4[])
AS u(id, kind, ref, variant, sku, name, unit, qty, price, amount, discount, total, modifiers, stock, sort)`

func insertLines(tx *db.Tx, s *Sale) {
	n := len(s.Lines)
	ids, kinds, refs, variants := make([]uuid.UUID, n), make([]string, n), make([]*uuid.UUID, n), make([]*uuid.UUID, n)
	skus, names, units, qtys := make([]*string, n), make([]string, n), make([]*string, n), make([]money.Qty, n)
	prices, amounts, discounts, totals := make([]money.Amount, n), make([]money.Amount, n), make([]money.Amount, n), make([]money.Amount, n)
	modifiers, stock, sort := make([]string, n), make([]string, n), make([]int32, n)
	for i, l := range s.Lines {
		ids[i], kinds[i], refs[i], variants[i] = l.ID, l.Kind, l.RefID, l.VariantID
		skus[i], names[i], units[i], qtys[i] = l.SKU, l.Name, l.Unit, l.Qty
		prices[i], amounts[i], discounts[i], totals[i] = l.UnitPrice, l.Amount, l.DiscountAmount, l.Total
		modifiers[i], stock[i], sort[i] = jsonArray(l.Modifiers), jsonArray(l.Stock), l.SortOrder
	}
	tx.Queue(sqlInsertLines, s.CompanyID, s.ID, ids, kinds, refs, variants, skus, names, units, qtys, prices, amounts, discounts, totals, modifiers, stock, sort).
		Expect(int64(n), nil)
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

const paymentColumns = `id, payment_method, payment_method_ext, amount, created_at`

func readPayments(rows pgx.Rows, each func(sale uuid.UUID, p Payment)) error {
	var sale uuid.UUID
	var p Payment
	_, err := pgx.ForEachRow(rows, []any{&sale, &p.ID, &p.Method, &p.MethodExt, &p.Amount, &p.CreatedAt}, func() error {
		each(sale, p)
		p = Payment{}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read payment of sale: %w", err)
	}
	return nil
}

const sqlInsertPayments = `INSERT INTO sale_payments (company_id, sale_id, sort_order, ` + paymentColumns + `)
SELECT $1, $2, u.sort, u.id, u.method, u.ext, u.amount, u.at
FROM unnest($3::INT4[], $4::UUID[], $5::TEXT[], $6::TEXT[], $7::BIGINT[], $8::TIMESTAMPTZ[]) AS u(sort, id, method, ext, amount, at)`

func insertPayments(tx *db.Tx, s *Sale) {
	n := len(s.Payments)
	if n == 0 {
		return
	}
	sort, ids, methods, exts := make([]int32, n), make([]uuid.UUID, n), make([]string, n), make([]*string, n)
	amounts, at := make([]money.Amount, n), make([]jsontype.Time, n)
	for i, p := range s.Payments {
		sort[i], ids[i], methods[i], exts[i], amounts[i], at[i] = int32(i), p.ID, p.Method, p.MethodExt, p.Amount, p.CreatedAt
	}
	tx.Queue(sqlInsertPayments, s.CompanyID, s.ID, sort, ids, methods, exts, amounts, at).Expect(int64(n), nil)
}
