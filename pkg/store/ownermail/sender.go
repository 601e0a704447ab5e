package ownermail

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/wneessen/go-mail"

	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Transport takes messages.
type Transport interface {
	Send(ctx context.Context, m *mail.Msg) error
}

// Find looks for what is worth a notice, over all companies, and adds it.
type Find func(ctx context.Context) error

// findEvery is the interval between searches.
const findEvery = 5 * time.Minute

// Config configures a [Sender].
type Config struct {
	DB                              *db.DB
	Find                            []Find
	Transport                       Transport     // nil = notices are kept, and not sent
	From                            string        // address of the sender; required with Transport
	every                           time.Duration // interval between passes; 10 s
	perDay                          int           // mails in 24 hours to the owners of a company, and to one address about an account; 50
	perDayCustomers, perDayCustomer int           // mails in 24 hours to all customers of a company, 2000, and to one of them, 20
	Log                             *slog.Logger
}

// Sender looks for occasions and sends what is due. Several at once send each notice once, unless one dies while the server
// answers it: then the message comes again, with the same Message-ID.
type Sender struct{ cfg Config }

// NewSender returns a sender.
func NewSender(cfg Config) *Sender {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.every = cmp.Or(cfg.every, 10*time.Second)
	cfg.perDay = cmp.Or(cfg.perDay, 50)
	cfg.perDayCustomers, cfg.perDayCustomer = cmp.Or(cfg.perDayCustomers, 2000), cmp.Or(cfg.perDayCustomer, 20)
	return &Sender{cfg}
}

const (
	lease     = 2 * time.Minute // another process sends a notice this much later, if the one that took it died
	firstWait = time.Minute     // after the first failure; doubles
	maxWait   = time.Hour
	giveUp    = 3 * 24 * time.Hour // after the notice was made
)

// Run works while owner reports that this process is in charge, until ctx is done.
func (s *Sender) Run(ctx context.Context, owner func() bool) {
	if s.cfg.Transport == nil {
		s.cfg.Log.InfoContext(ctx, "notices to owners are kept but not sent, because --smtp-url is not set")
	}
	t := time.NewTicker(s.cfg.every)
	defer t.Stop()
	var found time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if !owner() {
			oldest.Set(0) // the owner measures
			continue
		}
		if time.Since(found) >= findEvery {
			found = time.Now()
			s.find(telemetry.Untraced(ctx))
		}
		if err := s.SendDue(telemetry.Untraced(ctx)); err != nil && ctx.Err() == nil {
			s.cfg.Log.WarnContext(ctx, "notices not sent", "error", err)
		}
	}
}

func (s *Sender) find(ctx context.Context) {
	for _, find := range s.cfg.Find {
		if err := find(ctx); err != nil && ctx.Err() == nil {
			s.cfg.Log.WarnContext(ctx, "search for notices failed", "error", err)
		}
	}
}

// SendDue sends what is due. It ends early while the server takes no mail.
func (s *Sender) SendDue(ctx context.Context) error {
	if s.cfg.Transport == nil {
		return nil
	}
	for ctx.Err() == nil {
		d, err := s.claim(ctx)
		if err != nil {
			return err
		}
		if d == nil {
			break
		}
		if err := s.handle(ctx, d); err != nil {
			return errors.Join(err, s.measure(ctx))
		}
	}
	return s.measure(ctx)
}

// Nothing waits for longer than maxWait: the condition is for the index.
const sqlOldest = `SELECT created_at FROM notices WHERE status = 'pending' AND next_at <= $1 AND expires_at > $2 ORDER BY created_at LIMIT 1`

func (s *Sender) measure(ctx context.Context) error {
	var at time.Time
	err := s.cfg.DB.QueryRow(ctx, sqlOldest, s.cfg.DB.Now().Add(maxWait), s.cfg.DB.Now()).Scan(&at)
	if errors.Is(err, pgx.ErrNoRows) {
		oldest.Set(0)
		return nil
	}
	if err != nil {
		return fmt.Errorf("measure waiting notices: %w", err)
	}
	oldest.Set(s.cfg.DB.Now().Sub(at).Seconds())
	return nil
}

// draft is a notice for one recipient that this process may send.
type draft struct {
	Company   tenant.ID
	Kind      string
	Record    uuid.UUID
	Since     time.Time
	Recipient string
	Subject   string
	Body      string
	Tries     int32
	CreatedAt time.Time
	FileName  *string // nil = no file
	FileMedia *string
	FileBytes []byte
	From      *string // nil = as the platform is called
	ReplyTo   *string
}

var sqlClaim = notices.Update(`SET tries = tries + 1, next_at = $2
WHERE (company_id, kind, record_id, since, recipient) IN
 (SELECT company_id, kind, record_id, since, recipient FROM notices WHERE status = 'pending' AND next_at <= $1 AND expires_at > $1 ORDER BY next_at LIMIT 1)
AND status = 'pending' AND next_at <= $1
RETURNING company_id, kind, record_id, since, recipient, subject, body, tries, created_at, file_name, file_media, file_bytes, sender_name, reply_to`)

