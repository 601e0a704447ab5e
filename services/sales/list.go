package sales

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/batchloader"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/pkg/reference"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// ListItem is a sale in a list.
type ListItem struct {
	Header
	LinesCount  int32      `json:"linesCount"`
	CashierName *string    `json:"cashierName" db:"-"`
	Lines       *[]Line    `json:"lines,omitempty" db:"-" doc:"only with include=lines"`
	Payments    *[]Payment `json:"payments,omitempty" db:"-" doc:"only with include=payments"`
}

// Filter filters and sorts sales.
type Filter struct {
	list.Params
	Sort          string     `query:"sort" enum:"createdAt,number,total"`
	Kind          string     `query:"kind" enum:"all,sale,refund" default:"all"`
	ShiftID       *uuid.UUID `query:"shiftId" format:"uuid" where:"shift_id = ?"`
	CashierID     *uuid.UUID `query:"cashierId" format:"uuid" where:"cashier_id = ?"`
	CustomerID    *uuid.UUID `query:"customerId" format:"uuid" where:"customer_id = ?"`
	PaymentMethod []string   `query:"paymentMethod" enum:"cash,card,sbp,mixed" where:"payment_method = ANY(?::TEXT[])" doc:"comma-separated"`
	DateFrom      *list.From `query:"dateFrom" where:"created_at >= ?" doc:"created at or after"`
	DateTo        *list.To   `query:"dateTo" where:"created_at <= ?" doc:"created at or before"`
	Include       []string   `query:"include" enum:"lines,payments"`
}

var items = list.Of[ListItem, Filter]("sales", list.Spec{Permanent: true})

// List returns a page of sales and refunds, with their lines and payments on request.
func (s *Service) List(ctx context.Context, by access.Caller, f Filter) (*list.Page[ListItem], error) {
	q, err := items.Query(by.Company, f)
	if err != nil {
		return nil, err
	}
	if f.Kind != "all" {
		q.Where("kind = ?", f.Kind)
	}
	page, err := items.Fetch(ctx, s.db, q)
	if err != nil {
		return nil, err
	}
	return page, s.complete(ctx, by.Company, page.Items, f.Include)
}

// complete fills in the fields that are not columns of sales, in one round trip.
func (s *Service) complete(ctx context.Context, company tenant.ID, items []ListItem, include []string) error {
	if len(items) == 0 {
		return nil
	}
	ids := make([]uuid.UUID, len(items))
	for i := range items {
		ids[i] = items[i].ID
	}
	reads := []batchloader.Read{reference.Names(s.cfg.Users.UserNames).Fill(company, len(items), func(i int) (*uuid.UUID, **string) {
		return &items[i].CashierID, &items[i].CashierName
	})}
	if slices.Contains(include, "lines") {
		reads = append(reads, func(ctx context.Context, q db.Querier) error {
			lines, err := saleLines.Of(ctx, q, company, ids)
			for i := range items {
				items[i].Lines = new(lines[ids[i]])
			}
			return err
		})
	}
	if slices.Contains(include, "payments") {
		reads = append(reads, func(ctx context.Context, q db.Querier) error {
			payments, err := salePayments.Of(ctx, q, company, ids)
			for i := range items {
				items[i].Payments = new(payments[ids[i]])
			}
			return err
		})
	}
	return batchloader.Load(ctx, s.db, reads...)
}
