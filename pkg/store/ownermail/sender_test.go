package ownermail

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"github.com/wneessen/go-mail"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// kit has a database of its own, because senders take the notices of all companies.
type kit struct {
	t     *testing.T
	db    *db.DB
	ahead atomic.Int64 // how far the clock is ahead

	companies map[tenant.ID]known
}

func setup(t *testing.T) *kit {
	t.Helper()
	k := &kit{t: t, companies: map[tenant.ID]known{}}
	k.db = dbtest.OpenNew(t).WithClock(func() time.Time { return time.Now().Add(time.Duration(k.ahead.Load())) })
	return k
}

func (k *kit) advance(d time.Duration) { k.ahead.Add(int64(d)) }

// company makes a company with owners.
func (k *kit) company(name string, owners ...string) tenant.ID {
	id := tenant.NewID()
	k.companies[id] = known{name, owners}
	return id
}

// known is what the kit knows of a company.
type known struct {
	name   string
	owners []string
}

// owners is an [Owners].
func (k *kit) owners(_ context.Context, _ db.Querier, id tenant.ID, limit int) (string, []string, error) {
	c := k.companies[id]
	return c.name, c.owners[:min(limit, len(c.owners))], nil
}

var since = time.Date(2026, 11, 20, 9, 30, 0, 123_456_000, time.UTC)

func newNotice() Notice {
	return Notice{Kind: "webhook.disabled", Record: uuid.New(), Since: since, Subject: "Webhook disabled: Läger", Text: "It failed.\n\nMend it."}
}

func (k *kit) add(company tenant.ID, n Notice) (first bool) {
	k.t.Helper()
	require.NoError(k.t, k.db.RunTx(k.t.Context(), "test", func(ctx context.Context, tx *db.Tx) (err error) {
		first, err = Add(ctx, tx, company, k.owners, n)
		return err
	}))
	return first
}

type row struct {
	Recipient, Status string
	Tries             int32
	Error             *string
}

func (k *kit) rows(company tenant.ID) []row {
	k.t.Helper()
	rows, err := k.db.Query(k.t.Context(), `SELECT recipient, status, tries, error FROM notices WHERE company_id = $1 ORDER BY recipient, record_id`, company)
	require.NoError(k.t, err)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	require.NoError(k.t, err)
	return all
}

func (k *kit) sender(s *server, scheme string) *Sender {
	k.t.Helper()
	smtp, err := newSMTP(scheme+"://"+url.UserPassword(mailUser, mailPassword).String()+"@"+s.address, s.trust)
	require.NoError(k.t, err)
	return NewSender(Config{DB: k.db, Transport: smtp, From: "Tradegrid <tradegrid@example.com>", perDay: 5})
}

func (k *kit) start() (*server, *Sender) {
	k.t.Helper()
	s := startServer(k.t, false)
	return s, k.sender(s, "smtp")
}

