package reports

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

var ofSales = httpapi.Group{Tag: tag, Scope: "sales", Component: "cashier"}

// SalesQuery asks for the report of sales.
type SalesQuery struct {
	Days
	GroupBy []string `query:"groupBy" enum:"day,method,channel,branch" doc:"comma-separated; default day"`
}

// SalesReport adds up sales and refunds, each on the day of its own creation.
type SalesReport struct {
	Frame
	Rows   []SalesRow `json:"rows" doc:"in the order of their day, method, channel and branchId; none for days without sales and refunds"`
	Totals SaleSums   `json:"totals" doc:"of all rows"`
}

// SalesRow adds up sales and refunds.
type SalesRow struct {
	Row
	Method   *string    `json:"method" doc:"paymentMethod: cash, card, sbp or mixed; null without groupBy=method"`
	Channel  *string    `json:"channel" doc:"pos, qr_menu, storefront, or other for any other text; null without groupBy=channel"`
	BranchID *uuid.UUID `json:"branchId" format:"uuid" nullable:"true" doc:"of the shift; null without groupBy=branch, and for shifts without a branch"`
	SaleSums
}

// SaleSums are sums of sales and refunds.
type SaleSums struct {
	SalesCount   int64        `json:"salesCount"`
	RefundsCount int64        `json:"refundsCount"`
	SalesTotal   money.Amount `json:"salesTotal" doc:"without what was refunded later"`
	RefundsTotal money.Amount `json:"refundsTotal" doc:"not negative"`
	NetTotal     money.Amount `json:"netTotal" doc:"salesTotal - refundsTotal"`
}

var saleDimensions = []string{"day", "method", "channel", "branch"}

func saleSums(v []int64) SaleSums {
	return SaleSums{SalesCount: v[0], RefundsCount: v[1], SalesTotal: money.Amount(v[2]), RefundsTotal: money.Amount(v[3]), NetTotal: money.Amount(v[4])}
}

// Sales returns the report of sales and refunds.
//
// Errors: those of [Service.Orders].
func (s *Service) Sales(ctx context.Context, by access.Caller, q SalesQuery) (SalesReport, error) {
	frame, t, err := s.read(ctx, by, q.Days, saleDimensions, q.GroupBy, source{report: s.cfg.Sales})
	if err != nil {
		return SalesReport{}, err
	}
	rows := rowsOf(t, func(r *row) SalesRow {
		return SalesRow{Row{r.day}, r.text(0), r.text(1), r.id(2), saleSums(r.amounts)}
	})
	return SalesReport{frame, rows, saleSums(t.totals)}, nil
}

// id is [row.text] for a key that is an id.
func (r *row) id(key int) *uuid.UUID {
	id, err := uuid.Parse(r.keys[key])
	if err != nil {
		return nil // none
	}
	return &id
}

// Bytes is about how many bytes the answer takes.
func (r SalesReport) Bytes() int { return len(r.Rows) * rowBytes }
