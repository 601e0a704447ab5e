package accounts

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"image/png"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const (
	issuer        = "Tradegrid"
	period        = 30 // seconds
	recoveryCodes = 10

	recoveryLength = 16 // characters, of 80 bits
)

// Setup is a second factor that a user may confirm with a code.
type Setup struct {
	Secret string // base32, for typing
	URL    string // otpauth://
	Image  string // data URL of the QR code
	Sealed string // comes back with the code
}

// StartTOTP makes a secret. Nothing is stored until it is confirmed.
func (s *Service) StartTOTP(o Owner, email string) (Setup, error) {
	key, err := totp.Generate(totp.GenerateOpts{Issuer: issuer, AccountName: email, Period: period})
	if err != nil {
		return Setup{}, fmt.Errorf("make second factor: %w", err)
	}
	return s.setup(o, key)
}

// ResumeTOTP shows the same secret again, after a wrong code.
func (s *Service) ResumeTOTP(o Owner, email, sealed string) (Setup, error) {
	secret, err := s.cfg.Keys.Open(sealed, o.context("totp"))
	if err != nil {
		return s.StartTOTP(o, email)
	}
	raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(string(secret))
	if err != nil {
		return Setup{}, fmt.Errorf("read second factor: %w", err)
	}
	key, err := totp.Generate(totp.GenerateOpts{Issuer: issuer, AccountName: email, Period: period, Secret: raw})
	if err != nil {
		return Setup{}, fmt.Errorf("make second factor: %w", err)
	}
	return s.setup(o, key)
}

