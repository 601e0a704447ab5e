// Package clients manages the customers of a company: individuals and legal entities, their addresses, assets, interactions
// and loyalty points, and the groups and price lists of the company. Documents of other packages read a client with
// [Service.DocumentClient], enter what they charge and what is paid in its ledger with [Service.Enter], and change its points with [Service.AddPoints].
package clients

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/fileuse"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/document"
)

// Users reads the users of a company.
type Users interface {
	// UserNames returns the display names of those ids that are users of the company; "" for a user without a name.
	UserNames(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error)
	// KnownUsers returns those ids that are users of the company.
	KnownUsers(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error)
}

// Config holds the dependencies of the service.
type Config struct {
	DB    *db.DB
	Lists *list.Node // whose limits apply to sums; nil = none
	Users Users
	Items Items // only needed to set prices

	Follow []document.Follow // records of other domains that belong to clients
	Forget []Forget          // what other rooms keep of clients
}

// Forget removes personal data that is kept beside the records of clients, such as of their orders, when they are anonymized.
type Forget struct {
	Of    document.Follow
	Write func(ids string) db.Write // see [document.Follow.Forget]
	At    bool                      // the third parameter is the time
}

// OwnRecords are the records of clients, as others that follow them: clients themselves, addresses, assets and interactions.
func OwnRecords() []document.Follow {
	return append(ownFollow(), document.FollowIn(clients, "id"))
}

func ownFollow() []document.Follow {
	return []document.Follow{
		document.FollowIn(clientAddresses, "client_id"), document.FollowIn(clientAssets, "client_id"), document.FollowIn(clientInteractions, "client_id"),
	}
}

// forget queues the removal of what is kept beside the records of clients.
func (s *Service) forget(tx *db.Tx, company tenant.ID, ids []uuid.UUID) {
	for _, f := range s.forgets {
		args := []any{company, ids}
		if f.at {
			args = append(args, tx.Now())
		}
		tx.Queue(f.sql, args...)
	}
}

type forgetting struct {
	sql db.Write
	at  bool
}

// Service manages the clients of all companies.
type Service struct {
	cfg    Config
	follow []document.Follow // all kinds of records that belong to clients

	forgets []forgetting
}

// New returns a service.
func New(cfg Config) *Service {
	s := &Service{cfg: cfg, follow: append(ownFollow(), cfg.Follow...)}
	for _, f := range cfg.Forget {
		s.forgets = append(s.forgets, forgetting{f.Of.Forget(f.Write), f.At})
	}
	return s
}

// List returns a page of clients. The search also matches the digits of phone numbers.
func (s *Service) List(ctx context.Context, by access.Caller, f Filter) (*list.Page[ListItem], error) {
	return pageWith(ctx, s, items, by, f, func(i *ListItem) (*uuid.UUID, **string) { return i.AssignedToID, &i.AssignedToName })
}

// whole is [Service.List] with all fields of each client.
func (s *Service) whole(ctx context.Context, by access.Caller, f Filter) (*list.Page[whole], error) {
	return pageWith(ctx, s, files, by, f, func(i *whole) (*uuid.UUID, **string) { return i.AssignedToID, &i.AssignedToName })
}

// pageWith reads a page of clients in a form that has the person assigned to each, and names that person.
func pageWith[T any](
	ctx context.Context, s *Service, view *list.View[T, Filter], by access.Caller, f Filter, assigned func(*T) (*uuid.UUID, **string),
) (*list.Page[T], error) {
	q, err := view.Query(by.Company, f)
	if err != nil {
		return nil, err
	}
	if err := f.narrow(ctx, s.cfg.DB, q, by); err != nil {
		return nil, err
	}
	page, err := view.Fetch(ctx, s.cfg.DB, q)
	if err != nil {
		return nil, err
	}
	return page, nameAssigned(ctx, s, by.Company, page.Items, assigned)
}

// narrow adds the conditions that tags cannot express.
func (f *Filter) narrow(ctx context.Context, d db.Querier, q *list.Query, by access.Caller) error {
	if err := q.Phone(ctx, d, clients, "phone", by.CountryPrefix, f.Phone); err != nil {
		return err
	}
	if f.Email != "" {
		q.Where("lower(email) = ? AND email IS NOT NULL", strings.ToLower(strings.TrimSpace(f.Email)))
	}
	return nil
}

