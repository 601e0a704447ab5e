package accounts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Kinds of links.
const (
	Invitation = "invitation" // a new user sets a password
	Reset      = "reset"      // a user sets another password
	SignInLink = "sign_in"    // a user of `tradegrid dev` is let in
)

// linkLasts is how long links work.
var linkLasts = map[string]time.Duration{Invitation: 7 * 24 * time.Hour, Reset: time.Hour, SignInLink: 24 * time.Hour}

// Link works once.
type Link struct {
	Owner
	ID        uuid.UUID
	Kind      string
	Email     string
	ExpiresAt time.Time
}

const accountLinks = db.Table("account_links")

const sqlFindLink = `SELECT l.company_id, l.user_id, l.id, l.kind, COALESCE(NULLIF(l.email, ''), a.email, ''), l.expires_at FROM account_links AS l
LEFT JOIN accounts AS a ON a.company_id = l.company_id AND a.user_id = l.user_id WHERE l.hash = $1 AND l.expires_at > $2`

var (
	sqlInsertLink  = accountLinks.Insert(`(company_id, id, user_id, kind, hash, created_at, expires_at, email) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`)
	sqlDeleteLinks = accountLinks.Delete(`WHERE company_id = $1 AND user_id = $2`)
	sqlUseLink     = accountLinks.Delete(`WHERE company_id = $1 AND id = $2`)
)

// NewLink makes a link and returns the text that its address ends with. Those that the user had end.
func (s *Service) NewLink(_ context.Context, tx *db.Tx, o Owner, email, kind string) (token string, id uuid.UUID) {
	token, id = newToken(), record.NewID()
	tx.Queue(sqlDeleteLinks, o.Company, o.User)
	tx.Queue(sqlInsertLink, o.Company, id, o.User, kind, hashOf(token), tx.Now(), tx.Now().Add(linkLasts[kind]), normalise(email))
	return token, id
}

// maxInvitations is how many invitations a company sends in 24 hours, to addresses of strangers.
const maxInvitations = 50

// Invite mails a link by which a user sets a password and is let in. It says nothing of whether the address signs in to
// another company: the user learns that from the link.
func (s *Service) Invite(ctx context.Context, tx *db.Tx, o Owner, email, company string) error {
	n, err := ownermail.Count(ctx, tx, o.Company, ownermail.Invitation, tx.Now().Add(-24*time.Hour))
	if err != nil {
		return err
	}
	if n >= maxInvitations {
		return apierr.StateConflict("INVITATION_LIMIT_REACHED", "a company sends at most %d invitations in 24 hours, and this one has: invite the person tomorrow", maxInvitations)
	}
	token, id := s.NewLink(ctx, tx, o, email, Invitation)
	name := ownermail.Name(company)
	return s.mail(ctx, tx, o, email, ownermail.Notice{
		Kind: ownermail.Invitation, Record: id, Since: tx.Now(), Subject: "Invitation to " + name,
		Text: fmt.Sprintf(`You were invited to the console of %s. Open this link, and set a password:

%s/link/%s

It works once, for 7 days. If you did not expect this mail, ignore it.`, name, s.cfg.URL, token),
	})
}

// Forgot mails a link to set another password. It says nothing of whether there is such an account.
func (s *Service) Forgot(ctx context.Context, email string, v Visit) error {
	leave, err := s.begin(ctx, v)
	if err != nil {
		return err
	}
	defer evenly(ctx, time.Now())
	defer leave()
	email = normalise(email)
	a, err := s.one(ctx, s.cfg.DB, sqlFindAccount, email)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	active, err := s.cfg.Active(ctx, a.Company, a.User)
	if err != nil || !active {
		return err
	}
	if err := s.take(ctx, byReset.of(email)); err != nil {
		if _, many := errors.AsType[*LimitedError](err); many {
			return nil // it has mails already
		}
		return err
	}
	return s.cfg.DB.RunTx(ctx, "accounts.forgot", func(ctx context.Context, tx *db.Tx) error {
		token, id := s.NewLink(ctx, tx, a.Owner, email, Reset)
		return s.mail(ctx, tx, a.Owner, email, ownermail.Notice{
			Kind: ownermail.Private + "reset", Record: id, Since: tx.Now(), Subject: "Set a new password",
			Text: fmt.Sprintf(`Somebody, from %s, asked for a new password of this account. If that was you, open this link:

%s/link/%s

It works once, for an hour. If it was not you, ignore this mail: nothing has changed.`, v.Address.Unmap(), s.cfg.URL, token),
		})
	})
}

// evenTime is how long an answer takes at least that must not tell by its time whether an account exists.
const evenTime = 300 * time.Millisecond

func evenly(ctx context.Context, began time.Time) {
	select {
	case <-time.After(time.Until(began.Add(evenTime))):
	case <-ctx.Done():
	}
}

