package accounts

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// lockLimits locks the rows of buckets, as attempts that are being made do, until the test ends.
func (o *office) lockLimits(keys ...string) {
	o.t.Helper()
	require.NoError(o.t, o.cfg.DB.RunTx(o.t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
		for _, key := range keys {
			tx.Queue(sqlLockedLevel, key, tx.Now())
		}
		return nil
	}))
	tx, err := o.cfg.DB.Pool().Begin(o.t.Context())
	require.NoError(o.t, err)
	o.t.Cleanup(func() { require.NoError(o.t, tx.Rollback(context.Background())) })
	_, err = tx.Exec(o.t.Context(), `SELECT 1 FROM sign_in_limits WHERE key = ANY($1) FOR UPDATE`, keys)
	require.NoError(o.t, err)
}

var sqlLockedLevel = signInLimits.Insert(`(key, arrival, expires_at) VALUES ($1, $2, $2) ON CONFLICT (key) DO NOTHING`)

// Whoever tries waits for no row of the limits, however many others write it.
func TestNoAttemptWaitsForItsLimits(t *testing.T) {
	t.Parallel()
	o, m := provided(t)
	_, email, v := o.person()
	o.lockLimits(byAccount.of(email).key, ofAddress(v.Address).key, byReset.of(email).key)
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second) // a wait for a lock ends after 10
	defer cancel()
	_, err := o.SignIn(ctx, Credentials{email, "guess guess guess"}, v)
	require.ErrorIs(t, err, ErrRefused)
	_, err = o.SignIn(ctx, Credentials{email, word}, v)
	require.NoError(t, err)
	require.NoError(t, o.Forgot(ctx, email, v))
	_, err = o.SignInByPasskey(ctx, "no ceremony", "no answer", v)
	require.ErrorIs(t, err, ErrCeremony)
	_, err = o.identify(m, somebody{subject: uuid.NewString(), email: email, verified: true}, v)
	require.NoError(t, err)
	err = o.RefuseOperator(ctx, v)
	require.True(t, err == nil || errors.Is(err, ErrRefused), "%v", err)
}

// secured is a person with a second factor and a full session, from a browser that is known since then.
func (o *office) secured() (owner Owner, email, recovery string, full Entered, home Visit) {
	o.t.Helper()
	owner, email, home = o.person()
	factor, err := o.StartTOTP(owner, email)
	require.NoError(o.t, err)
	code := func() string {
		c, err := totp.GenerateCode(factor.Secret, o.now())
		require.NoError(o.t, err)
		return c
	}
	var codes []string
	require.NoError(o.t, o.tx(func(ctx context.Context, tx *db.Tx) (err error) {
		codes, err = o.ConfirmTOTP(ctx, tx, owner, email, factor.Sealed, code())
		return err
	}))
	o.wait(period * time.Second)
	full, err = o.EnterCode(o.t.Context(), o.half(email, home), code(), home)
	require.NoError(o.t, err)
	home.Device = full.Device
	return owner, email, codes[0], full, home
}

func (o *office) half(email string, v Visit) Session {
	o.t.Helper()
	e, err := o.SignIn(o.t.Context(), Credentials{email, word}, v)
	require.NoError(o.t, err)
	require.True(o.t, e.NeedsCode())
	return e.Session
}

// Who knows the password of an account with a second factor ends no session of its owner, however often they sign in by halves.
func TestHalfSignInsEndNoSession(t *testing.T) {
	t.Parallel()
	o := setup(t)
	owner, email, _, full, home := o.secured()
	var limited *LimitedError
	for range 2 {
		tried := 0
		for range int(byAccount.burst) + 5 {
			_, err := o.SignIn(t.Context(), Credentials{email, word}, o.visit())
			if err == nil {
				tried++
				continue
			}
			require.ErrorAs(t, err, &limited)
		}
		require.EqualValues(t, byAccount.burst, tried, "the password alone gives no attempt back")
		o.wait(byAccount.whole())
	}
	require.NoError(t, o.tx(func(_ context.Context, tx *db.Tx) error {
		for range maxSessions + 5 {
			begin(tx, owner, stageCode, "", o.visit())
		}
		return nil
	}))
	require.NoError(t, o.tx(func(_ context.Context, tx *db.Tx) error {
		begin(tx, owner, stageFull, "", home)
		return nil
	}))
	_, err := o.Session(t.Context(), full.Token, home)
	require.NoError(t, err, "full sessions alone count")
}

