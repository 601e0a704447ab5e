package scheduling_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
)

// remindable is a company that reminds its customers 2 h and 30 min before, in a database of its own: reminders are those of all companies.
func remindable(t *testing.T) public {
	t.Helper()
	return openLinksIn(t, dbtest.OpenNew(t), &atomic.Int64{}, func(c *access.Principal) {
		c.Settings.Bookings.Mails, c.Settings.Bookings.Reminders = true, []int32{120, 30}
	})
}

// remind runs several processes at once, until none has more to do.
func (p public) remind() {
	p.t.Helper()
	together(3, func(int) {
		for more := true; more; {
			var err error
			if more, err = p.service.Remind(p.t.Context()); err != nil {
				p.t.Error(err)
				return
			}
		}
	})
}

// reminders are the minutes of the reminders of a booking.
func (p public) reminders(b object) (minutes []float64) {
	p.t.Helper()
	for _, e := range p.allEvents() {
		if e.Name == "booking.reminder" && e.Data["id"] == b["id"] {
			require.Equal(p.t, "system", e.By)
			require.Nil(p.t, e.Data["publicUrl"])
			minutes = append(minutes, e.Data["minutesBefore"].(float64))
		}
	}
	return minutes
}

func (p public) letters(kind string) (n int) {
	p.t.Helper()
	for _, m := range p.mails() {
		if m.Kind == "customer.booking."+kind {
			n++
		}
	}
	return n
}

func TestRemindersAreRaisedOnce(t *testing.T) {
	t.Parallel()
	p := remindable(t)
	b := p.soon(p.resource(), 3*time.Hour)
	p.remind()
	require.Empty(t, p.reminders(b), "none is due")
	p.later(61 * time.Minute)
	p.remind()
	p.remind()
	require.Equal(t, []float64{120}, p.reminders(b))
	require.Equal(t, 1, p.letters("reminder"))
	require.Equal(t, 1.0, p.read(b)["version"], "the booking has not changed")
	p.later(90 * time.Minute)
	p.remind()
	require.Equal(t, []float64{120, 30}, p.reminders(b))
	p.later(20 * time.Minute)
	p.remind()
	require.Len(t, p.reminders(b), 2)
	require.Equal(t, 2, p.letters("reminder"))
}

func TestOnlyOpenBookingsAreReminded(t *testing.T) {
	t.Parallel()
	p := remindable(t)
	r := p.resource("parallelBookings", 9)
	cancelled, confirmed, noShow, short := p.soon(r, 3*time.Hour), p.soon(r, 3*time.Hour), p.soon(r, 3*time.Hour), p.soon(r, 90*time.Minute)
	p.move(cancelled, "cancelled").OK(200)
	p.move(confirmed, "confirmed").OK(200)
	p.move(noShow, "no_show").OK(200)
	p.later(61 * time.Minute)
	p.remind()
	require.Equal(t, [][]float64{nil, {120}, nil, {30}}, [][]float64{p.reminders(cancelled), p.reminders(confirmed), p.reminders(noShow), p.reminders(short)})
}

// A reminder that nobody raised in time is raised as long as it says something: until the next one is due, or the booking begins.
func TestLateReminders(t *testing.T) {
	t.Parallel()
	p := remindable(t)
	r := p.resource("parallelBookings", 9)
	begun, both, late := p.soon(r, 125*time.Minute), p.soon(r, 150*time.Minute), p.soon(r, 200*time.Minute)
	p.later(130 * time.Minute)
	p.remind()
	require.Equal(t, [][]float64{nil, {30}, {120}}, [][]float64{p.reminders(begun), p.reminders(both), p.reminders(late)})
	p.later(45 * time.Minute)
	p.remind()
	require.Equal(t, [][]float64{nil, {30}, {120, 30}}, [][]float64{p.reminders(begun), p.reminders(both), p.reminders(late)})
}

func TestMovedBookingsGetNewReminders(t *testing.T) {
	t.Parallel()
	p := remindable(t)
	b := p.soon(p.resource(), 3*time.Hour)
	p.later(61 * time.Minute)
	p.remind()
	b = p.Do(t, "PATCH", path(b), object{"startAt": p.db.Now().Add(6 * time.Hour).UTC().Format(time.RFC3339)}).OK(200)
	p.remind()
	require.Equal(t, []float64{120}, p.reminders(b))
	p.later(4*time.Hour + time.Minute)
	p.Do(t, "PATCH", path(b), object{"note": "a change that leaves the time"}).OK(200)
	p.remind()
	require.Equal(t, []float64{120, 120}, p.reminders(b))
}

// After a restore the same reminder has the same id, by which its receivers know it.
func TestRemindersAreKnownAfterARestore(t *testing.T) {
	t.Parallel()
	p := remindable(t)
	b := p.soon(p.resource(), 3*time.Hour)
	p.later(61 * time.Minute)
	var due time.Time
	require.NoError(t, p.db.QueryRow(t.Context(), `SELECT reminder_at FROM bookings WHERE company_id = $1 AND id = $2`, p.Principal.Company, b["id"]).Scan(&due))
	ids := func() (all []string) {
		for _, e := range apitest.Events(t, p.db, p.Principal.Company) {
			if e.Event == "booking.reminder" {
				all = append(all, e.EventID)
			}
		}
		return all
	}
	p.remind()
	before := ids()
	require.Len(t, before, 1)
	for _, sql := range []string{`DELETE FROM outbox`, `DELETE FROM notices`} { // the backup was made before
		_, err := p.db.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	_, err := p.db.Pool().Exec(t.Context(), `UPDATE bookings SET reminder_at = $3 WHERE company_id = $1 AND id = $2`, p.Principal.Company, b["id"], due)
	require.NoError(t, err)
	p.later(time.Minute)
	p.remind()
	require.Equal(t, before, ids())
}

func TestOtherRemindersArePlannedAnew(t *testing.T) {
	t.Parallel()
	p := remindable(t)
	r := p.resource("parallelBookings", 9)
	b, far, due := p.soon(r, 6*time.Hour), p.soon(r, 10*time.Hour), p.soon(r, 121*time.Minute)
	p.later(2 * time.Minute)
	p.set(func(s *access.BookingSettings) { s.Reminders = []int32{480, 240, 100} })
	require.NoError(t, p.db.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
		scheduling.Replan(tx, p.Principal.Company)
		return nil
	}))
	p.later(3 * time.Minute)
	p.remind()
	require.Empty(t, p.reminders(due), "the company does not want the one that was due any more")
	p.later(2 * time.Hour)
	p.remind()
	require.Equal(t, [][]float64{{240}, {480}, nil}, [][]float64{p.reminders(b), p.reminders(far), p.reminders(due)})
	var left int
	require.NoError(t, p.db.QueryRow(t.Context(), `SELECT count(*) FROM booking_replans`).Scan(&left))
	require.Zero(t, left)
}
