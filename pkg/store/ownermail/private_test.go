package ownermail

import (
	"context"
	"encoding/base64"
	"fmt"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
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

// Mails to the customers of a company have limits of their own, and are forgotten when they are not worth sending any more.
func TestMailsToCustomers(t *testing.T) {
	t.Parallel()
	k := setup(t)
	s, sender := k.start()
	sender.cfg.perDayCustomers, sender.cfg.perDayCustomer = 4, 2
	c, other := k.company("Nordic", "anna@example.com"), k.company("Other")
	mail := func(of tenant.ID, to string, until time.Duration) {
		require.NoError(t, k.db.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			n := Notice{Kind: Customer + "booking.created", Record: uuid.New(), Since: tx.Now(), Until: tx.Now().Add(until), Subject: "Your booking", Text: "https://book.example.com/b/secret"}
			return AddTo(ctx, tx, of, to, n)
		}))
	}
	mail(c, "late@example.com", time.Minute)
	k.advance(2 * time.Minute)
	for range 3 {
		mail(c, "bo@example.com", time.Hour)
	}
	require.NoError(t, sender.SendDue(t.Context()))
	require.Len(t, s.mails(), 2, "one is late, one too many for the address")
	for i := range 3 {
		mail(c, fmt.Sprintf("kim%d@example.com", i), time.Hour)
	}
	mail(other, "bo@example.com", time.Hour)
	require.True(t, k.add(c, newNotice()))
	require.NoError(t, sender.SendDue(t.Context()))
	count := map[string]int{}
	for _, r := range k.rows(c) {
		count[r.Status]++
	}
	require.Equal(t, map[string]int{sent: 5, suppressed: 2, "pending": 1}, count, "four customers, and the owner")
	require.Len(t, s.mails(), 6)
	var left int
	require.NoError(t, k.db.QueryRow(t.Context(), `SELECT count(*) FROM notices WHERE status <> 'pending' AND body LIKE '%secret%'`).Scan(&left))
	require.Zero(t, left)
}

// A document is attached to its mail, and nothing of it stays. A company sends so many of them in 24 hours.
func TestDocumentsAreAttached(t *testing.T) {
	t.Parallel()
	k := setup(t)
	s, sender := k.start()
	c := k.company("Nordic")
	add := func() error {
		answers := "shop@nordic.example"
		return k.db.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			return AddDocument(ctx, tx, access.Caller{Principal: &access.Principal{Company: c}}, "bo@example.com", Notice{
				Kind: "order.confirmation", Record: uuid.New(), Subject: "Order 7", Text: "Attached.", File: &File{Name: "Order 7.pdf", Media: "application/pdf", Bytes: []byte("%PDF-1.4 paper")},
				From: "Nordic \"Ö\" <eve@example.com>\r\nBcc: eve@example.com", ReplyTo: &answers,
			})
		})
	}
	require.NoError(t, add())
	require.NoError(t, sender.SendDue(t.Context()))
	require.Len(t, s.mails(), 1)
	from, err := s.mails()[0].header.AddressList("From")
	require.NoError(t, err)
	require.Equal(t, []*netmail.Address{{Name: `Nordic "Ö" <eve@example. com> Bcc: eve@example. com via Tradegrid`, Address: "tradegrid@example.com"}}, from)
	require.Equal(t, "<shop@nordic.example>", s.mails()[0].header.Get("Reply-To"))
	require.Empty(t, s.mails()[0].header.Get("Bcc"))
	body := s.mails()[0].body
	require.Contains(t, body, "Attached.")
	require.Contains(t, body, `filename="Order 7.pdf"`)
	require.Contains(t, body, base64.StdEncoding.EncodeToString([]byte("%PDF-1.4 paper")))
	var left int
	require.NoError(t, k.db.QueryRow(t.Context(), `SELECT count(*) FROM notices WHERE company_id = $1 AND file_bytes IS NOT NULL`, c).Scan(&left))
	require.Zero(t, left)
	_, err = k.db.Exec(t.Context(), `INSERT INTO notices (company_id, kind, record_id, since, recipient, subject, body, status, tries, next_at, created_at, expires_at)
SELECT $1, 'customer.document.order.receipt', gen_random_uuid(), now(), 'x', '', '', 'sent', 1, now(), $2, now() FROM generate_series(1, $3::INT)`, c, k.db.Now(), documentsADay-1)
	require.NoError(t, err)
	require.ErrorIs(t, add(), ErrTooMany)
	k.advance(25 * time.Hour)
	require.NoError(t, add())
}

// A mail to a customer names the company beside the platform, if that has a name, and others the platform alone.
func TestMailsNameTheCompany(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		platform string
		company  *string
		want     string
	}{
		{"Tradegrid <mail@example.com>", new("Nordic"), `"Nordic via Tradegrid" <mail@example.com>`},
		{"mail@example.com", new("Nordic"), `"Nordic" <mail@example.com>`},
		{"Tradegrid <mail@example.com>", nil, `"Tradegrid" <mail@example.com>`},
	} {
		m, err := NewSender(Config{From: row.platform}).message(&draft{Kind: "test", Recipient: "bo@example.com", From: row.company})
		require.NoError(t, err)
		require.Equal(t, row.want, m.GetFromString()[0])
		require.Empty(t, m.GetAddrHeader("Reply-To"))
	}
}