// Who knows the password uses up the codes of new browsers. The owner's browser has its own, and a recovery code gets in from any.
func TestWrongCodesLockNobodyOut(t *testing.T) {
	t.Parallel()
	o := setup(t)
	_, email, recovery, _, home := o.secured()
	intruder := o.visit()
	half := o.half(email, intruder)
	var limited *LimitedError
	for range int(byCode.burst) {
		_, err := o.EnterCode(t.Context(), half, "123456", intruder)
		require.ErrorIs(t, err, errCode)
	}
	_, err := o.EnterCode(t.Context(), half, "123456", intruder)
	require.ErrorAs(t, err, &limited, "codes are not guessed")
	again := o.half(email, o.visit())
	_, err = o.EnterCode(t.Context(), again, "123456", o.visit())
	require.ErrorAs(t, err, &limited, "nor by ever new sign-ins")
	_, err = o.EnterCode(t.Context(), o.half(email, home), "123456", home)
	require.ErrorIs(t, err, errCode, "a known browser has attempts of its own")
	elsewhere := o.visit()
	_, err = o.EnterCode(t.Context(), o.half(email, elsewhere), recovery, elsewhere)
	require.NoError(t, err, "a recovery code is not guessed")
}

// flooded is a process whose pool is small, and the most connections that were held while others tried to get in.
type flooded struct {
	*office
	watch *db.DB // a pool of its own
	held  int32
	waits int
}

func (f *flooded) look() {
	f.t.Helper()
	f.held = max(f.held, f.cfg.DB.Pool().Stat().AcquiredConns())
	if f.watch.Dialect() != db.PostgreSQL {
		return
	}
	var waits int
	require.NoError(f.t, f.watch.QueryRow(f.t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waits))
	f.waits += waits
}

// Strangers hold few connections and wait for no row. People get in meanwhile, wherever the strangers come from.
func TestStrangersKeepNobodyOut(t *testing.T) {
	t.Parallel()
	url := dbtest.NewDatabase(t)
	open := func(conns int32) *db.DB {
		d, err := db.Open(t.Context(), db.Config{URL: url, MaxConns: conns})
		require.NoError(t, err)
		t.Cleanup(d.Close)
		return d
	}
	f := &flooded{watch: open(2), office: &office{t: t, active: map[uuid.UUID]bool{}}}
	f.Service = New(Config{DB: open(8), Keys: apitest.Keys(t), URL: "https://console.example.com", Active: func(_ context.Context, _ tenant.ID, id uuid.UUID) (bool, error) {
		return f.active[id], nil
	}})
	var people []Credentials
	var homes []Visit
	for range 8 {
		_, email, home := f.person()
		e, err := f.SignIn(t.Context(), Credentials{email, word}, home)
		require.NoError(t, err)
		home.Device = e.Device
		people, homes = append(people, Credentials{email, word}), append(homes, home)
	}
	one, proxy := uuid.NewString(), f.visit()
	for name, stranger := range map[string]func() (string, Visit){
		"one name, one address":         func() (string, Visit) { return one, proxy },
		"ever new names, one address":   func() (string, Visit) { return uuid.NewString(), proxy },
		"ever new names, and addresses": func() (string, Visit) { return uuid.NewString(), f.visit() },
	} {
		_, from := stranger()
		oneAddress := from.Address == proxy.Address
		var flood sync.WaitGroup
		for range 100 {
			flood.Go(func() {
				for range 2 {
					email, v := stranger()
					_, err := f.SignIn(t.Context(), Credentials{email, "guess guess guess"}, v)
					var limited *LimitedError
					if !errors.Is(err, ErrRefused) && !errors.Is(err, ErrBusy) && !errors.As(err, &limited) {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
		}
		for i, in := range people {
			_, err := f.SignIn(t.Context(), in, homes[i])
			require.NoError(t, err, name)
			f.look()
		}
		if oneAddress {
			_, err := f.SignIn(t.Context(), people[0], f.visit())
			require.NoError(t, err, "%s: from a new browser", name)
		}
		flood.Wait()
	}
	require.LessOrEqual(t, f.held, int32(2), "connections: a quarter of the pool")
	require.Zero(t, f.waits)
}
