package console_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"
	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/oauth2-proxy/mockoidc"
	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
	"github.com/tradegrid/tradegrid/services/platform/audit"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
)

// authenticator holds a passkey, and answers as the browser would.
type authenticator struct {
	virtualwebauthn.Authenticator

	key virtualwebauthn.Credential
}

var consoleSite = virtualwebauthn.RelyingParty{Name: "Tradegrid", ID: "console.example.com", Origin: "https://console.example.com"}

// passkey posts a form as the script does: first for the options, then with what the authenticator makes of them.
func (v *visitor) passkey(path string, form url.Values, answer func(options string) string) page {
	v.t.Helper()
	got := v.ask(http.MethodPost, path+"/options", form)
	if got.status != http.StatusOK || got.header.Get("Content-Type") != "application/json" {
		return got
	}
	form.Set("credential", answer(got.body))
	return v.ask(http.MethodPost, path, form)
}

func (a *authenticator) make(t *testing.T) func(string) string {
	return func(options string) string {
		var wanted struct {
			User                   struct{ ID string }
			AuthenticatorSelection struct{ ResidentKey, UserVerification string }
		}
		require.NoError(t, json.Unmarshal([]byte(options), &wanted))
		require.Equal(t, "required", wanted.AuthenticatorSelection.ResidentKey)
		require.Equal(t, "required", wanted.AuthenticatorSelection.UserVerification)
		handle, err := base64.RawURLEncoding.DecodeString(wanted.User.ID)
		require.NoError(t, err)
		parsed, err := virtualwebauthn.ParseAttestationOptions(options)
		require.NoError(t, err)
		a.Authenticator = virtualwebauthn.NewAuthenticatorWithOptions(virtualwebauthn.AuthenticatorOptions{UserHandle: handle})
		a.key = virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeRSA) // the library writes one in 128 elliptic keys too short
		return virtualwebauthn.CreateAttestationResponse(consoleSite, a.Authenticator, a.key, *parsed)
	}
}

func (a *authenticator) use(t *testing.T) func(string) string {
	return func(options string) string {
		parsed, err := virtualwebauthn.ParseAssertionOptions(options)
		require.NoError(t, err)
		require.Empty(t, parsed.AllowCredentials, "whoever signs in is not named")
		return virtualwebauthn.CreateAssertionResponse(consoleSite, a.Authenticator, a.key, *parsed)
	}
}

func TestPasskeyOnThePages(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shop()
	viewer := own.people[company.RoleViewer]
	v := p.signedIn(viewer)
	require.Contains(t, v.ask(http.MethodGet, "/account", nil).body, "No passkeys yet")
	phone := &authenticator{}
	got := v.passkey("/account/passkeys", url.Values{"name": {"Phone"}, "confirm": {"a wrong password"}}, phone.make(t))
	require.Equal(t, http.StatusBadRequest, got.status, "who cannot type the password is handed nothing")
	got = v.ask(http.MethodPost, "/account/passkeys", url.Values{"name": {"Phone"}, "confirm": {"a wrong password"}})
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.body, "s not the password of this account", "the page that the script then sends for says why")
	require.Contains(t, got.body, `value="Phone"`, "what was typed stays")
	got = v.passkey("/account/passkeys", url.Values{"name": {""}, "confirm": {consolePassword}}, phone.make(t))
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	got = v.passkey("/account/passkeys", url.Values{"name": {`<b>"Phone"</b>`}, "confirm": {consolePassword}}, phone.make(t))
	require.Equal(t, "/account?done=passkey", got.location, got.body)
	got = v.ask(http.MethodGet, "/account", nil)
	require.Contains(t, got.body, "&lt;b&gt;&#34;Phone&#34;&lt;/b&gt;")

	browser := p.visitor()
	require.Contains(t, browser.ask(http.MethodGet, "/sign-in", nil).body, `data-passkey="get"`)
	next := "/c/" + own.id.String() + "/events"
	got = browser.passkey("/sign-in/passkey", url.Values{"next": {next}}, phone.use(t))
	require.Equal(t, next, got.location, got.body)
	require.Equal(t, 200, browser.ask(http.MethodGet, next, nil).status)
	require.NotContains(t, browser.ask(http.MethodGet, "/account", nil).body, "not yet", "it says when it was used last")

	thief := p.visitor()
	answer := ""
	_ = browser.passkey("/sign-in/passkey", url.Values{}, func(options string) string { answer = phone.use(t)(options); return answer })
	got = thief.ask(http.MethodPost, "/sign-in/passkey", url.Values{"credential": {answer}})
	require.Equal(t, http.StatusUnprocessableEntity, got.status, "an answer is bound to the browser")
	got = thief.passkey("/sign-in/passkey", url.Values{"next": {"https://evil.example.com"}}, func(string) string { return answer })
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.body, "opens no account here")

	all, err := p.Accounts.Passkeys(t.Context(), accounts.Owner{Company: own.id, User: viewer.ID})
	require.NoError(t, err)
	remove := "/account/passkeys/" + all[0].ID.String() + "/remove"
	require.Equal(t, http.StatusNotFound, p.signedIn(own.people[company.RoleOwner]).ask(http.MethodPost, remove, nil).status)
	require.Equal(t, "/account?done=passkey_removed", v.ask(http.MethodPost, remove, nil).location)
	got = p.visitor().passkey("/sign-in/passkey", url.Values{}, phone.use(t))
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Subset(t, p.operations(own), []string{"add_passkey", "remove_passkey"})
}

