package accounts

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// site is what browsers see of the console of a test.
var site = virtualwebauthn.RelyingParty{Name: "Tradegrid", ID: "console.example.com", Origin: "https://console.example.com"}

// phone is an authenticator with one passkey.
type phone struct {
	virtualwebauthn.Authenticator

	key virtualwebauthn.Credential
}

// make answers the options of a registration. Authenticators learn whose passkey it is from them.
func (p *phone) make(t *testing.T, options []byte, at virtualwebauthn.RelyingParty) string {
	t.Helper()
	var wanted struct {
		User struct{ ID string }
	}
	require.NoError(t, json.Unmarshal(options, &wanted))
	parsed, err := virtualwebauthn.ParseAttestationOptions(string(options))
	require.NoError(t, err)
	p.Options.UserHandle = []byte(decode(t, wanted.User.ID))
	p.key = virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeRSA) // the library writes one in 128 elliptic keys too short
	return virtualwebauthn.CreateAttestationResponse(at, p.Authenticator, p.key, *parsed)
}

// use answers the options of a sign-in.
func (p *phone) use(t *testing.T, options []byte, at virtualwebauthn.RelyingParty) string {
	t.Helper()
	parsed, err := virtualwebauthn.ParseAssertionOptions(string(options))
	require.NoError(t, err)
	return virtualwebauthn.CreateAssertionResponse(at, p.Authenticator, p.key, *parsed)
}

func decode(t *testing.T, text string) string {
	t.Helper()
	var raw []byte
	require.NoError(t, json.Unmarshal([]byte(`"`+strings.NewReplacer("-", "+", "_", "/").Replace(text)+strings.Repeat("=", (4-len(text)%4)%4)+`"`), &raw))
	return string(raw)
}

// add makes a passkey of a session's user on the phone, and stores it.
func (o *office) add(s Session, email, name string, p *phone) error {
	o.t.Helper()
	options, kept, err := o.StartPasskey(o.t.Context(), s, email)
	if err != nil {
		return err
	}
	return o.finish(s, email, name, kept, p.make(o.t, options, site))
}

func (o *office) finish(s Session, email, name, kept, answer string) error {
	made, err := o.FinishPasskey(o.t.Context(), s, email, name, kept, answer)
	if err != nil {
		return err
	}
	return o.tx(func(ctx context.Context, tx *db.Tx) error { return o.AddPasskey(ctx, tx, email, made) })
}

// enter signs in with the phone alone.
func (o *office) enter(p *phone, v Visit) (Entered, error) {
	o.t.Helper()
	options, kept, err := o.StartPasskeySignIn()
	require.NoError(o.t, err)
	return o.SignInByPasskey(o.t.Context(), kept, p.use(o.t, options, site), v)
}

// signedIn is a person with a session.
func (o *office) signedIn() (Session, string, Visit) {
	o.t.Helper()
	_, email, v := o.person()
	e, err := o.SignIn(o.t.Context(), Credentials{email, word}, v)
	require.NoError(o.t, err)
	return e.Session, email, v
}

func newPhone() *phone { return &phone{Authenticator: virtualwebauthn.NewAuthenticator()} }

func TestPasskeySignsIn(t *testing.T) {
	t.Parallel()
	o := setup(t)
	s, email, v := o.signedIn()
	mobile, key := newPhone(), newPhone()
	require.NoError(t, o.add(s, email, " Phone ", mobile))
	require.NoError(t, o.add(s, email, "Key", key))
	for _, p := range []*phone{mobile, key, mobile} {
		e, err := o.enter(p, v)
		require.NoError(t, err)
		require.Equal(t, s.Owner, e.Owner)
		require.False(t, e.NeedsCode())
		require.NotEmpty(t, e.Device)
	}
	all, err := o.Passkeys(t.Context(), s.Owner)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, "Phone", all[0].Name)
	require.NotNil(t, all[0].UsedAt)
	var mails int
	require.NoError(t, o.cfg.DB.QueryRow(t.Context(), `SELECT count(*) FROM notices WHERE company_id = $1 AND recipient = $2`, s.Company, email).Scan(&mails))
	require.Equal(t, 2, mails, "the user is told")

	stranger, _, _ := o.signedIn()
	remove := func(of Owner, id uuid.UUID) error {
		return o.tx(func(ctx context.Context, tx *db.Tx) error { return o.RemovePasskey(ctx, tx, of, id) })
	}
	require.ErrorIs(t, remove(stranger.Owner, all[0].ID), ErrRefused)
	require.ErrorIs(t, remove(Owner{s.Company, stranger.User}, all[0].ID), ErrRefused)
	require.NoError(t, remove(s.Owner, all[0].ID))
	_, err = o.enter(mobile, v)
	require.ErrorIs(t, err, ErrRefused)
	o.active[s.User] = false
	_, err = o.enter(key, v)
	require.ErrorIs(t, err, ErrRefused, "a blocked user gets in by no way")
}

