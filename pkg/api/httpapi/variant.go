package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/binding"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// AdminBasePath is the root of the admin API.
const AdminBasePath = "/api/admin/v1"

// Admin makes an API that of the platform's operators. The paths of its operations start with /companies/{companyId},
// unless their [Group] is about the platform. Instead of scopes, components and plans it checks the role of the operator:
// reading, or changes too.
type Admin struct {
	Companies Companies
	Audit     Auditor // nil keeps no record of changes
}

// Companies lets operators into companies.
type Companies interface {
	// Enter returns the operator as a caller of the company, or a 404 if there is no such company.
	Enter(ctx context.Context, operator *access.Principal, company tenant.ID) (*access.Principal, error)
}

// Auditor keeps a record of changes.
type Auditor interface {
	// Record stores the record in the transaction of the change.
	Record(tx *db.Tx, c AdminChange) error
}

// AdminChange is a change that an operator made.
type AdminChange struct {
	At        time.Time
	Operator  string
	Operation string    // operationId
	Company   tenant.ID // zero if the operation is about the platform
	Entity    string    // id of the record that was changed or created; "" if there is none
	RequestID string
	Name      string          // what people call it: its name or number; "" if it has none
	Body      json.RawMessage // what the operator sent, without secrets; nil if the request had no body

	Before, After json.RawMessage // the changed fields of the record, without secrets; nil unless the request has changed it
}

// variant is what sets one API of the platform apart from the others.
type variant struct {
	base     string
	name     string
	about    string
	prefix   string // of the paths of operations in a company
	statuses map[int]string
	errors   []apierr.Doc
}

var externalVariant = variant{ //nolint:gochecknoglobals // a constant
	base: BasePath, name: "Tradegrid external API",
	about: "Read and change the records of one company, and receive webhooks about changes. " +
		"Send a bearer token with every request; send X-Idempotency-Key with requests that make changes to retry them safely. Ignore fields that you do not know.",
}

// companyParam is the path parameter that names the company in the admin API.
const companyParam = "companyId"

var adminVariant = variant{ //nolint:gochecknoglobals // a constant
	base: AdminBasePath, name: "Tradegrid admin API", prefix: "/companies/{" + companyParam + "}",
	about: "Set up companies: plans, components, settings, branches, users, tokens and directories. For the operators of the platform; " +
		"each change is recorded with the name of its operator. Send an operator's token with every request; " +
		"send X-Idempotency-Key with requests that make changes to retry them safely. Ignore fields that you do not know.",
	statuses: map[int]string{
		401: "the token is missing or is not that of an operator",
		403: "the operator may only read",
		404: "there is no such company, or it has no such record",
		429: "too many calls without a valid token; retry after Retry-After seconds",
	},
	errors: []apierr.Doc{
		{Status: 403, Code: "ADMIN_ROLE_INSUFFICIENT", Advice: "The operator may only read. Use the token of an operator with the role in meta.role."},
		{Status: 404, Code: "COMPANY_NOT_FOUND", Advice: "There is no such company. Correct the id in the path."},
	},
}

// path returns the path of an operation.
func (s variant) path(op Op) string {
	if op.Platform {
		return op.Path
	}
	return s.prefix + op.Path
}

// Roles of operators, as the API description and errors name them.
const (
	roleRead  = "read"
	roleWrite = "write"
)

func (o *operation) role() string {
	if o.Mutating() {
		return roleWrite
	}
	return roleRead
}

// operatorRole checks that the operator may call the operation.
func (r *request) operatorRole() error {
	if r.internalCaller != nil && r.op.Platform && !r.call.Company.IsZero() {
		return apierr.New(http.StatusForbidden, "ADMIN_ROLE_INSUFFICIENT", "the operation is for operators of the platform, not for people of a company").With("role", r.op.role())
	}
	if r.call.Allows("*", r.op.Mutating()) {
		return nil
	}
	need := r.op.role()
	return apierr.New(http.StatusForbidden, "ADMIN_ROLE_INSUFFICIENT", "the operator lacks the role "+need+"; use the token of an operator who has it").With("role", need)
}

