package company

import (
	"context"
	"fmt"
	"net/mail"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// States of a user.
const (
	UserInvited = "invited"
	UserActive  = "active"
	UserBlocked = "blocked"
)

// User is a person who acts for a company, or the technical user behind a token.
type User struct {
	ID          uuid.UUID `json:"id"`
	Name        *string   `json:"name"`
	Email       *string   `json:"email"`
	Status      string    `json:"status"`
	Role        *string   `json:"role"`
	IsTechnical bool      `json:"isTechnical"`
	Version     int64     `json:"version"`
	CreatedAt   wire.Time `json:"createdAt"`
	UpdatedAt   wire.Time `json:"updatedAt"`

	evPos int64
}

// Invitation is what a user is made of.
type Invitation struct {
	Email string // required; unique in the company, compared in lower case
	Name  string
	Role  string
	By    uuid.UUID // who invites; uuid.Nil = the system
}

func (in *Invitation) check() error {
	in.Email, in.Name, in.Role = strings.ToLower(strings.TrimSpace(in.Email)), strings.TrimSpace(in.Name), strings.TrimSpace(in.Role)
	var faults fault.Fields
	checkText(&faults, "email", in.Email, 254)
	if a, err := mail.ParseAddress(in.Email); len(faults) == 0 && (err != nil || a.Address != in.Email) {
		faults.Add("email", fault.Format, "%q is not an address: use one such as anna@example.com", in.Email)
	}
	if utf8.RuneCountInString(in.Name) > maxName {
		faults.Add("name", fault.Length, "at most %d characters", maxName)
	}
	if utf8.RuneCountInString(in.Role) > 64 {
		faults.Add("role", fault.Length, "at most 64 characters")
	}
	return faults.Err()
}

// InviteUser adds a user who is yet to be activated, and raises user.invited.
func (s *Service) InviteUser(ctx context.Context, company tenant.ID, in Invitation) (User, error) {
	if err := in.check(); err != nil {
		return User{}, err
	}
	now, eventID := s.now(), newID()
	u := newUser(now)
	u.Email, u.Name, u.Role, u.Status = &in.Email, textOrNil(in.Name), textOrNil(in.Role), UserInvited
	err := s.db.RunTx(ctx, "company.user.invite", func(ctx context.Context, tx *db.Tx) error {
		if _, err := getCompany(ctx, tx, company); err != nil {
			return err
		}
		insertUser(tx, company, u)
		return announceUser(ctx, tx, company, u, eventID, in.By, now)
	})
	return u, err
}

func newUser(now time.Time) User {
	return User{ID: newID(), Version: 1, evPos: now.UnixMicro(), CreatedAt: wire.At(now), UpdatedAt: wire.At(now)}
}

func textOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// ActivateUser lets a user work, for the first time or again, and raises user.activated. By uuid.Nil is the system.
func (s *Service) ActivateUser(ctx context.Context, company tenant.ID, id, by uuid.UUID) (User, error) {
	return s.setUserStatus(ctx, company, id, by, UserActive)
}

// BlockUser keeps a user out and raises user.blocked. By uuid.Nil is the system.
func (s *Service) BlockUser(ctx context.Context, company tenant.ID, id, by uuid.UUID) (User, error) {
	return s.setUserStatus(ctx, company, id, by, UserBlocked)
}

// setUserStatus changes nothing and raises nothing when the user has the status already.
func (s *Service) setUserStatus(ctx context.Context, company tenant.ID, id, by uuid.UUID, status string) (User, error) {
	now, eventID := s.now(), newID()
	var u User
	err := s.db.RunTx(ctx, "company.user."+status, func(ctx context.Context, tx *db.Tx) (err error) {
		if u, err = getUser(ctx, tx, company, id); err != nil || u.Status == status {
			return err
		}
		if u.IsTechnical {
			return fault.StateConflict("USER_IS_TECHNICAL", "user %s stands for a token: revoke the token instead", id)
		}
		u.Status, u.Version, u.evPos, u.UpdatedAt = status, u.Version+1, nextPos(u.evPos, now), wire.At(now)
		updateUser(tx, company, u)
		return announceUser(ctx, tx, company, u, eventID, by, now)
	})
	return u, err
}

// Users lists the users of a company by name. Technical ones come only when asked for.
func (s *Service) Users(ctx context.Context, company tenant.ID, withTechnical bool) ([]User, error) {
	return many(ctx, s.db, scanUser, sqlSelectUsers, company, withTechnical)
}

// UserNames gives the display names of users by id; ids of nobody, and technical users, are left out.
// A user without a name has "".
func (s *Service) UserNames(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	names, err := db.Map[uuid.UUID, string](ctx, q, sqlSelectUserNames, company, ids)
	if err != nil {
		return nil, fmt.Errorf("read names of users: %w", err)
	}
	return names, nil
}

// KnownUsers tells which of the ids are users of the company; technical users are left out.
func (s *Service) KnownUsers(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error) {
	rows, err := q.Query(ctx, sqlSelectKnownUsers, company, ids)
	if err != nil {
		return nil, fmt.Errorf("look for users: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
}