func (s *Service) mail(ctx context.Context, tx *db.Tx, o Owner, email string, n ownermail.Notice) error {
	if s.cfg.URL == "" {
		return nil
	}
	return ownermail.AddTo(ctx, tx, o.Company, email, n)
}

// Link returns what a link is for, without using it: programs that look into mails open links, too.
func (s *Service) Link(ctx context.Context, token string, v Visit) (Link, error) {
	leave, err := s.turn(ctx, v, s.openDevice(v.Device))
	if err != nil {
		return Link{}, err
	}
	defer leave()
	return s.findLink(ctx, s.cfg.DB, token)
}

func (s *Service) findLink(ctx context.Context, q db.Querier, token string) (l Link, err error) {
	err = q.QueryRow(ctx, sqlFindLink, hashOf(token), s.cfg.DB.Now()).Scan(&l.Company, &l.User, &l.ID, &l.Kind, &l.Email, &l.ExpiresAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return l, ErrLink
	}
	if err != nil {
		return l, fmt.Errorf("select link: %w", err)
	}
	return l, nil
}

// UseLink uses a link up, and claims the address for the company: if it signs in to another one, that is [ErrAddressTaken]. Of an
// invitation and a reset, it sets the password, and all sessions of the user end; who had one before is told what else signs
// in. Passkeys, the link to a provider and the second factor stay: a link proves no more than that somebody reads the mails of the
// address. Who uses a link is signed in, as by the password that was just set: up to the second factor, if there is one.
func (s *Service) UseLink(ctx context.Context, tx *db.Tx, token string, p Password, v Visit) (l Link, e Entered, err error) {
	if l, err = s.findLink(ctx, tx, token); err != nil {
		return l, e, err
	}
	before, err := s.claim(ctx, tx, l.Owner, l.Email)
	if err != nil {
		return l, e, err
	}
	tx.Queue(sqlUseLink, l.Company, l.ID).Expect(1, ErrLink)
	tx.OnEnd(func() { s.limits.refill(byAccount.of(l.Email)) }) // who reads the mails of the address is no guesser
	if l.Kind == SignInLink {
		return l, begin(tx, l.Owner, stageFull, "", v), nil
	}
	tx.Queue(sqlSetPassword, l.Company, l.User, p.hash, tx.Now()).Expect(1, ErrLink)
	tx.Queue(sqlEndOthers, l.Company, l.User, uuid.Nil)
	if l.Kind == Reset || before.password != nil {
		err = s.tellReset(ctx, tx, l)
	}
	stage := stageFull
	if before.totp != nil {
		stage = stageCode
	}
	return l, begin(tx, l.Owner, stage, "", v), err
}

// sqlSelectOtherWays reads what signs in to an account without its password.
const sqlSelectOtherWays = `SELECT 'Passkey', name, created_at FROM passkeys WHERE company_id = $1 AND user_id = $2 AND copied_at IS NULL
UNION ALL SELECT 'Sign-in provider', email, created_at FROM account_identities WHERE company_id = $1 AND user_id = $2 AND issuer = $3
ORDER BY 3 LIMIT 50`

// tellReset tells a user by e-mail that the password was set by a link, and what else signs in: whoever had got into the account
// may have added a passkey of their own.
func (s *Service) tellReset(ctx context.Context, tx *db.Tx, l Link) error {
	issuer := ""
	if s.cfg.Provider != nil {
		issuer = s.cfg.Provider.cfg.Issuer
	}
	ways, err := db.Collect(ctx, tx, "select what signs in", func(row pgx.CollectableRow) (text string, err error) {
		var kind, name string
		var since time.Time
		err = row.Scan(&kind, &name, &since)
		return fmt.Sprintf("- %s %q, since %s", kind, name, since.UTC().Format(time.DateOnly)), err
	}, sqlSelectOtherWays, l.Company, l.User, issuer)
	if err != nil {
		return err
	}
	text := "Nothing else signs in to your account."
	if len(ways) > 0 {
		text = "These sign in to your account as before, without the password:\n\n" + strings.Join(ways, "\n") + "\n\nRemove what is not yours: " + s.cfg.URL + "/account"
	}
	return s.mail(ctx, tx, l.Owner, l.Email, ownermail.Notice{
		Kind: ownermail.Private + "password", Record: l.ID, Since: tx.Now(), Subject: "Your password was set anew",
		Text: "The password of your account was set by a link that was mailed to this address, and all sessions were ended.\n\n" + text + `

If that was not you, somebody reads your mails: secure your mailbox, and ask an owner of your company to block your account.`,
	})
}

var linksExpire = cleanup.Job{
	Every:  time.Hour,
	Delete: accountLinks.Delete(`WHERE (company_id, id) IN (SELECT company_id, id FROM account_links WHERE expires_at < $1 LIMIT 1000)`),
}
