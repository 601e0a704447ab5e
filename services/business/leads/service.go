// Package leads manages the leads of a company: requests from websites, forms and messengers, which become clients and deals.
// Clients and deals belong to other domains, which it uses through the interfaces below.
package leads

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Users reads the users of a company.
type Users interface {
	// UserNames returns the display names of those ids that are users of the company; "" for a user without a name.
	UserNames(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error)
	// KnownUsers returns those ids that are users of the company.
	KnownUsers(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error)
}

// Clients finds and creates the clients that leads become.
type Clients interface {
	// MatchClient returns the oldest active client with the phone number, otherwise with the e-mail address.
	MatchClient(ctx context.Context, q db.Querier, company tenant.ID, countryPrefix string, phone, email *string) (id uuid.UUID, found bool, err error)
	// CreateFromLead creates a client.
	CreateFromLead(ctx context.Context, tx *db.Tx, by access.Caller, in trade.Contact) (uuid.UUID, error)
}

// Deals creates the deals that leads become.
type Deals interface {
	// LockNumbers makes transactions of this process that create deals of the company run one after the other.
	LockNumbers(ctx context.Context, tx *db.Tx, company tenant.ID) error
	// CreateFromLead creates a deal in the initial stage of its type.
	CreateFromLead(ctx context.Context, tx *db.Tx, by access.Caller, in trade.DealFromLead) (uuid.UUID, error)
}

// Config holds the dependencies of the service.
type Config struct {
	DB      *db.DB
	Users   Users
	Clients Clients
	Deals   Deals
}

// Service manages the leads of all companies.
type Service struct{ cfg Config }

// New returns a service.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

// List returns a page of leads. The search also matches the digits of phone numbers.
func (s *Service) List(ctx context.Context, by access.Caller, f Filter) (*list.Page[Lead], error) {
	q, err := items.Query(by.Company, f)
	if err != nil {
		return nil, err
	}
	switch f.AssignedToID {
	case "":
	case unassigned:
		q.Where("assigned_to_id IS NULL")
	default:
		q.Where("assigned_to_id = ?::UUID", f.AssignedToID)
	}
	if err := q.Phone(ctx, s.cfg.DB, "leads", "phone", by.CountryPrefix, f.Phone); err != nil {
		return nil, err
	}
	page, err := items.Fetch(ctx, s.cfg.DB, q)
	if err != nil {
		return nil, err
	}
	leads := make([]*Lead, len(page.Items))
	for i := range page.Items {
		leads[i] = &page.Items[i]
	}
	return page, s.fillNames(ctx, s.cfg.DB, by.Company, leads...)
}

// Get reads one lead.
func (s *Service) Get(ctx context.Context, by access.Caller, id uuid.UUID) (Lead, error) {
	l, err := table.Get(ctx, s.cfg.DB, by.Company, id)
	if err != nil {
		return l, err
	}
	return l, s.fillNames(ctx, s.cfg.DB, by.Company, &l)
}

// Create creates a lead. If there is one with the source and external id, it returns that one and changes nothing.
func (s *Service) Create(ctx context.Context, tx *db.Tx, by access.Caller, in Input) (Lead, error) {
	l := Lead{Source: strings.TrimSpace(in.Source), ExternalID: in.ExternalID, Fields: Fields{Request: in.Request}, Status: StatusNew}
	if l.Source == "" {
		l.Source = defaultSource
	}
	if l.ExternalID != nil && strings.TrimSpace(*l.ExternalID) != "" {
		stored, found, err := findExternal(ctx, tx, by.Company, l.Source, strings.TrimSpace(*l.ExternalID))
		if err != nil {
			return Lead{}, err
		}
		if found {
			stored.repeated = true
			return stored, s.fillNames(ctx, tx, by.Company, &stored)
		}
	}
	return table.Create(ctx, tx, by, l, created)
}

// Update changes a lead. If nothing differs, there is no new version and no event.
func (s *Service) Update(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[Fields]) (Lead, error) {
	return s.change(ctx, tx, by, id, func(l *Lead) error { in.Apply(&l.Fields); return nil }, updated)
}

// SetStatus sets the status, which can change from any to any.
func (s *Service) SetStatus(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in StatusInput) (Lead, error) {
	return s.change(ctx, tx, by, id, func(l *Lead) error { l.Status = in.Status; return nil }, statusChanged)
}

// Assign assigns the lead to a user, or to nobody. An unknown user is 404.
func (s *Service) Assign(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in AssignInput) (Lead, error) {
	if in.AssigneeID != nil {
		tx.ReadsMore()
	}
	return s.change(ctx, tx, by, id, func(l *Lead) error {
		var refs reference.Set
		refs.Add("USER", "assigneeId", l.AssignedToID, in.AssigneeID, s.cfg.Users.KnownUsers)
		l.AssignedToID = in.AssigneeID
		return refs.Check(ctx, tx, by.Company)
	}, assigned)
}

func (s *Service) change(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, mutate func(*Lead) error, e event.Event[Lead]) (Lead, error) {
	return table.Change(ctx, tx, by, id, func(_ Lead, l *Lead) error {
		if err := mutate(l); err != nil {
			return err
		}
		return s.fillNames(ctx, tx, by.Company, l)
	}, e)
}

// fillNames fills in the names of the assigned users.
func (s *Service) fillNames(ctx context.Context, q db.Querier, company tenant.ID, leads ...*Lead) error {
	names := reference.Names(s.cfg.Users.UserNames)
	return names.Fill(company, len(leads), func(i int) (*uuid.UUID, **string) { return leads[i].AssignedToID, &leads[i].AssignedToName })(ctx, q)
}
