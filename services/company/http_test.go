package company

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/ratelimit"
)

// call asks the API with a token and reads the answer into v.
func call(t *testing.T, s *Service, token, path string, v any) int {
	t.Helper()
	api := httpapi.New(httpapi.Config{DB: s.db, Auth: s, Limiter: ratelimit.New(ratelimit.Config{})})
	s.Register(api)
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, httpapi.BasePath+path, nil)
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := api.App().Test(req, -1)
	require.NoError(t, err)
	defer res.Body.Close()
	require.NoError(t, json.NewDecoder(res.Body).Decode(v))
	return res.StatusCode
}

func TestIntegrationsSeeBranchesAndUsers(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	c, other := create(t, s, NewCompany{}), create(t, s, NewCompany{})
	token := issue(t, s, c.ID, NewToken{Scopes: []string{"company:read"}}).Text
	_, err := s.InviteUser(t.Context(), other.ID, Invitation{Email: "else@example.com"})
	require.NoError(t, err)
	invited, err := s.InviteUser(t.Context(), c.ID, Invitation{Email: "new@example.com", Name: "Zoe"})
	require.NoError(t, err)
	active, err := s.InviteUser(t.Context(), c.ID, Invitation{Email: "old@example.com", Name: "Adam"})
	require.NoError(t, err)
	_, err = s.ActivateUser(t.Context(), c.ID, active.ID, uuid.Nil)
	require.NoError(t, err)

	var users []UserEntry
	require.Equal(t, 200, call(t, s, token, "/users", &users))
	require.Equal(t, []UserEntry{{active.ID, active.Name, true}, {invited.ID, invited.Name, false}}, users)
	var branches []BranchEntry
	require.Equal(t, 200, call(t, s, token, "/branches", &branches))
	require.Len(t, branches, 1)
	require.Equal(t, "Main", branches[0].Name)

	var refused map[string]any
	narrow := issue(t, s, c.ID, NewToken{Scopes: []string{"orders:write"}}).Text
	require.Equal(t, 403, call(t, s, narrow, "/users", &refused))
	require.Equal(t, 401, call(t, s, "nonsense", "/users", &refused))
}

func TestATokenKnowsItself(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	c := create(t, s, NewCompany{Name: "Fjord", IsTest: true, Components: []string{"deals"}})
	issued := issue(t, s, c.ID, NewToken{Scopes: []string{"deals:read"}})
	var got map[string]any
	require.Equal(t, 200, call(t, s, issued.Text, "/token", &got))
	require.Equal(t, map[string]any{
		"id": issued.ID.String(), "name": "web shop", "companyId": c.ID.String(), "companyName": "Fjord", "isTest": true,
		"scopes": []any{"deals:read"}, "modules": []any{"core", "catalog", "calendar", "messenger", "deals"}, "plan": "standard",
		"expiresAt": issued.ExpiresAt.String(), "rateLimit": map[string]any{"limit": 120.0, "windowSeconds": 60.0},
	}, got)

	free := issue(t, s, c.ID, NewToken{RateTier: TierCustom, NeverExpires: true})
	require.Equal(t, 200, call(t, s, free.Text, "/token", &got))
	require.Nil(t, got["rateLimit"])
	require.Nil(t, got["expiresAt"])
	_, err := s.Archive(t.Context(), c.ID)
	require.NoError(t, err)
	require.Equal(t, 401, call(t, s, free.Text, "/token", &got))
	require.Equal(t, "COMPANY_ARCHIVED", got["code"])
}
