package suppliers

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Supplier delivers goods to the company; see docs/reference/rules.md#suppliers.
type Supplier struct {
	record.Key
	Fields
	record.Meta
}

// Fields are the fields that API clients set.
type Fields struct {
	Name        string  `json:"name" required:"true" minLength:"1" maxLength:"255" search:"text"`
	ContactName *string `json:"contactName" maxLength:"255"`
	Phone       *string `json:"phone" maxLength:"32" search:"phone"`
	Email       *string `json:"email" maxLength:"254" format:"email" search:"text"`
	INN         *string `json:"inn" maxLength:"32" search:"text"`
	Address     *string `json:"address" maxLength:"1000"`
	Note        *string `json:"note" maxLength:"4000"`
	record.External
}

// Filter filters and sorts suppliers.
type Filter struct {
	list.Params
	list.ByExternal
	Sort string `query:"sort" enum:"name,createdAt"`
}

var (
	table = resource.Of[Supplier]("suppliers", "SUPPLIER")
	items = list.Of[Supplier, Filter]("suppliers")
)

// Known returns those ids that are suppliers of the company.
var Known = table.Known

const sqlSelectNames = `SELECT id, name FROM suppliers WHERE company_id = $1 AND id = ANY($2::UUID[])`

// Names returns the names of those ids that are suppliers of the company.
func Names(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	return db.Map[uuid.UUID, string](ctx, q, "read names of suppliers", sqlSelectNames, company, ids)
}
