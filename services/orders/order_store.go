package orders

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

const orderColumns = `company_id, id, number, status, payment_status, customer_id, asset_id, address_id, address_label, customer_name, customer_phone, customer_email,
customer_note, channel, source, external_id, deal_id, warehouse_id, delivery_status, delivery_method, delivery_cost, delivery_address_text,
due_at, ready_by, pay_due_at, note, subtotal, discount_percent_bp, discount_amount, total, prepaid_amount, was_paid, created_by_id, assigned_to_id,
completed_at, cancelled_at, version, ev_pos, created_at, updated_at`

func headerTargets(h *Header) []any {
	return append([]any{
		&h.CompanyID, &h.ID, &h.Number, &h.Status, &h.PaymentStatus, &h.CustomerID, &h.AssetID, &h.AddressID, &h.AddressLabel, &h.CustomerName, &h.CustomerPhone, &h.CustomerEmail,
		&h.CustomerNote, &h.Channel, &h.Source, &h.ExternalID, &h.DealID, &h.WarehouseID, &h.DeliveryStatus, &h.DeliveryMethod, &h.DeliveryCost, &h.DeliveryAddressText,
		&h.DueAt, &h.ReadyBy, &h.PayDueAt, &h.Note, &h.Subtotal, &h.DiscountPercent, &h.DiscountAmount, &h.Total, &h.PrepaidAmount, &h.wasPaid, &h.CreatedByID, &h.AssignedToID,
		&h.CompletedAt, &h.CancelledAt,
	}, h.Targets()...)
}

const sqlInsertOrder = `INSERT INTO orders (` + orderColumns + `, source_key, lines_count, search_text)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30,
$31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43)`

func insertOrder(tx *db.Tx, o *Order) {
	h := &o.Header
	tx.Queue(sqlInsertOrder, h.CompanyID, h.ID, h.Number, h.Status, h.PaymentStatus, h.CustomerID, h.AssetID, h.AddressID, h.AddressLabel, h.CustomerName, h.CustomerPhone, h.CustomerEmail,
		h.CustomerNote, h.Channel, h.Source, h.ExternalID, h.DealID, h.WarehouseID, h.DeliveryStatus, h.DeliveryMethod, h.DeliveryCost, h.DeliveryAddressText,
		h.DueAt, h.ReadyBy, h.PayDueAt, h.Note, h.Subtotal, h.DiscountPercent, h.DiscountAmount, h.Total, h.PrepaidAmount, h.wasPaid, h.CreatedByID, h.AssignedToID,
		h.CompletedAt, h.CancelledAt, h.Version, h.EvPos, h.CreatedAt, h.UpdatedAt, deref(h.Source), len(o.Lines), o.searchText()).
		OnConstraint("orders_external_key", errExternalTaken)
}

const sqlSelectStored = `SELECT EXISTS (SELECT 1 FROM orders WHERE company_id = $1 AND id = $2)`

// stored tells whether the transaction that creates the order has happened: orders are never deleted.
func stored(company tenant.ID, id uuid.UUID) db.CommitCheck {
	return func(ctx context.Context, q db.Querier) (found bool, err error) {
		err = q.QueryRow(ctx, sqlSelectStored, company, id).Scan(&found)
		return found, err
	}
}

const sqlUpdateOrder = `UPDATE orders SET status = $3, payment_status = $4, customer_id = $5, asset_id = $6, address_id = $7, address_label = $8,
customer_name = $9, customer_phone = $10, customer_email = $11, customer_note = $12, channel = $13, source = $14, source_key = $15, external_id = $16,
warehouse_id = $17, delivery_status = $18, delivery_method = $19, delivery_cost = $20, delivery_address_text = $21, due_at = $22, ready_by = $23,
pay_due_at = $24, note = $25, subtotal = $26, discount_percent_bp = $27, discount_amount = $28, total = $29, prepaid_amount = $30, was_paid = $31,
assigned_to_id = $32, completed_at = $33, cancelled_at = $34, lines_count = $35, search_text = $36, version = $37, ev_pos = $38, updated_at = $39
WHERE company_id = $1 AND id = $2 AND version = $37 - 1`

func updateOrder(tx *db.Tx, o *Order) {
	h := &o.Header
	tx.Queue(sqlUpdateOrder, h.CompanyID, h.ID, h.Status, h.PaymentStatus, h.CustomerID, h.AssetID, h.AddressID, h.AddressLabel,
		h.CustomerName, h.CustomerPhone, h.CustomerEmail, h.CustomerNote, h.Channel, h.Source, deref(h.Source), h.ExternalID,
		h.WarehouseID, h.DeliveryStatus, h.DeliveryMethod, h.DeliveryCost, h.DeliveryAddressText, h.DueAt, h.ReadyBy,
		h.PayDueAt, h.Note, h.Subtotal, h.DiscountPercent, h.DiscountAmount, h.Total, h.PrepaidAmount, h.wasPaid,
		h.AssignedToID, h.CompletedAt, h.CancelledAt, len(o.Lines), o.searchText(), h.Version, h.EvPos, h.UpdatedAt).
		Expect(1, db.ErrStale).OnConstraint("orders_external_key", errExternalTaken)
}

