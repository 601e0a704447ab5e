package company

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Roles of people who may sign in to the console. A user with another role, or none, is one that records refer to.
const (
	RoleOwner     = "owner"
	RoleAdmin     = "admin"
	RoleDeveloper = "developer"
	RoleViewer    = "viewer"
)

// Roles lists them, from the one that may do the most.
func Roles() []string { return []string{RoleOwner, RoleAdmin, RoleDeveloper, RoleViewer} }

// MaySignIn reports whether the user is a person with a role of the console and an address.
func (u User) MaySignIn() bool {
	return !u.IsTechnical && u.Email != nil && *u.Email != "" && u.Role != nil && slices.Contains(Roles(), *u.Role)
}

// Access is a company, as the caller of its people.
type Access struct {
	Company    Company
	Components access.Components
}

// Access returns a company with its components. An unknown one is 404 COMPANY_NOT_FOUND.
func (s *Service) Access(ctx context.Context, id tenant.ID) (Access, error) {
	c, err := s.Get(ctx, id)
	return Access{c, c.Components}, err
}

// Principal is somebody with these scopes, acting in the company.
func (a Access) Principal(actor uuid.UUID, name string, scopes access.Scopes) *access.Principal {
	c := a.Company
	return &access.Principal{
		Company: c.ID, CompanyName: c.Name, IsTest: c.IsTest, Currency: c.Currency, CountryPrefix: c.CountryPrefix, TokenID: actor, TokenName: name, Actor: actor,
		Scopes: scopes, Components: a.Components, Plan: c.Plan, PlanAPI: true, Subscriptions: planOf(c.Plan).Subscriptions, Archived: c.Status == Archived, Rate: access.Rate{Unlimited: true},
		Settings: c.forCallers(),
	}
}

// SignsIn reports whether a user exists, is active, and may sign in, in a company that is not archived.
func (s *Service) SignsIn(ctx context.Context, company tenant.ID, id uuid.UUID) (bool, error) {
	u, err := users.Get(ctx, s.cfg.DB, company, id)
	if apierr.Is(err, "USER_NOT_FOUND") {
		return false, nil
	}
	if err != nil || u.Status != UserActive || !u.MaySignIn() {
		return false, err
	}
	c, err := getCompany(ctx, s.cfg.DB, company)
	return err == nil && c.Status != Archived, err
}

// Editor is who changes the people of a company in the console.
type Editor struct {
	ID   uuid.UUID // uuid.Nil = an operator
	Role string
}

// mayChange refuses changes of owners by others, and of oneself.
func (e Editor) mayChange(u User) error {
	switch {
	case e.ID == u.ID:
		return apierr.StateConflict("USER_IS_SELF", "nobody changes the own role or state: ask another owner or admin")
	case u.Role != nil && *u.Role == RoleOwner && e.ID != uuid.Nil && e.Role != RoleOwner:
		return apierr.New(http.StatusForbidden, "AUTH_API_SCOPE_INSUFFICIENT", "only an owner may invite, change, block or activate an owner: ask one of them")
	}
	return nil
}

// InvitePerson invites somebody who is to sign in: with one of [Roles].
func (s *Service) InvitePerson(ctx context.Context, tx *db.Tx, by access.Caller, who Editor, in Invitation) (User, error) {
	if !slices.Contains(Roles(), in.Role) {
		return User{}, apierr.InvalidField("role", apierr.Enum, "use one of %s", strings.Join(Roles(), ", "))
	}
	if err := who.mayChange(User{Person: Person{Role: &in.Role}, Key: record.Key{ID: uuid.Max}}); err != nil {
		return User{}, err
	}
	return s.InviteUser(ctx, tx, by, in)
}

// InvitePersonAgain returns a user whose invitation is to be sent anew, by the rules for people.
func (s *Service) InvitePersonAgain(ctx context.Context, tx *db.Tx, by access.Caller, who Editor, id uuid.UUID) (User, error) {
	return changePerson(ctx, tx, by, who, id, func(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (User, error) {
		return users.Get(ctx, tx, by.Company, id)
	})
}

// UpdatePerson changes the name or the role of a user, by the rules for people: a new role is one of [Roles], and one's own name
// may be changed, but not one's own role.
func (s *Service) UpdatePerson(ctx context.Context, tx *db.Tx, by access.Caller, who Editor, id uuid.UUID, in record.Patch[UserFields]) (User, error) {
	return s.updateUser(ctx, tx, by, id, in, func(before, after User) error {
		same := record.OrZero(before.Role) == record.OrZero(after.Role)
		if !same && !slices.Contains(Roles(), record.OrZero(after.Role)) {
			return apierr.InvalidField("role", apierr.Enum, "use one of %s", strings.Join(Roles(), ", "))
		}
		if same && who.ID == id {
			return nil
		}
		return cmp.Or(who.mayChange(before), who.mayChange(after))
	})
}

// BlockPerson blocks a user, by the rules for people.
func (s *Service) BlockPerson(ctx context.Context, tx *db.Tx, by access.Caller, who Editor, id uuid.UUID) (User, error) {
	return changePerson(ctx, tx, by, who, id, s.BlockUser)
}

// ActivatePerson activates a user, by the rules for people.
func (s *Service) ActivatePerson(ctx context.Context, tx *db.Tx, by access.Caller, who Editor, id uuid.UUID) (User, error) {
	return changePerson(ctx, tx, by, who, id, s.ActivateUser)
}

func changePerson(
	ctx context.Context, tx *db.Tx, by access.Caller, who Editor, id uuid.UUID, change func(context.Context, *db.Tx, access.Caller, uuid.UUID) (User, error),
) (User, error) {
	u, err := users.Get(ctx, tx, by.Company, id)
	if err != nil {
		return u, err
	}
	if err := who.mayChange(u); err != nil {
		return u, err
	}
	return change(ctx, tx, by, id)
}
