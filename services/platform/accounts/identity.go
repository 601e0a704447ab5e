package accounts

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Identity is a user as the provider knows one.
type Identity struct {
	Owner
	Email string // that the provider vouches for
	Next  string // where the person wanted to go
	New   bool   // the user signs in by the provider for the first time

	issuer, subject string
	strong          bool // the provider asked for several factors
	totp            bool // the account has a second factor
}

// Linked is by which identity a user signs in.
type Linked struct {
	Issuer, Email string
	Since         time.Time
}

const accountIdentities = db.Table("account_identities")

const (
	sqlFindIdentity = `SELECT i.company_id, i.user_id, a.totp_secret IS NOT NULL FROM account_identities AS i
JOIN accounts AS a ON a.company_id = i.company_id AND a.user_id = i.user_id WHERE i.issuer = $1 AND i.subject = $2`
	sqlSelectIdentity  = `SELECT issuer, email, created_at FROM account_identities WHERE company_id = $1 AND user_id = $2 AND issuer = $3`
	constraintSubject  = "account_identities_subject_key"
	constraintIdentity = "account_identities_user_key"
)

var (
	sqlInsertIdentity = accountIdentities.Insert(`(company_id, id, user_id, issuer, subject, email, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`)
	sqlDeleteIdentity = accountIdentities.Delete(`WHERE company_id = $1 AND user_id = $2 AND issuer = $3`)
)

// Provider names the provider that people sign in by; "" = there is none.
func (s *Service) Provider() string {
	if s.cfg.Provider == nil {
		return ""
	}
	return s.cfg.Provider.Host()
}

// Identify finds the user whom the provider vouches for: by the subject that was bound at the first sign-in, or else by an address
// that the provider has verified. It makes no users. Errors are [ErrCeremony], [IdentityError], [ProviderError], [LimitedError]
// and [ErrBusy].
func (s *Service) Identify(ctx context.Context, kept string, answer url.Values, v Visit) (i Identity, err error) {
	defer func() {
		if err != nil { // a good one is counted when the person is in
			count(byProvider, err)
		}
	}()
	who, err := s.answered(ctx, kept, answer, v)
	if err != nil {
		return i, err
	}
	email := normalise(who.Email)
	switch {
	case email == "" || !bool(who.Verified):
		return i, &IdentityError{Unverified, email}
	case !s.cfg.Provider.allows(email):
		return i, &IdentityError{OtherDomain, email}
	}
	i = Identity{
		Email: email, Next: who.next, issuer: s.cfg.Provider.cfg.Issuer, subject: who.Subject, strong: slices.Contains(who.Methods, severalFactors),
	}
	leave, err := s.turn(ctx, v, s.openDevice(v.Device))
	if err != nil {
		return i, err
	}
	defer leave()
	return i, s.find(ctx, &i)
}

// find sets whose identity it is.
func (s *Service) find(ctx context.Context, i *Identity) error {
	err := s.cfg.DB.QueryRow(ctx, sqlFindIdentity, i.issuer, i.subject).Scan(&i.Company, &i.User, &i.totp)
	if err == nil {
		return nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("select identity: %w", err)
	}
	a, err := s.one(ctx, s.cfg.DB, sqlFindAccount, i.Email)
	if errors.Is(err, pgx.ErrNoRows) {
		return s.findInvitation(ctx, i)
	}
	if err != nil {
		return err
	}
	i.Owner, i.totp, i.New = a.Owner, a.totp != nil, true
	linked, err := s.Linked(ctx, a.Owner)
	if err == nil && linked != nil {
		return &IdentityError{Another, i.Email}
	}
	return err
}

// sqlFindInvited reads by whom an address is invited.
const sqlFindInvited = `SELECT DISTINCT company_id, user_id FROM account_links WHERE email = $1 AND email <> '' AND kind = 'invitation' AND expires_at > $2 LIMIT 2`

// findInvitation sets who it is that has an invitation, and no account yet. Of several invitations, the person chooses by a link.
func (s *Service) findInvitation(ctx context.Context, i *Identity) error {
	rows, err := s.cfg.DB.Query(ctx, sqlFindInvited, i.Email, s.cfg.DB.Now())
	if err != nil {
		return fmt.Errorf("select invitations: %w", err)
	}
	invited, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Owner])
	switch {
	case err != nil:
		return fmt.Errorf("select invitations: %w", err)
	case len(invited) == 0:
		return &IdentityError{Unknown, i.Email}
	case len(invited) > 1:
		return &IdentityError{Several, i.Email}
	}
	i.Owner, i.New = invited[0], true
	return nil
}

// EnterByProvider begins a session of a user whom the provider vouches for, and who may come in. The first time, it binds the subject,
// ends the links that the user was mailed, and tells the user by e-mail. The second factor of the account is asked for, unless the
// provider did.
func (s *Service) EnterByProvider(ctx context.Context, tx *db.Tx, i Identity, v Visit) (Entered, error) {
	if i.New {
		if _, err := s.claim(ctx, tx, i.Owner, i.Email); err != nil {
			return Entered{}, err
		}
		tx.Queue(sqlInsertIdentity, i.Company, record.NewID(), i.User, i.issuer, i.subject, i.Email, tx.Now()).
			OnConstraint(constraintSubject, &IdentityError{Another, i.Email}).OnConstraint(constraintIdentity, &IdentityError{Another, i.Email})
		tx.Queue(sqlDeleteLinks, i.Company, i.User)
		if err := s.tellLinked(ctx, tx, i); err != nil {
			return Entered{}, err
		}
	}
	stage := stageFull
	if i.totp && !i.strong {
		stage = stageCode
	}
	return begin(tx, i.Owner, stage, "", v), nil
}

func (s *Service) tellLinked(ctx context.Context, tx *db.Tx, i Identity) error {
	return s.mail(ctx, tx, i.Owner, i.Email, ownermail.Notice{
		Kind: ownermail.Private + "provider", Record: record.NewID(), Since: tx.Now(), Subject: "Your account signs in by " + s.Provider(),
		Text: fmt.Sprintf(`The identity %s at %s was linked to your account, and signs in to it from now on.

If that was not you, unlink it and set another password: %s/account. Then secure your account at %[2]s.`, i.Email, s.Provider(), s.cfg.URL),
	})
}

// Known returns what the browser keeps of a session that [Service.EnterByProvider] began and that was stored.
func (s *Service) Known(e Entered, v Visit) (Entered, error) {
	count(byProvider, nil)
	if e.NeedsCode() {
		return e, nil
	}
	s.limits.giveBack(ofAddress(v.Address))
	return s.withDevice(e, s.openDevice(v.Device))
}

// Linked says by which identity of the provider a user signs in; nil = by none.
func (s *Service) Linked(ctx context.Context, o Owner) (*Linked, error) {
	if s.cfg.Provider == nil {
		return nil, nil //nolint:nilnil // no provider
	}
	var l Linked
	err := s.cfg.DB.QueryRow(ctx, sqlSelectIdentity, o.Company, o.User, s.cfg.Provider.cfg.Issuer).Scan(&l.Issuer, &l.Email, &l.Since)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // not linked
	}
	if err != nil {
		return nil, fmt.Errorf("select identity: %w", err)
	}
	return &l, nil
}

// Unlink lets the provider's identity no longer sign in as the user, and another one take its place. It is idempotent.
func (s *Service) Unlink(_ context.Context, tx *db.Tx, o Owner) error {
	if s.cfg.Provider != nil {
		tx.Queue(sqlDeleteIdentity, o.Company, o.User, s.cfg.Provider.cfg.Issuer)
	}
	return nil
}