// claim takes the notice that has been due for longest; nil = none is due, or another process was faster.
func (s *Sender) claim(ctx context.Context) (d *draft, err error) {
	err = s.cfg.DB.RunTx(ctx, "notice.claim", func(ctx context.Context, tx *db.Tx) error {
		rows, err := tx.Returning(ctx, sqlClaim, tx.Now(), tx.Now().Add(lease))
		if err != nil {
			return err
		}
		v, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[draft])
		if d = &v; errors.Is(err, pgx.ErrNoRows) {
			d = nil
			return nil
		}
		return err
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil {
		return nil, fmt.Errorf("claim notice: %w", err)
	}
	return d, nil
}

// Outcomes, which are also the states of rows that are over.
const (
	sent        = "sent"
	failed      = "failed"
	suppressed  = "suppressed"  // the company got too many
	unaddressed = "unaddressed" // nobody could get it
)

// handle sends a notice, or ends it without. The error says that no other can be sent either.
func (s *Sender) handle(ctx context.Context, d *draft) error {
	over, err := s.many(ctx, d)
	switch {
	case err != nil:
		return err
	case d.Recipient == "":
		return s.end(ctx, d, unaddressed, errors.New("the company has no active user with the role owner and an e-mail address"))
	case over && d.private(): // what somebody must know of their account comes late at worst
		return s.postpone(ctx, d, fmt.Errorf("the address got %d mails in 24 hours", s.cfg.perDay))
	case over:
		return s.end(ctx, d, suppressed, fmt.Errorf("the company got %d mails in 24 hours", s.cfg.perDay))
	}
	m, err := s.message(d)
	if err != nil {
		return s.end(ctx, d, failed, err)
	}
	if err = s.cfg.Transport.Send(ctx, m); err == nil {
		return s.end(ctx, d, sent, nil)
	}
	if ctx.Err() != nil {
		return err // it is due again when the lease is over
	}
	if errors.Is(err, errRefused) || s.cfg.DB.Now().Sub(d.CreatedAt) > giveUp {
		return s.end(ctx, d, failed, err)
	}
	if later := s.postpone(ctx, d, err); later != nil || errors.Is(err, errUnavailable) {
		return errors.Join(err, later)
	}
	return nil
}

const (
	sqlCountSent            = `SELECT count(*) FROM notices WHERE company_id = $1 AND status = 'sent' AND ended_at > $2 AND kind NOT LIKE 'account.%' AND kind NOT LIKE 'customer.%'`
	sqlCountSentToUser      = `SELECT count(*) FROM notices WHERE company_id = $1 AND status = 'sent' AND ended_at > $2 AND kind LIKE 'account.%' AND recipient = $3`
	sqlCountSentToCustomers = `SELECT count(*), count(*) FILTER (WHERE recipient = $3) FROM (
 SELECT recipient FROM notices WHERE company_id = $1 AND status = 'sent' AND ended_at > $2 AND kind LIKE 'customer.%' LIMIT $4) AS n`
)

// many reports whether as many mails as may be were sent in 24 hours: to the owners of the company, or about the account of one person.
func (s *Sender) many(ctx context.Context, d *draft) (bool, error) {
	if d.customer() {
		return s.manyToCustomers(ctx, d)
	}
	query, args := sqlCountSent, []any{d.Company, s.cfg.DB.Now().Add(-24 * time.Hour)}
	if d.private() {
		query, args = sqlCountSentToUser, append(args, d.Recipient)
	}
	var n int
	if err := s.cfg.DB.QueryRow(ctx, query, args...).Scan(&n); err != nil {
		return false, fmt.Errorf("count notices: %w", err)
	}
	return n >= s.cfg.perDay, nil
}

// manyToCustomers reports whether the customers of a company, or this one of them, got as many mails in 24 hours as may be.
func (s *Sender) manyToCustomers(ctx context.Context, d *draft) (bool, error) {
	var all, to int
	err := s.cfg.DB.QueryRow(ctx, sqlCountSentToCustomers, d.Company, s.cfg.DB.Now().Add(-24*time.Hour), d.Recipient, s.cfg.perDayCustomers).Scan(&all, &to)
	if err != nil {
		return false, fmt.Errorf("count mails to customers: %w", err)
	}
	return all >= s.cfg.perDayCustomers || to >= s.cfg.perDayCustomer, nil
}

func (d *draft) customer() bool { return strings.HasPrefix(d.Kind, Customer) }

func (d *draft) private() bool { return strings.HasPrefix(d.Kind, Private) }

// message makes the mail of a notice. Repeats of it are equal, also in their Message-ID.
func (s *Sender) message(d *draft) (*mail.Msg, error) {
	m := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := errors.Join(m.From(s.cfg.From), m.To(d.Recipient)); err != nil {
		return nil, fmt.Errorf("address notice: %w", err)
	}
	if err := d.onBehalf(m); err != nil {
		return nil, err
	}
	_, domain, _ := strings.Cut(m.GetFrom()[0].Address, "@")
	m.SetMessageIDWithValue(d.id() + "@" + domain)
	m.SetDateWithValue(d.CreatedAt)
	m.SetGenHeader("Auto-Submitted", "auto-generated")
	m.Subject(d.Subject)
	m.SetBodyString(mail.TypeTextPlain, d.Body)
	if d.FileName != nil && d.FileMedia != nil {
		if err := m.AttachReader(*d.FileName, bytes.NewReader(d.FileBytes), mail.WithFileContentType(mail.ContentType(*d.FileMedia))); err != nil {
			return nil, fmt.Errorf("attach file to notice: %w", err)
		}
	}
	return m, nil
}

// onBehalf names the company of a mail to a customer beside the platform, whose address sends it.
func (d *draft) onBehalf(m *mail.Msg) error {
	if d.ReplyTo != nil {
		if err := m.ReplyTo(*d.ReplyTo); err != nil {
			return fmt.Errorf("address answers to notice: %w", err)
		}
	}
	if d.From == nil {
		return nil
	}
	from, name := *m.GetFrom()[0], *d.From
	if from.Name != "" {
		name += " via " + from.Name
	}
	from.Name = name
	if err := m.From(from.String()); err != nil {
		return fmt.Errorf("name sender of notice: %w", err)
	}
	return nil
}

func (d *draft) id() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{d.Company.String(), d.Record.String(), d.Since.UTC().Format(time.RFC3339Nano), d.Recipient}, "\n")))
	return d.Kind + "." + hex.EncodeToString(sum[:12])
}

