package lineitem

import (
	"math"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Costing is what the goods of a line cost the company; nil where that is not known. Events and answers to changes do not have it: who
// may see documents need not see costs. See docs/reference/rules.md#costs.
type Costing struct {
	UnitCost *money.Amount `json:"-"` // of the item when the line was made
	Cost     *money.Amount `json:"-"` // of the quantity, less that of what came back
	Costs    *Costs        `json:"costs,omitempty" db:"-" doc:"only with include=costs; never in events"`
}

// Costs are the cost and the margin of a line.
type Costs struct {
	UnitCost *money.Amount `json:"unitCost" doc:"cost of the item when the line was made; null if it had none"`
	Margins
}

// CostSums are the costs of a document: sums of its lines.
type CostSums struct {
	Cost   money.Amount   `json:"-"`
	Costed money.Amount   `json:"-"` // net revenue of the lines whose cost is known
	Costs  *DocumentCosts `json:"costs,omitempty" db:"-" doc:"only with include=costs; never in events"`
}

// DocumentCosts are the cost and the margin of a document.
type DocumentCosts struct {
	Margins
	Costed money.Amount `json:"costedAmount" doc:"total without tax, less what came back, of the lines whose cost is known: margin is what cost leaves of it"`
}

// Margins are a cost and what is left of the revenue after it.
type Margins struct {
	Cost          *money.Amount  `json:"cost" doc:"less that of what came back; null if it is not known"`
	Margin        *money.Amount  `json:"margin" doc:"what cost leaves of the total without tax, less what came back"`
	MarginPercent *money.Percent `json:"marginPercent" nullable:"true" doc:"margin as a percentage of the total without tax; null without one"`
}

// TransformSchema implements [huma.SchemaTransformer]: what costs more than it brings has a negative margin.
func (m Margins) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	if p := s.Properties["marginPercent"]; p != nil {
		p.Minimum, p.Maximum = nil, nil
	}
	return s
}

// TransformSchema implements [huma.SchemaTransformer].
func (c Costs) TransformSchema(reg huma.Registry, s *huma.Schema) *huma.Schema {
	return c.Margins.TransformSchema(reg, s)
}

// TransformSchema implements [huma.SchemaTransformer].
func (c DocumentCosts) TransformSchema(reg huma.Registry, s *huma.Schema) *huma.Schema {
	return c.Margins.TransformSchema(reg, s)
}

// MarginsOf returns the margins of a cost, and the revenue that it belongs to.
func MarginsOf(cost, revenue money.Amount) Margins {
	margin := revenue - cost
	m := Margins{Cost: &cost, Margin: &margin}
	if revenue != 0 {
		points := math.Round(float64(margin) / float64(revenue) * float64(money.MaxPercent))
		points = max(math.MinInt32, min(math.MaxInt32, points))
		m.MarginPercent = new(money.Percent(int32(points)))
	}
	return m
}

// maxCost bounds the cost of a line, so that the cost of a document cannot exceed the largest amount.
const maxCost = money.MaxAmount / 500

// NewCosting returns the cost of a line of an item, which is not known if the item has none.
func NewCosting(item trade.Item, qty money.Qty) (c Costing) {
	if item.Cost > 0 {
		c.UnitCost = new(item.Cost)
	}
	c.Cost = c.CostOf(qty)
	return c
}

// CostOf returns the cost of a quantity; nil if it is not known.
func (c *Costing) CostOf(qty money.Qty) *money.Amount {
	if c.UnitCost == nil {
		return nil
	}
	cost, err := money.LineAmount(qty, *c.UnitCost)
	if err != nil || cost > maxCost {
		return nil
	}
	return &cost
}

// Less returns the cost without the share of a part of the quantity.
func Less(cost *money.Amount, part, qty money.Qty) *money.Amount {
	if cost == nil || part == 0 {
		return cost
	}
	return new(*cost - money.Share(*cost, int64(part), int64(qty)))
}

// AddCost adds a line with a cost to that of its document. revenue is the total of the line without tax, less what came back.
func (s *CostSums) AddCost(c *Costing, revenue money.Amount) {
	if c.Cost != nil {
		s.Cost, s.Costed = s.Cost+*c.Cost, s.Costed+revenue
	}
}

// ShowCosts sets the costs of a line that clients see. revenue is as that of [CostSums.AddCost].
func (c *Costing) ShowCosts(revenue money.Amount) { c.Costs = new(c.costs(revenue)) }

// CostsIn returns the costs of a line as far as its document shows its own.
func (s *CostSums) CostsIn(c *Costing, revenue money.Amount) Costs {
	if s.Costs == nil {
		return Costs{}
	}
	return c.costs(revenue)
}

func (c *Costing) costs(revenue money.Amount) Costs {
	costs := Costs{UnitCost: c.UnitCost}
	if c.Cost != nil {
		costs.Margins = MarginsOf(*c.Cost, revenue)
	}
	return costs
}

// ShowCosts sets the costs of a document that clients see.
func (s *CostSums) ShowCosts() {
	s.Costs = &DocumentCosts{Costed: s.Costed}
	if s.Cost != 0 || s.Costed != 0 {
		s.Costs.Margins = MarginsOf(s.Cost, s.Costed)
	}
}

// IncludeCosts is the value of the parameter include that adds costs to documents.
const IncludeCosts = "costs"

// Include is what documents are shown with.
type Include []string

// Costs reports whether the documents are shown with their costs.
func (in Include) Costs() bool { return slices.Contains(in, IncludeCosts) }

// Admit returns the 403 for a caller who may not see what is to be shown. Whoever reads the catalog knows what its items cost, and may see
// what they cost in documents.
func (in Include) Admit(by access.Caller) error {
	if in.Costs() && !SeesCosts(by) {
		return access.ScopeMissing(costScope + ":read")
	}
	return nil
}

// Reveals lists the scopes that opening a file of the documents, made for a caller, needs besides their own.
func (in Include) Reveals(by access.Caller) []string {
	if in.Costs() && SeesCosts(by) {
		return []string{costScope}
	}
	return nil
}

const costScope = "catalog"

// SeesCosts reports whether a caller may see what documents cost.
func SeesCosts(by access.Caller) bool { return by.Allows(costScope, false) }