// A passkey stands for both factors, so it is asked to check the person.
func TestPasskeyAsksForNoCodeButForThePerson(t *testing.T) {
	t.Parallel()
	o := setup(t)
	s, email, v := o.signedIn()
	require.NoError(t, o.tx(func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlSetTOTP, s.Company, s.User, "sealed", 0, []string{}, tx.Now())
		return nil
	}))
	careless := newPhone()
	careless.Options.UserNotVerified = true
	require.True(t, apierr.Is(o.add(s, email, "Phone", careless), "VALIDATION_ERROR"))
	p := newPhone()
	require.NoError(t, o.add(s, email, "Phone", p))
	e, err := o.enter(p, v)
	require.NoError(t, err)
	require.False(t, e.NeedsCode())
	p.Options.UserNotVerified = true
	_, err = o.enter(p, v)
	require.ErrorIs(t, err, ErrRefused)
}

func TestPasskeyCeremoniesAreBoundAndUsedOnce(t *testing.T) {
	t.Parallel()
	o := setup(t)
	s, email, v := o.signedIn()
	p := newPhone()
	require.NoError(t, o.add(s, email, "Phone", p))

	options, kept, err := o.StartPasskeySignIn()
	require.NoError(t, err)
	answer := p.use(t, options, site)
	_, other, err := o.StartPasskeySignIn()
	require.NoError(t, err)
	for name, what := range map[string]string{"nothing": "", "nonsense": "x", "cut": kept[:len(kept)-2]} {
		_, err = o.SignInByPasskey(t.Context(), what, answer, v)
		require.ErrorIs(t, err, ErrCeremony, name)
	}
	_, err = o.SignInByPasskey(t.Context(), other, answer, v)
	require.ErrorIs(t, err, ErrRefused, "the answer to another browser's challenge")
	_, err = o.SignInByPasskey(t.Context(), kept, answer, v)
	require.NoError(t, err)
	_, err = o.SignInByPasskey(t.Context(), kept, answer, v)
	require.ErrorIs(t, err, ErrCeremony, "a challenge is used once")

	options, kept, err = o.StartPasskeySignIn()
	require.NoError(t, err)
	_, err = o.SignInByPasskey(t.Context(), kept, "{}", v)
	require.ErrorIs(t, err, ErrRefused)
	_, err = o.SignInByPasskey(t.Context(), kept, p.use(t, options, site), v)
	require.ErrorIs(t, err, ErrCeremony, "a wrong answer uses it up, too")
	options, kept, err = o.StartPasskeySignIn()
	require.NoError(t, err)
	o.wait(CeremonyWithin + time.Second)
	_, err = o.SignInByPasskey(t.Context(), kept, p.use(t, options, site), v)
	require.ErrorIs(t, err, ErrCeremony, "it lasts minutes")

	elsewhere := virtualwebauthn.RelyingParty{Name: "Tradegrid", ID: "console.example.com", Origin: "https://console.example.org"}
	options, kept, err = o.StartPasskeySignIn()
	require.NoError(t, err)
	_, err = o.SignInByPasskey(t.Context(), kept, p.use(t, options, elsewhere), v)
	require.ErrorIs(t, err, ErrRefused, "a page of another site passed the challenge on")

	options, kept, err = o.StartPasskey(t.Context(), s, email)
	require.NoError(t, err)
	require.Contains(t, string(options), "excludeCredentials", "an authenticator has one passkey of an account")
	made := newPhone().make(t, options, site)
	thief, _, _ := o.signedIn()
	require.ErrorIs(t, o.finish(thief, email, "Phone", kept, made), ErrCeremony, "a session ends only what it began")
	_, enter, err := o.StartPasskeySignIn()
	require.NoError(t, err)
	require.ErrorIs(t, o.finish(s, email, "Phone", enter, made), ErrCeremony, "nor does a sign-in end as a registration")
}

