package taxes

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Rate is a tax rate; see docs/reference/rules.md#taxes.
type Rate struct {
	record.Key
	Fields
	record.Meta
}

// Fields are the fields that API clients set.
type Fields struct {
	Name     string        `json:"name" required:"true" minLength:"1" maxLength:"255" search:"text"`
	Percent  money.Percent `json:"percent" required:"true" db:"percent_bp"`
	Kind     string        `json:"kind" enum:"standard,reduced,zero,exempt,other" default:"standard" doc:"how the rate is reported; zero and exempt have 0 percent"`
	IsActive bool          `json:"isActive" default:"true" doc:"false = no new use; products, services and lines that have it keep it"`
	record.External
}

// Kinds of rates without tax.
const (
	kindZero   = "zero"
	kindExempt = "exempt"
)

// Filter filters and sorts tax rates.
type Filter struct {
	list.Params
	list.ByExternal
	Kind     []string `query:"kind" enum:"standard,reduced,zero,exempt,other" where:"kind = ANY(?::TEXT[])" doc:"comma-separated"`
	IsActive *bool    `query:"isActive" where:"is_active = ?"`
	Sort     string   `query:"sort" enum:"name,createdAt"`
}

var (
	table = resource.Of[Rate]("tax_rates", "TAX_RATE")
	items = list.Of[Rate, Filter]("tax_rates", list.Spec{Permanent: true})
)

const sqlSelectActive = `SELECT id, percent_bp FROM tax_rates WHERE company_id = $1 AND id = ANY($2::UUID[]) AND is_active`

// Percents returns the percentages of those ids that are active tax rates of the company.
func Percents(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]money.Percent, error) {
	return db.Map[uuid.UUID, money.Percent](ctx, q, "read tax rates", sqlSelectActive, company, ids)
}

// Active is a [reference.Known] of the rates that can be chosen.
func Active(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error) {
	percents, err := Percents(ctx, q, company, ids)
	if err != nil {
		return nil, fmt.Errorf("look up tax rates: %w", err)
	}
	known := make([]uuid.UUID, 0, len(percents))
	for id := range percents {
		known = append(known, id)
	}
	return known, nil
}