// Browsers make passkeys for names only: where there is none, no page offers them.
func TestWithoutPasskeys(t *testing.T) {
	t.Parallel()
	p := newPages(t, func(cfg *roles.DomainConfig) { cfg.ConsoleURL = "https://192.0.2.1" })
	own := p.shop()
	v := p.signedIn(own.people[company.RoleViewer])
	require.NotContains(t, v.ask(http.MethodGet, "/account", nil).body, "Passkeys")
	require.NotContains(t, p.visitor().ask(http.MethodGet, "/sign-in", nil).body, "passkey")
	require.Equal(t, 404, p.visitor().ask(http.MethodPost, "/sign-in/passkey/options", nil).status)
	require.Equal(t, 422, p.visitor().ask(http.MethodPost, "/sign-in/passkey", nil).status)
	require.Equal(t, 422, v.ask(http.MethodPost, "/account/passkeys", url.Values{"name": {"Phone"}, "confirm": {consolePassword}}).status)
}

// Owners see who can be impersonated with a password alone.
func TestPeopleShowSecondFactors(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shop()
	owner := p.signedIn(own.people[company.RoleOwner])
	viewer := accounts.Owner{Company: own.id, User: own.people[company.RoleViewer].ID}
	row := func() string {
		body := owner.ask(http.MethodGet, "/c/"+own.id.String()+"/people", nil).body
		return regexp.MustCompile(`(?s)people/` + viewer.User.String() + `".*?</tr>`).FindString(body)
	}
	require.Contains(t, row(), `<span class="chip warn">none</span>`)
	setup, err := p.Accounts.StartTOTP(viewer, "viewer@example.com")
	require.NoError(t, err)
	code, err := totp.GenerateCode(setup.Secret, time.Now())
	require.NoError(t, err)
	require.NoError(t, p.DB.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := p.Accounts.ConfirmTOTP(ctx, tx, viewer, *own.people[company.RoleViewer].Email, setup.Sealed, code)
		return err
	}))
	require.Contains(t, row(), `<span class="chip good">on</span>`)
	require.Contains(t, owner.ask(http.MethodGet, "/c/"+own.id.String()+"/people/"+viewer.User.String(), nil).body, `<span class="chip good">on</span>`)
}

// operations are the changes of a company that were recorded.
func (p *pages) operations(own premises) (names []string) {
	p.t.Helper()
	found, err := p.Console.Changes(p.t.Context(), access.Caller{Principal: &access.Principal{}}, audit.Filter{Params: list.Params{PageSize: 50}, CompanyID: &own.id})
	require.NoError(p.t, err)
	for _, c := range found.Items {
		names = append(names, c.Operation)
	}
	return names
}

// colleague is a person at the provider.
type colleague struct {
	*mockoidc.MockUser

	amr []string
}

// Claims implements [mockoidc.User].
func (m colleague) Claims(_ []string, base *mockoidc.IDTokenClaims) (jwt.Claims, error) {
	return struct {
		*mockoidc.IDTokenClaims

		Email    string   `json:"email"`
		Verified bool     `json:"email_verified"`
		AMR      []string `json:"amr,omitempty"`
	}{base, m.Email, m.EmailVerified, m.amr}, nil
}

