package accounts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// A ceremony is a sign-in that takes two requests: with a passkey, or by way of a provider. What the second one is checked
// against is kept by the browser, sealed, in a cookie. So it is bound to that browser, and who only begins one stores nothing.
type ceremony struct {
	ID   string          `json:"id"`
	At   time.Time       `json:"at"`
	Data json.RawMessage `json:"data"`
}

// CeremonyWithin is how long the second request may take.
const CeremonyWithin = 10 * time.Minute

// ErrCeremony means that the browser did not begin this, that it took too long, or that it was ended before.
var ErrCeremony = errors.New("the sign-in took too long, or was used before")

// once is the bucket by which a ceremony is ended once: it is empty after one attempt for as long as the ceremony could last.
var once = bucket{"once", 1, CeremonyWithin}

// useUp ends a ceremony, or returns [ErrCeremony] if it was ended before. Only the first attempt of a process gets to the row, so that
// those who wait for it are no more than the processes.
func (s *Service) useUp(ctx context.Context, id string) error {
	one := once.of(id)
	if !s.limits.first(one, s.cfg.DB.Now()) {
		return ErrCeremony
	}
	err := s.cfg.DB.RunTx(ctx, "accounts.ceremony", func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlOnce, one.key, tx.Now().Add(CeremonyWithin)).Expect(1, ErrCeremony)
		return nil
	}, db.ReadCommitted(), db.LockTimeout(time.Second))
	if errors.Is(err, db.ErrLocked) {
		return ErrCeremony
	}
	return err
}

// begin seals data for the browser.
func (s *Service) beginCeremony(kind string, data any) (sealed string, err error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return "", fmt.Errorf("encode ceremony: %w", err)
	}
	text, err := json.Marshal(ceremony{newToken(), s.cfg.DB.Now(), raw})
	if err != nil {
		return "", fmt.Errorf("encode ceremony: %w", err)
	}
	return s.cfg.Keys.Seal(text, "ceremony/"+kind)
}

// endCeremony opens what the browser kept and uses it up, also if what follows fails.
func (s *Service) endCeremony(ctx context.Context, kind, sealed string, data any) error {
	if sealed == "" {
		return ErrCeremony
	}
	text, err := s.cfg.Keys.Open(sealed, "ceremony/"+kind)
	if err != nil {
		return ErrCeremony
	}
	var c ceremony
	if err := json.Unmarshal(text, &c); err != nil {
		return ErrCeremony
	}
	if age := s.cfg.DB.Now().Sub(c.At); age > CeremonyWithin || age < -time.Minute {
		return ErrCeremony
	}
	if err := s.useUp(ctx, c.ID); err != nil {
		return err
	}
	if err := json.Unmarshal(c.Data, data); err != nil {
		return ErrCeremony
	}
	return nil
}
