package clients

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const clientInteractions = db.Table("client_interactions")

// Interaction is a contact with a client, such as a call. Interactions are not changed.
type Interaction struct {
	record.Key
	Owner
	InteractionFields
	OccurredAt  jsontype.Time `json:"occurredAt"`
	CreatedByID uuid.UUID     `json:"createdById" format:"uuid" db:",insert"`
	record.Meta

	clientName string // for the event
}

// InteractionFields are the fields that API clients set.
type InteractionFields struct {
	Type      string  `json:"type" required:"true" enum:"call,email,message,meeting,note"`
	Direction *string `json:"direction" enum:"in,out" doc:"in or out; null if it has none"`
	Subject   *string `json:"subject" maxLength:"255" search:"text"`
	Body      *string `json:"body" maxLength:"4000" search:"text"`
}

// InteractionInput is the body of a new interaction.
type InteractionInput struct {
	InteractionFields
	OccurredAt *jsontype.Time `json:"occurredAt" doc:"default: now"`
}

// InteractionFilter filters and sorts interactions.
type InteractionFilter struct {
	list.Params
	Sort      string     `query:"sort" enum:"occurredAt,createdAt"`
	Type      []string   `query:"type" enum:"call,email,message,meeting,note" where:"type = ANY(?::TEXT[])" doc:"comma-separated"`
	Direction string     `query:"direction" enum:"in,out" where:"direction = ?"`
	DateFrom  *list.From `query:"dateFrom" where:"occurred_at >= ?" doc:"occurred at or after"`
	DateTo    *list.To   `query:"dateTo" where:"occurred_at <= ?" doc:"occurred at or before"`
}

var (
	interactions     = resource.Of[Interaction](clientInteractions, "INTERACTION")
	interactionItems = list.Of[Interaction, InteractionFilter](clientInteractions)
)

// Interactions returns a page of the interactions with a client.
func (s *Service) Interactions(ctx context.Context, by access.Caller, client uuid.UUID, f InteractionFilter) (*list.Page[Interaction], error) {
	return pageOf(ctx, s.cfg.DB, interactionItems, by.Company, client, f)
}

// CreateInteraction records an interaction with a client.
func (s *Service) CreateInteraction(ctx context.Context, tx *db.Tx, by access.Caller, client uuid.UUID, in InteractionInput) (Interaction, error) {
	name, err := hold(ctx, tx, by.Company, client)
	if err != nil {
		return Interaction{}, err
	}
	i := Interaction{Owner: Owner{client}, InteractionFields: in.InteractionFields, OccurredAt: jsontype.At(tx.Now()), CreatedByID: by.Actor, clientName: name}
	if in.OccurredAt != nil {
		i.OccurredAt = *in.OccurredAt
	}
	return interactions.Create(ctx, tx, by, i, interacted)
}
