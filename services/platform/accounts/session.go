package accounts

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const (
	// Idle is how long a session lasts that is not used.
	Idle = 12 * time.Hour
	// Longest is how long a session lasts at most.
	Longest = 7 * 24 * time.Hour

	codeWithin  = 10 * time.Minute // the second factor has to follow the password
	touchEvery  = time.Minute      // the time of use is no more exact than this
	maxSessions = 50               // that are shown, and that a user has: the oldest end when another full one begins
	maxSeen     = 20_000           // sessions that a process knows to exist
)

// Stages of a session.
const (
	stageCode = "code"
	stageFull = "full"
)

// Session is a browser that somebody signed in with.
type Session struct {
	Owner
	ID        uuid.UUID
	Operator  string // fingerprint of an operator's token; "" = a user
	Stage     string
	Address   string
	Agent     string
	CreatedAt time.Time
	SeenAt    time.Time
	ExpiresAt time.Time
}

// NeedsCode reports whether the second factor is missing.
func (s Session) NeedsCode() bool { return s.Stage == stageCode }

// Entered is a session that began. The texts go into cookies; only their hashes are stored.
type Entered struct {
	Session
	Token  string
	Device string // proves later that the browser has signed in to this account before; "" = unchanged
}

// newToken makes 256 random bits as text.
func newToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// hashOf is what is stored of a token. It needs no salt: nobody guesses 256 bits.
func hashOf(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

const sessions = db.Table("sessions")

const (
	sessionColumns    = `company_id, user_id, id, operator, stage, address, agent, created_at, seen_at, expires_at`
	sqlFindSession    = `SELECT ` + sessionColumns + ` FROM sessions WHERE hash = $1 AND expires_at > $2`
	sqlSelectSessions = `SELECT ` + sessionColumns + ` FROM sessions WHERE company_id = $1 AND user_id = $2 AND operator = '' AND stage = 'full' AND expires_at > $3
ORDER BY id DESC LIMIT $4`
)

var (
	sqlInsertSession = sessions.Insert(`(company_id, user_id, id, operator, stage, address, agent, created_at, seen_at, expires_at, hash)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`)
	sqlTouchSession   = sessions.Update(`SET seen_at = $3, expires_at = $4, address = $5 WHERE company_id = $1 AND id = $2`)
	sqlEndSession     = sessions.Delete(`WHERE company_id = $1 AND id = $2 AND user_id = $3`)
	sqlEndOthers      = sessions.Delete(`WHERE company_id = $1 AND user_id = $2 AND id <> $3`)
	sqlEndOldSessions = sessions.Delete(`WHERE company_id = $1 AND user_id = $2 AND operator = '' AND id IN
 (SELECT id FROM sessions WHERE company_id = $1 AND user_id = $2 AND operator = '' AND stage = 'full' ORDER BY id DESC LIMIT 1000 OFFSET $3)`)
	sqlEndByHash = sessions.Delete(`WHERE company_id = $1 AND id = $2`)
)

// begin stores a new session in the transaction. Its token is made anew in each try.
func begin(tx *db.Tx, o Owner, stage, operator string, v Visit) Entered {
	now := tx.Now()
	e := Entered{Token: newToken(), Session: Session{
		Owner: o, ID: record.NewID(), Operator: operator, Stage: stage, Address: v.Address.Unmap().String(), Agent: cut(v.Agent), CreatedAt: now, SeenAt: now,
		ExpiresAt: now.Add(Idle),
	}}
	if stage == stageCode {
		e.ExpiresAt = now.Add(codeWithin)
	}
	if operator == "" && stage == stageFull {
		tx.Queue(sqlEndOldSessions, o.Company, o.User, maxSessions-1)
	}
	tx.Queue(sqlInsertSession, e.Company, e.User, e.ID, e.Operator, e.Stage, e.Address, e.Agent, e.CreatedAt, e.SeenAt, e.ExpiresAt, hashOf(e.Token))
	return e
}

// cut keeps the beginning of a text that a client sent.
func cut(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "?")
	if len(text) > maxAgent {
		text = strings.ToValidUTF8(text[:maxAgent], "")
	}
	return text
}

