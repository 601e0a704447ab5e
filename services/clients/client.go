package clients

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// States of a client.
const (
	StatusActive   = "active"
	StatusArchived = "archived"
)

// consentSource says where a consent to marketing came from.
const consentSource = "api"

// Client is a customer of the company (specification, section 2).
type Client struct {
	ID               uuid.UUID    `json:"id" format:"uuid"`
	CompanyID        tenant.ID    `json:"companyId" format:"uuid"`
	Kind             string       `json:"kind" enum:"individual,legal"`
	DisplayName      string       `json:"displayName"`
	FirstName        *string      `json:"firstName"`
	LastName         *string      `json:"lastName"`
	MiddleName       *string      `json:"middleName"`
	CompanyName      *string      `json:"companyName"`
	Position         *string      `json:"position"`
	Phone            *string      `json:"phone"`
	Email            *string      `json:"email"`
	TelegramChatID   *string      `json:"telegramChatId"`
	WhatsappPhone    *string      `json:"whatsappPhone" doc:"null = phone is used"`
	INN              *string      `json:"inn"`
	KPP              *string      `json:"kpp"`
	LegalAddress     *string      `json:"legalAddress"`
	BankDetails      *string      `json:"bankDetails"`
	Note             *string      `json:"note"`
	ContractNumber   *string      `json:"contractNumber"`
	Tags             []string     `json:"tags"`
	Birthday         *wire.Date   `json:"birthday" nullable:"true"`
	Status           string       `json:"status" enum:"active,archived"`
	Balance          money.Amount `json:"balance" doc:"payments less completed orders; negative = the client owes"`
	Points           int64        `json:"points" doc:"loyalty points"`
	GroupID          *uuid.UUID   `json:"groupId" format:"uuid" nullable:"true"`
	PriceListID      *uuid.UUID   `json:"priceListId" format:"uuid" nullable:"true" doc:"goes before the price list of the group"`
	PaymentTermsDays *int32       `json:"paymentTermsDays" doc:"days"`
	CreditLimit      money.Amount `json:"creditLimit" doc:"0 = no limit"`
	SLAHours         *int32       `json:"slaHours"`
	Consent          bool         `json:"marketingConsent"`
	ConsentAt        *wire.Time   `json:"marketingConsentAt" nullable:"true"`
	ConsentSource    *string      `json:"marketingConsentSource"`
	AnonymizedAt     *wire.Time   `json:"anonymizedAt" nullable:"true"`
	AssignedToID     *uuid.UUID   `json:"assignedToId" format:"uuid" nullable:"true"`
	CreatedByID      uuid.UUID    `json:"createdById" format:"uuid"`
	record.Meta
}

// RecordID is the last segment of the client's address.
func (c Client) RecordID() string { return c.ID.String() }

// searchText is what search= looks through.
func (c Client) searchText() string {
	fields := []string{c.DisplayName}
	for _, f := range []*string{c.Email, c.CompanyName, c.INN} {
		if f != nil {
			fields = append(fields, *f)
		}
	}
	if c.Phone == nil {
		return list.SearchText(fields)
	}
	return list.SearchText(fields, *c.Phone)
}

// setConsent stamps a consent that is given and clears the stamps of one that is taken back.
func (c *Client) setConsent(given bool, now time.Time) (ch record.Changes) {
	if c.Consent == given {
		return nil
	}
	c.Consent, c.ConsentAt, c.ConsentSource = given, nil, nil
	if given {
		at, source := wire.At(now), consentSource
		c.ConsentAt, c.ConsentSource = &at, &source
	}
	return record.Changes{"marketingConsent", "marketingConsentAt", "marketingConsentSource"}
}

// Client reads one client.
func (s *Service) Client(ctx context.Context, company tenant.ID, id uuid.UUID) (Client, error) {
	return selectClient(ctx, s.db, company, id, false)
}

