package orders

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// Shown is what an order is shown with.
type Shown struct {
	Include []string `query:"include" enum:"costs" doc:"needs the scope catalog:read"`
}

// Get reads one order, with its costs on request.
func (s *Service) Get(ctx context.Context, by access.Caller, id uuid.UUID, in Shown) (Order, error) {
	if err := lineitem.Include(in.Include).Admit(by); err != nil {
		return Order{}, err
	}
	o, err := table.Get(ctx, s.cfg.DB, by.Company, id)
	if err == nil && lineitem.Include(in.Include).Costs() {
		o.showCosts(o.Lines)
	}
	return o, err
}

// revenue is the total of the line without tax, less what returns credit for it.
func (l *Line) revenue() money.Amount {
	return l.Total - l.TaxAmount - l.ReturnedAmount + l.ReturnedTax
}

// sumCosts sets what the goods of the lines cost that have not come back, and the costs of the order to their sums.
func (o *Order) sumCosts() {
	o.Cost, o.Costed = 0, 0
	for i := range o.Lines {
		l := &o.Lines[i]
		l.Cost = lineitem.Less(l.CostOf(l.Qty), l.ReturnedQty, l.Qty)
		o.AddCost(&l.Costing, l.revenue())
	}
}

// showCosts sets the costs that clients see, of these lines as well.
func (h *Header) showCosts(tiers []Line) {
	for i := range tiers {
		tiers[i].ShowCosts(tiers[i].revenue())
	}
	h.ShowCosts()
}

// LineRow is a line of an order in a file.
type LineRow struct {
	Line
	lineitem.Costs
}

func lineRow(_ access.Caller, o *ListItem, l *Line) LineRow {
	return LineRow{*l, o.CostsIn(&l.Costing, l.revenue())}
}
