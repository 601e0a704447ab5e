package accounts

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/google/uuid"
	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// recommended are the parameters of the program. Tests hash with less, because each of hundreds of hashes would take 30 ms.
var recommended = *hashParams //nolint:gochecknoglobals // a constant

func TestMain(m *testing.M) {
	hashParams.Memory, hashParams.Iterations = 64, 1
	os.Exit(dbtest.Main(m))
}

const word = "four small words here"

// office is a service with a clock that a test moves, and people who are active or not.
type office struct {
	*Service

	t      *testing.T
	mu     sync.Mutex
	at     time.Time
	active map[uuid.UUID]bool
}

func setup(t *testing.T) *office {
	o := &office{t: t, at: time.Now().UTC().Truncate(time.Microsecond), active: map[uuid.UUID]bool{}}
	d := dbtest.Open(t).WithClock(o.now)
	o.Service = New(Config{DB: d, Keys: apitest.Keys(t), URL: "https://console.example.com", Active: func(_ context.Context, _ tenant.ID, id uuid.UUID) (bool, error) {
		return o.active[id], nil
	}})
	return o
}

func (o *office) now() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.at
}

func (o *office) wait(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.at = o.at.Add(d)
}

func (o *office) tx(change func(ctx context.Context, tx *db.Tx) error) error {
	return o.cfg.DB.RunTx(o.t.Context(), "test", change)
}

// person makes an active user with a password, and an address of its own.
func (o *office) person() (Owner, string, Visit) {
	o.t.Helper()
	owner, email := Owner{tenant.NewID(), uuid.New()}, uuid.NewString()+"@example.com"
	o.active[owner.User] = true
	hashedWord.Do(func() {
		var err error
		hashedWord.Password, err = o.NewPassword(o.t.Context(), "password", word, email)
		require.NoError(o.t, err)
	})
	require.NoError(o.t, o.tx(func(_ context.Context, tx *db.Tx) error {
		ensure(tx, owner, email)
		tx.Queue(sqlSetPassword, owner.Company, owner.User, hashedWord.hash, tx.Now()) // without a mail, which tests would find
		return nil
	}))
	return owner, email, o.visit()
}

// hashedWord is the password of all people.
var hashedWord struct { //nolint:gochecknoglobals // the tests of the process share it
	sync.Once
	Password
}

// turnOnTOTP turns the second factor of a person on, with the code of now.
func (o *office) turnOnTOTP(owner Owner, email string) Setup {
	o.t.Helper()
	factor, err := o.StartTOTP(owner, email)
	require.NoError(o.t, err)
	code, err := totp.GenerateCode(factor.Secret, o.now())
	require.NoError(o.t, err)
	require.NoError(o.t, o.tx(func(ctx context.Context, tx *db.Tx) error {
		_, err := o.ConfirmTOTP(ctx, tx, owner, email, factor.Sealed, code)
		return err
	}))
	return factor
}

// visit is from an address that no other test uses.
func (o *office) visit() Visit {
	var b [16]byte
	id := uuid.New()
	copy(b[:], id[:])
	b[0] = 0x20
	return Visit{Address: netip.AddrFrom16(b), Agent: "Browser\x00 1"}
}

func TestSignInAndOut(t *testing.T) {
	t.Parallel()
	o := setup(t)
	owner, email, v := o.person()
	e, err := o.SignIn(t.Context(), Credentials{"  " + email + " ", word}, v)
	require.NoError(t, err)
	require.Equal(t, owner, e.Owner)
	s, err := o.Session(t.Context(), e.Token, v)
	require.NoError(t, err)
	require.Equal(t, "Browser 1", s.Agent)
	require.False(t, s.NeedsCode())
	require.NoError(t, o.SignOut(t.Context(), s))
	_, err = o.Session(t.Context(), e.Token, v)
	require.ErrorIs(t, err, ErrSession)
	for name, in := range map[string]Credentials{
		"wrong password": {email, word + "!"}, "no password": {email, ""}, "unknown address": {"x" + email, word}, "too long": {email, string(make([]byte, 5000))},
	} {
		_, err := o.SignIn(t.Context(), in, v)
		require.ErrorIs(t, err, ErrRefused, name)
	}
	o.active[owner.User] = false
	_, err = o.SignIn(t.Context(), Credentials{email, word}, v)
	require.ErrorIs(t, err, ErrRefused, "a blocked user learns nothing")
}

