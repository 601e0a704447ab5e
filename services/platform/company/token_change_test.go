package company

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

func changeToken(t *testing.T, s office, company tenant.ID, id uuid.UUID, in TokenSettings, names ...string) (Token, error) {
	t.Helper()
	return run(t.Context(), s, func(ctx context.Context, tx *db.Tx) (Token, error) {
		return s.UpdateToken(ctx, tx, access.System(company), id, record.PatchOf(in, names...))
	})
}

// A change of a token applies to the next request with its old secret.
func TestUpdateToken(t *testing.T) {
	t.Parallel()
	s, clock := setup(t)
	c, other := create(t, s, NewCompany{}), create(t, s, NewCompany{})
	issued := issue(t, s, c.ID, NewToken{Name: "Shop", Scopes: []string{"orders:write"}, Lifetime: time.Hour})
	require.NoError(t, enter(t, s, issued.Text))

	got, err := changeToken(t, s, c.ID, issued.ID, TokenSettings{Name: "Web shop", Scopes: []string{"orders:read"}, IPAllowlist: []string{"198.51.100.7"}}, "name", "scopes", "ipAllowlist")
	require.NoError(t, err)
	require.Equal(t, []string{"198.51.100.7/32"}, got.IPAllowlist)
	require.Equal(t, int64(2), got.Version)
	read, err := s.Token(t.Context(), c.ID, issued.ID)
	require.NoError(t, err)
	require.Equal(t, got, read)
	requireFault(t, enter(t, s, issued.Text), 401, "AUTH_API_TOKEN_INVALID")
	actor, err := s.User(t.Context(), access.System(c.ID), issued.ActorID)
	require.NoError(t, err)
	require.Equal(t, "Web shop", *actor.Name, "records name the technical user")

	again, err := changeToken(t, s, c.ID, issued.ID, TokenSettings{Scopes: []string{"orders:read"}}, "scopes")
	require.NoError(t, err)
	require.Equal(t, int64(2), again.Version, "nothing has changed")

	clock.at = clock.at.Add(2 * time.Hour)
	later := jsontype.At(clock.at.Add(time.Hour))
	_, err = changeToken(t, s, c.ID, issued.ID, TokenSettings{ExpiresAt: &later, IPAllowlist: nil}, "expiresAt", "ipAllowlist")
	require.NoError(t, err)
	require.NoError(t, enter(t, s, issued.Text), "an expired token with a later expiry works again")

	past, far := jsontype.At(clock.at), jsontype.At(clock.at.Add(3*365*24*time.Hour+time.Minute))
	for _, row := range []struct {
		field string
		in    TokenSettings
	}{
		{"name", TokenSettings{Name: " "}},
		{"scopes", TokenSettings{}},
		{"scopes", TokenSettings{Scopes: []string{"orders:delete"}}},
		{"expiresAt", TokenSettings{ExpiresAt: &past}},
		{"expiresAt", TokenSettings{ExpiresAt: &far}},
	} {
		_, err := changeToken(t, s, c.ID, issued.ID, row.in, row.field)
		require.Equal(t, row.field, requireFault(t, err, 400, "VALIDATION_ERROR").Fields[0].Field)
	}
	_, err = changeToken(t, s, c.ID, issued.ID, TokenSettings{IPAllowlist: []string{"x"}}, "ipAllowlist")
	require.Equal(t, "ipAllowlist[0]", requireFault(t, err, 400, "VALIDATION_ERROR").Fields[0].Field)
	_, err = changeToken(t, s, other.ID, issued.ID, TokenSettings{Name: "x"}, "name")
	requireFault(t, err, 404, "TOKEN_NOT_FOUND")
	_, err = s.RevokeToken(t.Context(), c.ID, issued.ID)
	require.NoError(t, err)
	_, err = changeToken(t, s, c.ID, issued.ID, TokenSettings{Name: "x"}, "name")
	requireFault(t, err, 409, "TOKEN_REVOKED")
}

// The state tells until when an older secret works, and whether the API nodes have been told of the last change.
func TestTokenState(t *testing.T) {
	t.Parallel()
	s, clock := setup(t)
	c := create(t, s, NewCompany{})
	issued := issue(t, s, c.ID, NewToken{})
	state := func() TokenState {
		read, err := s.Token(t.Context(), c.ID, issued.ID)
		require.NoError(t, err)
		state, err := s.TokenState(t.Context(), access.System(c.ID), read)
		require.NoError(t, err)
		return state
	}
	require.Equal(t, TokenState{Announcing: true}, state())
	_, err := s.RotateToken(t.Context(), c.ID, issued.ID, time.Hour)
	require.NoError(t, err)
	require.Equal(t, clock.at.Add(time.Hour), state().OldSecretUntil.UTC())
	_, err = s.cfg.DB.Exec(t.Context(), `DELETE FROM outbox WHERE company_id = $1`, c.ID)
	require.NoError(t, err)
	require.False(t, state().Announcing)
	clock.at = clock.at.Add(time.Hour)
	require.Nil(t, state().OldSecretUntil)
}
