package accounts

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/oauth2-proxy/mockoidc"
	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// somebody is a person at the provider.
type somebody struct {
	subject, email string
	verified       any
	amr            []string
	byUserInfo     bool // the token has no address
}

// ID implements [mockoidc.User].
func (s somebody) ID() string { return s.subject }

// Userinfo implements [mockoidc.User].
func (s somebody) Userinfo([]string) ([]byte, error) {
	return json.Marshal(map[string]any{"sub": s.subject, "email": s.email, "email_verified": s.verified})
}

// Claims implements [mockoidc.User].
func (s somebody) Claims(_ []string, base *mockoidc.IDTokenClaims) (jwt.Claims, error) {
	more := struct {
		*mockoidc.IDTokenClaims

		Email    string   `json:"email,omitempty"`
		Verified any      `json:"email_verified,omitempty"`
		AMR      []string `json:"amr,omitempty"`
	}{IDTokenClaims: base, AMR: s.amr}
	if !s.byUserInfo {
		more.Email, more.Verified = s.email, s.verified
	}
	return more, nil
}

// provided is a service whose people sign in by a provider that runs in this process.
func provided(t *testing.T, domains ...string) (*office, *mockoidc.MockOIDC) {
	t.Helper()
	m, err := mockoidc.Run()
	require.NoError(t, err)
	t.Cleanup(func() { _ = m.Shutdown() })
	o := setup(t)
	o.cfg.Provider = NewProvider(ProviderConfig{
		Issuer: m.Issuer(), ClientID: m.ClientID, ClientSecret: func() (string, error) { return m.ClientSecret, nil }, Domains: domains, Redirect: "https://console.example.com/sign-in/provider/callback",
	})
	return o, m
}

// visitProvider opens an address at the provider as a browser does, and returns what it sends back.
func visitProvider(t *testing.T, address string) url.Values {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	back, err := url.Parse(res.Header.Get("Location"))
	require.NoError(t, err)
	require.Equal(t, "console.example.com", back.Host, "%d from %s", res.StatusCode, address)
	return back.Query()
}

// identify goes to the provider as somebody.
func (o *office) identify(m *mockoidc.MockOIDC, who somebody, v Visit) (Identity, error) {
	o.t.Helper()
	m.QueueUser(who)
	address, kept, err := o.StartProvider(o.t.Context(), "/next", v)
	require.NoError(o.t, err)
	return o.Identify(o.t.Context(), kept, visitProvider(o.t, address), v)
}

func (o *office) byProvider(i Identity, v Visit) (e Entered, err error) {
	err = o.tx(func(ctx context.Context, tx *db.Tx) (err error) {
		e, err = o.EnterByProvider(ctx, tx, i, v)
		return err
	})
	if err != nil {
		return e, err
	}
	return o.Known(e, v)
}

func TestProviderSignsIn(t *testing.T) {
	t.Parallel()
	o, m := provided(t)
	owner, email, v := o.person()
	subject := uuid.NewString()
	i, err := o.identify(m, somebody{subject: subject, email: strings.ToUpper(email), verified: true}, v)
	require.NoError(t, err)
	require.Equal(t, owner, i.Owner)
	require.True(t, i.New)
	require.Equal(t, "/next", i.Next)
	e, err := o.byProvider(i, v)
	require.NoError(t, err)
	require.False(t, e.NeedsCode())
	require.NotEmpty(t, e.Device)

	i, err = o.identify(m, somebody{subject: subject, email: "kim.married@example.com", verified: "true", byUserInfo: true}, v)
	require.NoError(t, err, "the subject says who it is from then on")
	require.Equal(t, owner, i.Owner)
	require.False(t, i.New)
	linked, err := o.Linked(t.Context(), owner)
	require.NoError(t, err)
	require.Equal(t, email, linked.Email)

	var refused *IdentityError
	_, err = o.identify(m, somebody{subject: uuid.NewString(), email: email, verified: true}, v)
	require.ErrorAs(t, err, &refused)
	require.Equal(t, Another, refused.Reason, "an address that the provider gave to somebody else")
	require.NoError(t, o.tx(func(ctx context.Context, tx *db.Tx) error { return o.Unlink(ctx, tx, owner) }))
	i, err = o.identify(m, somebody{subject: uuid.NewString(), email: email, verified: true}, v)
	require.NoError(t, err)
	require.True(t, i.New)
}