func (s *Service) setup(o Owner, key *otp.Key) (Setup, error) {
	image, err := key.Image(220, 220)
	if err != nil {
		return Setup{}, fmt.Errorf("draw QR code: %w", err)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, image); err != nil {
		return Setup{}, fmt.Errorf("draw QR code: %w", err)
	}
	sealed, err := s.cfg.Keys.Seal([]byte(key.Secret()), o.context("totp"))
	if err != nil {
		return Setup{}, err
	}
	return Setup{Secret: key.Secret(), URL: key.URL(), Image: "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()), Sealed: sealed}, nil
}

// ConfirmTOTP turns the second factor on, once the user has shown a code of it, and returns recovery codes, which are not shown again.
// ErrRefused = another one is on: whoever has a session alone cannot replace it.
func (s *Service) ConfirmTOTP(_ context.Context, tx *db.Tx, o Owner, email, sealed, code string) (recovery []string, err error) {
	secret, err := s.cfg.Keys.Open(sealed, o.context("totp"))
	if err != nil {
		return nil, apierr.InvalidField("code", apierr.Conflict, "the page is too old: begin again")
	}
	step, ok := stepOf(string(secret), code, tx.Now())
	if !ok {
		return nil, errCode
	}
	recovery, hashes := newRecovery()
	ensure(tx, o, email)
	tx.Queue(sqlSetTOTP, o.Company, o.User, sealed, step, hashes, tx.Now()).Expect(1, ErrRefused)
	return recovery, nil
}

// RemoveTOTP turns the second factor off, if one is on, and tells the user by e-mail.
func (s *Service) RemoveTOTP(ctx context.Context, tx *db.Tx, o Owner, email string) error {
	ensure(tx, o, email)
	a, err := s.one(ctx, tx, sqlLockAccount, o.Company, o.User)
	if err != nil || a.totp == nil {
		return err
	}
	tx.Queue(sqlRemoveTOTP, o.Company, o.User, tx.Now())
	return s.mail(ctx, tx, o, email, ownermail.Notice{
		Kind: ownermail.Private + "totp", Record: record.NewID(), Since: tx.Now(), Subject: "The second factor of your account was turned off",
		Text: fmt.Sprintf(`Your password alone signs in to your account from now on.

If that was not you, set another password and turn the second factor on again: %s/account`, s.cfg.URL),
	})
}

var errCode = apierr.InvalidField("code", apierr.Conflict, "is not the code of now: look at the clock of your phone, and use each code once")

// EnterCode ends a sign-in with the second factor, or with a recovery code, which it uses up. A wrong one is a fault of the field code.
func (s *Service) EnterCode(ctx context.Context, half Session, code string, v Visit) (e Entered, err error) {
	defer func() { count(byTOTP, err) }()
	leave, err := s.turnOf(ctx, half.context("code"))
	if err != nil {
		return e, err
	}
	defer leave()
	known := s.openDevice(v.Device)
	limit := codeLimit(half.Owner, known, code, v)
	if err := s.take(ctx, limit); err != nil {
		return e, err
	}
	var a account
	err = s.cfg.DB.RunTx(ctx, "accounts.code", func(ctx context.Context, tx *db.Tx) (err error) {
		if a, err = s.one(ctx, tx, sqlSelectAccount, half.Company, half.User); err != nil {
			return err
		}
		if err := s.takeCode(tx, a, code); err != nil {
			return err
		}
		tx.Queue(sqlEndSession, half.Company, half.ID, half.User).Expect(1, ErrSession)
		e = begin(tx, a.Owner, stageFull, "", v)
		return nil
	}, db.ReadCommitted()) // takeCode writes only what is still as it was read
	if err != nil {
		return e, err
	}
	if limit.bucket == byAddress {
		s.limits.giveBack(limit)
	} else {
		s.limits.refill(limit)
	}
	s.good(a, known, v)
	return s.withDevice(e, known)
}

// codeLimit is the bucket of an attempt with a code. Whoever knows the password can use up that of the account: a browser that has
// signed in to it before has one of its own, and nobody guesses a recovery code, so that those count for the address alone.
func codeLimit(o Owner, known device, code string, v Visit) limited {
	switch {
	case len(plainCode(code)) == recoveryLength:
		return ofAddress(v.Address)
	case known.Owner == o:
		return byCode.of("device " + known.ID.String())
	}
	return byCode.of(o.context("code"))
}

// takeCode uses up a code of the account.
func (s *Service) takeCode(tx *db.Tx, a account, code string) error {
	if a.totp == nil {
		return ErrRefused
	}
	secret, err := s.cfg.Keys.Open(*a.totp, a.context("totp"))
	if err != nil {
		return fmt.Errorf("open second factor: %w", err)
	}
	if step, ok := stepOf(string(secret), code, tx.Now()); ok && step > a.step {
		tx.Queue(sqlTakeStep, a.Company, a.User, step, tx.Now(), *a.totp).Expect(1, errCode)
		return nil
	}
	hash := recoveryHash(code)
	for _, known := range a.recovery {
		if subtle.ConstantTimeCompare([]byte(known), []byte(hash)) == 1 {
			tx.Queue(sqlTakeRecovery, a.Company, a.User, hash, tx.Now()).Expect(1, errCode)
			return nil
		}
	}
	return errCode
}

// plainCode is a code as people do not type it, in groups.
func plainCode(code string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return -1
		}
		return r
	}, code))
}

// stepOf finds the time step of a code: that of now, or a neighbour, for clocks that differ.
func stepOf(secret, code string, now time.Time) (step int64, ok bool) {
	code = plainCode(code)
	for _, near := range []int64{0, -1, 1} {
		at := now.Unix()/period + near
		want, err := totp.GenerateCode(secret, time.Unix(at*period, 0))
		if err == nil && subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			return at, true
		}
	}
	return 0, false
}

// newRecovery makes codes of 80 bits, and what is stored of them.
func newRecovery() (codes, hashes []string) {
	for range recoveryCodes {
		var b [10]byte
		_, _ = rand.Read(b[:]) // it never fails
		text := strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
		code := text[:4] + "-" + text[4:8] + "-" + text[8:12] + "-" + text[12:]
		codes, hashes = append(codes, code), append(hashes, recoveryHash(code))
	}
	return codes, hashes
}

func recoveryHash(code string) string {
	sum := sha256.Sum256([]byte(plainCode(code)))
	return hex.EncodeToString(sum[:])
}
