package sales

import (
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// Shown is what a sale is shown with.
type Shown struct {
	Include []string `query:"include" enum:"costs" doc:"needs the scope catalog:read"`
}

// costBetween is the cost of a refund of the pieces of a line between two quantities: all refunds together have that of the line.
func (l *Line) costBetween(before, after money.Qty) *money.Amount {
	if l.Cost == nil {
		return nil
	}
	return new(*lineitem.Less(l.Cost, before, l.Qty) - *lineitem.Less(l.Cost, after, l.Qty))
}

// revenue is the total of the line without tax.
func (l *Line) revenue() money.Amount { return l.Total - l.TaxAmount }

// sumCosts sets the costs of the document to those of its lines.
func (s *Sale) sumCosts() {
	s.Cost, s.Costed = 0, 0
	for i := range s.Lines {
		s.AddCost(&s.Lines[i].Costing, s.Lines[i].revenue())
	}
}

// showCosts sets the costs that clients see, of these lines as well.
func (h *Header) showCosts(tiers []Line) {
	for i := range tiers {
		tiers[i].ShowCosts(tiers[i].revenue())
	}
	h.ShowCosts()
}

func (s *Sale) showCosts() { s.Header.showCosts(s.Lines) }

// LineRow is a line of a sale or refund in a file.
type LineRow struct {
	Line
	lineitem.Costs
}

func lineRow(_ access.Caller, v *ListItem, l *Line) LineRow {
	one := []Line{*l}
	v.deriveLines(one)
	return LineRow{one[0], v.CostsIn(&l.Costing, l.revenue())}
}
