package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/platform/company"
)

// An invitation is sent again to who has not accepted it. A user who signs in gets none, and an admin sends none to an owner.
func TestInvitationIsSentAgainOnlyUntilItIsAccepted(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shop()
	root := "/c/" + own.id.String()
	owner, admin := p.signedIn(own.people[company.RoleOwner]), p.signedIn(own.people[company.RoleAdmin])
	invite := func(role string) string {
		email := "kim-" + uuid.NewString() + "@example.com"
		require.Equal(t, 303, owner.ask(http.MethodPost, root+"/people/invite", url.Values{"email": {email}, "role": {role}}).status)
		var id string
		require.NoError(t, p.DB.QueryRow(t.Context(), `SELECT id::TEXT FROM users WHERE company_id = $1 AND email = $2`, own.id, email).Scan(&id))
		return root + "/people/" + id
	}
	viewer, second := invite(company.RoleViewer), invite(company.RoleOwner)
	require.Contains(t, admin.ask(http.MethodGet, viewer, nil).body, viewer+"/invite")
	require.Equal(t, 303, admin.ask(http.MethodPost, viewer+"/invite", url.Values{}).status)
	require.Equal(t, http.StatusForbidden, admin.ask(http.MethodPost, second+"/invite", url.Values{}).status)
	require.Equal(t, 303, owner.ask(http.MethodPost, second+"/invite", url.Values{}).status)

	signsIn := root + "/people/" + own.people[company.RoleAdmin].ID.String()
	require.NotContains(t, owner.ask(http.MethodGet, signsIn, nil).body, signsIn+"/invite")
	got := owner.ask(http.MethodPost, signsIn+"/invite", url.Values{})
	require.Equal(t, http.StatusConflict, got.status)
	require.Contains(t, got.body, "The user signs in already")
}

// Who invites an address cannot tell whether it signs in elsewhere. The person can, and loses nothing.
func TestInvitationToAnAddressThatSignsInElsewhere(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	home, other := p.shop(), p.shop()
	var email string
	require.NoError(t, p.DB.QueryRow(t.Context(), `SELECT email FROM accounts WHERE company_id = $1 AND user_id = $2`, home.id, home.people[company.RoleViewer].ID).Scan(&email))
	got := p.signedIn(other.people[company.RoleOwner]).ask(http.MethodPost, "/c/"+other.id.String()+"/people/invite", url.Values{"email": {email}, "role": {"viewer"}})
	require.Equal(t, 303, got.status, got.body)
	var mail string
	require.NoError(t, p.DB.QueryRow(t.Context(), `SELECT body FROM notices WHERE company_id = $1 AND recipient = $2`, other.id, email).Scan(&mail))
	link := regexp.MustCompile(`https://console\.example\.com(/link/\S+)`).FindStringSubmatch(mail)
	require.NotNil(t, link, mail)
	got = p.visitor().ask(http.MethodPost, link[1], url.Values{"password": {consolePassword}})
	require.Equal(t, http.StatusConflict, got.status)
	require.Contains(t, got.body, email+" signs in to another company already")
	got = p.visitor().ask(http.MethodPost, "/sign-in", url.Values{"email": {email}, "password": {consolePassword}})
	require.Equal(t, "/", got.location, got.body)
}
