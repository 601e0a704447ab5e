package console

import (
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/cleanup"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/jsontype"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// Change is the record of a change that an operator made.
type Change struct {
	ID        uuid.UUID     `json:"id" format:"uuid"`
	CreatedAt jsontype.Time `json:"createdAt"`
	Operator  string        `json:"operator" doc:"name of the operator"`
	Operation string        `json:"operation" doc:"operationId"`
	CompanyID *tenant.ID    `json:"companyId" format:"uuid" db:"of_company" doc:"null = the operation is about the platform"`
	EntityID  *string       `json:"entityId" doc:"id of the record that was created or changed"`
	RequestID string        `json:"requestId"`
	Body      *string       `json:"body" doc:"the JSON that the operator sent, without the values of secret fields; null if there was none, or it is longer than 64 KiB"`
}

// SchemaName implements [jsontype.Named].
func (Change) SchemaName() string { return "AdminChange" }

// Filter filters changes.
type Filter struct {
	list.Params
	Sort      string     `query:"sort" enum:"createdAt"`
	CompanyID *tenant.ID `query:"companyId" format:"uuid" where:"of_company = ?"`
	Operator  string     `query:"operator" maxLength:"63" where:"operator = ?"`
	Operation string     `query:"operation" maxLength:"100" where:"operation = ?"`
	EntityID  string     `query:"entityId" maxLength:"64" where:"entity_id = ?"`
	DateFrom  *list.From `query:"dateFrom" where:"created_at >= ?"`
	DateTo    *list.To   `query:"dateTo" where:"created_at <= ?"`
}

var items = list.Of[Change, Filter]("admin_changes", list.Spec{Platform: true, Updated: "created_at"})

const sqlInsertChange = `INSERT INTO admin_changes (id, created_at, operator, operation, of_company, entity_id, request_id, body, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`

// maxBody is the longest body that is recorded.
const maxBody = 64 << 10

func insertChange(tx *db.Tx, c httpapi.AdminChange) {
	var company *tenant.ID
	if !c.Company.IsZero() {
		company = &c.Company
	}
	var body *string
	if len(c.Body) > 0 && len(c.Body) <= maxBody {
		text := string(c.Body)
		body = &text
	}
	var entity *string
	if c.Entity != "" {
		entity = &c.Entity
	}
	tx.Queue(sqlInsertChange, record.NewID(), c.At, c.Operator, c.Operation, company, entity, c.RequestID, body, c.At.Add(kept))
}

// changesExpire deletes records of changes after their time.
var changesExpire = cleanup.Job{
	Table: "admin_changes",
	SQL:   `DELETE FROM admin_changes WHERE id IN (SELECT id FROM admin_changes WHERE expires_at < $1 LIMIT 1000)`,
	Every: time.Hour,
}