func TestOwnersGetANoticeOnce(t *testing.T) {
	t.Parallel()
	for scheme, implicit := range map[string]bool{"smtp": false, "smtps": true} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			k := setup(t)
			s := startServer(t, implicit)
			sender := k.sender(s, scheme)
			c := k.company("Nordic Tools", "anna@example.com", "ben@example.com")
			k.company("Other", "other@example.com")
			n := newNotice()
			require.True(t, k.add(c, n))
			require.False(t, k.add(c, n), "it is known")
			require.NoError(t, sender.SendDue(t.Context()))
			require.False(t, k.add(c, n), "it is known when it was sent, too")
			require.NoError(t, sender.SendDue(t.Context()))
			require.Equal(t, []row{{"anna@example.com", sent, 1, nil}, {"ben@example.com", sent, 1, nil}}, k.rows(c))

			got := s.mails()
			require.Len(t, got, 2)
			require.ElementsMatch(t, []string{"anna@example.com", "ben@example.com"}, []string{got[0].to, got[1].to})
			require.NotEqual(t, got[0].header.Get("Message-Id"), got[1].header.Get("Message-Id"))
			h := got[0].header
			require.Equal(t, `"Tradegrid" <tradegrid@example.com>`, h.Get("From"))
			require.Equal(t, "<"+got[0].to+">", h.Get("To"))
			require.Equal(t, "=?UTF-8?q?Webhook_disabled:_L=C3=A4ger?=", h.Get("Subject"))
			require.Equal(t, "auto-generated", h.Get("Auto-Submitted"))
			require.Empty(t, h.Get("X-Mailer"))
			require.Regexp(t, `^<webhook\.disabled\.[0-9a-f]{24}@example\.com>$`, h.Get("Message-Id"))
			require.Contains(t, h.Get("Content-Type"), "text/plain")
			require.Contains(t, strings.ReplaceAll(got[0].body, "\r\n", "\n"), "It failed.\n\nMend it.\n\nCompany: Nordic Tools (")

			n.Since = n.Since.Add(time.Microsecond)
			require.True(t, k.add(c, n), "another occasion")
		})
	}
}

func TestAddIsFirstOnce(t *testing.T) {
	t.Parallel()
	k := setup(t)
	c, n := k.company("Nordic", "anna@example.com"), newNotice()
	var first atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if k.add(c, n) {
				first.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, first.Load())
	require.Len(t, k.rows(c), 1)
}

