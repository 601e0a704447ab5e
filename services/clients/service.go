// Package clients holds the customers of a company: people and legal entities, the groups they belong to and
// the price lists that apply to them. What they buy is left to other packages, which read a client through
// [Service.DocumentClient] and book its debts through [Service.AddBalance].
package clients

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// Users knows the people of a company.
type Users interface {
	// UserNames are the display names of those ids that are users of the company; a user without a name has "".
	UserNames(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error)
	// KnownUsers are those of the ids that are users of the company.
	KnownUsers(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error)
}

// Config is what the service needs.
type Config struct {
	DB    *db.DB
	Users Users
}

// Service holds the clients of all companies.
type Service struct {
	db    *db.DB
	users Users
}

// New makes the service.
func New(cfg Config) *Service { return &Service{db: cfg.DB, users: cfg.Users} }

// List lists clients. The search also finds a phone by its digits, however it is written.
func (s *Service) List(ctx context.Context, by access.Caller, f Filter) (*list.Page[ListItem], error) {
	page, err := items.Page(ctx, s.db, by.Company, f)
	if err != nil {
		return nil, err
	}
	return page, s.nameAssigned(ctx, by.Company, page.Items)
}

// Get reads one client.
func (s *Service) Get(ctx context.Context, by access.Caller, id uuid.UUID) (Client, error) {
	return table.Get(ctx, s.db, by.Company, id)
}

// Create adds a client. An unknown assignedToId, groupId or priceListId is 404.
func (s *Service) Create(ctx context.Context, tx *db.Tx, by access.Caller, in Fields) (Client, error) {
	c := Client{Fields: in, Standing: Standing{Status: StatusActive}, CreatedByID: by.Actor}
	if err := s.settle(ctx, tx, by.Company, Client{}, &c); err != nil {
		return Client{}, err
	}
	return table.Create(ctx, tx, by, c, created)
}

// Update changes a client. What stays the same makes no new version and no event.
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[Fields]) (Client, error) {
	if v := in.Value; v.AssignedToID != nil || v.GroupID != nil || v.PriceListID != nil {
		tx.ReadsMore()
	}
	return table.Change(ctx, tx, by, id, func(before Client, c *Client) error {
		in.Apply(&c.Fields)
		return s.settle(ctx, tx, by.Company, before, c)
	}, updated)
}

// Archive keeps a client out of new records. Archiving it again changes nothing.
func (s *Service) Archive(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Client, error) {
	return table.Change(ctx, tx, by, id, func(_ Client, c *Client) error { c.Status = StatusArchived; return nil }, archived)
}

// Restore undoes [Service.Archive].
func (s *Service) Restore(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Client, error) {
	return table.Change(ctx, tx, by, id, func(_ Client, c *Client) error { c.Status = StatusActive; return nil }, restored)
}

// settle checks references that are new, and stamps a consent that was given or taken back.
func (s *Service) settle(ctx context.Context, tx *db.Tx, company tenant.ID, before Client, c *Client) error {
	if c.Consent != before.Consent {
		c.ConsentAt, c.ConsentSource = nil, nil
		if c.Consent {
			at, source := wire.At(tx.Now()), consentSource
			c.ConsentAt, c.ConsentSource = &at, &source
		}
	}
	return s.checkReferences(ctx, tx, company, before.Card, c.Card)
}
