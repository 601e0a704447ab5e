package company

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/outbox"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/webhook"
	"github.com/tradegrid/tradegrid/pkg/wire"
	"github.com/tradegrid/tradegrid/topics"
)

// UserData is what the user events carry.
type UserData struct {
	ID        uuid.UUID `json:"id" format:"uuid"`
	CompanyID tenant.ID `json:"companyId" format:"uuid"`
	Email     *string   `json:"email"`
	Name      *string   `json:"name"`
	Status    string    `json:"status" enum:"invited,active,blocked"`
	Role      *string   `json:"role"`
	CreatedAt wire.Time `json:"createdAt"`
	UpdatedAt wire.Time `json:"updatedAt"`
}

// Events are the events that this package raises.
func Events() []event.Type {
	return []event.Type{
		event.Of[UserData]("user.invited", "core", "company", "A user was invited to the company."),
		event.Of[UserData]("user.activated", "core", "company", "A user was activated, for the first time or after a block."),
		event.Of[UserData]("user.blocked", "core", "company", "A user was blocked."),
	}
}

// announceUser raises the event that belongs to the state of the user.
func announceUser(ctx context.Context, tx *db.Tx, company tenant.ID, u User, id, by uuid.UUID, now time.Time) error {
	name := map[string]string{UserInvited: "user.invited", UserActive: "user.activated", UserBlocked: "user.blocked"}[u.Status]
	data, err := json.Marshal(UserData{
		ID: u.ID, CompanyID: company, Email: u.Email, Name: u.Name, Status: u.Status, Role: u.Role, CreatedAt: u.CreatedAt, UpdatedAt: u.UpdatedAt,
	})
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	actor := "system"
	if by != uuid.Nil {
		actor = by.String()
	}
	body, err := webhook.Envelope{
		Event: name, CompanyID: company, OccurredAt: now, ActorID: actor, Data: data, EventID: id.String(),
	}.Freeze()
	if err != nil {
		return err
	}
	return outbox.Append(ctx, tx, company, outbox.Message{
		ID: id, Name: name, AggType: "user", AggID: u.ID, Version: u.Version, Pos: u.evPos, Payload: body, CreatedAt: now,
	})
}

// invalidation tells the API nodes to forget what they know of a company, or of one of its tokens.
type invalidation struct {
	CompanyID tenant.ID  `json:"companyId"`
	TokenID   *uuid.UUID `json:"tokenId,omitempty"`
}

func announceCompany(ctx context.Context, tx *db.Tx, c Company, now time.Time) error {
	return announce(ctx, tx, c.ID, nil, outbox.Message{
		Name: "company.changed", AggType: "company", AggID: uuid.UUID(c.ID), Version: c.Version, Pos: c.evPos, CreatedAt: now,
	})
}

func announceToken(ctx context.Context, tx *db.Tx, company tenant.ID, t Token, now time.Time) error {
	return announce(ctx, tx, company, &t.ID, outbox.Message{
		Name: "token.changed", AggType: "token", AggID: t.ID, Version: t.Version, Pos: t.evPos, CreatedAt: now,
	})
}

func announce(ctx context.Context, tx *db.Tx, company tenant.ID, token *uuid.UUID, m outbox.Message) error {
	payload, err := json.Marshal(invalidation{company, token})
	if err != nil {
		return fmt.Errorf("encode invalidation: %w", err)
	}
	m.ID, m.Topic, m.Payload = newID(), topics.AuthInvalidations, payload
	return outbox.Append(ctx, tx, company, m)
}