func TestWhomTheProviderDoesNotLetIn(t *testing.T) {
	t.Parallel()
	o, m := provided(t, "@Example.com")
	_, email, v := o.person()
	for name, c := range map[string]struct {
		who    somebody
		reason string
	}{
		"nobody was invited":      {somebody{subject: "1", email: "x" + email, verified: true}, Unknown},
		"the address is not his":  {somebody{subject: "1", email: email, verified: false}, Unverified},
		"nobody looked":           {somebody{subject: "1", email: email}, Unverified},
		"an odd answer":           {somebody{subject: "1", email: email, verified: 1}, Unverified},
		"no address":              {somebody{subject: "1", verified: true}, Unverified},
		"another domain":          {somebody{subject: "1", email: "kim@example.org", verified: true}, OtherDomain},
		"a domain within another": {somebody{subject: "1", email: "kim@evil.example.com", verified: true}, OtherDomain},
	} {
		_, err := o.identify(m, c.who, v)
		var refused *IdentityError
		require.ErrorAs(t, err, &refused, name)
		require.Equal(t, c.reason, refused.Reason, name)
	}
	address, kept, err := o.StartProvider(t.Context(), "/", o.visit())
	require.NoError(t, err)
	sent, err := url.Parse(address)
	require.NoError(t, err)
	require.Equal(t, "S256", sent.Query().Get("code_challenge_method"))
	_, err = o.Identify(t.Context(), kept, url.Values{"state": {sent.Query().Get("state")}, "error": {"access_denied"}}, v)
	var refused *IdentityError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, Denied, refused.Reason)
}

// Two people with invitations cannot become one, nor one two.
func TestSubjectIsBoundOnce(t *testing.T) {
	t.Parallel()
	o, m := provided(t)
	_, email, v := o.person()
	other, otherEmail, _ := o.person()
	i, err := o.identify(m, somebody{subject: "s-" + email, email: email, verified: true}, v)
	require.NoError(t, err)
	_, err = o.byProvider(i, v)
	require.NoError(t, err)
	var refused *IdentityError
	_, err = o.byProvider(i, v)
	require.ErrorAs(t, err, &refused, "a second request that was under way")
	i.Owner = other
	_, err = o.byProvider(i, v)
	require.ErrorIs(t, err, ErrAddressTaken)
	i.Email = otherEmail
	_, err = o.byProvider(i, v)
	require.ErrorAs(t, err, &refused)
}

func TestProviderAnswersAreBoundAndUsedOnce(t *testing.T) {
	t.Parallel()
	o, m := provided(t)
	_, email, v := o.person()
	who := somebody{subject: uuid.NewString(), email: email, verified: true}
	start := func() (*url.URL, string) {
		address, kept, err := o.StartProvider(t.Context(), "/", o.visit())
		require.NoError(t, err)
		u, err := url.Parse(address)
		require.NoError(t, err)
		m.QueueUser(who)
		return u, kept
	}
	address, kept := start()
	_, other := start()
	answer := visitProvider(t, address.String())
	_, err := o.Identify(t.Context(), other, answer, v)
	require.ErrorIs(t, err, ErrCeremony, "another browser began it")
	_, err = o.Identify(t.Context(), "", answer, v)
	require.ErrorIs(t, err, ErrCeremony)
	_, err = o.Identify(t.Context(), kept, answer, v)
	require.NoError(t, err)
	_, err = o.Identify(t.Context(), kept, answer, v)
	require.ErrorIs(t, err, ErrCeremony, "used once")

	forge := func(change func(url.Values)) error {
		address, kept := start()
		q := address.Query()
		change(q)
		address.RawQuery = q.Encode()
		answer := visitProvider(t, address.String())
		if iss := q.Get("add_issuer"); iss != "" {
			answer.Set("iss", iss)
		}
		_, err := o.Identify(t.Context(), kept, answer, v)
		return err
	}
	require.NoError(t, forge(func(url.Values) {}))
	require.NoError(t, forge(func(q url.Values) { q.Set("add_issuer", m.Issuer()) }))
	require.ErrorIs(t, forge(func(q url.Values) { q.Set("add_issuer", "https://evil.example.com") }), ErrCeremony, "the answer of another provider")
	require.ErrorIs(t, forge(func(q url.Values) { q.Set("nonce", "another"); q.Del("code_challenge"); q.Del("code_challenge_method") }), ErrCeremony,
		"a code that was made for another sign-in, by a provider without PKCE")
	require.Error(t, forge(func(q url.Values) { q.Set("code_challenge", "another") }), "a code that was stolen: the provider checks the verifier")

	address, kept = start()
	answer = visitProvider(t, address.String())
	o.wait(CeremonyWithin + time.Second)
	_, err = o.Identify(t.Context(), kept, answer, v)
	require.ErrorIs(t, err, ErrCeremony)
}

