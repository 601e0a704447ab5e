package sales

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
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
	Sort          string     `query:"sort" enum:"createdAt,number,total,soldAt"`
	Kind          string     `query:"kind" enum:"all,sale,refund" default:"all"`
	RefundStatus  string     `query:"refundStatus" enum:"none,partial,full" doc:"sales by what was refunded of them; no refunds"`
	RefundOf      *uuid.UUID `query:"refundOfSaleId" format:"uuid" where:"refund_of_sale_id = ?" doc:"the refunds of this sale"`
	ShiftID       *uuid.UUID `query:"shiftId" format:"uuid" where:"shift_id = ?"`
	CashierID     *uuid.UUID `query:"cashierId" format:"uuid" where:"cashier_id = ?"`
	CustomerID    *uuid.UUID `query:"customerId" format:"uuid" where:"customer_id = ?"`
	CustomerPhone string     `query:"customerPhone" maxLength:"32" doc:"any spelling of the number; without a country code it is one of the country of the company"`
	PaymentMethod []string   `query:"paymentMethod" enum:"cash,card,sbp,mixed" where:"payment_method = ANY(?::TEXT[])" doc:"comma-separated"`
	DateFrom      *list.From `query:"dateFrom" where:"sold_at >= ?" doc:"sold at or after"`
	DateTo        *list.To   `query:"dateTo" where:"sold_at <= ?" doc:"sold at or before"`
	Include       []string   `query:"include" enum:"lines,payments,costs" doc:"costs need the scope catalog:read"`
}

// Reveals implements [httpapi.Revealing].
func (f Filter) Reveals(by access.Caller) []string { return lineitem.Include(f.Include).Reveals(by) }

var items = list.Of[ListItem, Filter](sales, list.Spec{Permanent: true})

// query selects the sales that a filter is about.
func (s *Service) query(ctx context.Context, by access.Caller, f Filter) (*list.Query, error) {
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
	return q, q.Phone(ctx, s.cfg.DB, sales, "customer_phone", by.CountryPrefix, f.CustomerPhone)
}

// AddedUp is what sales add up to.
type AddedUp struct {
	Count int64        `json:"count" doc:"sales and refunds"`
	Total money.Amount `json:"total" doc:"sales less refunds"`
}

// SchemaName implements [jsontype.Named].
func (AddedUp) SchemaName() string { return "SaleSums" }

// AddUp adds up the sales that a filter selects.
func (s *Service) AddUp(ctx context.Context, by access.Caller, f Filter) (t AddedUp, err error) {
	q, err := s.query(ctx, by, f)
	if err != nil {
		return t, err
	}
	count, sums, err := q.Sums(ctx, s.cfg.DB, "CASE WHEN kind = 'refund' THEN -total ELSE total END")
	if err != nil {
		return t, err
	}
	return AddedUp{Count: count, Total: money.Amount(sums[0])}, nil
}

// List returns a page of sales and refunds, with their lines and payments on request.
func (s *Service) List(ctx context.Context, by access.Caller, f Filter) (*list.Page[ListItem], error) {
	shown := lineitem.Include(f.Include)
	if err := shown.Admit(by); err != nil {
		return nil, err
	}
	q, err := s.query(ctx, by, f)
	if err != nil {
		return nil, err
	}
	page, err := items.Fetch(ctx, s.cfg.DB, q)
	if err != nil {
		return nil, err
	}
	if err := s.readChildren(ctx, page, f.Include); err != nil {
		return nil, err
	}
	if shown.Costs() {
		for i := range page.Items {
			page.Items[i].showCosts(record.OrZero(page.Items[i].Lines))
		}
	}
	return page, s.nameCashiers(by, len(page.Items), func(i int) cashierField { return page.Items[i].cashier() })(ctx, s.cfg.DB)
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