func TestNothingOfASecretIsStored(t *testing.T) {
	t.Parallel()
	o := setup(t)
	owner, email, v := o.person()
	e, err := o.SignIn(t.Context(), Credentials{email, word}, v)
	require.NoError(t, err)
	var hash []byte
	var password string
	require.NoError(t, o.cfg.DB.QueryRow(t.Context(), `SELECT hash FROM sessions WHERE company_id = $1 AND id = $2`, owner.Company, e.ID).Scan(&hash))
	require.NoError(t, o.cfg.DB.QueryRow(t.Context(), `SELECT password_hash FROM accounts WHERE company_id = $1 AND user_id = $2`, owner.Company, owner.User).Scan(&password))
	require.NotContains(t, string(hash), e.Token)
	require.Contains(t, password, "$argon2id$v=19$m=64,t=1,p=1$")
	require.Equal(t, argon2id.Params{Memory: 19456, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}, recommended)
}

// What unknown addresses are compared with costs as much as a real hash: else they would be refused faster, or fail.
func TestUnknownAddressesTakeAsLong(t *testing.T) {
	t.Parallel()
	ok, params, err := argon2id.CheckHash(word, unknownHash)
	require.NoError(t, err)
	require.False(t, ok)
	require.Equal(t, &recommended, params)
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	o := setup(t)
	owner, email, v := o.person()
	enter := func() Entered {
		e, err := o.SignIn(t.Context(), Credentials{email, word}, v)
		require.NoError(t, err)
		return e
	}
	over := func(e Entered) bool {
		_, err := o.Session(t.Context(), e.Token, v)
		return errors.Is(err, ErrSession)
	}
	idle := enter()
	o.wait(Idle + time.Second)
	require.True(t, over(idle), "what is not used ends")
	used := enter()
	for began := o.now(); o.now().Sub(began) < Longest; o.wait(Idle / 2) {
		require.False(t, over(used), "after %s", o.now().Sub(began))
	}
	o.wait(time.Minute)
	require.True(t, over(used), "what is used ends, too, after a week")

	a, b, c := enter(), enter(), enter()
	all, err := o.Sessions(t.Context(), owner)
	require.NoError(t, err)
	require.Len(t, all, 3)
	require.NoError(t, o.tx(func(ctx context.Context, tx *db.Tx) error { return o.EndSession(ctx, tx, owner, a.ID) }))
	require.True(t, over(a))
	other, _, _ := o.person()
	err = o.tx(func(ctx context.Context, tx *db.Tx) error {
		return o.EndSession(ctx, tx, Owner{owner.Company, other.User}, b.ID)
	})
	require.ErrorIs(t, err, ErrSession, "nobody ends a session of somebody else")
	require.False(t, over(b))
	require.NoError(t, o.tx(func(ctx context.Context, tx *db.Tx) error { return o.EndSessions(ctx, tx, owner, c.ID) }))
	require.True(t, over(b))
	require.False(t, over(c))
	for range 55 {
		enter()
	}
	all, err = o.Sessions(t.Context(), owner)
	require.NoError(t, err)
	require.Len(t, all, maxSessions, "the oldest end")
}

