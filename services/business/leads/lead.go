package leads

import (
	"fmt"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Statuses that a lead has without being given them; see docs/reference/states.md#lead.
const (
	StatusNew       = "new"
	StatusConverted = "converted"
)

// defaultSource is the source of leads that name none.
const defaultSource = "webhook"

// Lead is a request of somebody who may become a client; see docs/reference/rules.md#leads.
type Lead struct {
	Key
	Source     string  `json:"source"`
	ExternalID *string `json:"externalId" search:"text" doc:"identifies the lead at its source; a repeat with the same value returns the stored lead"`
	Fields
	Status         string           `json:"status" enum:"new,in_progress,converted,spam"`
	Raw            *jsontype.Object `json:"raw" db:",text" doc:"data of the source as received; null for leads created over the API"`
	ClientID       *uuid.UUID       `json:"clientId" format:"uuid" doc:"set by the conversion"`
	DealID         *uuid.UUID       `json:"dealId" format:"uuid" doc:"set by the conversion to a deal"`
	AssignedToID   *uuid.UUID       `json:"assignedToId" format:"uuid"`
	AssignedToName *string          `json:"assignedToName" db:"-" doc:"null if nobody is assigned or the user was removed"`
	record.Meta

	repeated bool // the lead existed before the request that creates it
}

// Key is the key of a lead. Unlike that of other records, it does not show the company.
type Key struct {
	ID        uuid.UUID `json:"id" format:"uuid"`
	CompanyID tenant.ID `json:"-"`
}

// RecordKey implements [record.Record].
func (k *Key) RecordKey() *record.Key { return (*record.Key)(k) }

// RecordID is the last segment of the lead's URL.
func (k Key) RecordID() string { return k.ID.String() }

// TransformSchema implements [huma.SchemaTransformer] as every record does.
func (Key) TransformSchema(reg huma.Registry, s *huma.Schema) *huma.Schema {
	return record.Key{}.TransformSchema(reg, s)
}

// Request holds the fields that a new lead and a change have in common.
type Request struct {
	Name    *string   `json:"name" maxLength:"255" search:"text"`
	Phone   *string   `json:"phone" maxLength:"32" search:"phone"`
	Email   *string   `json:"email" maxLength:"254" format:"email" search:"text"`
	Message *string   `json:"message" maxLength:"4000" search:"text"`
	UTM     *Campaign `json:"utm" maxProperties:"50" doc:"campaign parameters, such as utm_source"`
}

// Fields are the fields that API clients can change.
type Fields struct {
	Request
	Channel *string `json:"channel" maxLength:"64"`
}

// Input is the body of a new lead.
type Input struct {
	Request
	Source     string  `json:"source" maxLength:"64" default:"webhook"`
	ExternalID *string `json:"externalId" maxLength:"255" doc:"makes the request idempotent: unique per source"`
}

// StatusInput is the body of a change of the status.
type StatusInput struct {
	Status string `json:"status" required:"true" enum:"new,in_progress,converted,spam"`
}

// AssignInput is the body of an assignment.
type AssignInput struct {
	AssigneeID *uuid.UUID `json:"assigneeId" required:"true" format:"uuid" doc:"null = nobody"`
}

// Filter filters and sorts leads.
type Filter struct {
	list.Params
	Sort         string   `query:"sort" enum:"createdAt,status"`
	Status       []string `query:"status" enum:"new,in_progress,converted,spam" where:"status = ANY(?::TEXT[])" doc:"comma-separated"`
	Source       string   `query:"source" maxLength:"64" where:"source = ?"`
	Phone        string   `query:"phone" maxLength:"32" doc:"any spelling of the number; without a country code it is one of the country of the company"`
	AssignedToID string   `query:"assignedToId" pattern:"^(unassigned|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$" patternDescription:"the id of a user, or unassigned" doc:"id of a user, or unassigned for leads without one"`
}

// unassigned is the value of assignedToId that selects leads of nobody.
const unassigned = "unassigned"

// The external id is checked before a lead is stored. A violation means that a concurrent request has stored it in between:
// the transaction runs again and finds it.
var (
	table = resource.Of[Lead]("leads", "LEAD").OnConstraint("leads_external_key", db.ErrStale)
	items = list.Of[Lead, Filter]("leads", list.Spec{Permanent: true})
)

// headerDeduplicated is the header of a response to a lead that was stored before.
const headerDeduplicated = "X-Deduplicated"

// ResponseHeaders tells a client that its request created nothing.
func (l Lead) ResponseHeaders() map[string]string {
	if !l.repeated {
		return nil
	}
	return map[string]string{headerDeduplicated: "true"}
}

// Limits of campaign parameters, in characters.
const (
	maxUTMKey   = 64
	maxUTMValue = 1000
)

// Campaign are the parameters of a campaign, such as utm_source.
type Campaign map[string]string

// TransformSchema implements [huma.SchemaTransformer].
func (Campaign) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	least, key, value := 1, maxUTMKey, maxUTMValue
	s.AdditionalProperties = &huma.Schema{Type: huma.TypeString, MaxLength: &value}
	return jsontype.KeysOf(s, &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &key})
}

// displayName is the name of the client that the lead becomes.
func (l *Lead) displayName() string {
	for _, text := range []*string{l.Name, l.Phone, l.Email} {
		if text != nil {
			return *text
		}
	}
	return fmt.Sprintf("Lead %.8s", l.ID)
}
