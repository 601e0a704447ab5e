// Package ownermail tells the owners of companies by e-mail what needs their attention: that a subscription was disabled, that a
// token expires. A notice is a row for each owner, written in the transaction of what it is about, and sent later by a
// [Sender]. Rows stay when they were sent, so that nothing is told twice. See docs/notices.md.
//
// What is worth a notice is up to the domains, and so is who the owners of a company are: see [Owners].
package ownermail

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Notice is one thing that owners are told. Of a kind, a record and an occasion there is one notice.
type Notice struct {
	Kind    string    // such as webhook.disabled
	Record  uuid.UUID // what it is about
	Since   time.Time // the occasion, such as the beginning of an outage
	Until   time.Time // it is not worth sending later, and forgotten then; zero = it is kept
	Subject string
	Text    string // paragraphs
	File    *File  // nil = none

	From    string  // company on whose behalf the platform sends it; "" = its own
	ReplyTo *string // address that answers go to; nil = there is none
}

// File is attached to a mail to a customer. It is removed with the text.
type File struct {
	Name  string
	Media string
	Bytes []byte
}

const (
	// Private begins the kinds of notices about one person's account, some of which hold a link that lets somebody in. Their text is
	// removed as soon as they are sent, and they do not count among the mails of the company.
	Private = "account."
	// Invitation is the kind of those that go to somebody who is not a user yet. Whoever adds them bounds their number.
	Invitation = Private + "invitation"
	// Customer begins the kinds of mails to the customers of a company. Their text is removed as well, and they are counted by themselves.
	Customer = "customer."
)

const (
	keep      = 40 * 24 * time.Hour // above the time in which an occasion can be found again
	maxOwners = 10                  // that get a notice
)

const notices = db.Table("notices")

// Owners reads the name of a company and the addresses of its owners, at most limit of them.
type Owners func(ctx context.Context, q db.Querier, company tenant.ID, limit int) (name string, addresses []string, err error)

const sqlKnown = `SELECT EXISTS (SELECT 1 FROM notices WHERE company_id = $1 AND kind = $2 AND record_id = $3 AND since = $4)`

var sqlInsert = notices.Insert(`(company_id, kind, record_id, since, recipient, subject, body, status, tries, next_at, created_at, expires_at, file_name, file_media, file_bytes, sender_name, reply_to)
SELECT $1, $2, $3, $4, u.recipient, $6, $7, 'pending', 0, $8, $8, $9, $10, $11, $12, $13, $14 FROM unnest($5::TEXT[]) AS u(recipient)`)

// Add stores a notice for the owners of a company, in the transaction of what it is about. It reports whether it was the first
// of its occasion; any other is left out. The transaction is serializable: of two at once, one is the first.
func Add(ctx context.Context, tx *db.Tx, company tenant.ID, owners Owners, n Notice) (first bool, err error) {
	var known bool
	if err := tx.QueryRow(ctx, sqlKnown, company, n.Kind, n.Record, n.Since).Scan(&known); err != nil || known {
		return false, wrap(n, err)
	}
	name, recipients, err := owners(ctx, tx, company, maxOwners)
	if err != nil {
		return false, wrap(n, err)
	}
	if len(recipients) == 0 {
		recipients = []string{""} // remembers the occasion
	}
	text := fmt.Sprintf("%s\n\nCompany: %s (%s)\n", strings.TrimSpace(n.Text), Name(name), company)
	tx.Queue(sqlInsert, company, n.Kind, n.Record, n.Since, recipients, line(n.Subject), text, tx.Now(), tx.Now().Add(keep), nil, nil, nil, nil, nil)
	return true, nil
}

// Untold is the condition that a notice of the kind was not added yet, for a statement that looks for occasions; company, record and
// since are its columns, or what it makes of them.
func Untold(kind, company, record, since string) string {
	return `NOT EXISTS (SELECT 1 FROM notices AS n WHERE n.company_id = ` + company + ` AND n.kind = '` + kind + `' AND n.record_id = ` + record + ` AND n.since = ` + since + `)`
}

const sqlCount = `SELECT count(*) FROM notices WHERE company_id = $1 AND kind = $2 AND created_at > $3`

// Count counts the notices of a kind that a company got since a moment.
func Count(ctx context.Context, q db.Querier, company tenant.ID, kind string, since time.Time) (n int, err error) {
	if err := q.QueryRow(ctx, sqlCount, company, kind, since).Scan(&n); err != nil {
		return 0, fmt.Errorf("count notices %s: %w", kind, err)
	}
	return n, nil
}

// AddTo stores a notice for one address, in the transaction of what it is about.
func AddTo(_ context.Context, tx *db.Tx, company tenant.ID, address string, n Notice) error {
	until := n.Until
	if until.IsZero() {
		until = tx.Now().Add(keep)
	}
	var name, media, sender *string
	var raw []byte
	if n.File != nil {
		name, media, raw = &n.File.Name, &n.File.Media, n.File.Bytes
	}
	if shown := Name(n.From); shown != "" {
		sender = &shown
	}
	tx.Queue(sqlInsert, company, n.Kind, n.Record, n.Since, []string{address}, line(n.Subject), strings.TrimSpace(n.Text)+"\n", tx.Now(), until, name, media, raw, sender, n.ReplyTo)
	return nil
}

// ForgetCustomers returns a write that forgets to whom mails about records were sent, and what they said; those that wait are not sent.
// ids selects the records, as document.Follow has it.
func ForgetCustomers(ids string) db.Write {
	return notices.Update(`SET recipient = '', subject = '', body = '', error = NULL, file_name = NULL, file_media = NULL, file_bytes = NULL,
  status = CASE WHEN status = 'pending' THEN 'suppressed' ELSE status END, ended_at = COALESCE(ended_at, $3)
WHERE company_id = $1 AND kind LIKE '` + Customer + `%' AND record_id IN (` + ids + `)`)
}

func wrap(n Notice, err error) error {
	if err != nil {
		return fmt.Errorf("add notice %s: %w", n.Kind, err)
	}
	return nil
}

var (
	scheme = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://|\bwww\.`)
	domain = regexp.MustCompile(`([\p{L}\p{N}-])\.(\p{L}{2,})`)
)

// maxNameRunes is how much of a name a mail shows.
const maxNameRunes = 80

// Name makes a name that somebody has chosen fit for a mail to somebody else: one line, not too long, and nothing that mail programs
// make a link of.
func Name(name string) string {
	text := domain.ReplaceAllString(scheme.ReplaceAllString(line(name), ""), "$1. $2")
	if r := []rune(text); len(r) > maxNameRunes {
		return strings.TrimSpace(string(r[:maxNameRunes])) + "…"
	}
	return text
}

// line puts a text on one line.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }

// CleanupJob deletes notices that no occasion can ask for any more.
var CleanupJob = cleanup.Job{
	Every: time.Hour,
	Delete: notices.Delete(`WHERE (company_id, kind, record_id, since, recipient) IN
 (SELECT company_id, kind, record_id, since, recipient FROM notices WHERE expires_at < $1 LIMIT 1000)`),
}