func TestSendersShareTheWork(t *testing.T) {
	t.Parallel()
	k := setup(t)
	s, sender := k.start()
	const companies = 20
	for i := range companies {
		k.add(k.company("Nordic", fmt.Sprintf("owner%d@example.com", i)), newNotice())
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 3 { // a sender ends early when another one is faster
				if err := sender.SendDue(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	to := map[string]int{}
	for _, m := range s.mails() {
		to[m.to]++
	}
	require.Len(t, to, companies)
	require.Len(t, s.mails(), companies)
}

func TestWrongPasswordLosesNothing(t *testing.T) {
	t.Parallel()
	k := setup(t)
	s, sender := k.start()
	s.set(func() { s.password = "another" })
	c, other := k.company("Nordic", "anna@example.com"), k.company("Other", "ben@example.com")
	k.add(c, newNotice())
	k.add(other, newNotice())
	err := sender.SendDue(t.Context())
	require.ErrorIs(t, err, errUnavailable)
	require.ErrorContains(t, err, "AUTH")
	require.NotContains(t, err.Error(), mailPassword)
	require.EqualValues(t, 1, k.rows(c)[0].Tries+k.rows(other)[0].Tries, "the server is asked once per pass")
	require.Equal(t, "pending", k.rows(c)[0].Status)
	s.set(func() { s.password = mailPassword })
	k.advance(firstWait)
	require.NoError(t, sender.SendDue(t.Context()))
	require.Len(t, s.mails(), 2)
}

func TestTemporaryRefusalIsRepeated(t *testing.T) {
	t.Parallel()
	k := setup(t)
	s, sender := k.start()
	s.set(func() {
		s.rcpt = func(to string) error {
			if to == "anna@example.com" {
				return temporary("greylisted")
			}
			return nil
		}
	})
	c := k.company("Nordic", "anna@example.com", "ben@example.com")
	k.add(c, newNotice())
	require.NoError(t, sender.SendDue(t.Context()))
	require.Len(t, s.mails(), 1, "the other owner does not wait")
	require.Equal(t, "pending", k.rows(c)[0].Status)
	require.Contains(t, *k.rows(c)[0].Error, "greylisted")
	k.advance(firstWait - time.Second)
	require.NoError(t, sender.SendDue(t.Context()))
	require.EqualValues(t, 1, k.rows(c)[0].Tries, "not due yet")
	k.advance(time.Second)
	require.NoError(t, sender.SendDue(t.Context()))
	k.advance(firstWait)
	require.NoError(t, sender.SendDue(t.Context()))
	require.EqualValues(t, 2, k.rows(c)[0].Tries, "the second wait is longer")
	s.set(func() { s.rcpt = nil })
	k.advance(firstWait)
	for range 2 {
		require.NoError(t, sender.SendDue(t.Context()))
		k.advance(maxWait)
	}
	require.Len(t, s.mails(), 2)
	require.Equal(t, row{"anna@example.com", sent, 3, nil}, k.rows(c)[0])
}

func TestGivesUp(t *testing.T) {
	t.Parallel()
	k := setup(t)
	s, sender := k.start()
	s.set(func() { s.rcpt = func(string) error { return temporary("full") } })
	c := k.company("Nordic", "anna@example.com")
	k.add(c, newNotice())
	tries := 0
	for ; k.rows(c)[0].Status == "pending" && tries < 1000; tries++ {
		require.NoError(t, sender.SendDue(t.Context()))
		k.advance(maxWait)
	}
	require.Equal(t, failed, k.rows(c)[0].Status)
	require.InDelta(t, giveUp/maxWait, tries, 3)
}

func TestRefusedRecipientFails(t *testing.T) {
	t.Parallel()
	k := setup(t)
	s, sender := k.start()
	s.set(func() {
		s.rcpt = func(to string) error {
			if to == "anna@example.com" {
				return permanent("no such user")
			}
			return nil
		}
	})
	c := k.company("Nordic", "anna@example.com", "ben@example.com")
	k.add(c, newNotice())
	require.NoError(t, sender.SendDue(t.Context()))
	rows := k.rows(c)
	require.Equal(t, failed, rows[0].Status)
	require.Contains(t, *rows[0].Error, "no such user")
	require.Equal(t, sent, rows[1].Status)
	k.advance(24 * time.Hour)
	require.NoError(t, sender.SendDue(t.Context()))
	require.Len(t, s.mails(), 1)
}

// Nobody can tell whether a server that dies after the message has taken it. The repeat is recognisable.
func TestServerDiesBeforeItsAnswer(t *testing.T) {
	t.Parallel()
	k := setup(t)
	s, sender := k.start()
	s.set(func() { s.data = func() error { return errDie } })
	c := k.company("Nordic", "anna@example.com")
	k.add(c, newNotice())
	require.ErrorIs(t, sender.SendDue(t.Context()), errUnavailable)
	require.Equal(t, "pending", k.rows(c)[0].Status)
	s.set(func() { s.data = nil })
	k.advance(firstWait)
	require.NoError(t, sender.SendDue(t.Context()))
	got := s.mails()
	require.Len(t, got, 2)
	require.Equal(t, got[0].header.Get("Message-Id"), got[1].header.Get("Message-Id"))
	require.Equal(t, got[0].header.Get("Date"), got[1].header.Get("Date"))
}

// Once the server has taken the message, nothing that follows makes it unsent.
func TestServerHangsUpAfterItsAnswer(t *testing.T) {
	t.Parallel()
	k := setup(t)
	s, sender := k.start()
	s.set(func() { s.hangUp = true })
	c := k.company("Nordic", "anna@example.com")
	k.add(c, newNotice())
	require.NoError(t, sender.SendDue(t.Context()))
	require.Equal(t, sent, k.rows(c)[0].Status)
	require.Len(t, s.mails(), 1)
}

func TestAnotherSenderTakesOver(t *testing.T) {
	t.Parallel()
	k := setup(t)
	s, sender := k.start()
	c := k.company("Nordic", "anna@example.com")
	k.add(c, newNotice())
	d, err := sender.claim(t.Context()) // and dies
	require.NoError(t, err)
	require.NoError(t, sender.SendDue(t.Context()))
	require.Empty(t, s.mails(), "it is leased")
	k.advance(lease)
	require.NoError(t, sender.SendDue(t.Context()))
	require.Len(t, s.mails(), 1)
	require.NoError(t, sender.end(t.Context(), d, failed, errRefused), "it was only slow")
	require.Equal(t, sent, k.rows(c)[0].Status)
}

func TestLineBreaksAddNoHeaders(t *testing.T) {
	t.Parallel()
	k := setup(t)
	s, sender := k.start()
	c := k.company("Nordic\r\nBcc: eve@example.com", "anna@example.com", "ben@example.com\r\nRCPT TO:<eve@example.com>")
	n := newNotice()
	n.Subject = "Token\r\nBcc: eve@example.com\r\n\r\nhello"
	n.Text = "A token.\r\n.\r\nMAIL FROM:<eve@example.com>"
	k.add(c, n)
	require.NoError(t, sender.SendDue(t.Context()))
	rows := k.rows(c)
	require.Equal(t, sent, rows[0].Status)
	require.Equal(t, failed, rows[1].Status, "what is not an address gets nothing")
	got := s.mails()
	require.Len(t, got, 1)
	require.Empty(t, got[0].header.Get("Bcc"))
	require.Equal(t, "Token Bcc: eve@example.com hello", got[0].header.Get("Subject"))
	require.Contains(t, got[0].body, "MAIL FROM:<eve@example.com>", "it is text")
	require.Contains(t, got[0].body, "Company: Nordic Bcc: eve@example. com (")
}

func TestLimitPerCompany(t *testing.T) {
	t.Parallel()
	k := setup(t)
	s, sender := k.start()
	c, neighbour := k.company("Flapping", "anna@example.com"), k.company("Other", "ben@example.com")
	for range sender.cfg.perDay + 2 {
		k.add(c, newNotice())
	}
	k.add(neighbour, newNotice())
	require.NoError(t, sender.SendDue(t.Context()))
	require.Len(t, s.mails(), sender.cfg.perDay+1)
	over := 0
	for _, r := range k.rows(c) {
		if r.Status == suppressed {
			over++
		}
	}
	require.Equal(t, 2, over)
	k.advance(25 * time.Hour)
	k.add(c, newNotice())
	require.NoError(t, sender.SendDue(t.Context()))
	require.Len(t, s.mails(), sender.cfg.perDay+2)
}

func TestCompanyWithoutOwner(t *testing.T) {
	t.Parallel()
	k := setup(t)
	s, sender := k.start()
	c, n := k.company("Nobody"), newNotice()
	require.True(t, k.add(c, n))
	require.False(t, k.add(c, n))
	require.NoError(t, sender.SendDue(t.Context()))
	require.Equal(t, unaddressed, k.rows(c)[0].Status)
	require.Empty(t, s.mails())
}

func TestWithoutServerNoticesAreKept(t *testing.T) {
	t.Parallel()
	k := setup(t)
	c := k.company("Nordic", "anna@example.com")
	k.add(c, newNotice())
	require.NoError(t, NewSender(Config{DB: k.db}).SendDue(t.Context()))
	require.Equal(t, []row{{"anna@example.com", "pending", 0, nil}}, k.rows(c))
}

func TestFolder(t *testing.T) {
	t.Parallel()
	k := setup(t)
	c := k.company("Nordic", "anna@example.com")
	k.add(c, newNotice())
	dir := filepath.Join(t.TempDir(), "mail")
	require.NoError(t, NewSender(Config{DB: k.db, Transport: Folder(dir), From: "tradegrid@localhost"}).SendDue(t.Context()))
	files, err := filepath.Glob(filepath.Join(dir, "webhook.disabled.*.eml"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	raw, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.Contains(t, string(raw), "To: <anna@example.com>")
}

// Only the process in charge looks for occasions and sends.
func TestRun(t *testing.T) {
	t.Parallel()
	k := setup(t)
	s, sender := k.start()
	c := k.company("Nordic", "anna@example.com")
	var owner atomic.Bool
	var searches, asked atomic.Int64
	sender.cfg.every = time.Millisecond
	sender.cfg.Find = []Find{func(context.Context) error {
		if searches.Add(1) == 1 {
			k.add(c, newNotice())
		}
		return nil
	}}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		sender.Run(ctx, func() bool { asked.Add(1); return owner.Load() })
	}()
	require.Eventually(t, func() bool { return asked.Load() > 3 }, time.Minute, time.Millisecond)
	require.Zero(t, searches.Load())
	owner.Store(true)
	require.Eventually(t, func() bool { return len(s.mails()) == 1 }, time.Minute, time.Millisecond)
	stop()
	<-done
	require.EqualValues(t, 1, searches.Load())
}

func TestURLs(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"smtp://tradegrid:hunter2@mail.example.com:587": "",
		"smtps://mail.example.com":                      "",
		"smtp://localhost:25?tls=none":                  "",
		"mail.example.com:587":                          "must be a URL",
		"http://tradegrid:hunter2@mail.example.com":     "scheme",
		"smtp://": "must be a URL",
		"smtp://tradegrid:hunter2%@mail.example.com":  "must be a URL",
		"smtp://tradegrid:hunter2@mail.example.com/x": "must be a URL",
		"smtp://mail.example.com?tls=off":             "parameter",
		"smtps://mail.example.com?tls=none":           "parameter",
		"smtp://mail.example.com:99999":               "port",
	} {
		_, err := NewSMTP(address)
		if want == "" {
			require.NoError(t, err, address)
			continue
		}
		require.ErrorContains(t, err, want, address)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

// A server that cannot be trusted gets neither password nor mail.
func TestNoFallBackToPlainText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		server *server
		want   string
	}{
		"without STARTTLS":               {serve(t, nil, false), "STARTTLS"},
		"with a certificate of somebody": {startServer(t, false), "certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := setup(t)
			_, sender := k.start()
			smtp, err := newSMTP("smtp://"+url.UserPassword(mailUser, mailPassword).String()+"@"+c.server.address, nil)
			require.NoError(t, err)
			sender.cfg.Transport = smtp
			k.add(k.company("Nordic", "anna@example.com"), newNotice())
			require.ErrorContains(t, sender.SendDue(t.Context()), c.want)
			require.Empty(t, c.server.mails())
		})
	}
}

// A URL from a file is read for each mail, so that a password may change.
func TestURLIsReadForEachMail(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, false)
	s.set(func() { s.open = true })
	address, failure := "smtp://127.0.0.1:1?tls=none", error(nil)
	smtp, err := NewSMTPFrom(func() (string, error) { return address, failure })
	require.NoError(t, err)
	m := mail.NewMsg()
	require.NoError(t, errors.Join(m.From("tradegrid@example.com"), m.To("anna@example.com")))
	m.SetBodyString(mail.TypeTextPlain, "It failed.")
	failure = errors.New("no such file")
	require.ErrorIs(t, smtp.Send(t.Context(), m), failure)
	require.ErrorIs(t, smtp.Send(t.Context(), m), errUnavailable)
	address, failure = "smtp://"+s.address+"?tls=none", nil
	require.NoError(t, smtp.Send(t.Context(), m))
	require.Len(t, s.mails(), 1)
	_, err = NewSMTPFrom(func() (string, error) { return "http://host", nil })
	require.ErrorContains(t, err, "scheme")
}

func TestServerNextDoorNeedsNoTLS(t *testing.T) {
	t.Parallel()
	k := setup(t)
	s := serve(t, nil, false)
	s.set(func() { s.open = true })
	smtp, err := NewSMTP("smtp://" + s.address + "?tls=none")
	require.NoError(t, err)
	k.add(k.company("Nordic", "anna@example.com"), newNotice())
	require.NoError(t, NewSender(Config{DB: k.db, Transport: smtp, From: "tradegrid@example.com"}).SendDue(t.Context()))
	require.Len(t, s.mails(), 1)
}
