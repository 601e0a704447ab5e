package company

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/binding"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// States of a user; see docs/reference/states.md#user.
const (
	UserInvited = "invited"
	UserActive  = "active"
	UserBlocked = "blocked"
)

// User is a person who acts for a company, or the technical user behind a token.
type User struct {
	record.Key
	Person
	IsTechnical bool `json:"isTechnical"`
	record.Meta
}

// Person is the part of a user that events contain.
type Person struct {
	Email  *string `json:"email"` // unique in the company
	Name   *string `json:"name"`
	Status string  `json:"status" enum:"invited,active,blocked"`
	Role   *string `json:"role"`
}

var users = resource.Of[User]("users", "USER").OnConstraint("users_email_key",
	apierr.StateConflict("USER_EMAIL_TAKEN", "another user of the company has this email: invite with another one, or activate the existing user"))

// Invitation is the input of [Service.InviteUser].
type Invitation struct {
	Email string `json:"email" required:"true" minLength:"1" maxLength:"254" format:"email" doc:"unique in the company, compared in lower case"`
	Name  string `json:"name" maxLength:"255"`
	Role  string `json:"role" maxLength:"64" doc:"an owner gets the notices of the platform by e-mail"`
}

// SchemaName implements [jsontype.Named].
func (Invitation) SchemaName() string { return "UserInvitation" }

func (in *Invitation) check() error {
	in.Email, in.Name, in.Role = strings.ToLower(strings.TrimSpace(in.Email)), strings.TrimSpace(in.Name), strings.TrimSpace(in.Role)
	var faults apierr.Fields
	checkText(&faults, "email", in.Email, 254)
	if len(faults) == 0 && !binding.IsEmail(in.Email) {
		faults.Add("email", apierr.Format, "%q is not an address: use one such as anna@example.com", in.Email)
	}
	if utf8.RuneCountInString(in.Name) > maxName {
		faults.Add("name", apierr.Length, "at most %d characters", maxName)
	}
	if utf8.RuneCountInString(in.Role) > 64 {
		faults.Add("role", apierr.Length, "at most 64 characters")
	}
	return faults.Err()
}

// InviteUser adds a user in status invited and raises user.invited.
func (s *Service) InviteUser(ctx context.Context, tx *db.Tx, by access.Caller, in Invitation) (User, error) {
	if err := in.check(); err != nil {
		return User{}, err
	}
	if _, err := getCompany(ctx, tx, by.Company); err != nil {
		return User{}, err
	}
	return users.Create(ctx, tx, by, User{Person: Person{Email: &in.Email, Name: &in.Name, Role: &in.Role, Status: UserInvited}}, userInvited)
}

// User returns a user.
func (s *Service) User(ctx context.Context, by access.Caller, id uuid.UUID) (User, error) {
	return users.Get(ctx, s.cfg.DB, by.Company, id)
}

