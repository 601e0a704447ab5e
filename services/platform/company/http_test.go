package company

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func newAPI(s office) *httpapi.API {
	api := httpapi.New(httpapi.Config{DB: s.cfg.DB, Auth: s.Service, Limiter: ratelimit.New(ratelimit.Config{})})
	s.Register(api)
	return api
}

// call asks the API with a token and reads the answer into v.
func call(t *testing.T, s office, token, path string, v any) int {
	t.Helper()
	return callOn(t, newAPI(s), token, path, v)
}

func callOn(t *testing.T, api *httpapi.API, token, path string, v any) int {
	t.Helper()
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
	_, err := s.InviteUser(t.Context(), other.ID, uuid.Nil, Invitation{Email: "else@example.com"})
	require.NoError(t, err)
	invited, err := s.InviteUser(t.Context(), c.ID, uuid.Nil, Invitation{Email: "new@example.com", Name: "Zoe"})
	require.NoError(t, err)
	active, err := s.InviteUser(t.Context(), c.ID, uuid.Nil, Invitation{Email: "old@example.com", Name: "Adam"})
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
		"id": issued.ID.String(), "name": "web shop", "companyId": c.ID.String(), "companyName": "Fjord", "actorId": got["actorId"], "isTest": true,
		"scopes": []any{"deals:read"}, "modules": []any{"calendar", "catalog", "core", "deals", "messenger"}, "plan": "standard",
		"expiresAt": issued.ExpiresAt.String(), "rateLimit": map[string]any{"limit": 1200.0, "windowSeconds": 60.0, "burst": 120.0},
	}, got)

	by, err := s.Authenticate(t.Context(), issued.Text, home)
	require.NoError(t, err)
	require.Equal(t, by.Actor.String(), got["actorId"])

	free := issue(t, s, c.ID, NewToken{RateTier: TierCustom, NeverExpires: true})
	require.Equal(t, 200, call(t, s, free.Text, "/token", &got))
	require.Nil(t, got["rateLimit"])
	require.Nil(t, got["expiresAt"])
	_, err = s.Archive(t.Context(), c.ID)
	require.NoError(t, err)
	require.Equal(t, 401, call(t, s, free.Text, "/token", &got))
	require.Equal(t, "COMPANY_ARCHIVED", got["code"])
}

// An address that has used up its failures costs no look-up any more; whom the node remembers is let in from there.
func TestFailuresOfAnAddressEndItsLookUps(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t)
	s := newService(d)
	c := create(t, s, NewCompany{})
	remembered, unseen := issue(t, s, c.ID, NewToken{}).Text, issue(t, s, c.ID, NewToken{}).Text
	api := newAPI(s)
	var got map[string]any
	require.Equal(t, 200, callOn(t, api, remembered, "/token", &got))
	for range 30 {
		require.Equal(t, 401, callOn(t, api, "nonsense", "/token", &got))
	}
	d.Close() // from here on a look-up is 503
	unknown := "svc_live_c1Unknow_" + strings.Repeat("0", 40)
	for _, token := range []string{"nonsense", unknown, unseen} {
		require.Equal(t, 429, callOn(t, api, token, "/token", &got), token)
		require.Equal(t, "RATE_LIMIT_EXCEEDED", got["code"])
	}
	require.Equal(t, 200, callOn(t, api, remembered, "/token", &got))
	require.Equal(t, 503, call(t, s, unseen, "/token", &got), "an address with failures left")
}
