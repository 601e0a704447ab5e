package receipts

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

func rowOf(r *Receipt) *row {
	return &row{Header: r.Header, LinesCount: int32(len(r.Lines)), Digits: strconv.FormatInt(r.Number, 10)}
}

const lineColumns = `id, sort_order, product_id, product_name, product_sku, variant_id, variant_sku, variant_attributes, unit, qty, unit_cost, amount, note, stock`

const sqlInsertLines = `INSERT INTO receipt_lines (company_id, receipt_id, ` + lineColumns + `)
SELECT $1, $2, u.id, u.sort, u.product, u.name, u.sku, u.variant, u.variant_sku, u.attributes, u.unit, u.qty, u.cost, u.amount, u.note, u.stock
FROM unnest($3::UUID[], $4::INT4[], $5::UUID[], $6::TEXT[], $7::TEXT[], $8::UUID[], $9::TEXT[], $10::TEXT[], $11::TEXT[], $12::DECIMAL[], $13::BIGINT[], $14::BIGINT[],
$15::TEXT[], $16::TEXT[]) AS u(id, sort, product, name, sku, variant, variant_sku, attributes, unit, qty, cost, amount, note, stock)`

func insertReceipt(tx *db.Tx, r *Receipt) {
	table.Insert(tx, rowOf(r))
	n := len(r.Lines)
	ids, sort, products, variants := make([]uuid.UUID, n), make([]int32, n), make([]uuid.UUID, n), make([]*uuid.UUID, n)
	names, skus, variantSKUs, attributes := make([]string, n), make([]string, n), make([]*string, n), make([]*string, n)
	units, notes, stock := make([]*string, n), make([]*string, n), make([]string, n)
	qtys, costs, amounts := make([]money.Qty, n), make([]money.Amount, n), make([]money.Amount, n)
	for i, l := range r.Lines {
		ids[i], sort[i], products[i], variants[i] = l.ID, l.SortOrder, l.ProductID, l.VariantID
		names[i], skus[i], variantSKUs[i], units[i], notes[i] = l.ProductName, l.ProductSKU, l.VariantSKU, l.Unit, l.Note
		qtys[i], costs[i], amounts[i], stock[i] = l.Qty, l.UnitCost, l.Amount, encode(l.stock)
		if l.VariantAttributes != nil {
			attributes[i] = new(encode(l.VariantAttributes))
		}
	}
	tx.Queue(sqlInsertLines, r.CompanyID, r.ID, ids, sort, products, names, skus, variants, variantSKUs, attributes, units, qtys, costs, amounts, notes, stock).
		Expect(int64(n), nil)
}

func encode(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // structs and maps of strings and numbers always encode
	}
	return string(raw)
}

const sqlSelectLines = `SELECT ` + lineColumns + ` FROM receipt_lines WHERE company_id = $1 AND receipt_id = $2 ORDER BY sort_order`

func selectLines(ctx context.Context, q db.Querier, company tenant.ID, receipt uuid.UUID) ([]Line, error) {
	rows, err := q.Query(ctx, sqlSelectLines, company, receipt)
	if err != nil {
		return nil, fmt.Errorf("select receipt lines: %w", err)
	}
	defer rows.Close()
	lines := []Line{}
	for rows.Next() {
		var l Line
		var attributes *string
		var stock string
		err := rows.Scan(&l.ID, &l.SortOrder, &l.ProductID, &l.ProductName, &l.ProductSKU, &l.VariantID, &l.VariantSKU, &attributes, &l.Unit,
			&l.Qty, &l.UnitCost, &l.Amount, &l.Note, &stock)
		if err != nil {
			return nil, fmt.Errorf("read receipt line: %w", err)
		}
		if attributes != nil {
			if err := json.Unmarshal([]byte(*attributes), &l.VariantAttributes); err != nil {
				return nil, fmt.Errorf("read variant of receipt line: %w", err)
			}
		}
		if err := json.Unmarshal([]byte(stock), &l.stock); err != nil {
			return nil, fmt.Errorf("read stock of receipt line: %w", err)
		}
		lines = append(lines, l)
	}
	return lines, rows.Err()
}
