package accounts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const (
	// MaxPasskeys is how many a user may have.
	MaxPasskeys = 10

	maxPasskeyName = 64      // characters
	maxCredential  = 4 << 10 // bytes, before it is sealed: the id has at most 1023, the keys that are asked for less than 600

	// maxAnswer is how many bytes an authenticator may answer: usual are two thousand. Keys and certificates in it may be of any size,
	// and their use takes time with its square.
	maxAnswer = 16 << 10

	kindAdd   = "passkey/add"
	kindEnter = "passkey/enter"
)

// Passkey is one that a user has.
type Passkey struct {
	Owner
	ID        uuid.UUID
	Name      string
	CreatedAt time.Time
	UsedAt    *time.Time // nil = not yet
	CopiedAt  *time.Time // since when it lets nobody in, because its counter went back; nil = all is well

	sealed  string
	counter int64
}

// ErrCopied means that the counter of a passkey went back: the key may have been copied, and no longer lets anybody in.
var ErrCopied = errors.New("the passkey may have been copied")

// errNotMade is the fault of an answer that is no passkey of the console.
func errNotMade() error {
	return apierr.InvalidField("credential", apierr.Conflict, "the browser made no passkey that can be used here: try again, or with another device")
}

// newRelyingParty says for which site passkeys are made. Browsers make none for an address without a name, nor can there be any where
// the console is not served.
func newRelyingParty(address string) *webauthn.WebAuthn {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || net.ParseIP(u.Hostname()) != nil {
		return nil
	}
	party, err := webauthn.New(&webauthn.Config{
		RPID: u.Hostname(), RPDisplayName: issuer, RPOrigins: []string{address}, AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(), UserVerification: protocol.VerificationRequired,
		},
	})
	if err != nil {
		return nil
	}
	return party
}

// Passkeyed reports whether people can have passkeys.
func (s *Service) Passkeyed() bool { return s.party != nil }

// holder is a user as the library knows one.
type holder struct {
	owner Owner
	email string
	keys  []webauthn.Credential
}

// WebAuthnID implements [webauthn.User]: it says nothing of the person, and finds the user again.
func (h holder) WebAuthnID() []byte {
	company := uuid.UUID(h.owner.Company)
	return append(company[:], h.owner.User[:]...)
}

// WebAuthnName implements [webauthn.User].
func (h holder) WebAuthnName() string { return h.email }

// WebAuthnDisplayName implements [webauthn.User].
func (h holder) WebAuthnDisplayName() string { return h.email }

// WebAuthnCredentials implements [webauthn.User].
func (h holder) WebAuthnCredentials() []webauthn.Credential { return h.keys }

const passkeys = db.Table("passkeys")

const (
	passkeyColumns    = `company_id, user_id, id, name, credential, counter, copied_at, created_at, used_at`
	sqlSelectPasskeys = `SELECT ` + passkeyColumns + ` FROM passkeys WHERE company_id = $1 AND user_id = $2 ORDER BY id LIMIT 50`
	sqlFindPasskey    = `SELECT ` + passkeyColumns + ` FROM passkeys WHERE hash = $1`
	sqlCountPasskeys  = `SELECT count(*) FROM passkeys WHERE company_id = $1 AND user_id = $2`
	constraintPasskey = "passkeys_hash_key"
)

var (
	sqlInsertPasskey = passkeys.Insert(`(company_id, id, user_id, hash, name, credential, counter, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`)
	sqlDeletePasskey = passkeys.Delete(`WHERE company_id = $1 AND id = $2 AND user_id = $3`)
	sqlUsePasskey    = passkeys.Update(`SET counter = $3, used_at = $4 WHERE company_id = $1 AND id = $2 AND counter = $5 AND copied_at IS NULL`)
	sqlMarkCopied    = passkeys.Update(`SET copied_at = $3 WHERE company_id = $1 AND id = $2 AND copied_at IS NULL`)
)

// Passkeys returns those of a user, the oldest first.
func (s *Service) Passkeys(ctx context.Context, o Owner) ([]Passkey, error) {
	return s.passkeys(ctx, sqlSelectPasskeys, o.Company, o.User)
}

func (s *Service) passkeys(ctx context.Context, sql string, args ...any) ([]Passkey, error) {
	return db.Collect(ctx, s.cfg.DB, "select passkeys", func(row pgx.CollectableRow) (p Passkey, err error) {
		err = row.Scan(&p.Company, &p.User, &p.ID, &p.Name, &p.sealed, &p.counter, &p.CopiedAt, &p.CreatedAt, &p.UsedAt)
		return p, err
	}, sql, args...)
}