// enter makes the operator a caller of the company in the path.
func (r *request) enter(ctx context.Context) error {
	admin := r.api.cfg.Admin
	if admin == nil || r.op.Platform {
		return nil
	}
	company, err := parseCompany(r.Param("path", companyParam))
	if err != nil {
		return err
	}
	if own := r.call.Company; r.internalCaller != nil && !own.IsZero() { // a person of the company
		if own != company {
			return apierr.NotFound("COMPANY", company.String())
		}
		return nil
	}
	if r.call.Principal, err = admin.Companies.Enter(ctx, r.call.Principal, company); err != nil {
		return err
	}
	trace.SpanFromContext(ctx).SetAttributes(attribute.String("app.company.id", company.String()))
	return nil
}

func parseCompany(text string) (tenant.ID, error) {
	if rule := binding.BrokenRule("uuid", text); rule != "" {
		return tenant.ID{}, apierr.InvalidField(companyParam, apierr.Format, "%s", rule)
	}
	return tenant.Parse(text)
}

// audit records the change of an operator, or of an internal caller, in its transaction; body is that of the response.
func (r *request) audit(tx *db.Tx, body any) error {
	keep := r.auditor()
	if keep == nil {
		return nil
	}
	c := AdminChange{
		At: tx.Now(), Operator: r.call.TokenName, Operation: r.op.ID, Company: r.call.Company, RequestID: r.id, Entity: r.entity(body),
	}
	if len(r.body.Raw) > 0 && !r.op.Discreet {
		tree, err := r.body.Tree()
		if err != nil {
			return err
		}
		if c.Body, err = jsontype.Marshal(withoutSecrets(tree)); err != nil {
			return err
		}
	}
	if err := c.describe(tx, body); err != nil {
		return err
	}
	if r.op.Discreet {
		c.Before = nil
	}
	return keep(tx, c)
}

// describe adds what the record is called, and what of it was changed.
func (c *AdminChange) describe(tx *db.Tx, body any) error {
	c.Name = nameOf(body)
	for _, n := range tx.Noted() {
		if n.ID.String() != c.Entity {
			continue
		}
		if c.Name == "" {
			c.Name = nameOf(n.After)
		}
		var err error
		if c.Before, err = fieldsOf(n.Before, n.Fields); err != nil {
			return err
		}
		c.After, err = fieldsOf(n.After, n.Fields)
		return err
	}
	return nil
}

// fieldsOf is an object with some fields of a record as clients see it.
func fieldsOf(record any, names []string) (json.RawMessage, error) {
	raw, err := jsontype.Marshal(record)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	some := map[string]any{}
	for _, name := range names {
		if value, ok := all[name]; ok {
			some[name] = value
		}
	}
	if raw, err = json.Marshal(some); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&some); err != nil {
		return nil, err
	}
	return jsontype.Marshal(withoutSecrets(some))
}

// nameOf is the name, or else the number, of a record.
func nameOf(record any) string {
	raw, err := jsontype.Marshal(record)
	if err != nil {
		return ""
	}
	var named struct {
		Name   *string      `json:"name"`
		Number *json.Number `json:"number"`
	}
	switch err := json.Unmarshal(raw, &named); {
	case err != nil:
		return "" // no object
	case named.Name != nil:
		return *named.Name
	case named.Number != nil:
		return named.Number.String()
	}
	return ""
}

// auditor keeps the record of the change; nil = there is none.
func (r *request) auditor() func(*db.Tx, AdminChange) error {
	switch admin := r.api.cfg.Admin; {
	case r.internalCaller != nil:
		return r.internalCaller.Record
	case admin != nil && admin.Audit != nil:
		return admin.Audit.Record
	}
	return nil
}

// entity is the record that a response is about, or else the one that the path names.
func (r *request) entity(body any) string {
	if v, ok := body.(Identified); ok {
		return v.RecordID()
	}
	if name := binding.LastParam(r.op.rel); name != "" && strings.Contains(r.op.rel, "{") {
		return strings.ToLower(r.Param("path", name))
	}
	if r.op.Platform || r.call.Company.IsZero() {
		return ""
	}
	return r.call.Company.String()
}
