package accounts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// account are the credentials of a user.
type account struct {
	Owner
	email    string
	password *string // hash
	totp     *string // sealed secret
	step     int64   // of the last code that was taken
	recovery []string
}

// Security says which credentials a user has.
type Security struct {
	Email        string
	HasPassword  bool
	HasTOTP      bool
	RecoveryLeft int
}

const accounts = db.Table("accounts")

const (
	accountColumns    = `company_id, user_id, email, password_hash, totp_secret, totp_step, recovery`
	sqlFindAccount    = `SELECT ` + accountColumns + ` FROM accounts WHERE email = $1`
	sqlSelectAccount  = `SELECT ` + accountColumns + ` FROM accounts WHERE company_id = $1 AND user_id = $2`
	sqlLockAccount    = sqlSelectAccount + ` FOR UPDATE`
	constraintAddress = "accounts_email_key"
)

var (
	sqlEnsureAccount = accounts.Insert(`(company_id, user_id, email, totp_step, recovery, created_at, updated_at) VALUES ($1, $2, $3, 0, '{}', $4, $4)
ON CONFLICT (company_id, user_id) DO NOTHING`)
	// Who has credentials keeps the account.
	sqlDeleteUnused = accounts.Delete(`WHERE company_id = $1 AND user_id = $2 AND password_hash IS NULL AND totp_secret IS NULL
AND NOT EXISTS (SELECT 1 FROM passkeys AS p WHERE p.company_id = accounts.company_id AND p.user_id = accounts.user_id)
AND NOT EXISTS (SELECT 1 FROM account_identities AS i WHERE i.company_id = accounts.company_id AND i.user_id = accounts.user_id)`).Reading("passkeys", "account_identities")
	sqlSetPassword  = accounts.Update(`SET password_hash = $3, updated_at = $4 WHERE company_id = $1 AND user_id = $2`)
	sqlSetTOTP      = accounts.Update(`SET totp_secret = $3, totp_step = $4, recovery = $5, updated_at = $6 WHERE company_id = $1 AND user_id = $2 AND (totp_secret IS NULL OR totp_secret = $3)`)
	sqlRemoveTOTP   = accounts.Update(`SET totp_secret = NULL, totp_step = 0, recovery = '{}', updated_at = $3 WHERE company_id = $1 AND user_id = $2`)
	sqlTakeStep     = accounts.Update(`SET totp_step = $3, updated_at = $4 WHERE company_id = $1 AND user_id = $2 AND totp_step < $3 AND totp_secret = $5`)
	sqlTakeRecovery = accounts.Update(`SET recovery = array_remove(recovery, $3), updated_at = $4 WHERE company_id = $1 AND user_id = $2 AND $3 = ANY(recovery)`)
)

// ErrAddressTaken means that an address signs in to another company. Only who reads the mails of the address learns it.
var ErrAddressTaken = errors.New("the address signs in to another company")

func (s *Service) one(ctx context.Context, q db.Querier, sql string, args ...any) (a account, err error) {
	err = q.QueryRow(ctx, sql, args...).Scan(&a.Company, &a.User, &a.email, &a.password, &a.totp, &a.step, &a.recovery)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		err = fmt.Errorf("select account: %w", err)
	}
	return a, err
}

// ensure makes the account of a user, without credentials, unless there is one. The address is claimed by that.
func ensure(tx *db.Tx, o Owner, email string) {
	tx.Queue(sqlEnsureAccount, o.Company, o.User, normalise(email), tx.Now()).OnConstraint(constraintAddress, ErrAddressTaken)
}

// claim makes the account of a user who has shown that they read the mails of the address, and returns it. An account of another
// company that never signed in gives the address up: it was made by an invitation that nobody accepted.
func (s *Service) claim(ctx context.Context, tx *db.Tx, o Owner, email string) (a account, err error) {
	a, err = s.one(ctx, tx, sqlFindAccount, normalise(email))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
	case err != nil:
		return a, err
	case a.Owner == o:
		return a, nil
	default:
		tx.Queue(sqlDeleteUnused, a.Company, a.User).Expect(1, ErrAddressTaken)
	}
	ensure(tx, o, email)
	return account{Owner: o, email: normalise(email)}, nil
}