// Create creates a client. An unknown assignedToId, groupId or priceListId is 404.
func (s *Service) Create(ctx context.Context, tx *db.Tx, by access.Caller, in Fields) (Client, error) {
	c := Client{Fields: in, Standing: Standing{Status: StatusActive}, CreatedByID: by.Actor}
	if err := s.settle(ctx, tx, by.Company, Client{}, &c); err != nil {
		return Client{}, err
	}
	c, err := table.Create(ctx, tx, by, c, created)
	if err != nil {
		return c, err
	}
	c.Keep(tx, by.Company, usedByClient, c.ID, fileuse.Attached{})
	return c, nil
}

// usedByClient is the entity of references to files.
const usedByClient = "client"

// Update changes a client, unless it is anonymized or was merged. If nothing differs, there is no new version and no event.
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[Fields]) (Client, error) {
	if v := in.Value; v.AssignedToID != nil || v.GroupID != nil || v.PriceListID != nil || v.ExternalID != nil || v.AttachmentFileIDs != nil {
		tx.ReadsMore()
	}
	return table.Change(ctx, tx, by, id, func(before Client, c *Client) error {
		if err := before.checkOpen(); err != nil && len(in.Without(before.Fields).Names()) > 0 {
			return err
		}
		in.Apply(&c.Fields)
		if err := keepExternal(ctx, tx, by.Company, &before, c); err != nil {
			return err
		}
		if err := s.settle(ctx, tx, by.Company, before, c); err != nil {
			return err
		}
		c.Keep(tx, by.Company, usedByClient, id, before.Attached)
		return nil
	}, updated)
}

// Archive archives a client, which excludes it from new records. Archiving it again changes nothing.
func (s *Service) Archive(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Client, error) {
	return table.Change(ctx, tx, by, id, func(_ Client, c *Client) error { return c.move(StatusArchived) }, archived)
}

// Restore reverses [Service.Archive].
func (s *Service) Restore(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Client, error) {
	return table.Change(ctx, tx, by, id, func(_ Client, c *Client) error { return c.move(StatusActive) }, restored)
}

// checkOpen returns a 409 if the client cannot be changed any more.
func (c *Client) checkOpen() error {
	switch {
	case c.MergedIntoID != nil:
		return document.Merged(*c.MergedIntoID)
	case c.AnonymizedAt != nil:
		return errAnonymized
	}
	return nil
}

// move sets the status, unless the client was merged.
func (c *Client) move(status string) error {
	if c.MergedIntoID != nil {
		return document.Merged(*c.MergedIntoID)
	}
	c.Status = status
	return nil
}

// settle checks new references, and sets the time and source of a consent that was given or withdrawn.
func (s *Service) settle(ctx context.Context, tx *db.Tx, company tenant.ID, before Client, c *Client) error {
	if c.Consent != before.Consent {
		c.ConsentAt, c.ConsentSource = nil, nil
		if c.Consent {
			at, source := jsontype.At(tx.Now()), consentSource
			c.ConsentAt, c.ConsentSource = &at, &source
		}
	}
	return s.checkReferences(ctx, tx, company, before.Fields, c.Fields)
}

// nameAssigned fills in the names of the assigned users.
func nameAssigned[T any](ctx context.Context, s *Service, company tenant.ID, items []T, assigned func(*T) (*uuid.UUID, **string)) error {
	names := reference.Names(s.cfg.Users.UserNames)
	return names.Fill(company, len(items), func(i int) (*uuid.UUID, **string) { return assigned(&items[i]) })(ctx, s.cfg.DB)
}

// checkReferences returns an error if a referenced record does not exist in the company.
func (s *Service) checkReferences(ctx context.Context, q db.Querier, company tenant.ID, before, c Fields) error {
	var refs reference.Set
	refs.Add("USER", "assignedToId", before.AssignedToID, c.AssignedToID, s.cfg.Users.KnownUsers)
	refs.Add("CLIENT_GROUP", "groupId", before.GroupID, c.GroupID, groups.Known)
	refs.Add("PRICE_LIST", "priceListId", before.PriceListID, c.PriceListID, priceLists.Known)
	if err := c.LookUp(&refs, before.Attached); err != nil {
		return err
	}
	return refs.Check(ctx, q, company)
}
