package orders

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
)

// PaymentItem is a payment or refund in a list.
type PaymentItem struct {
	Payment
	OrderNumber   int64   `json:"orderNumber" db:"-"`
	CreatedByName *string `json:"createdByName" db:"-"`
}

// PaymentFilter filters and sorts the payments and refunds of an order.
type PaymentFilter struct {
	list.Params
	list.ByExternal
	Sort      string     `query:"sort" enum:"paidAt"`
	Kind      string     `query:"kind" enum:"payment,refund"`
	Method    []string   `query:"method" enum:"cash,card,sbp,transfer,other,unspecified" where:"method = ANY(?::TEXT[])" doc:"comma-separated"`
	PaidFrom  *list.From `query:"paidFrom" where:"paid_at >= ?" doc:"paid at or after"`
	PaidTo    *list.To   `query:"paidTo" where:"paid_at <= ?" doc:"paid at or before"`
	Reference string     `query:"reference" maxLength:"255" where:"reference = ?"`
	ReturnID  *uuid.UUID `query:"returnId" format:"uuid" where:"return_id = ?"`
}

// PaymentsFilter filters and sorts the payments and refunds of all orders.
type PaymentsFilter struct {
	PaymentFilter
	OrderID *uuid.UUID `query:"orderId" format:"uuid" where:"order_id = ?"`
}

// paymentItems are newest first by when the money came: an export of a month is in the order of the bank's statement.
var paymentItems = list.Of[PaymentItem, PaymentsFilter]("order_payments", list.Spec{Default: "paidAt", Permanent: true})

// AllPayments returns a page of the payments and refunds of all orders of the company.
func (s *Service) AllPayments(ctx context.Context, by access.Caller, f PaymentsFilter) (*list.Page[PaymentItem], error) {
	q, err := paymentItems.Query(by.Company, f)
	if err != nil {
		return nil, err
	}
	switch f.Kind {
	case kindPayment:
		q.Where("delta > 0")
	case kindRefund:
		q.Where("delta < 0")
	}
	if f.Search != "" {
		q.Where("search_text <> ''") // the condition of the index
	}
	page, err := paymentItems.Fetch(ctx, s.cfg.DB, q)
	if err != nil {
		return nil, err
	}
	who := func(i int) (*uuid.UUID, **string) { return page.Items[i].CreatedByID, &page.Items[i].CreatedByName }
	numbers := readNumbers(by.Company, len(page.Items), func(i int) (uuid.UUID, *int64) { return page.Items[i].OrderID, &page.Items[i].OrderNumber })
	return page, batchloader.Load(ctx, s.cfg.DB, reference.Names(s.cfg.Users.UserNames).Fill(by.Company, len(page.Items), who), numbers)
}

// Payments returns a page of the payments and refunds of an order.
func (s *Service) Payments(ctx context.Context, by access.Caller, order uuid.UUID, f PaymentFilter) (*list.Page[PaymentItem], error) {
	if err := s.checkExists(ctx, by.Company, order); err != nil {
		return nil, err
	}
	return s.AllPayments(ctx, by, PaymentsFilter{PaymentFilter: f, OrderID: &order})
}

// Payment returns one payment or refund of an order.
func (s *Service) Payment(ctx context.Context, by access.Caller, order, id uuid.UUID) (Payment, error) {
	if err := s.checkExists(ctx, by.Company, order); err != nil {
		return Payment{}, err
	}
	p, err := payments.Get(ctx, s.cfg.DB, by.Company, id)
	if err == nil && p.OrderID != order {
		err = apierr.NotFound("PAYMENT", id.String())
	}
	return p, err
}

const sqlSelectNumbers = `SELECT id, number FROM orders WHERE company_id = $1 AND id = ANY($2::UUID[])`

// readNumbers returns a read of the numbers of the orders that n items of a list belong to.
func readNumbers(company tenant.ID, n int, at func(i int) (order uuid.UUID, number *int64)) batchloader.Read {
	return func(ctx context.Context, q db.Querier) error {
		if n == 0 {
			return nil
		}
		ids := make([]uuid.UUID, n)
		for i := range ids {
			ids[i], _ = at(i)
		}
		rows, err := q.Query(ctx, sqlSelectNumbers, company, ids)
		if err != nil {
			return fmt.Errorf("select numbers of orders: %w", err)
		}
		numbers, id, number := make(map[uuid.UUID]int64, n), uuid.Nil, int64(0)
		if _, err := pgx.ForEachRow(rows, []any{&id, &number}, func() error { numbers[id] = number; return nil }); err != nil {
			return fmt.Errorf("read numbers of orders: %w", err)
		}
		for i, order := range ids {
			_, to := at(i)
			*to = numbers[order]
		}
		return nil
	}
}