// Session returns the session of a cookie, which it keeps alive. One that is over, or was revoked, is [ErrSession].
func (s *Service) Session(ctx context.Context, token string, v Visit) (Session, error) {
	one, err := s.Peek(ctx, token, v)
	now := s.cfg.DB.Now()
	if err != nil || one.NeedsCode() || now.Sub(one.SeenAt) < touchEvery {
		return one, err
	}
	one.SeenAt, one.ExpiresAt = now, now.Add(Idle)
	if end := one.CreatedAt.Add(Longest); end.Before(one.ExpiresAt) {
		one.ExpiresAt = end
	}
	one.Address = v.Address.Unmap().String()
	return one, s.run(ctx, "accounts.session.touch", func(tx *db.Tx) {
		tx.Queue(sqlTouchSession, one.Company, one.ID, one.SeenAt, one.ExpiresAt, one.Address)
	})
}

// Peek is [Service.Session] without counting as use of the session, for what a browser asks by itself. Sessions that this process has
// not seen yet are looked up in turn, as attempts to sign in are: whoever invents them holds few connections.
func (s *Service) Peek(ctx context.Context, token string, v Visit) (Session, error) {
	if len(token) != base64.RawURLEncoding.EncodedLen(32) {
		return Session{}, ErrSession
	}
	hash := hashOf(token)
	if !s.seen.Contains(string(hash)) {
		leave, err := s.turn(ctx, v, s.openDevice(v.Device))
		if err != nil {
			return Session{}, err
		}
		defer leave()
	}
	found, err := s.sessions(ctx, sqlFindSession, hash, s.cfg.DB.Now())
	if err != nil {
		return Session{}, err
	}
	if len(found) == 0 {
		s.seen.Remove(string(hash))
		return Session{}, ErrSession
	}
	s.seen.Add(string(hash), struct{}{})
	return found[0], nil
}

// Sessions returns the sessions of a user, newest first.
func (s *Service) Sessions(ctx context.Context, o Owner) ([]Session, error) {
	return s.sessions(ctx, sqlSelectSessions, o.Company, o.User, s.cfg.DB.Now(), maxSessions)
}

func (s *Service) sessions(ctx context.Context, sql string, args ...any) ([]Session, error) {
	return db.Collect(ctx, s.cfg.DB, "select sessions", func(row pgx.CollectableRow) (v Session, err error) {
		err = row.Scan(&v.Company, &v.User, &v.ID, &v.Operator, &v.Stage, &v.Address, &v.Agent, &v.CreatedAt, &v.SeenAt, &v.ExpiresAt)
		return v, err
	}, sql, args...)
}

// EndSession ends a session of a user. One that is over already, or is somebody else's, is [ErrSession].
func (s *Service) EndSession(_ context.Context, tx *db.Tx, o Owner, id uuid.UUID) error {
	tx.Queue(sqlEndSession, o.Company, id, o.User).Expect(1, ErrSession)
	return nil
}

// EndSessions ends all sessions of a user but one; uuid.Nil spares none.
func (s *Service) EndSessions(_ context.Context, tx *db.Tx, o Owner, but uuid.UUID) error {
	tx.Queue(sqlEndOthers, o.Company, o.User, but)
	return nil
}

// SignOut ends a session. It is idempotent.
func (s *Service) SignOut(ctx context.Context, one Session) error {
	return s.run(ctx, "accounts.sign_out", func(tx *db.Tx) { tx.Queue(sqlEndByHash, one.Company, one.ID) })
}

// EnterOperator begins a session of an operator, who is known by the fingerprint of a token.
func (s *Service) EnterOperator(ctx context.Context, fingerprint string, v Visit) (e Entered, err error) {
	defer func() { count(byToken, err) }()
	err = s.run(ctx, "accounts.operator", func(tx *db.Tx) { e = begin(tx, Owner{Company: tenant.ID{}}, stageFull, fingerprint, v) })
	return e, err
}

// RefuseOperator counts an attempt with a token that is not one of an operator, and returns why it is refused: [ErrRefused], for too
// many of them a [LimitedError], or [ErrBusy].
func (s *Service) RefuseOperator(ctx context.Context, v Visit) (err error) {
	defer func() { count(byToken, err) }()
	leave, err := s.begin(ctx, v)
	if err != nil {
		return err
	}
	leave()
	return ErrRefused
}

// run makes a small change that may be made twice.
func (s *Service) run(ctx context.Context, name string, change func(tx *db.Tx)) error {
	return s.cfg.DB.RunTx(ctx, name, func(_ context.Context, tx *db.Tx) error {
		change(tx)
		return nil
	}, db.ReadCommitted())
}

var sessionsExpire = cleanup.Job{
	Every:  time.Hour,
	Delete: sessions.Delete(`WHERE (company_id, id) IN (SELECT company_id, id FROM sessions WHERE expires_at < $1 LIMIT 1000)`),
}