// byProvider follows the links of the sign-in page to the provider and back.
func (v *visitor) byProvider(m *mockoidc.MockOIDC, who colleague, next string) page {
	v.t.Helper()
	m.QueueUser(who)
	got := v.ask(http.MethodGet, "/sign-in/provider?next="+url.QueryEscape(next), nil)
	require.Equal(v.t, http.StatusSeeOther, got.status, got.body)
	req, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, got.location, nil)
	require.NoError(v.t, err)
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(v.t, err)
	defer func() { _ = res.Body.Close() }()
	back, err := url.Parse(res.Header.Get("Location"))
	require.NoError(v.t, err)
	require.Equal(v.t, "https://console.example.com/sign-in/provider/callback", back.Scheme+"://"+back.Host+back.Path)
	return v.ask(http.MethodGet, back.RequestURI(), nil, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") })
}

func newProvided(t *testing.T) (*pages, *mockoidc.MockOIDC) {
	t.Helper()
	m, err := mockoidc.Run()
	require.NoError(t, err)
	t.Cleanup(func() { _ = m.Shutdown() })
	return newPages(t, func(cfg *roles.DomainConfig) {
		cfg.Provider = accounts.NewProvider(accounts.ProviderConfig{
			Issuer: m.Issuer(), ClientID: m.ClientID, Redirect: "https://console.example.com/sign-in/provider/callback",
			ClientSecret: func() (string, error) { return m.ClientSecret, nil },
		})
	}), m
}

func TestProviderOnThePages(t *testing.T) {
	t.Parallel()
	p, m := newProvided(t)
	own := p.shop()
	root := "/c/" + own.id.String()
	email := "kim-" + own.id.String() + "@example.com"
	owner := p.signedIn(own.people[company.RoleOwner])
	require.Equal(t, 303, owner.ask(http.MethodPost, root+"/people/invite", url.Values{"email": {email}, "role": {"viewer"}}).status)

	kim := colleague{MockUser: &mockoidc.MockUser{Subject: uuid.NewString(), Email: email, EmailVerified: true}}
	v := p.visitor()
	require.Contains(t, v.ask(http.MethodGet, "/sign-in", nil).body, "Sign in with 127.0.0.1")
	got := v.byProvider(m, kim, root+"/events")
	require.Equal(t, root+"/events", got.location, got.body)
	require.Equal(t, 200, v.ask(http.MethodGet, root+"/events", nil).status, "who was invited is active")
	require.Contains(t, p.operations(own), "link_provider")
	require.Contains(t, v.ask(http.MethodGet, "/account", nil).body, "You can sign in by it as "+email)

	stranger := colleague{MockUser: &mockoidc.MockUser{Subject: uuid.NewString(), Email: "x" + email, EmailVerified: true}}
	got = p.visitor().byProvider(m, stranger, "")
	require.Equal(t, http.StatusUnprocessableEntity, got.status, "nobody is made a user by that")
	require.Contains(t, got.body, "x"+email)
	unverified := colleague{MockUser: &mockoidc.MockUser{Subject: uuid.NewString(), Email: email}}
	require.Contains(t, p.visitor().byProvider(m, unverified, "").body, "has not verified")
	sales := colleague{MockUser: &mockoidc.MockUser{Subject: uuid.NewString(), Email: *own.people["sales"].Email, EmailVerified: true}}
	require.Contains(t, p.visitor().byProvider(m, sales, "").body, "may sign in here", "a user without a role of the console")

	found, err := p.Company.Users(t.Context(), access.System(own.id), false)
	require.NoError(t, err)
	for _, u := range found {
		if *u.Email == email {
			require.Equal(t, 303, owner.ask(http.MethodPost, root+"/people/"+u.ID.String()+"/block", nil).status)
		}
	}
	got = v.byProvider(m, kim, "")
	require.Equal(t, http.StatusUnprocessableEntity, got.status, "who is blocked stays out")

	got = p.visitor().ask(http.MethodGet, "/sign-in/provider/callback?code=x&state=y", nil)
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.body, "took too long")
	require.NoError(t, m.Shutdown())
	v = p.visitor()
	got = v.ask(http.MethodGet, "/sign-in/provider", nil)
	require.Equal(t, http.StatusSeeOther, got.status)
	back, err := url.Parse(got.location)
	require.NoError(t, err)
	got = v.ask(http.MethodGet, "/sign-in/provider/callback?code=x&state="+back.Query().Get("state"), nil)
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.Contains(t, got.body, "cannot be reached")
	require.Contains(t, got.body, "/sign-in\"", "there are other ways in")
}