// A reset by mail ends sessions and leaves passkeys and the provider, and the user is told of them.
func TestResetLeavesPasskeysAndSaysSo(t *testing.T) {
	t.Parallel()
	o, m := provided(t)
	s, email, v := o.signedIn()
	reset := func() string {
		t.Helper()
		p, err := o.NewPassword(t.Context(), "password", word+" again", email)
		require.NoError(t, err)
		var l Link
		require.NoError(t, o.tx(func(ctx context.Context, tx *db.Tx) (err error) {
			token, _ := o.NewLink(ctx, tx, s.Owner, email, Reset)
			l, _, err = o.UseLink(ctx, tx, token, p, v)
			return err
		}))
		var body string
		require.NoError(t, o.cfg.DB.QueryRow(t.Context(), `SELECT body FROM notices WHERE company_id = $1 AND recipient = $2 AND record_id = $3`, s.Company, email, l.ID).Scan(&body))
		return body
	}
	require.Contains(t, reset(), "Nothing else signs in")

	e, err := o.SignIn(t.Context(), Credentials{email, word + " again"}, v)
	require.NoError(t, err)
	mobile, other := newPhone(), newPhone()
	require.NoError(t, o.add(e.Session, email, "Phone", mobile))
	require.NoError(t, o.add(e.Session, email, "Not\r\nmine", other))
	at := somebody{subject: uuid.NewString(), email: email, verified: true}
	i, err := o.identify(m, at, v)
	require.NoError(t, err)
	in, err := o.byProvider(i, v)
	require.NoError(t, err)
	stranger, address, _ := o.signedIn()
	require.NoError(t, o.add(stranger, address, "Of a stranger", newPhone()))

	body := reset()
	for _, want := range []string{`Passkey "Phone", since `, `Passkey "Not`, `Sign-in provider "` + email + `"`, "/account", "all sessions were ended"} {
		require.Contains(t, body, want)
	}
	require.NotContains(t, body, "stranger")
	for _, one := range []Entered{e, in} {
		_, err = o.Session(t.Context(), one.Token, v)
		require.ErrorIs(t, err, ErrSession)
	}
	_, err = o.enter(mobile, v)
	require.NoError(t, err, "a passkey stays")
	i, err = o.identify(m, at, v)
	require.NoError(t, err)
	require.False(t, i.New, "the link to the provider stays, too")
}

func TestPasskeysAreBounded(t *testing.T) {
	t.Parallel()
	o := setup(t)
	s, email, _ := o.signedIn()
	options, kept, err := o.StartPasskey(t.Context(), s, email)
	require.NoError(t, err)
	for _, bad := range []string{"", "  ", strings.Repeat("x", maxPasskeyName+1), "a\x00b", "\xff"} {
		require.True(t, apierr.Is(o.finish(s, email, bad, kept, newPhone().make(t, options, site)), "VALIDATION_ERROR"), "%q", bad)
	}
	for _, bad := range []string{"", "{}", "null", strings.Repeat("[", 60_000)} {
		_, kept, err := o.StartPasskey(t.Context(), s, email)
		require.NoError(t, err)
		require.True(t, apierr.Is(o.finish(s, email, "Phone", kept, bad), "VALIDATION_ERROR"), "%.10q", bad)
	}
	for i := range MaxPasskeys {
		require.NoError(t, o.add(s, email, fmt.Sprint("Phone ", i), newPhone()))
	}
	require.ErrorContains(t, o.add(s, email, "One more", newPhone()), "at most 10")
	made, err := o.FinishPasskey(t.Context(), s, email, "Phone", kept, newPhone().make(t, options, site))
	require.NoError(t, err, "it was begun before the others")
	err = o.tx(func(ctx context.Context, tx *db.Tx) error { return o.AddPasskey(ctx, tx, email, made) })
	require.ErrorContains(t, err, "at most 10")
}

