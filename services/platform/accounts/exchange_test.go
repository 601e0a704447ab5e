package accounts

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// another is a further process of the console.
func (o *office) another() *office { return &office{Service: New(o.cfg), t: o.t} }

// guess makes up to n attempts at an account, each from a new address, and returns how many were let try.
func (o *office) guess(email string, n int) (tried int) {
	o.t.Helper()
	for range n {
		_, err := o.SignIn(o.t.Context(), Credentials{email, "guess guess guess"}, o.visit())
		if errors.Is(err, ErrRefused) {
			tried++
			continue
		}
		var limited *LimitedError
		require.ErrorAs(o.t, err, &limited)
	}
	return tried
}

func TestLimitsHoldOverProcesses(t *testing.T) {
	t.Parallel()
	a := setup(t)
	b := a.another()
	email := uuid.NewString() + "@example.com"
	require.Equal(t, 5, a.guess(email, 5))
	require.Equal(t, 5, b.guess(email, 5), "nothing was exchanged yet")
	a.exchange(t.Context())
	b.exchange(t.Context())
	require.Equal(t, 0, b.guess(email, 3), "b knows what a has counted")
	require.Equal(t, 0, a.another().guess(email, 3), "so does a process that starts")
	require.Equal(t, 5, a.guess(email, 9), "a has not heard of b since")
	a.exchange(t.Context())
	a.wait(5 * byAccount.interval)
	require.Equal(t, 0, a.guess(email, 1), "what it has let through too many is waited for")
	a.wait(byAccount.interval)
	require.Equal(t, 1, a.guess(email, 2))
}

func TestProcessesHearOfRefills(t *testing.T) {
	t.Parallel()
	a := setup(t)
	b := a.another()
	email := uuid.NewString() + "@example.com"
	require.EqualValues(t, byAccount.burst, a.guess(email, int(byAccount.burst)+1))
	a.exchange(t.Context())
	require.Equal(t, 0, b.guess(email, 1))
	a.limits.refill(byAccount.of(email)) // as by a link
	require.Equal(t, 1, a.guess(email, 1))
	a.exchange(t.Context())
	require.Equal(t, 0, b.guess(email, 1), "not yet")
	b.exchange(t.Context())
	require.EqualValues(t, byAccount.burst-1, b.guess(email, int(byAccount.burst)+1))
	var rows int
	require.NoError(t, a.cfg.DB.QueryRow(t.Context(), `SELECT count(*) FROM sign_in_limits WHERE key = $1`, byAccount.of(email).key).Scan(&rows))
	require.Equal(t, 1, rows)
}

// What could not be written is written by the next exchange, once.
func TestExchangesThatFailLoseNothing(t *testing.T) {
	t.Parallel()
	o := setup(t)
	email := uuid.NewString() + "@example.com"
	require.Equal(t, 3, o.guess(email, 3))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	o.exchange(over)
	require.Equal(t, 1, o.guess(email, 1))
	for range 3 {
		o.exchange(t.Context())
	}
	var arrival time.Time
	require.NoError(t, o.cfg.DB.QueryRow(t.Context(), sqlSelectArrivals, []string{byAccount.of(email).key}).Scan(new(string), &arrival))
	require.Equal(t, 4*byAccount.interval, arrival.Sub(o.now()))
	require.Empty(t, o.limits.dirty)
}

// A refill that happens while an exchange is under way is not overtaken by it.
func TestRefillDuringAnExchange(t *testing.T) {
	t.Parallel()
	o := setup(t)
	email := uuid.NewString() + "@example.com"
	full := byAccount.of(email)
	require.EqualValues(t, byAccount.burst, o.guess(email, int(byAccount.burst)))
	out := o.limits.outgoing()
	arrivals, err := o.tell(t.Context(), out)
	require.NoError(t, err)
	o.limits.refill(full)
	o.limits.exchanged(out, arrivals)
	require.NoError(t, o.limits.check(o.now(), full))
	o.exchange(t.Context())
	require.EqualValues(t, byAccount.burst, o.another().guess(email, int(byAccount.burst)+1))
}

// Run writes what is left when the process ends.
func TestLimitsAreWrittenAtTheEnd(t *testing.T) {
	t.Parallel()
	o := setup(t)
	email := uuid.NewString() + "@example.com"
	require.EqualValues(t, byAccount.burst, o.guess(email, int(byAccount.burst)))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, o.Run(over))
	require.Zero(t, o.another().guess(email, 1))
}

// A ceremony is ended once over all processes, and who repeats it does not wait for the row.
func TestCeremoniesAreEndedOnce(t *testing.T) {
	t.Parallel()
	o := setup(t)
	sealed, err := o.beginCeremony("test", "data")
	require.NoError(t, err)
	var data string
	require.NoError(t, o.endCeremony(t.Context(), "test", sealed, &data))
	require.Equal(t, "data", data)
	require.ErrorIs(t, o.endCeremony(t.Context(), "test", sealed, &data), ErrCeremony)
	require.ErrorIs(t, o.another().endCeremony(t.Context(), "test", sealed, &data), ErrCeremony)
	require.Empty(t, o.limits.dirty, "the row is written already")

	id := newToken()
	o.lockLimits(once.of(id).key)
	require.ErrorIs(t, o.useUp(t.Context(), id), ErrCeremony)
}
