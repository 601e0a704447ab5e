package reports

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

var ofSales = httpapi.Group{Tag: tag, Scope: "sales", Component: "cashier"}

// SalesQuery asks for the report of sales.
type SalesQuery struct {
	Days
	GroupBy []string `query:"groupBy" enum:"day,method,channel,branch,tax,cashier,shift,hour,product,category" doc:"comma-separated; default day. One of these, and day: method, channel, branch and tax; branch, shift and cashier; branch and hour; branch, product and category"`
}

// Reveals implements [httpapi.Revealing]: who may see costs does.
func (SalesQuery) Reveals(by access.Caller) []string {
	return lineitem.Include{lineitem.IncludeCosts}.Reveals(by)
}

// SalesReport adds up sales and refunds, each on the day of its own creation.
type SalesReport struct{ Report[SalesRow, SaleSums] }

// SalesRow adds up sales and refunds.
type SalesRow struct {
	Row
	Method   *string    `json:"method" doc:"paymentMethod: cash, card, sbp or mixed; null without groupBy=method"`
	Channel  *string    `json:"channel" doc:"pos, qr_menu, storefront, or the code of a channel that was in the directory at the time of the sale; other for any other text; null without groupBy=channel"`
	BranchID *uuid.UUID `json:"branchId" format:"uuid" nullable:"true" doc:"of the shift; null without groupBy=branch, and for shifts without a branch"`
	OfTax
	CashierID   *uuid.UUID `json:"cashierId" format:"uuid" nullable:"true" doc:"who sold or refunded; null without groupBy=cashier"`
	CashierName *string    `json:"cashierName" doc:"null for the user of a token"`
	ShiftID     *uuid.UUID `json:"shiftId" format:"uuid" nullable:"true" doc:"null without groupBy=shift"`
	ShiftNumber *int64     `json:"shiftNumber"`
	OfHour
	OfItem
	SaleSums
}

// SaleSums are sums of sales and refunds.
type SaleSums struct {
	SalesCount     int64        `json:"salesCount"`
	RefundsCount   int64        `json:"refundsCount"`
	SalesTotal     money.Amount `json:"salesTotal" doc:"without what was refunded later"`
	RefundsTotal   money.Amount `json:"refundsTotal" doc:"not negative"`
	NetTotal       money.Amount `json:"netTotal" doc:"salesTotal - refundsTotal"`
	TaxAmount      money.Amount `json:"taxAmount" doc:"part of netTotal"`
	DiscountAmount money.Amount `json:"discountAmount" doc:"discounts and redeemed points, less those of refunds; netTotal is without it"`
	Qty            *money.Qty   `json:"qty" nullable:"true" doc:"sold, less what was refunded; null unless grouped by product or category"`
	CostSums
}

var saleDimensions = []string{"day", "method", "channel", branchDimension, taxDimension, "cashier", "shift", hourDimension, productDimension, categoryDimension}

// Keys of rows of sales that have names.
const (
	keyCashier  = 4
	keyShift    = 5
	keyProduct  = 7
	keyCategory = 8
)

// sales are the sums that there are of sales.
func (s *Service) sales() []source {
	return []source{
		{report: s.cfg.Sales, of: []string{"method", "channel", branchDimension}},
		{report: s.cfg.SaleTaxes, of: []string{"method", "channel", branchDimension, taxDimension}},
		{report: s.cfg.SaleTills, of: []string{branchDimension, "shift", "cashier"}},
		{report: s.cfg.SaleHours, of: []string{branchDimension, hourDimension}, complete: hours(1)},
		{report: s.cfg.SaleItems, of: []string{branchDimension, productDimension, categoryDimension}, complete: s.categories(1)},
	}
}

func saleSums(by access.Caller, names []string, v []int64) SaleSums {
	return SaleSums{
		SalesCount: v[0], RefundsCount: v[1], SalesTotal: money.Amount(v[2]), RefundsTotal: money.Amount(v[3]), NetTotal: money.Amount(v[4]), TaxAmount: money.Amount(v[5]),
		DiscountAmount: money.Amount(v[6]), CostSums: costSums(by, v[7], v[8]), Qty: qtyOf(names, v[9]),
	}
}

// Sales returns the report of sales and refunds.
//
// Errors: those of [Service.Orders].
func (s *Service) Sales(ctx context.Context, by access.Caller, q SalesQuery) (SalesReport, error) {
	of, err := choose(q.GroupBy, s.sales()...)
	if err != nil {
		return SalesReport{}, err
	}
	r, err := compare(q.Days, func(days Days) (Frame, Sums[SalesRow, SaleSums], error) {
		frame, t, err := s.read(ctx, by, days, saleDimensions, q.GroupBy, of)
		if err != nil {
			return frame, Sums[SalesRow, SaleSums]{}, err
		}
		rows, err := s.salesRows(ctx, by, &t)
		return frame, Sums[SalesRow, SaleSums]{rows, saleSums(by, frame.GroupBy, t.totals)}, err
	})
	return SalesReport{r}, err
}

// salesRows makes the rows of a report of sales, with names.
func (s *Service) salesRows(ctx context.Context, by access.Caller, t *table) ([]SalesRow, error) {
	cards, categories, err := s.itemNames(ctx, by.Company, t, keyProduct, keyCategory)
	if err != nil {
		return nil, err
	}
	cashiers, shifts, err := s.tillNames(ctx, by.Company, t)
	if err != nil {
		return nil, err
	}
	return rowsOf(*t, func(r *row) SalesRow {
		out := SalesRow{
			Row: Row{r.day}, Method: r.text(0), Channel: r.text(1), BranchID: r.id(2), OfTax: r.tax(3), CashierID: r.id(keyCashier), ShiftID: r.id(keyShift),
			OfHour: r.hour(6), OfItem: r.item(cards, categories, keyProduct, keyCategory), SaleSums: saleSums(by, t.names(), r.amounts),
		}
		if out.CashierID != nil && cashiers[*out.CashierID] != "" {
			out.CashierName = new(cashiers[*out.CashierID])
		}
		if out.ShiftID != nil {
			out.ShiftNumber = new(shifts[*out.ShiftID])
		}
		return out
	}), nil
}

// tillNames reads the names of the cashiers and the numbers of the shifts of the rows.
func (s *Service) tillNames(ctx context.Context, company tenant.ID, t *table) (cashiers map[uuid.UUID]string, shifts map[uuid.UUID]int64, err error) {
	if ids := t.idsAt(keyCashier); len(ids) > 0 {
		if cashiers, err = s.cfg.Users(ctx, s.cfg.DB, company, ids); err != nil {
			return nil, nil, err
		}
	}
	if ids := t.idsAt(keyShift); len(ids) > 0 {
		shifts, err = s.cfg.Shifts(ctx, s.cfg.DB, company, ids)
	}
	return cashiers, shifts, err
}

// id is [row.text] for a key that is an id.
func (r *row) id(key int) *uuid.UUID {
	id, err := uuid.Parse(r.keys[key])
	if err != nil {
		return nil // none
	}
	return &id
}