// ActivateUser activates an invited or blocked user and raises user.activated.
func (s *Service) ActivateUser(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (User, error) {
	return setUserStatus(ctx, tx, by, id, UserActive, userActivated)
}

// BlockUser blocks a user and raises user.blocked. A company keeps an active owner.
func (s *Service) BlockUser(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (User, error) {
	return setUserStatus(ctx, tx, by, id, UserBlocked, userBlocked)
}

// UserFields are what a change of a user sets.
type UserFields struct {
	Name *string `json:"name" maxLength:"255"`
	Role *string `json:"role" maxLength:"64" doc:"owner, admin, developer and viewer may sign in to the console; an owner gets the notices of the platform by e-mail"`
}

func (f *UserFields) check() error {
	trim(f.Name)
	trim(f.Role)
	var faults apierr.Fields
	if f.Name != nil && utf8.RuneCountInString(*f.Name) > maxName {
		faults.Add("name", apierr.Length, "at most %d characters", maxName)
	}
	if f.Role != nil && utf8.RuneCountInString(*f.Role) > 64 {
		faults.Add("role", apierr.Length, "at most 64 characters")
	}
	return faults.Err()
}

func trim(text *string) {
	if text != nil {
		*text = strings.TrimSpace(*text)
	}
}

// UpdateUser changes the name or the role of a user and raises user.updated. A company keeps an active owner.
func (s *Service) UpdateUser(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[UserFields]) (User, error) {
	return s.updateUser(ctx, tx, by, id, in, func(User, User) error { return nil })
}

// updateUser also asks may, with the locked user before the change and after it.
func (s *Service) updateUser(
	ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[UserFields], may func(before, after User) error,
) (User, error) {
	tx.ReadsMore() // whether another owner stays
	return users.Change(ctx, tx, by, id, func(before User, u *User) error {
		if u.IsTechnical {
			return errTechnical(id)
		}
		f := UserFields{clone(u.Name), clone(u.Role)}
		in.Apply(&f)
		if err := f.check(); err != nil {
			return err
		}
		u.Name, u.Role = f.Name, f.Role
		if err := may(before, *u); err != nil {
			return err
		}
		return keepOwner(ctx, tx, by.Company, before, *u)
	}, userUpdated)
}

func clone(text *string) *string {
	if text == nil {
		return nil
	}
	return new(*text)
}

// isOwner reports whether the user is an active owner.
func (u User) isOwner() bool { return u.Status == UserActive && u.Role != nil && *u.Role == RoleOwner }

// sqlLockOtherOwner locks one of the other owners, who so stays one until the transaction ends: two owners who block each other or take
// the role from each other at once wait for each other, and the second is refused.
const sqlLockOtherOwner = `SELECT id FROM users WHERE company_id = $1 AND id <> $2 AND role = 'owner' AND status = 'active' AND NOT is_technical
ORDER BY id LIMIT 1 FOR UPDATE`

// keepOwner refuses a change of a locked user by which the company would have no active owner.
func keepOwner(ctx context.Context, tx *db.Tx, company tenant.ID, before, after User) error {
	if !before.isOwner() || after.isOwner() {
		return nil
	}
	var other uuid.UUID
	err := tx.QueryRow(ctx, sqlLockOtherOwner, company, before.ID).Scan(&other)
	if db.IsNoRows(err) {
		return apierr.StateConflict("USER_IS_LAST_OWNER", "user %s is the last active owner of the company: make another user an owner first", before.ID)
	}
	if err != nil {
		return fmt.Errorf("look for another owner: %w", err)
	}
	return nil
}

func errTechnical(id uuid.UUID) error {
	return apierr.StateConflict("USER_IS_TECHNICAL", "user %s stands for a token: revoke the token instead", id)
}

// setUserStatus does nothing if the user already has the status.
func setUserStatus(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, status string, raised event.Event[User]) (User, error) {
	if status == UserBlocked {
		tx.ReadsMore() // whether another owner stays
	}
	return users.Change(ctx, tx, by, id, func(before User, u *User) error {
		if u.IsTechnical && before.Status != status {
			return errTechnical(id)
		}
		u.Status = status
		return keepOwner(ctx, tx, by.Company, before, *u)
	}, raised)
}

var sqlSelectUsers = "SELECT " + record.PlanOf[User]().SelectList("") + ` FROM users
WHERE company_id = $1 AND (NOT is_technical OR $2) ORDER BY name ASC NULLS LAST, id`

// Users returns the users of the company by name; technical ones on request.
func (s *Service) Users(ctx context.Context, by access.Caller, withTechnical bool) ([]User, error) {
	return all[User](ctx, s.cfg.DB, sqlSelectUsers, by.Company, withTechnical)
}

const sqlSelectUserNames = `SELECT id, COALESCE(name, '') FROM users WHERE company_id = $1 AND id = ANY($2::UUID[]) AND NOT is_technical`

// UserNames returns the display names of users by id, "" for a user without a name. Unknown ids and technical users are omitted.
func (s *Service) UserNames(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	return db.Map[uuid.UUID, string](ctx, q, "read names of users", sqlSelectUserNames, company, ids)
}

const sqlSelectActiveUsers = `SELECT id, status = 'active' FROM users WHERE company_id = $1 AND id = ANY($2::UUID[]) AND NOT is_technical`

// ActiveUsers says of those ids that are users of the company whether they are active. Technical users are omitted.
func (s *Service) ActiveUsers(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	return db.Map[uuid.UUID, bool](ctx, q, "read states of users", sqlSelectActiveUsers, company, ids)
}

const sqlSelectKnownUsers = `SELECT id FROM users WHERE company_id = $1 AND id = ANY($2::UUID[]) AND NOT is_technical`

// KnownUsers returns those ids that are users of the company. Technical users are omitted.
func (s *Service) KnownUsers(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error) {
	return db.Collect(ctx, q, "look for users", pgx.RowTo[uuid.UUID], sqlSelectKnownUsers, company, ids)
}

// sqlSelectOwners has a row for a company without owners, too.
const sqlSelectOwners = `SELECT c.name, u.email FROM companies AS c
LEFT JOIN users AS u ON u.company_id = c.id AND lower(u.role) = 'owner' AND u.status = 'active' AND NOT u.is_technical AND u.email IS NOT NULL
WHERE c.id = $1 ORDER BY u.id NULLS LAST LIMIT $2`

// Owners reads the name of a company and the addresses of its active owners, at most limit of them. It is a [ownermail.Owners].
func Owners(ctx context.Context, q db.Querier, id tenant.ID, limit int) (name string, addresses []string, err error) {
	rows, err := q.Query(ctx, sqlSelectOwners, id, limit)
	if err != nil {
		return "", nil, fmt.Errorf("read owners of company: %w", err)
	}
	var email *string
	if _, err := pgx.ForEachRow(rows, []any{&name, &email}, func() error {
		if email != nil {
			addresses = append(addresses, *email)
		}
		return nil
	}); err != nil {
		return "", nil, fmt.Errorf("read owners of company: %w", err)
	}
	return name, addresses, nil
}