// open returns the credential of a passkey.
func (s *Service) open(p Passkey) (c webauthn.Credential, err error) {
	text, err := s.cfg.Keys.Open(p.sealed, p.context("passkey"))
	if err != nil {
		return c, fmt.Errorf("open passkey: %w", err)
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("read passkey: %w", err)
	}
	c.Authenticator.SignCount = uint32(p.counter)
	return c, nil
}

// holder returns a user with the credentials.
func (s *Service) holder(ctx context.Context, o Owner, email string) (holder, error) {
	h := holder{owner: o, email: email}
	all, err := s.Passkeys(ctx, o)
	if err != nil {
		return h, err
	}
	for _, p := range all {
		c, err := s.open(p)
		if err != nil {
			return h, err
		}
		h.keys = append(h.keys, c)
	}
	return h, nil
}

// adding is what the browser keeps while a passkey is made.
type adding struct {
	Session uuid.UUID            `json:"session"`
	Party   webauthn.SessionData `json:"party"`
}

// StartPasskey returns what the browser hands to an authenticator, and what it keeps until [Service.FinishPasskey]. Authenticators
// that have a passkey of the user already make no second one.
func (s *Service) StartPasskey(ctx context.Context, session Session, email string) (options json.RawMessage, kept string, err error) {
	if s.party == nil {
		return nil, "", errNotMade()
	}
	h, err := s.holder(ctx, session.Owner, email)
	if err != nil {
		return nil, "", err
	}
	if len(h.keys) >= MaxPasskeys {
		return nil, "", errMany()
	}
	has := make([]protocol.CredentialDescriptor, len(h.keys))
	for i := range h.keys {
		has[i] = h.keys[i].Descriptor()
	}
	creation, party, err := s.party.BeginRegistration(h, webauthn.WithExclusions(has), webauthn.WithCredentialParameters(webauthn.CredentialParametersRecommendedL3()))
	if err != nil {
		return nil, "", fmt.Errorf("begin passkey: %w", err)
	}
	return s.begun(kindAdd, creation.Response, adding{session.ID, *party})
}

func (s *Service) begun(kind string, options, data any) (json.RawMessage, string, error) {
	text, err := json.Marshal(options)
	if err != nil {
		return nil, "", fmt.Errorf("encode options of passkey: %w", err)
	}
	kept, err := s.beginCeremony(kind, data)
	return text, kept, err
}

// NewPasskey is one that [Service.AddPasskey] stores.
type NewPasskey struct {
	owner   Owner
	id      uuid.UUID
	name    string
	hash    []byte
	sealed  string
	counter int64
}

func errMany() error {
	return apierr.InvalidField("name", apierr.Conflict, "an account has at most %d passkeys: remove one that you no longer use", MaxPasskeys)
}

// FinishPasskey checks what the authenticator made. A name that does not fit and an answer that is no passkey are faults of the fields
// name and credential.
func (s *Service) FinishPasskey(ctx context.Context, session Session, email, name, kept, answer string) (p NewPasskey, err error) {
	name = strings.TrimSpace(name)
	if n := utf8.RuneCountInString(name); n == 0 || n > maxPasskeyName || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		return p, apierr.InvalidField("name", apierr.Length, "1 to %d characters", maxPasskeyName)
	}
	var a adding
	if err := s.endCeremony(ctx, kindAdd, kept, &a); err != nil {
		return p, err
	}
	if s.party == nil || a.Session != session.ID {
		return p, ErrCeremony
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(answer))
	if err != nil || len(answer) > maxAnswer {
		return p, errNotMade()
	}
	c, err := s.party.CreateCredential(holder{owner: session.Owner, email: email}, a.Party, parsed)
	if err != nil {
		return p, errNotMade()
	}
	c.Attestation, c.Extensions = webauthn.CredentialAttestation{}, webauthn.CredentialExtensions{} // nothing asks for them
	text, err := json.Marshal(c)
	if err != nil {
		return p, fmt.Errorf("encode passkey: %w", err)
	}
	if len(text) > maxCredential {
		return p, errNotMade()
	}
	p = NewPasskey{owner: session.Owner, id: record.NewID(), name: name, hash: hashOf(string(c.ID)), counter: int64(c.Authenticator.SignCount)}
	p.sealed, err = s.cfg.Keys.Seal(text, session.context("passkey"))
	return p, err
}

