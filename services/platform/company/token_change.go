package company

import (
	"context"
	"reflect"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// TokenSettings are the fields of a token that can be changed.
type TokenSettings struct {
	Name        string         `json:"name" minLength:"1" maxLength:"255" doc:"of the integration that uses it"`
	Scopes      []string       `json:"scopes" minItems:"1" maxItems:"50" doc:"such as orders:write"`
	ExpiresAt   *jsontype.Time `json:"expiresAt" doc:"in the future, at most 3 years ahead; null = it never expires"`
	IPAllowlist []string       `json:"ipAllowlist" maxItems:"100" doc:"addresses such as 203.0.113.7 or CIDR ranges such as 203.0.113.0/24 that may use it; none = any"`
}

// settings are the fields of a token that can be changed, as it has them.
func (t Token) settings() TokenSettings {
	return TokenSettings{Name: t.Name, Scopes: t.Scopes, ExpiresAt: t.ExpiresAt, IPAllowlist: t.IPAllowlist}
}

func (in *TokenSettings) check(known *access.Registry, now time.Time, newExpiry bool) error {
	var faults apierr.Fields
	checkText(&faults, "name", in.Name, maxName)
	checkScopes(&faults, known, in.Scopes)
	checkAllowlist(&faults, in.IPAllowlist)
	if at := in.ExpiresAt; newExpiry && at != nil && (!at.Std().After(now) || at.Std().After(now.Add(maxLifetime))) {
		faults.Add("expiresAt", apierr.Max, "must be in the future and at most 3 years (1095 days) ahead, or null for never")
	}
	return faults.Err()
}

// UpdateToken changes a token. Its secrets stay, and an expired token that gets a later expiry works again. What subscriptions of
// the token deliver does not change: they keep the scopes that it had.
func (s *Service) UpdateToken(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[TokenSettings]) (Token, error) {
	t, err := getToken(ctx, tx, by.Company, id)
	if err != nil {
		return t, err
	}
	if t.RevokedAt != nil {
		return t, revoked(t)
	}
	before := t.settings()
	after := before
	in.Apply(&after)
	if after.IPAllowlist == nil {
		after.IPAllowlist = []string{}
	}
	if err := after.check(s.cfg.Access, tx.Now(), in.Sent(&in.Value.ExpiresAt)); err != nil {
		return t, err
	}
	if reflect.DeepEqual(before, after) {
		return t, by.Expect(t.Version)
	}
	t.Name, t.Scopes, t.ExpiresAt, t.IPAllowlist = after.Name, after.Scopes, after.ExpiresAt, after.IPAllowlist
	if before.Name != after.Name { // records name the technical user
		_, err := users.Change(ctx, tx, access.System(by.Company), t.ActorID, func(_ User, u *User) error {
			u.Name = &after.Name
			return nil
		})
		if err != nil {
			return t, err
		}
	}
	return t, s.storeToken(ctx, tx, by, &t)
}

func revoked(t Token) error {
	return apierr.StateConflict("TOKEN_REVOKED", "token %s is revoked: issue a new one", t.ID)
}
