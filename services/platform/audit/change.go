package audit

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Change is the record of a change that an operator made, or somebody in the console.
type Change struct {
	ID        uuid.UUID     `json:"id" format:"uuid"`
	CreatedAt jsontype.Time `json:"createdAt"`
	Operator  string        `json:"operator" doc:"name of the operator, or address of the user"`
	UserID    *uuid.UUID    `json:"userId" format:"uuid" nullable:"true" doc:"user of the company who made the change in the console; null = an operator"`
	Operation string        `json:"operation" doc:"operationId"`
	CompanyID *tenant.ID    `json:"companyId" format:"uuid" db:"of_company" doc:"null = the operation is about the platform"`
	EntityID  *string       `json:"entityId" doc:"id of the record that was created or changed"`
	Name      *string       `json:"entityName" db:"entity_name" doc:"name of the record, or its number; null if it has none"`
	RequestID string        `json:"requestId"`
	Body      *string       `json:"body" doc:"the JSON that the operator sent, without the values of secret fields; null if there was none, or it is longer than 64 KiB"`
	Before    *string       `json:"before" doc:"the JSON of the changed fields before the change; null = nothing was changed, it is not known, or longer than 64 KiB"`
	After     *string       `json:"after" doc:"the same after the change"`
}

// SchemaName implements [jsontype.Named].
func (Change) SchemaName() string { return "AdminChange" }

// Filter filters changes.
type Filter struct {
	list.Params
	Sort      string     `query:"sort" enum:"createdAt"`
	CompanyID *tenant.ID `query:"companyId" format:"uuid" where:"of_company = ?"`
	Operator  string     `query:"operator" maxLength:"63" where:"operator = ?"`
	UserID    *uuid.UUID `query:"userId" format:"uuid" where:"user_id = ?" doc:"user of the company"`
	Operation []string   `query:"operation" maxLength:"100" where:"operation = ANY(?::TEXT[])" doc:"comma-separated"`
	EntityID  string     `query:"entityId" maxLength:"64" where:"entity_id = ?"`
	DateFrom  *list.From `query:"dateFrom" where:"created_at >= ?"`
	DateTo    *list.To   `query:"dateTo" where:"created_at <= ?"`
}

var items = list.Of[Change, Filter](adminChanges, list.Spec{Platform: true, Updated: "created_at"})

const adminChanges = db.Table("admin_changes")

var sqlInsertChange = adminChanges.Insert(`(id, created_at, operator, operation, of_company, entity_id, request_id, body, expires_at, user_id, before, after, entity_name)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`)

// maxBody is the longest body that is recorded.
const maxBody = 64 << 10

// PersonChange is a change that somebody made in the console.
type PersonChange struct {
	By            string    // address of the user, or name of the operator
	UserID        uuid.UUID // uuid.Nil = an operator
	Operation     string    // operationId, where the APIs have such an operation
	Company       tenant.ID // zero if it is about no company
	Entity        string    // id of the record; "" if there is none
	Name          string    // what people call it; "" if it has no name
	Before, After any       // what JSON shows of the record; nil = nothing
	Body          []byte    // the JSON that was sent, without secrets; nil = none
	RequestID     string
}

// insertChange queues the row of a change by an operator.
func insertChange(tx *db.Tx, c httpapi.AdminChange) {
	queueChange(tx, Change{
		CreatedAt: jsontype.At(c.At), Operator: c.Operator, Operation: c.Operation, CompanyID: companyOrNull(c.Company), EntityID: textOrNull(c.Entity),
		Name: textOrNull(c.Name), RequestID: c.RequestID, Body: short(c.Body), Before: short(c.Before), After: short(c.After),
	})
}

// insertPersonChange queues the row of a change in the console.
func insertPersonChange(tx *db.Tx, c PersonChange) error {
	row := Change{
		CreatedAt: jsontype.At(tx.Now()), Operator: c.By, Operation: c.Operation, CompanyID: companyOrNull(c.Company), EntityID: textOrNull(c.Entity), RequestID: c.RequestID,
		Name: textOrNull(c.Name), Body: short(c.Body),
	}
	if c.UserID != uuid.Nil {
		row.UserID = &c.UserID
	}
	for _, v := range []struct {
		value any
		to    **string
	}{{c.Before, &row.Before}, {c.After, &row.After}} {
		if raw, encoded := v.value.(json.RawMessage); v.value == nil || encoded {
			*v.to = short(raw)
			continue
		}
		text, err := jsontype.Marshal(v.value)
		if err != nil {
			return fmt.Errorf("record change %s: %w", c.Operation, err)
		}
		*v.to = short(text)
	}
	queueChange(tx, row)
	return nil
}

// ForgetRecords returns a write that leaves of changes of records who made them, and when. ids selects the records, $1 is the company.
func ForgetRecords(ids string) db.Write {
	return adminChanges.Update(`SET body = NULL, before = NULL, after = NULL, entity_name = NULL
WHERE of_company = $1 AND entity_id IN (SELECT CAST(r.id AS TEXT) FROM (` + ids + `) AS r)`)
}

func queueChange(tx *db.Tx, c Change) {
	at := c.CreatedAt.Std()
	tx.Queue(sqlInsertChange, record.NewID(), at, c.Operator, c.Operation, c.CompanyID, c.EntityID, c.RequestID, c.Body, at.Add(kept), c.UserID, c.Before, c.After, c.Name)
}

func companyOrNull(id tenant.ID) *tenant.ID {
	if id.IsZero() {
		return nil
	}
	return &id
}

func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// short is a body that is not too long to be kept.
func short(body []byte) *string {
	if len(body) == 0 || len(body) > maxBody {
		return nil
	}
	text := string(body)
	return &text
}

// changesExpire deletes records of changes after their time.
var changesExpire = cleanup.Job{
	Delete: adminChanges.Delete(`WHERE id IN (SELECT id FROM admin_changes WHERE expires_at < $1 LIMIT 1000)`),
	Every:  time.Hour,
}
