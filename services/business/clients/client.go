package clients

import (
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/fileuse"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const clients = db.Table("clients")

// States of a client.
const (
	StatusActive   = "active"
	StatusArchived = "archived"
)

// consentSource is the stored source of a consent to marketing.
const consentSource = "api"

// Client is a customer of the company.
type Client struct {
	record.Key
	Fields
	Standing
	ConsentAt     *jsontype.Time `json:"marketingConsentAt"`
	ConsentSource *string        `json:"marketingConsentSource"`
	AnonymizedAt  *jsontype.Time `json:"anonymizedAt"`
	CreatedByID   uuid.UUID      `json:"createdById" format:"uuid" db:",insert"`
	record.Meta
}

// Card holds the settable fields that lists also show.
type Card struct {
	Kind         string       `json:"kind" required:"true" enum:"individual,legal"`
	DisplayName  string       `json:"displayName" required:"true" minLength:"1" maxLength:"255" search:"text"`
	FirstName    *string      `json:"firstName" maxLength:"255"`
	LastName     *string      `json:"lastName" maxLength:"255"`
	MiddleName   *string      `json:"middleName" maxLength:"255"`
	CompanyName  *string      `json:"companyName" maxLength:"255" search:"text"`
	Position     *string      `json:"position" maxLength:"255"`
	Phone        *string      `json:"phone" maxLength:"32" search:"phone"`
	Email        *string      `json:"email" maxLength:"254" format:"email" search:"text"`
	INN          *string      `json:"inn" maxLength:"32" search:"text"`
	Tags         []string     `json:"tags" maxItems:"50" minLength:"1" maxLength:"64"`
	GroupID      *uuid.UUID   `json:"groupId" format:"uuid"`
	PriceListID  *uuid.UUID   `json:"priceListId" format:"uuid" doc:"overrides the price list of the group"`
	CreditLimit  money.Amount `json:"creditLimit" minimum:"0" null:"zero" doc:"minor units; 0 = no limit"`
	AssignedToID *uuid.UUID   `json:"assignedToId" format:"uuid"`
	record.External
}

// Fields are the fields that API clients set.
type Fields struct {
	Card
	fileuse.Attached
	TelegramChatID   *string        `json:"telegramChatId" maxLength:"64"`
	WhatsappPhone    *string        `json:"whatsappPhone" maxLength:"32" doc:"null = same as phone"`
	KPP              *string        `json:"kpp" maxLength:"32"`
	LegalAddress     *string        `json:"legalAddress" maxLength:"1000"`
	BankDetails      *string        `json:"bankDetails" maxLength:"4000"`
	Note             *string        `json:"note" maxLength:"4000"`
	ContractNumber   *string        `json:"contractNumber" maxLength:"64"`
	Birthday         *jsontype.Date `json:"birthday"`
	PaymentTermsDays *int32         `json:"paymentTermsDays" minimum:"0" maximum:"3650" doc:"days"`
	SLAHours         *int32         `json:"slaHours" minimum:"0" maximum:"87600"`
	Consent          bool           `json:"marketingConsent"`
}

// Standing holds the fields that the platform maintains; balance and points are updated by their own statements.
type Standing struct {
	Status  string       `json:"status" enum:"active,archived"`
	Balance money.Amount `json:"balance" db:",insert" doc:"payments minus completed orders; negative = the client owes money"`
	Points  int64        `json:"points" db:",insert" doc:"loyalty points"`

	MergedIntoID *uuid.UUID `json:"mergedIntoId" format:"uuid" doc:"the client that it was merged into"`
}

// ListItem is a client in a list.
type ListItem struct {
	record.Key
	Card
	Standing
	AssignedToName *string `json:"assignedToName" db:"-" doc:"null if nobody is assigned or the user was removed"`
	record.Meta
}

// whole is a client with all its fields and those of a list, for files.
type whole struct {
	Client
	AssignedToName *string `json:"assignedToName" db:"-"`
}

// Filter filters and sorts clients.
type Filter struct {
	list.Params
	Sort         string     `query:"sort" enum:"displayName,createdAt,updatedAt"`
	Kind         []string   `query:"kind" enum:"individual,legal" where:"kind = ANY(?::TEXT[])" doc:"comma-separated"`
	Status       []string   `query:"status" enum:"active,archived" where:"status = ANY(?::TEXT[])" doc:"comma-separated; default both"`
	AssignedToID *uuid.UUID `query:"assignedToId" format:"uuid" where:"assigned_to_id = ?"`
	MergedIntoID *uuid.UUID `query:"mergedIntoId" format:"uuid" where:"merged_into_id = ?" doc:"clients that were merged into this one"`
	list.ByExternal
	Phone string `query:"phone" maxLength:"32" doc:"any spelling of the number; without a country code it is one of the country of the company"`
	Email string `query:"email" maxLength:"254" doc:"exact, ignoring case"`
	Tag   string `query:"tag" maxLength:"64" where:"tags @> ARRAY[?::TEXT]" doc:"clients that have this tag"`
}

var (
	table = resource.Of[Client](clients, "CLIENT")
	items = list.Of[ListItem, Filter](clients, list.Spec{Permanent: true})
	files = list.Of[whole, Filter](clients, list.Spec{Permanent: true})
)

// Normalise removes duplicate tags and keeps the order of first occurrences.
func (c *Client) Normalise() {
	tags := make([]string, 0, len(c.Tags))
	for _, t := range c.Tags {
		if !slices.Contains(tags, t) {
			tags = append(tags, t)
		}
	}
	c.Tags = tags
}