func TestSecondFactorAfterTheProvider(t *testing.T) {
	t.Parallel()
	o, m := provided(t)
	owner, email, v := o.person()
	factor := o.turnOnTOTP(owner, email)
	enter := func(amr ...string) Entered {
		i, err := o.identify(m, somebody{subject: "s-" + email, email: email, verified: true, amr: amr}, v)
		require.NoError(t, err)
		e, err := o.byProvider(i, v)
		require.NoError(t, err)
		return e
	}
	for _, amr := range [][]string{nil, {"pwd"}, {"otp"}} {
		e := enter(amr...)
		require.True(t, e.NeedsCode(), "%v", amr)
		require.Empty(t, e.Device, "half a sign-in proves nothing")
	}
	require.False(t, enter("pwd", "mfa").NeedsCode(), "the provider asked for several factors")
	half := enter()
	o.wait(period * time.Second)
	code, err := totp.GenerateCode(factor.Secret, o.now())
	require.NoError(t, err)
	full, err := o.EnterCode(t.Context(), half.Session, code, v)
	require.NoError(t, err)
	require.False(t, full.NeedsCode())
}

func TestProviderThatIsDown(t *testing.T) {
	t.Parallel()
	o, m := provided(t)
	_, email, v := o.person()
	var down *ProviderError
	address, kept, err := o.StartProvider(t.Context(), "/", o.visit())
	require.NoError(t, err)
	m.QueueUser(somebody{subject: "1", email: email, verified: true})
	answer := visitProvider(t, address)
	m.QueueError(&mockoidc.ServerError{Code: http.StatusInternalServerError, Error: mockoidc.InternalServerError})
	m.QueueError(&mockoidc.ServerError{Code: http.StatusInternalServerError, Error: mockoidc.InternalServerError}) // the client tries both ways to name itself
	_, err = o.Identify(t.Context(), kept, answer, v)
	require.ErrorAs(t, err, &down)

	require.NoError(t, m.Shutdown())
	_, _, err = o.StartProvider(t.Context(), "/", o.visit())
	require.NoError(t, err, "what it can do is known for a while")
	o.cfg.Provider = NewProvider(o.cfg.Provider.cfg)
	_, _, err = o.StartProvider(t.Context(), "/", o.visit())
	require.ErrorAs(t, err, &down)

	again, err := mockoidc.Run() // another issuer at another port: what it says must be what is configured
	require.NoError(t, err)
	t.Cleanup(func() { _ = again.Shutdown() })
	cfg := o.cfg.Provider.cfg
	cfg.Issuer = again.Issuer() + "/"
	o.cfg.Provider = NewProvider(cfg)
	_, _, err = o.StartProvider(t.Context(), "/", o.visit())
	require.ErrorAs(t, err, &down)
	cfg.Issuer = again.Issuer()
	o.cfg.Provider.cfg = cfg
	_, _, err = o.StartProvider(t.Context(), "/", o.visit())
	require.ErrorAs(t, err, &down, "it is spared for a moment")
	o.wait(spareProvider + time.Second)
	_, _, err = o.StartProvider(t.Context(), "/", o.visit())
	require.NoError(t, err, "and asked again")
}

// An invitation is good for a sign-in by the provider, too, and its link ends then.
func TestProviderEndsLinks(t *testing.T) {
	t.Parallel()
	o, m := provided(t)
	owner, email := Owner{tenant.NewID(), uuid.New()}, uuid.NewString()+"@example.com"
	var token string
	require.NoError(t, o.tx(func(ctx context.Context, tx *db.Tx) error {
		token, _ = o.NewLink(ctx, tx, owner, email, Invitation)
		return nil
	}))
	i, err := o.identify(m, somebody{subject: uuid.NewString(), email: email, verified: true}, o.visit())
	require.NoError(t, err)
	require.Equal(t, owner, i.Owner)
	_, err = o.byProvider(i, o.visit())
	require.NoError(t, err)
	_, err = o.Link(t.Context(), token, o.visit())
	require.ErrorIs(t, err, ErrLink)
}