func TestUnlinkTheProvider(t *testing.T) {
	t.Parallel()
	p, m := newProvided(t)
	own := p.shop()
	admin := own.people[company.RoleAdmin]
	as := func(subject string) page {
		return p.visitor().byProvider(m, colleague{MockUser: &mockoidc.MockUser{Subject: subject, Email: *admin.Email, EmailVerified: true}}, "")
	}
	first, second := uuid.NewString(), uuid.NewString()
	require.Equal(t, "/", as(first).location)
	require.Contains(t, as(second).body, "another identity")
	require.Equal(t, "/account?done=unlinked", p.signedIn(admin).ask(http.MethodPost, "/account/provider/unlink", nil).location)
	require.Equal(t, "/", as(second).location)
	require.Contains(t, as(first).body, "another identity")
}

func TestWithoutAProvider(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	v := p.visitor()
	require.NotContains(t, v.ask(http.MethodGet, "/sign-in", nil).body, "/sign-in/provider")
	require.Equal(t, 404, v.ask(http.MethodGet, "/sign-in/provider", nil).status)
	require.NotEqual(t, 500, v.ask(http.MethodGet, "/sign-in/provider/callback?code=x&state=y", nil).status)
}

// Who a user is, and what the user may do, changes on a page, and holds from the next request on.
func TestRolesChangeOnThePages(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shop()
	root := "/c/" + own.id.String()
	people := func(role string) string { return root + "/people/" + own.people[role].ID.String() }
	owner, admin, viewer := p.signedIn(own.people[company.RoleOwner]), p.signedIn(own.people[company.RoleAdmin]), p.signedIn(own.people[company.RoleViewer])
	require.Equal(t, http.StatusForbidden, viewer.ask(http.MethodGet, root+"/people", nil).status)

	require.Contains(t, owner.ask(http.MethodGet, people(company.RoleViewer), nil).body, "Save")
	got := owner.ask(http.MethodPost, people(company.RoleViewer), url.Values{"name": {"Kim"}, "role": {company.RoleAdmin}})
	require.Equal(t, root+"/people?done=updated", got.location, got.body)
	require.Equal(t, 200, viewer.ask(http.MethodGet, root+"/people", nil).status, "the session follows at once")
	require.Equal(t, 303, owner.ask(http.MethodPost, people(company.RoleViewer), url.Values{"name": {"Kim"}, "role": {company.RoleDeveloper}}).status)
	require.Equal(t, http.StatusForbidden, viewer.ask(http.MethodGet, root+"/people", nil).status)
	found, err := p.Console.Changes(t.Context(), access.Caller{Principal: &access.Principal{}}, audit.Filter{Params: list.Params{PageSize: 1}, CompanyID: &own.id})
	require.NoError(t, err)
	require.Equal(t, "updateUser", found.Items[0].Operation)
	require.Contains(t, *found.Items[0].Before, `"role":"admin"`)
	require.Contains(t, *found.Items[0].After, `"role":"developer"`)

	got = admin.ask(http.MethodPost, people(company.RoleOwner), url.Values{"name": {"x"}, "role": {company.RoleViewer}})
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.body, "Only an owner may")
	require.Contains(t, got.body, `value="x"`, "what was typed stays")
	got = admin.ask(http.MethodPost, people(company.RoleDeveloper), url.Values{"name": {"x"}, "role": {company.RoleOwner}})
	require.Contains(t, got.body, "Only an owner may")
	got = owner.ask(http.MethodPost, people(company.RoleOwner), url.Values{"name": {"Olga"}, "role": {company.RoleViewer}})
	require.Contains(t, got.body, "Nobody changes the own role")
	got = owner.ask(http.MethodPost, people(company.RoleOwner), url.Values{"name": {"Olga"}, "role": {company.RoleOwner}})
	require.Equal(t, 303, got.status, got.body)
	require.Contains(t, owner.ask(http.MethodGet, root+"/", nil).body, "Olga")
	got = p.operator(p.write).ask(http.MethodPost, people(company.RoleOwner), url.Values{"name": {"Olga"}, "role": {company.RoleViewer}})
	require.Contains(t, got.body, "last active owner")
	require.NotContains(t, p.operator(p.read).ask(http.MethodGet, people(company.RoleOwner), nil).body, "Save", "who only reads sees no form")
	got = owner.ask(http.MethodPost, people("sales"), url.Values{"name": {"Sam"}, "role": {"sales"}})
	require.Equal(t, 303, got.status, "a role that is none of the console stays")
	got = owner.ask(http.MethodPost, people("sales"), url.Values{"name": {"Sam"}, "role": {"chief"}})
	require.Contains(t, got.body, "se one of")
}