// CreateClient adds a client. An unknown assignedToId, groupId or priceListId is 404.
func (s *Service) CreateClient(ctx context.Context, tx *db.Tx, by access.Caller, in ClientInput) (Client, error) {
	now := s.now()
	c := in.client()
	c.ID, c.CompanyID, c.CreatedByID, c.Meta = record.NewID(), by.Company, by.Actor, record.New(now)
	c.setConsent(in.Consent, now)
	if err := s.checkReferences(ctx, tx, by.Company, c.references()); err != nil {
		return Client{}, err
	}
	insertClient(tx, c)
	return c, raise(ctx, tx, by, eventCreated, c, nil)
}

// UpdateClient changes a client. What stays the same makes no new version and no event.
func (s *Service) UpdateClient(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in ClientPatch) (Client, error) {
	c, err := lockClient(ctx, tx, by, id)
	if err != nil {
		return Client{}, err
	}
	before, now := c.references(), s.now()
	changes := in.apply(&c)
	if in.Consent.Set {
		changes = append(changes, c.setConsent(in.Consent.Value, now)...)
	}
	if len(changes) == 0 {
		return c, nil
	}
	if err := s.checkReferences(ctx, tx, by.Company, c.references().less(before)); err != nil {
		return Client{}, err
	}
	c.Touch(now)
	updateClient(tx, c)
	return c, raise(ctx, tx, by, eventUpdated, c, event.Changed{ChangedFields: changes})
}

// ArchiveClient keeps a client out of new records. Archiving it again changes nothing.
func (s *Service) ArchiveClient(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Client, error) {
	return s.setStatus(ctx, tx, by, id, StatusArchived, eventArchived)
}

// RestoreClient undoes [Service.ArchiveClient].
func (s *Service) RestoreClient(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Client, error) {
	return s.setStatus(ctx, tx, by, id, StatusActive, eventRestored)
}

func (s *Service) setStatus(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, status, event string) (Client, error) {
	c, err := lockClient(ctx, tx, by, id)
	if err != nil || c.Status == status {
		return c, err
	}
	c.Status = status
	c.Touch(s.now())
	updateClient(tx, c)
	return c, raise(ctx, tx, by, event, c, nil)
}

// lockClient reads the client that a caller is about to change.
func lockClient(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Client, error) {
	c, err := selectClient(ctx, tx, by.Company, id, true)
	if err != nil {
		return Client{}, err
	}
	return c, by.Expect(c.Version)
}

// references are the records that a client names.
type references struct{ user, group, priceList *uuid.UUID }

func (c Client) references() references { return references{c.AssignedToID, c.GroupID, c.PriceListID} }

// less leaves out what was there before: it need not exist any more.
func (r references) less(before references) references {
	drop := func(id, was *uuid.UUID) *uuid.UUID {
		if id != nil && was != nil && *id == *was {
			return nil
		}
		return id
	}
	return references{drop(r.user, before.user), drop(r.group, before.group), drop(r.priceList, before.priceList)}
}

func (s *Service) checkReferences(ctx context.Context, q db.Querier, company tenant.ID, r references) error {
	if r.user != nil {
		names, err := s.users.Names(ctx, q, company, []uuid.UUID{*r.user})
		if err != nil {
			return err
		}
		if _, ok := names[*r.user]; !ok {
			return fault.ReferenceNotFound("USER", "assignedToId", r.user.String())
		}
	}
	if r.group == nil && r.priceList == nil {
		return nil
	}
	group, priceList, err := selectKnown(ctx, q, company, r.group, r.priceList)
	switch {
	case err != nil:
		return err
	case r.group != nil && !group:
		return fault.ReferenceNotFound("CLIENT_GROUP", "groupId", r.group.String())
	case r.priceList != nil && !priceList:
		return fault.ReferenceNotFound("PRICE_LIST", "priceListId", r.priceList.String())
	}
	return nil
}

// distinct drops repeated tags and keeps the order of the first ones.
func distinct(tags []string) []string {
	out := make([]string, 0, len(tags))
	for _, t := range tags {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}
