package ownermail

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// A mail that holds a link which lets somebody in goes to one address, and nothing of it stays. However many go to others of the company,
// it is sent; what one address gets too much of comes later.
func TestPrivateNoticesLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	k := setup(t)
	s, sender := k.start()
	c := k.company("Nordic", "anna@example.com")
	mail := func(to, kind string) {
		require.NoError(t, k.db.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			n := Notice{Kind: kind, Record: uuid.New(), Since: tx.Now(), Subject: "Link", Text: "https://console.example.com/link/secret"}
			return AddTo(ctx, tx, c, to, n)
		}))
	}
	count := func() map[string]int {
		count := map[string]int{}
		for _, r := range k.rows(c) {
			count[r.Status]++
		}
		return count
	}
	for i := range 7 {
		mail(fmt.Sprintf("kim%d@example.com", i), Invitation)
	}
	for range sender.cfg.perDay + 2 {
		mail("anna@example.com", Private+"reset")
	}
	require.True(t, k.add(c, newNotice()))
	require.NoError(t, sender.SendDue(t.Context()))
	require.Equal(t, map[string]int{sent: 7 + sender.cfg.perDay + 1, "pending": 2}, count(), "five mails to one address a day here")
	k.advance(25 * time.Hour)
	require.NoError(t, sender.SendDue(t.Context()))
	require.Equal(t, map[string]int{sent: 7 + sender.cfg.perDay + 3}, count())
	private := 0
	for _, m := range s.mails() {
		if strings.Contains(m.body, "/link/secret") {
			private++
		}
	}
	require.Equal(t, 7+sender.cfg.perDay+2, private)
	var left int
	require.NoError(t, k.db.QueryRow(t.Context(), `SELECT count(*) FROM notices WHERE company_id = $1 AND body LIKE '%secret%'`, c).Scan(&left))
	require.Zero(t, left)
}

func TestNamesInMails(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Nordic Outdoor":                    "Nordic Outdoor",
		"St. Mary & Söhne Co.":              "St. Mary & Söhne Co.",
		"Booking.com":                       "Booking. com",
		"a\r\nBcc: x@evil.example":          "a Bcc: x@evil. example",
		"http://evil.example/x?y=1":         "evil. example/x?y=1",
		"HTTPS://www.Evil.Example":          "Evil. Example",
		"Läden 1.000":                       "Läden 1.000",
		strings.Repeat("ä", maxNameRunes+1): strings.Repeat("ä", maxNameRunes) + "…",
	} {
		require.Equal(t, want, Name(name))
	}
}
