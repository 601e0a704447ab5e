package company

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/topics"
)

var (
	userInvited   = event.As("user.invited", "A user was invited to the company.", userData).NotByClients("operators invite users, over the admin API or with `tradegrid admin user invite`")
	userActivated = event.As("user.activated", "A user was activated, for the first time or after a block.", userData).NotByClients("operators activate users, over the admin API or with `tradegrid admin user activate`")
	userUpdated   = event.AsWithChanges("user.updated", "The name or the role of a user was changed; changedFields lists the changed fields.", userData).NotByClients("operators change users, over the admin API or with `tradegrid admin user update`")
	userBlocked   = event.As("user.blocked", "A user was blocked.", userData).NotByClients("operators block users, over the admin API or with `tradegrid admin user block`")
)

// UserData is the payload of the user events.
type UserData struct {
	record.Key
	Person
	CreatedAt jsontype.Time `json:"createdAt"`
	UpdatedAt jsontype.Time `json:"updatedAt"`
}

func userData(u *User) UserData {
	return UserData{Key: u.Key, Person: u.Person, CreatedAt: u.CreatedAt, UpdatedAt: u.UpdatedAt}
}

// invalidation makes the API nodes drop a company, or one of its tokens, from their caches.
type invalidation struct {
	CompanyID tenant.ID  `json:"companyId"`
	TokenID   *uuid.UUID `json:"tokenId,omitempty"`
}

// invalidateCompany invalidates a company in the caches of all nodes when the transaction commits.
func (s *Service) invalidateCompany(ctx context.Context, tx *db.Tx, c Company) error {
	tx.OnEnd(func() { s.cache.dropCompany(c.ID) })
	return announce(ctx, tx, invalidation{CompanyID: c.ID}, outbox.Message{
		Name: "company.changed", AggType: "company", AggID: uuid.UUID(c.ID), Version: c.Version, Pos: c.EvPos, CreatedAt: tx.Now(),
	})
}

// invalidateToken invalidates a token in the caches of all nodes when the transaction commits.
func (s *Service) invalidateToken(ctx context.Context, tx *db.Tx, t Token) error {
	tx.OnEnd(func() { s.cache.dropToken(t.CompanyID, t.ID) })
	return announce(ctx, tx, invalidation{t.CompanyID, &t.ID}, outbox.Message{
		Name: "token.changed", AggType: "token", AggID: t.ID, Version: t.Version, Pos: t.EvPos, CreatedAt: tx.Now(),
	})
}

func announce(ctx context.Context, tx *db.Tx, i invalidation, m outbox.Message) error {
	payload, err := json.Marshal(i)
	if err != nil {
		return fmt.Errorf("encode invalidation: %w", err)
	}
	m.ID, m.Topic, m.Payload = record.NewID(), topics.AuthInvalidations, payload
	return outbox.Append(ctx, tx, i.CompanyID, m)
}