func TestLimitsSpareWhoHasBeenThere(t *testing.T) {
	t.Parallel()
	o := setup(t)
	_, email, home := o.person()
	first, err := o.SignIn(t.Context(), Credentials{email, word}, home)
	require.NoError(t, err)
	home.Device = first.Device
	require.NotEmpty(t, home.Device)

	var limited *LimitedError
	refused := 0
	for range int(byAccount.burst) + 5 { // a guesser, from many addresses
		_, err := o.SignIn(t.Context(), Credentials{email, "guess guess guess"}, o.visit())
		if errors.As(err, &limited) {
			require.Positive(t, limited.Wait)
			require.LessOrEqual(t, limited.Wait, byAccount.interval)
			continue
		}
		require.ErrorIs(t, err, ErrRefused)
		refused++
	}
	require.EqualValues(t, byAccount.burst, refused)
	_, err = o.SignIn(t.Context(), Credentials{email, word}, o.visit())
	require.ErrorAs(t, err, &limited, "nor does the right password help from a new browser")
	again, err := o.SignIn(t.Context(), Credentials{email, word}, home)
	require.NoError(t, err, "the owner's own browser is not kept out")
	require.Empty(t, again.Device, "it keeps what it has")
	o.wait(byAccount.interval + time.Second)
	_, err = o.SignIn(t.Context(), Credentials{email, word}, o.visit())
	require.NoError(t, err, "and others get in when the wait is over")

	_, stranger, _ := o.person()
	home.Address = o.visit().Address
	for range int(byAccount.burst) {
		_, _ = o.SignIn(t.Context(), Credentials{stranger, "guess guess guess"}, home)
	}
	_, err = o.SignIn(t.Context(), Credentials{stranger, word}, home)
	require.ErrorAs(t, err, &limited, "what a browser keeps of one account is worth nothing for another")
}

func TestGoodSignInsDoNotUseUpAnAddress(t *testing.T) {
	t.Parallel()
	o := setup(t)
	proxy := o.visit()
	for range 3 {
		_, email, _ := o.person()
		for range int(byAddress.burst) / 2 {
			_, err := o.SignIn(t.Context(), Credentials{email, word}, proxy)
			require.NoError(t, err)
		}
	}
	var limited *LimitedError
	for i := range int(byAddress.burst) + 1 {
		_, err := o.SignIn(t.Context(), Credentials{uuid.NewString(), word}, proxy)
		if i < int(byAddress.burst) {
			require.ErrorIs(t, err, ErrRefused)
		} else {
			require.ErrorAs(t, err, &limited)
		}
	}
}

// Many attempts at once are no more than one after the other.
func TestAttemptsAtOnceAreCounted(t *testing.T) {
	t.Parallel()
	o := setup(t)
	_, email, _ := o.person()
	var wg sync.WaitGroup
	var mu sync.Mutex
	tried := 0
	for range 30 {
		v := o.visit()
		wg.Go(func() {
			_, err := o.SignIn(context.WithoutCancel(t.Context()), Credentials{email, "guess guess guess"}, v)
			mu.Lock()
			defer mu.Unlock()
			if errors.Is(err, ErrRefused) {
				tried++
			}
		})
	}
	wg.Wait()
	require.LessOrEqual(t, tried, int(byAccount.burst))
}

