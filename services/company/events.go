package company

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/outbox"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/wire"
	"github.com/tradegrid/tradegrid/topics"
)

var (
	userInvited   = event.As("user.invited", "A user was invited to the company.", userData)
	userActivated = event.As("user.activated", "A user was activated, for the first time or after a block.", userData)
	userBlocked   = event.As("user.blocked", "A user was blocked.", userData)
)

// UserData is what the user events carry.
type UserData struct {
	record.Key
	Person
	CreatedAt wire.Time `json:"createdAt"`
	UpdatedAt wire.Time `json:"updatedAt"`
}

func userData(u *User) UserData {
	return UserData{Key: u.Key, Person: u.Person, CreatedAt: u.CreatedAt, UpdatedAt: u.UpdatedAt}
}

// invalidation tells the API nodes to forget what they know of a company, or of one of its tokens.
type invalidation struct {
	CompanyID tenant.ID  `json:"companyId"`
	TokenID   *uuid.UUID `json:"tokenId,omitempty"`
}

// forgetCompany makes all nodes forget what they know of a company that the transaction changes.
func (s *Service) forgetCompany(ctx context.Context, tx *db.Tx, c Company) error {
	tx.OnEnd(func() { s.cache.dropCompany(c.ID) })
	return announce(ctx, tx, invalidation{CompanyID: c.ID}, outbox.Message{
		Name: "company.changed", AggType: "company", AggID: uuid.UUID(c.ID), Version: c.Version, Pos: c.EvPos, CreatedAt: tx.Now(),
	})
}

// forgetToken makes all nodes forget what they know of a token that the transaction makes or changes.
func (s *Service) forgetToken(ctx context.Context, tx *db.Tx, t Token) error {
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
