// Package clients holds the customers of a company: people and legal entities, the groups they belong to and
// the price lists that apply to them. What they buy is left to other packages, which read a client through
// [Service.Snapshot] and book its debts through [Service.AddBalance].
package clients

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

const (
	component = "clients"
	scope     = "clients"
)

// Users knows the people of a company.
type Users interface {
	// Names are the display names of those ids that are users of the company; a user without a name has "".
	Names(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error)
}

// Service holds the clients of all companies.
type Service struct {
	db    *db.DB
	users Users
	now   func() time.Time
}

// New makes the service.
func New(d *db.DB, users Users) *Service { return &Service{db: d, users: users, now: time.Now} }