var (
	sqlEnd = notices.Update(`SET status = $7, error = $8, ended_at = $9, body = CASE WHEN kind LIKE 'account.%' OR kind LIKE 'customer.%' THEN '' ELSE body END, file_bytes = NULL
WHERE company_id = $1 AND kind = $2 AND record_id = $3 AND since = $4 AND recipient = $5 AND tries = $6 AND ended_at IS NULL`)
	sqlPostpone = notices.Update(`SET next_at = $7, error = $8
WHERE company_id = $1 AND kind = $2 AND record_id = $3 AND since = $4 AND recipient = $5 AND tries = $6 AND ended_at IS NULL`)
)

// end stores how a notice ended, also when ctx is done.
func (s *Sender) end(ctx context.Context, d *draft, outcome string, why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := s.cfg.DB.RunTx(ctx, "notice.end", func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlEnd, d.Company, d.Kind, d.Record, d.Since, d.Recipient, d.Tries, outcome, text(why), tx.Now())
		return nil
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil {
		return fmt.Errorf("end notice: %w", err)
	}
	ended.WithLabelValues(outcome).Inc()
	if why != nil {
		s.cfg.Log.WarnContext(ctx, "notice not sent", "company_id", d.Company, "kind", d.Kind, "record_id", d.Record, "outcome", outcome, "error", why)
	}
	return nil
}

// postpone lets a notice wait for longer with each try.
func (s *Sender) postpone(ctx context.Context, d *draft, why error) error {
	wait := maxWait
	if d.Tries <= 6 {
		wait = firstWait << (d.Tries - 1)
	}
	err := s.cfg.DB.RunTx(ctx, "notice.postpone", func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlPostpone, d.Company, d.Kind, d.Record, d.Since, d.Recipient, d.Tries, tx.Now().Add(wait), text(why))
		return nil
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil {
		return fmt.Errorf("postpone notice: %w", err)
	}
	retries.Inc()
	return nil
}

// text is what is stored of an error.
func text(err error) *string {
	if err == nil {
		return nil
	}
	s := strings.ToValidUTF8(strings.ReplaceAll(err.Error(), "\x00", ""), "?")
	if len(s) > 500 {
		s = strings.ToValidUTF8(s[:500], "")
	}
	return &s
}

var (
	ended = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_notices_total", Help: "Notices to owners that are over, by outcome: sent, failed, suppressed (the company got too many), unaddressed (it has no owner with an address).",
	}, []string{"outcome"})
	retries = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_notice_retries_total", Help: "Tries to send a notice that failed and are repeated.",
	})
	oldest = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_notices_oldest_pending_seconds", Help: "Age of the oldest notice that is not sent yet, as the process in charge sees it.",
	})
)

// Metrics returns the collectors of this package, to be registered once per process.
func Metrics() []prometheus.Collector {
	for _, outcome := range []string{sent, failed, suppressed, unaddressed} {
		ended.WithLabelValues(outcome)
	}
	return []prometheus.Collector{ended, retries, oldest}
}