// An authenticator that counts tells by its counter that its key was copied.
func TestCopiedPasskeyLetsNobodyIn(t *testing.T) {
	t.Parallel()
	o := setup(t)
	s, email, v := o.signedIn()
	p := newPhone()
	require.NoError(t, o.add(s, email, "Key", p))
	p.key.Counter = 7
	_, err := o.enter(p, v)
	require.NoError(t, err)
	thief := *p
	p.key.Counter = 8
	_, err = o.enter(p, v)
	require.NoError(t, err)
	thief.key.Counter = 8
	_, err = o.enter(&thief, v)
	require.ErrorIs(t, err, ErrCopied)
	p.key.Counter = 9
	_, err = o.enter(p, v)
	require.ErrorIs(t, err, ErrCopied, "nobody knows which one is the owner's")
	all, err := o.Passkeys(t.Context(), s.Owner)
	require.NoError(t, err)
	require.NotNil(t, all[0].CopiedAt)
}

func TestPasskeysAreSealed(t *testing.T) {
	t.Parallel()
	o := setup(t)
	s, email, v := o.signedIn()
	old := secret.NewKey("old")
	var err error
	o.cfg.Keys, err = secret.ParseKeys(old)
	require.NoError(t, err)
	p := newPhone()
	require.NoError(t, o.add(s, email, "Key", p))
	var stored string
	require.NoError(t, o.cfg.DB.QueryRow(t.Context(), `SELECT credential FROM passkeys WHERE company_id = $1 AND user_id = $2`, s.Company, s.User).Scan(&stored))
	require.Contains(t, stored, "enc1:old:")
	require.NotContains(t, stored, "publicKey")

	next := secret.NewKey("next")
	o.cfg.Keys, err = secret.ParseKeys(next + "\n" + old)
	require.NoError(t, err)
	moved, _, err := o.Rekey(t.Context(), 1, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.Positive(t, moved)
	o.cfg.Keys, err = secret.ParseKeys(next)
	require.NoError(t, err)
	_, err = o.enter(p, v)
	require.NoError(t, err, "the new key alone opens it")

	thief, _, _ := o.signedIn()
	_, err = o.cfg.DB.Exec(t.Context(), `UPDATE passkeys SET company_id = $1, user_id = $2 WHERE company_id = $3 AND user_id = $4`, thief.Company, thief.User, s.Company, s.User)
	require.NoError(t, err)
	_, err = o.enter(p, v)
	require.Error(t, err, "a passkey that was moved to another account opens nothing")
}

// Passkeys need a name: browsers make none for an address.
func TestWhereThereAreNoPasskeys(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"https://console.example.com": true, "http://localhost:8084": true, "http://127.0.0.1:8084": false, "https://[2001:db8::1]": false, "": false,
	} {
		require.Equal(t, want, New(Config{URL: address}).Passkeyed(), address)
	}
}

// An answer may have keys and certificates of any size, whose use takes seconds. A long one is not looked at.
func TestLongAnswersOfAuthenticators(t *testing.T) {
	t.Parallel()
	o := setup(t)
	s, email, v := o.signedIn()
	p := newPhone()
	options, kept, err := o.StartPasskey(t.Context(), s, email)
	require.NoError(t, err)
	long := strings.Repeat(" ", maxAnswer)
	require.True(t, apierr.Is(o.finish(s, email, "Phone", kept, p.make(t, options, site)+long), "VALIDATION_ERROR"))
	require.NoError(t, o.add(s, email, "Phone", p))
	options, kept, err = o.StartPasskeySignIn()
	require.NoError(t, err)
	_, err = o.SignInByPasskey(t.Context(), kept, p.use(t, options, site)+long, v)
	require.ErrorIs(t, err, ErrRefused)
}