const sqlSelectOrder = `SELECT ` + orderColumns + ` FROM orders WHERE company_id = $1 AND id = $2`

const sqlLockOrder = sqlSelectOrder + ` FOR UPDATE`

const sqlSelectLines = `SELECT order_id, ` + lineColumns + ` FROM order_lines WHERE company_id = $1 AND order_id = ANY($2::UUID[]) ORDER BY order_id, sort_order`

// selectOrder reads an order and its lines in one round trip; a transaction can lock it.
func selectOrder(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, lock bool) (Order, error) {
	o := Order{Lines: []Line{}}
	sql := sqlSelectOrder
	if lock {
		sql = sqlLockOrder
	}
	b := &pgx.Batch{}
	b.Queue(sql, company, id).QueryRow(func(row pgx.Row) error { return row.Scan(headerTargets(&o.Header)...) })
	b.Queue(sqlSelectLines, company, []uuid.UUID{id}).Query(func(rows pgx.Rows) error {
		return readLines(rows, func(_ uuid.UUID, l Line) { o.Lines = append(o.Lines, l) })
	})
	err := q.SendBatch(ctx, b).Close()
	if db.IsNoRows(err) {
		return o, fault.NotFound("ORDER", id.String())
	}
	if err != nil {
		return o, fmt.Errorf("select order: %w", err)
	}
	o.derive()
	return o, nil
}

// selectLines reads the lines of several orders, by order.
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
		if err := json.Unmarshal([]byte(stock), &l.stock); err != nil {
			return fmt.Errorf("read stock of order line: %w", err)
		}
		each(order, l)
	}
	return rows.Err()
}

const sqlInsertLines = `INSERT INTO order_lines (company_id, order_id, ` + lineColumns + `)
SELECT $1, $2, u.id, u.kind, u.ref, u.variant, u.sku, u.name, u.unit, u.qty, u.price, u.amount, u.discount, u.total, u.reserved, u.shipped, u.modifiers, u.stock, u.note, u.sort
FROM unnest($3::UUID[], $4::TEXT[], $5::UUID[], $6::UUID[], $7::TEXT[], $8::TEXT[], $9::TEXT[], $10::DECIMAL[], $11::BIGINT[], $12::BIGINT[], $13::BIGINT[], $14::BIGINT[],
$15::DECIMAL[], $16::DECIMAL[], $17::TEXT[], $18::TEXT[], $19::TEXT[], $20::INT4[])
AS u(id, kind, ref, variant, sku, name, unit, qty, price, amount, discount, total, reserved, shipped, modifiers, stock, note, sort)`

func insertLines(tx *db.Tx, o *Order) {
	n := len(o.Lines)
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
		modifiers[i], stock[i], sort[i] = jsonArray(l.Modifiers), jsonArray(l.stock), l.SortOrder
	}
	tx.Queue(sqlInsertLines, o.CompanyID, o.ID, ids, kinds, refs, variants, skus, names, units, qtys, prices, amounts, discounts, totals,
		reserved, shipped, modifiers, stock, notes, sort).Expect(int64(n), nil)
}

// jsonArray is the JSON form of a slice, [] for none.
func jsonArray[T any](all []T) string {
	if len(all) == 0 {
		return "[]"
	}
	raw, err := json.Marshal(all)
	if err != nil {
		panic(err) // structs of numbers and text always have a JSON form
	}
	return string(raw)
}

const sqlDeleteLines = `DELETE FROM order_lines WHERE company_id = $1 AND order_id = $2`

// replaceLines stores the lines of an order in place of those it had.
func replaceLines(tx *db.Tx, o *Order) {
	tx.Queue(sqlDeleteLines, o.CompanyID, o.ID)
	insertLines(tx, o)
}

const sqlInsertPayment = `INSERT INTO order_payments (company_id, order_id, id, delta, created_by_id, created_at) VALUES ($1, $2, $3, $4, $5, $6)`

func insertPayment(tx *db.Tx, o *Order, by access.Caller, delta money.Amount, at wire.Time) {
	tx.Queue(sqlInsertPayment, o.CompanyID, o.ID, record.NewID(), delta, actor(by), at)
}

const sqlSelectExternal = `SELECT id FROM orders WHERE company_id = $1 AND source_key = $2 AND external_id = $3`

// selectExternal finds the order of a source with an external id; nil when there is none.
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

// selectOpenDue sums what the client still owes for orders in work.
func selectOpenDue(ctx context.Context, q db.Querier, company tenant.ID, client uuid.UUID) (due money.Amount, err error) {
	if err = q.QueryRow(ctx, sqlSelectOpenDue, company, client).Scan(&due); err != nil {
		return 0, fmt.Errorf("sum open orders of client: %w", err)
	}
	return due, nil
}
