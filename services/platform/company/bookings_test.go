package company

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

func TestSettingsOnBookings(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	planned := 0
	s.cfg.Reminders = func(*db.Tx, tenant.ID) { planned++ }
	c, err := s.Create(t.Context(), NewCompany{Name: "Nordic"})
	require.NoError(t, err)
	require.Equal(t, []any{(*string)(nil), int32(1440), false, []int32{}}, []any{c.BookingURL, c.BookingChangeMinutes, c.BookingMails, c.BookingReminders})
	for _, url := range []string{"http://book.example.com", "https://book.example.com/x", "https://u:p@book.example.com", "https://", "book.example.com", "javascript:alert(1)", "https://book.example.com?x=1"} {
		_, err := s.Configure(t.Context(), c.ID, Settings{BookingURL: &url}, "bookingUrl")
		require.ErrorContains(t, err, "bookingUrl", url)
	}
	for _, bad := range [][]int32{{4}, {43_201}, {10, 20, 30, 40, 50, 60}} {
		_, err := s.Configure(t.Context(), c.ID, Settings{BookingReminders: bad}, "bookingReminders")
		require.ErrorContains(t, err, "bookingReminders")
	}
	_, err = s.Configure(t.Context(), c.ID, Settings{BookingChangeMinutes: -1}, "bookingChangeMinutes")
	require.ErrorContains(t, err, "bookingChangeMinutes")
	planned = 0
	got, err := s.Configure(t.Context(), c.ID, Settings{BookingURL: new("https://book.example.com/"), BookingReminders: []int32{120, 1440, 120}}, "bookingUrl", "bookingReminders")
	require.NoError(t, err)
	require.Equal(t, []any{"https://book.example.com", []int32{1440, 120}}, []any{*got.BookingURL, got.BookingReminders})
	require.Positive(t, planned) // more than one if the transaction was tried again
	planned = 0
	_, err = s.Configure(t.Context(), c.ID, Settings{BookingMails: true, BookingReminders: []int32{120, 1440}}, "bookingMails", "bookingReminders")
	require.NoError(t, err)
	require.Zero(t, planned, "they are the same")

	by, err := s.AsCustomer(t.Context(), s.cfg.DB, c.ID)
	require.NoError(t, err)
	require.Equal(t, []any{access.ActorCustomer, "Nordic", "en"}, []any{by.ActorID(), by.CompanyName, by.Settings.Locale})
	require.Equal(t, access.BookingSettings{URL: "https://book.example.com", ChangeMinutes: 1440, Mails: true, Reminders: []int32{1440, 120}}, by.Settings.Bookings)
	require.False(t, by.Allows("scheduling", false), "a customer has no scope")
	_, err = s.Archive(t.Context(), c.ID)
	require.NoError(t, err)
	_, err = s.AsCustomer(t.Context(), s.cfg.DB, c.ID)
	require.True(t, apierr.Is(err, "COMPANY_NOT_FOUND"), "an archived company has no customers")
}