func TestSecondFactor(t *testing.T) {
	t.Parallel()
	o := setup(t)
	owner, email, v := o.person()
	setup, err := o.StartTOTP(owner, email)
	require.NoError(t, err)
	code := func() string {
		c, err := totp.GenerateCode(setup.Secret, o.now())
		require.NoError(t, err)
		return c
	}
	confirm := func(owner Owner, code string) (codes []string, err error) {
		err = o.tx(func(ctx context.Context, tx *db.Tx) (err error) {
			codes, err = o.ConfirmTOTP(ctx, tx, owner, email, setup.Sealed, code)
			return err
		})
		return codes, err
	}
	_, err = confirm(owner, "000000")
	require.ErrorContains(t, err, "code")
	stranger, _, _ := o.person()
	_, err = confirm(stranger, code())
	require.Error(t, err, "a secret belongs to one account")
	recovery, err := confirm(owner, code())
	require.NoError(t, err)
	require.Len(t, recovery, recoveryCodes)

	password, err := o.NewPassword(t.Context(), "password", word, email)
	require.NoError(t, err)
	require.NoError(t, o.tx(func(ctx context.Context, tx *db.Tx) error {
		token, _ := o.NewLink(ctx, tx, owner, email, Reset)
		_, e, err := o.UseLink(ctx, tx, token, password, v)
		if err == nil && !e.NeedsCode() {
			return errors.New("a link goes past the second factor")
		}
		return err
	}))
	half := func() Session {
		e, err := o.SignIn(t.Context(), Credentials{email, word}, v)
		require.NoError(t, err)
		require.True(t, e.NeedsCode())
		require.Empty(t, e.Device, "half a sign-in proves nothing")
		s, err := o.Session(t.Context(), e.Token, v)
		require.NoError(t, err)
		require.True(t, s.NeedsCode())
		return s
	}
	_, err = o.EnterCode(t.Context(), half(), code(), v)
	require.Error(t, err, "the code of the set-up was used")
	o.wait(period * time.Second)
	first := half()
	full, err := o.EnterCode(t.Context(), first, code(), v)
	require.NoError(t, err)
	require.False(t, full.NeedsCode())
	require.NotEqual(t, first.ID, full.ID)
	_, err = o.EnterCode(t.Context(), first, recovery[0], v)
	require.ErrorIs(t, err, ErrSession, "half a session is used once")
	_, err = o.EnterCode(t.Context(), half(), code(), v)
	require.Error(t, err, "each code works once")
	_, err = o.EnterCode(t.Context(), half(), recovery[1], v)
	require.NoError(t, err)
	_, err = o.EnterCode(t.Context(), half(), recovery[1], v)
	require.Error(t, err, "so does each recovery code")
	security, err := o.Security(t.Context(), owner)
	require.NoError(t, err)
	require.Equal(t, Security{Email: email, HasPassword: true, HasTOTP: true, RecoveryLeft: recoveryCodes - 1}, security)

	late := half()
	var limited *LimitedError
	for range int(byCode.burst) {
		_, err = o.EnterCode(t.Context(), late, "123456", v)
		require.Error(t, err)
	}
	_, err = o.EnterCode(t.Context(), late, "123456", v)
	require.ErrorAs(t, err, &limited, "codes are not guessed")
	o.wait(codeWithin + time.Second)
	again, err := o.SignIn(t.Context(), Credentials{email, word}, v)
	require.NoError(t, err)
	o.wait(codeWithin + time.Second)
	_, err = o.Session(t.Context(), again.Token, v)
	require.ErrorIs(t, err, ErrSession, "half a session lasts minutes")
}

