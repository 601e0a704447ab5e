package sales

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// ListItem is a sale in a list.
type ListItem struct {
	Header
	LinesCount int32      `json:"linesCount"`
	Lines      *[]Line    `json:"lines,omitempty" db:"-" doc:"only with include=lines"`
	Payments   *[]Payment `json:"payments,omitempty" db:"-" doc:"only with include=payments"`
}

// Filter filters and sorts sales.
type Filter struct {
	list.Params
	list.ByExternal
	Number        *int64     `query:"number" minimum:"1" where:"number = ?"`
	Sort          string     `query:"sort" enum:"createdAt,number,total"`
	Kind          string     `query:"kind" enum:"all,sale,refund" default:"all"`
	RefundStatus  string     `query:"refundStatus" enum:"none,partial,full" doc:"sales by what was refunded of them; no refunds"`
	RefundOf      *uuid.UUID `query:"refundOfSaleId" format:"uuid" where:"refund_of_sale_id = ?" doc:"the refunds of this sale"`
	ShiftID       *uuid.UUID `query:"shiftId" format:"uuid" where:"shift_id = ?"`
	CashierID     *uuid.UUID `query:"cashierId" format:"uuid" where:"cashier_id = ?"`
	CustomerID    *uuid.UUID `query:"customerId" format:"uuid" where:"customer_id = ?"`
	PaymentMethod []string   `query:"paymentMethod" enum:"cash,card,sbp,mixed" where:"payment_method = ANY(?::TEXT[])" doc:"comma-separated"`
	DateFrom      *list.From `query:"dateFrom" where:"created_at >= ?" doc:"created at or after"`
	DateTo        *list.To   `query:"dateTo" where:"created_at <= ?" doc:"created at or before"`
	Include       []string   `query:"include" enum:"lines,payments"`
}

var items = list.Of[ListItem, Filter](sales, list.Spec{Permanent: true})

// List returns a page of sales and refunds, with their lines and payments on request.
func (s *Service) List(ctx context.Context, by access.Caller, f Filter) (*list.Page[ListItem], error) {
	q, err := items.Query(by.Company, f)
	if err != nil {
		return nil, err
	}
	if f.Kind != "all" {
		q.Where("kind = ?", f.Kind)
	}
	switch f.RefundStatus {
	case refundNone:
		q.Where("kind = 'sale' AND refunded_by_sale_id IS NULL")
	case refundPartial:
		q.Where("refunded_by_sale_id IS NOT NULL AND partly_refunded")
	case refundFull:
		q.Where("refunded_by_sale_id IS NOT NULL AND NOT partly_refunded")
	}
	page, err := items.Fetch(ctx, s.cfg.DB, q)
	if err != nil {
		return nil, err
	}
	if err := s.readChildren(ctx, page, f.Include); err != nil {
		return nil, err
	}
	return page, s.nameCashiers(by.Company, len(page.Items), func(i int) cashierField { return page.Items[i].cashier() })(ctx, s.cfg.DB)
}

// readChildren reads the lines and payments of the sales on the page, if they were asked for.
func (s *Service) readChildren(ctx context.Context, page *list.Page[ListItem], include []string) error {
	lines, payments := saleLines.Listed(), salePayments.Listed()
	withLines, withPayments := slices.Contains(include, "lines"), slices.Contains(include, "payments")
	var children []list.Children
	if withLines {
		children = append(children, lines)
	}
	if withPayments {
		children = append(children, payments)
	}
	if err := page.ReadChildren(ctx, s.cfg.DB, children...); err != nil {
		return err
	}
	for i := range page.Items {
		v := &page.Items[i]
		if withLines {
			v.Lines = new(lines.Of(v.ID))
			v.deriveLines(*v.Lines)
		}
		if withPayments {
			v.Payments = new(payments.Of(v.ID))
			v.derivePayments(*v.Payments)
		}
	}
	return nil
}