// AddPasskey stores a passkey, and tells the user by e-mail. A user has at most [MaxPasskeys].
func (s *Service) AddPasskey(ctx context.Context, tx *db.Tx, email string, p NewPasskey) error {
	ensure(tx, p.owner, email)
	if _, err := s.one(ctx, tx, sqlLockAccount, p.owner.Company, p.owner.User); err != nil {
		return err
	}
	var has int
	if err := tx.QueryRow(ctx, sqlCountPasskeys, p.owner.Company, p.owner.User).Scan(&has); err != nil {
		return fmt.Errorf("count passkeys: %w", err)
	}
	if has >= MaxPasskeys {
		return errMany()
	}
	tx.Queue(sqlInsertPasskey, p.owner.Company, p.id, p.owner.User, p.hash, p.name, p.sealed, p.counter, tx.Now()).
		OnConstraint(constraintPasskey, errNotMade())
	return s.mail(ctx, tx, p.owner, email, ownermail.Notice{
		Kind: ownermail.Private + "passkey", Record: p.id, Since: tx.Now(), Subject: "A passkey was added to your account",
		Text: fmt.Sprintf(`The passkey %q signs in to your account from now on, without a password.

If that was not you, remove it and set another password: %s/account`, p.name, s.cfg.URL),
	})
}

// RemovePasskey removes a passkey of a user. One that does not exist, or is somebody else's, is [ErrRefused].
func (s *Service) RemovePasskey(_ context.Context, tx *db.Tx, o Owner, id uuid.UUID) error {
	tx.Queue(sqlDeletePasskey, o.Company, id, o.User).Expect(1, ErrRefused)
	return nil
}

// StartPasskeySignIn returns what the browser hands to an authenticator, which knows itself for whom it has a passkey, and what it
// keeps until [Service.SignInByPasskey].
func (s *Service) StartPasskeySignIn() (options json.RawMessage, kept string, err error) {
	if s.party == nil {
		return nil, "", ErrRefused
	}
	assertion, party, err := s.party.BeginDiscoverableLogin()
	if err != nil {
		return nil, "", fmt.Errorf("begin sign-in: %w", err)
	}
	return s.begun(kindEnter, assertion.Response, *party)
}

// SignInByPasskey begins a session of whoever the authenticator says it is. It has checked the person, by a finger or a PIN, so
// that no other factor is asked for. Errors are [ErrCeremony], [ErrRefused], [ErrCopied], [LimitedError] and
// [ErrBusy].
func (s *Service) SignInByPasskey(ctx context.Context, kept, answer string, v Visit) (e Entered, err error) {
	defer func() { count(byPasskey, err) }()
	leave, err := s.begin(ctx, v)
	if err != nil {
		return e, err
	}
	defer leave()
	var party webauthn.SessionData
	if err := s.endCeremony(ctx, kindEnter, kept, &party); err != nil {
		return e, err
	}
	p, c, err := s.asserted(ctx, party, answer)
	if err != nil {
		return e, err
	}
	if p.CopiedAt != nil || c.Authenticator.CloneWarning {
		return e, s.markCopied(ctx, p)
	}
	active, err := s.cfg.Active(ctx, p.Company, p.User)
	if err != nil {
		return e, err
	}
	if !active {
		return e, ErrRefused
	}
	if err := s.run(ctx, "accounts.passkey", func(tx *db.Tx) {
		tx.Queue(sqlUsePasskey, p.Company, p.ID, int64(c.Authenticator.SignCount), tx.Now(), p.counter).Expect(1, ErrRefused)
		e = begin(tx, p.Owner, stageFull, "", v)
	}); err != nil {
		return e, err
	}
	s.limits.giveBack(ofAddress(v.Address))
	return s.withDevice(e, s.openDevice(v.Device))
}

// asserted finds the passkey that signed an answer, and checks the signature.
func (s *Service) asserted(ctx context.Context, party webauthn.SessionData, answer string) (p Passkey, c *webauthn.Credential, err error) {
	if s.party == nil {
		return p, nil, ErrRefused
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(answer))
	if err != nil || len(answer) > maxAnswer {
		return p, nil, ErrRefused
	}
	found, err := s.passkeys(ctx, sqlFindPasskey, hashOf(string(parsed.RawID)))
	if err != nil {
		return p, nil, err
	}
	if len(found) == 0 {
		return p, nil, ErrRefused
	}
	p = found[0]
	known, err := s.open(p)
	if err != nil {
		return p, nil, err
	}
	h := holder{owner: p.Owner, keys: []webauthn.Credential{known}}
	c, err = s.party.ValidateDiscoverableLogin(func(_, handle []byte) (webauthn.User, error) {
		if !bytes.Equal(handle, h.WebAuthnID()) {
			return nil, ErrRefused
		}
		return h, nil
	}, party, parsed)
	if err != nil {
		return p, nil, ErrRefused
	}
	return p, c, nil
}

// markCopied ends the use of a passkey.
func (s *Service) markCopied(ctx context.Context, p Passkey) error {
	if err := s.run(ctx, "accounts.passkey.copied", func(tx *db.Tx) { tx.Queue(sqlMarkCopied, p.Company, p.ID, tx.Now()) }); err != nil {
		return err
	}
	return ErrCopied
}