func TestLinks(t *testing.T) {
	t.Parallel()
	o := setup(t)
	owner, email := Owner{tenant.NewID(), uuid.New()}, uuid.NewString()+"@example.com"
	link := func(kind string) (token string) {
		require.NoError(t, o.tx(func(ctx context.Context, tx *db.Tx) error {
			token, _ = o.NewLink(ctx, tx, owner, email, kind)
			return nil
		}))
		return token
	}
	use := func(token string) (l Link, e Entered, err error) {
		p, err := o.NewPassword(t.Context(), "password", word, email)
		require.NoError(t, err)
		err = o.tx(func(ctx context.Context, tx *db.Tx) (err error) {
			l, e, err = o.UseLink(ctx, tx, token, p, o.visit())
			return err
		})
		return l, e, err
	}
	old, token := link(Invitation), link(Invitation)
	_, err := o.Link(t.Context(), old, o.visit())
	require.ErrorIs(t, err, ErrLink, "the next link ends the one before")
	for range 2 {
		l, err := o.Link(t.Context(), token, o.visit())
		require.NoError(t, err, "looking does not use it")
		require.Equal(t, email, l.Email)
	}
	_, _, err = use(token)
	require.NoError(t, err)
	_, _, err = use(token)
	require.ErrorIs(t, err, ErrLink)
	o.active[owner.User] = true
	e, err := o.SignIn(t.Context(), Credentials{email, word}, o.visit())
	require.NoError(t, err)

	_, reset, err := use(link(Reset))
	require.NoError(t, err)
	_, err = o.Session(t.Context(), e.Token, o.visit())
	require.ErrorIs(t, err, ErrSession, "another password ends all sessions")
	_, err = o.Session(t.Context(), reset.Token, o.visit())
	require.NoError(t, err, "who set it is signed in")
	_, in, err := use(link(SignInLink))
	require.NoError(t, err)
	_, err = o.Session(t.Context(), in.Token, o.visit())
	require.NoError(t, err)
	token = link(Reset)
	o.wait(time.Hour + time.Second)
	_, _, err = use(token)
	require.ErrorIs(t, err, ErrLink, "a link of a reset lasts an hour")
}

func TestForgotSaysNothing(t *testing.T) {
	t.Parallel()
	o := setup(t)
	owner, email, v := o.person()
	mails := func() (n int) {
		require.NoError(t, o.cfg.DB.QueryRow(t.Context(), `SELECT count(*) FROM notices WHERE company_id = $1`, owner.Company).Scan(&n))
		return n
	}
	require.NoError(t, o.Forgot(t.Context(), "nobody@example.com", v))
	require.Zero(t, mails())
	for range 5 {
		require.NoError(t, o.Forgot(t.Context(), email, v))
		o.wait(time.Second)
	}
	require.EqualValues(t, byReset.burst, mails(), "nobody is flooded")
	o.active[owner.User] = false
	o.wait(24 * time.Hour)
	require.NoError(t, o.Forgot(t.Context(), email, v))
	require.EqualValues(t, byReset.burst, mails(), "a blocked user gets none")
}

func TestPasswordsThatAreRefused(t *testing.T) {
	t.Parallel()
	o := setup(t)
	for _, bad := range []string{"", "short", "elevenchars", "aaaaaaaaaaaaaaaa", "anna.long@example.com", "invalid \xff\xfe text", string(make([]byte, maxPassword+1))} {
		_, err := o.NewPassword(t.Context(), "password", bad, "Anna.long@example.com")
		require.True(t, apierr.Is(err, "VALIDATION_ERROR"), "%q: %v", bad, err)
	}
	owner, _, _ := o.person()
	require.Error(t, o.ConfirmPassword(t.Context(), owner, "current", "no"))
	require.NoError(t, o.ConfirmPassword(t.Context(), owner, "current", word))
}

// Keys change while second factors stay.
func TestSecondFactorsMoveToTheFirstKey(t *testing.T) {
	t.Parallel()
	o := setup(t)
	owner, email, v := o.person()
	old := secret.NewKey("old")
	before, err := secret.ParseKeys(old)
	require.NoError(t, err)
	o.cfg.Keys = before
	factor := o.turnOnTOTP(owner, email)
	next := secret.NewKey("next")
	o.cfg.Keys, err = secret.ParseKeys(next + "\n" + old)
	require.NoError(t, err)
	moved, _, err := o.Rekey(t.Context(), 1, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.Positive(t, moved)
	o.cfg.Keys, err = secret.ParseKeys(next)
	require.NoError(t, err)
	o.wait(period * time.Second)
	half, err := o.SignIn(t.Context(), Credentials{email, word}, v)
	require.NoError(t, err)
	code, err := totp.GenerateCode(factor.Secret, o.now())
	require.NoError(t, err)
	_, err = o.EnterCode(t.Context(), half.Session, code, v)
	require.NoError(t, err, "the new key alone opens it")
}
