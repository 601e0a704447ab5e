package company

import (
	"context"
	"fmt"
	"time"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
)

// TokenState is what the platform knows of a token beyond its record.
type TokenState struct {
	// Announcing is true until the last change of the token has gone out to the API nodes. They apply it as they get it: usually
	// within two seconds of the change, and within 30 seconds if the announcement is lost.
	Announcing bool
	// OldSecretUntil is when the last secret that a rotation has replaced ends; nil = only the newest one is valid.
	OldSecretUntil *time.Time
}

const sqlSelectOldSecret = `SELECT max(expires_at) FROM token_secrets WHERE company_id = $1 AND token_id = $2 AND expires_at > $3`

// TokenState says how far the last change of a token is, and whether older secrets are valid beside the newest.
func (s *Service) TokenState(ctx context.Context, by access.Caller, t Token) (state TokenState, err error) {
	if state.Announcing, err = outbox.Waits(ctx, s.cfg.DB, by.Company, t.ID, t.EvPos); err != nil {
		return state, err
	}
	if err := s.cfg.DB.QueryRow(ctx, sqlSelectOldSecret, by.Company, t.ID, s.cfg.DB.Now()).Scan(&state.OldSecretUntil); err != nil {
		return state, fmt.Errorf("select secrets of token: %w", err)
	}
	return state, nil
}