func normalise(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// Security returns which credentials a user has. A user who has never signed in has none.
func (s *Service) Security(ctx context.Context, o Owner) (Security, error) {
	a, err := s.one(ctx, s.cfg.DB, sqlSelectAccount, o.Company, o.User)
	if errors.Is(err, pgx.ErrNoRows) {
		return Security{}, nil
	}
	return Security{Email: a.email, HasPassword: a.password != nil, HasTOTP: a.totp != nil, RecoveryLeft: len(a.recovery)}, err
}

// Ways is how a user can sign in.
type Ways struct {
	Password bool
	Code     bool // the account has a second factor
	Passkeys int
	Provider bool // linked to one
}

// Any reports whether the user has signed in, or could.
func (w Ways) Any() bool { return w.Password || w.Passkeys > 0 || w.Provider }

const sqlSelectWays = `SELECT a.user_id, a.password_hash IS NOT NULL, a.totp_secret IS NOT NULL,
 (SELECT count(*) FROM passkeys AS p WHERE p.company_id = a.company_id AND p.user_id = a.user_id AND p.copied_at IS NULL),
 EXISTS (SELECT 1 FROM account_identities AS i WHERE i.company_id = a.company_id AND i.user_id = a.user_id AND i.issuer = $2)
FROM accounts AS a WHERE a.company_id = $1`

// Ways returns how the users of a company can sign in. Who has not accepted an invitation is left out.
func (s *Service) Ways(ctx context.Context, company tenant.ID) (map[uuid.UUID]Ways, error) {
	issuer := ""
	if s.cfg.Provider != nil {
		issuer = s.cfg.Provider.cfg.Issuer
	}
	rows, err := s.cfg.DB.Query(ctx, sqlSelectWays, company, issuer)
	if err != nil {
		return nil, fmt.Errorf("select ways to sign in: %w", err)
	}
	all := map[uuid.UUID]Ways{}
	var id uuid.UUID
	var w Ways
	if _, err := pgx.ForEachRow(rows, []any{&id, &w.Password, &w.Code, &w.Passkeys, &w.Provider}, func() error { all[id] = w; return nil }); err != nil {
		return nil, fmt.Errorf("select ways to sign in: %w", err)
	}
	return all, nil
}

// Credentials are what people type.
type Credentials struct{ Email, Password string }

// SignIn checks a password and begins a session, which lacks the second factor if the account has one. It takes as long for an
// unknown address as for a wrong password; both are [ErrRefused]. Too many attempts are a [LimitedError], or [ErrBusy].
func (s *Service) SignIn(ctx context.Context, in Credentials, v Visit) (e Entered, err error) {
	defer func() { count(byPassword, err) }()
	email, known := normalise(in.Email), s.openDevice(v.Device)
	strangers := []limited{byAccount.of(email), ofAddress(v.Address)}
	if known.ID == uuid.Nil {
		if err := s.limits.check(s.cfg.DB.Now(), strangers...); err != nil {
			return e, err
		}
	}
	leave, err := s.turn(ctx, v, known)
	if err != nil {
		return e, err
	}
	defer leave()
	a, err := s.one(ctx, s.cfg.DB, sqlFindAccount, email)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return e, err
	}
	if err := s.take(ctx, limitsOf(a, known, strangers)...); err != nil {
		return e, err
	}
	ok, err := s.matches(ctx, in.Password, a.password)
	if err != nil {
		return e, err
	}
	if ok {
		ok, err = s.cfg.Active(ctx, a.Company, a.User)
	}
	if err != nil {
		return e, err
	}
	if !ok {
		return e, ErrRefused
	}
	stage := stageFull
	if a.totp != nil {
		stage = stageCode
	}
	err = s.run(ctx, "accounts.sign_in", func(tx *db.Tx) { e = begin(tx, a.Owner, stage, "", v) })
	if err != nil || stage == stageCode {
		return e, err
	}
	s.good(a, known, v)
	return s.withDevice(e, known)
}

// limitsOf are the buckets of an attempt at an account with a password. One with what a browser keeps of another account counts as an
// attempt of that browser, too.
func limitsOf(a account, known device, strangers []limited) []limited {
	switch {
	case known.ID == uuid.Nil:
		return strangers
	case known.Owner == a.Owner:
		return []limited{byDevice.of(known.ID.String())}
	}
	return append(strangers, byDevice.of(known.ID.String()))
}

// good gives back what the attempts of a full sign-in have taken. Half of one gives nothing back: the password alone must not be
// enough for any number of attempts.
func (s *Service) good(a account, known device, v Visit) {
	if known.ID != uuid.Nil && known.Owner == a.Owner {
		s.limits.refill(byDevice.of(known.ID.String()))
		return
	}
	s.limits.refill(byAccount.of(a.email))
	s.limits.giveBack(ofAddress(v.Address))
}

// ConfirmPassword checks the password of somebody who is signed in, before a change of credentials. A wrong one is a fault of
// the field. A user without a password has nothing to confirm.
func (s *Service) ConfirmPassword(ctx context.Context, o Owner, field, password string) error {
	a, err := s.one(ctx, s.cfg.DB, sqlSelectAccount, o.Company, o.User)
	switch {
	case err != nil && !errors.Is(err, pgx.ErrNoRows):
		return err
	case a.password == nil:
		return nil
	}
	leave, err := s.turnOf(ctx, o.context(""))
	if err != nil {
		return err
	}
	defer leave()
	limit := byAccount.of("confirm " + o.context(""))
	if err := s.take(ctx, limit); err != nil {
		return err
	}
	ok, err := s.matches(ctx, password, a.password)
	if err != nil {
		return err
	}
	if !ok {
		return apierr.InvalidField(field, apierr.Conflict, "is not the password of this account")
	}
	s.limits.refill(limit)
	return nil
}

// NewPassword checks and hashes a password, outside of a transaction, because that takes long.
func (s *Service) NewPassword(ctx context.Context, field, password, email string) (Password, error) {
	if err := checkPassword(field, password, normalise(email)); err != nil {
		return Password{}, err
	}
	leave, err := s.turnOf(ctx, email)
	if err != nil {
		return Password{}, err
	}
	defer leave()
	return s.hash(ctx, password)
}

// SetPassword stores a password, and tells the user by e-mail.
func (s *Service) SetPassword(ctx context.Context, tx *db.Tx, o Owner, email string, p Password) error {
	ensure(tx, o, email)
	tx.Queue(sqlSetPassword, o.Company, o.User, p.hash, tx.Now()).Expect(1, ErrRefused)
	return s.mail(ctx, tx, o, email, ownermail.Notice{
		Kind: ownermail.Private + "password", Record: record.NewID(), Since: tx.Now(), Subject: "Your password was changed",
		Text: fmt.Sprintf(`The password of your account was changed by somebody who was signed in to it.

If that was not you, set another one by mail: %s/sign-in/forgot. Then remove what else signs in and is not yours: %[1]s/account`, s.cfg.URL),
	})
}

// device is what a browser keeps of an account that it has signed in to, sealed.
type device struct {
	Owner
	ID uuid.UUID
	At time.Time
}

// withDevice adds what the browser keeps, unless it has it already.
func (s *Service) withDevice(e Entered, known device) (Entered, error) {
	if known.Owner == e.Owner {
		return e, nil
	}
	text, err := json.Marshal(device{e.Owner, uuid.New(), e.CreatedAt})
	if err != nil {
		return e, fmt.Errorf("encode device: %w", err)
	}
	e.Device, err = s.cfg.Keys.Seal(text, sealedDevice)
	return e, err
}

const sealedDevice = "account/device"

// openDevice returns what a browser keeps of the account that it has signed in to last; the zero device if it keeps nothing.
func (s *Service) openDevice(sealed string) (d device) {
	if sealed == "" {
		return d
	}
	text, err := s.cfg.Keys.Open(sealed, sealedDevice)
	if err != nil || json.Unmarshal(text, &d) != nil {
		return device{}
	}
	return d
}
