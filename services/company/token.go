package company

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// Tiers of a token's rate.
const (
	TierStandard = "standard"
	TierHigh     = "high"
	TierCustom   = "custom"
)

const (
	maxTokens       = 50 // unrevoked, per company
	minLifetime     = 24 * time.Hour
	maxLifetime     = 3 * 365 * 24 * time.Hour
	defaultLifetime = 365 * 24 * time.Hour
	maxOverlap      = 7 * 24 * time.Hour
	maxAllowlist    = 100

	// DefaultOverlap is how long a replaced secret stays valid.
	DefaultOverlap = 24 * time.Hour
)

// Token is the record of an API token, without its secret.
type Token struct {
	ID          uuid.UUID  `json:"id"`
	CompanyID   tenant.ID  `json:"companyId"`
	Name        string     `json:"name"`
	Prefix      string     `json:"prefix"` // the part of the text that may be shown
	Scopes      []string   `json:"scopes"`
	ActorID     uuid.UUID  `json:"actorId"` // the technical user
	ExpiresAt   *wire.Time `json:"expiresAt"`
	IPAllowlist []string   `json:"ipAllowlist"` // CIDR; empty = any address
	RateTier    string     `json:"rateTier"`
	CustomRate  CustomRate `json:"customRate,omitzero"`
	LastUsedAt  *wire.Time `json:"lastUsedAt"`
	CreatedByID *uuid.UUID `json:"createdById"`
	CreatedAt   wire.Time  `json:"createdAt"`
	UpdatedAt   wire.Time  `json:"updatedAt"`
	RevokedAt   *wire.Time `json:"revokedAt"`
	Version     int64      `json:"version"`

	evPos int64
}

// CustomRate is the rate of the custom tier; 0 = unlimited in each of them.
type CustomRate struct {
	RefillMilli int64 `json:"refillMilli"` // requests per 1000 seconds in the long run
	Burst       int32 `json:"burst"`       // requests at once after a pause
	InFlight    int32 `json:"inFlight"`    // requests of the company at the same time
}

// NewToken is what a token is made of.
type NewToken struct {
	Name         string
	Scopes       []string
	Lifetime     time.Duration // 0 = 365 days
	NeverExpires bool          // then Lifetime is ignored
	IPAllowlist  []string      // addresses or CIDR ranges
	RateTier     string        // "" = standard
	CustomRate   CustomRate    // for the custom tier
	By           uuid.UUID     // who issues it; uuid.Nil = the system
}

// Issued is a token with its text, which is shown this once and stored nowhere.
type Issued struct {
	Token
	Text string `json:"token"`
}

func (in *NewToken) check() error {
	in.Name = strings.TrimSpace(in.Name)
	orElse(&in.RateTier, TierStandard)
	if in.Lifetime == 0 {
		in.Lifetime = defaultLifetime
	}
	var faults fault.Fields
	checkText(&faults, "name", in.Name, maxName)
	if len(in.Scopes) == 0 {
		faults.Add("scopes", fault.Required, "name at least one of %s", strings.Join(access.AllScopes(), ", "))
	} else if _, err := access.ParseScopes(in.Scopes); err != nil {
		faults.Add("scopes", fault.Enum, "%s", err.Error())
	}
	if !in.NeverExpires && (in.Lifetime < minLifetime || in.Lifetime > maxLifetime) {
		faults.Add("lifetime", fault.Max, "must be between 1 day and 3 years (1095 days), or never be over")
	}
	in.checkAllowlist(&faults)
	in.checkRate(&faults)
	return faults.Err()
}

func (in *NewToken) checkAllowlist(faults *fault.Fields) {
	if len(in.IPAllowlist) > maxAllowlist {
		faults.Add("ipAllowlist", fault.Length, "at most %d ranges", maxAllowlist)
	}
	for i, text := range in.IPAllowlist {
		p, err := parseRange(text)
		if err != nil {
			faults.Add(fmt.Sprintf("ipAllowlist[%d]", i), fault.Format, "%q is not a range: use CIDR such as 203.0.113.0/24", text)
			continue
		}
		in.IPAllowlist[i] = p.String()
	}
}

// parseRange reads a CIDR range or a single address.
func parseRange(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	return p.Masked(), err
}

func (in *NewToken) checkRate(faults *fault.Fields) {
	r := in.CustomRate
	switch {
	case in.RateTier != TierStandard && in.RateTier != TierHigh && in.RateTier != TierCustom:
		faults.Add("rateTier", fault.Enum, "%q is not a tier: use %s, %s or %s", in.RateTier, TierStandard, TierHigh, TierCustom)
	case in.RateTier != TierCustom && r != CustomRate{}:
		faults.Add("customRate", fault.Conflict, "is only for the %s tier", TierCustom)
	}
	const most = 1_000_000
	if r.RefillMilli < 0 || r.RefillMilli > most*1000 || r.Burst < 0 || r.Burst > most || r.InFlight < 0 || r.InFlight > most {
		faults.Add("customRate", fault.Max, "refill per second, burst and requests in flight must each be between 0 (unlimited) and %d", most)
	}
	if (r.RefillMilli == 0) != (r.Burst == 0) {
		faults.Add("customRate", fault.Conflict, "refill and burst must both be set, or both be 0 for no limit")
	}
}

// IssueToken makes a token and its technical user. The answer holds the text, this once.
func (s *Service) IssueToken(ctx context.Context, company tenant.ID, in NewToken) (Issued, error) {
	if err := in.check(); err != nil {
		return Issued{}, err
	}
	now := s.now()
	actor := newUser(now)
	actor.Name, actor.Status, actor.IsTechnical = &in.Name, UserActive, true
	var issued Issued
	err := s.db.RunTx(ctx, "company.token.issue", func(ctx context.Context, tx *db.Tx) error {
		c, err := getCompany(ctx, tx, company)
		if err != nil {
			return err
		}
		if n, err := countTokens(ctx, tx, company); err != nil {
			return err
		} else if n >= maxTokens {
			return fault.StateConflict("TOKEN_LIMIT_REACHED", "a company has at most %d tokens: revoke one that is no longer used", maxTokens)
		}
		var hash tokenHash
		issued.Token = in.token(c, actor.ID, now)
		issued.Text, hash = newSecret(issued.Prefix)
		insertUser(tx, company, actor)
		insertToken(tx, issued.Token)
		insertSecret(tx, issued.Token, hash)
		return announceToken(ctx, tx, company, issued.Token, now)
	})
	return issued, err
}

func (in *NewToken) token(c Company, actor uuid.UUID, now time.Time) Token {
	t := Token{
		ID: newID(), CompanyID: c.ID, Name: in.Name, Prefix: newPublicPart(c.IsTest, c.Cell), Scopes: in.Scopes, ActorID: actor,
		IPAllowlist: in.IPAllowlist, RateTier: in.RateTier, CustomRate: in.CustomRate, CreatedAt: wire.At(now), UpdatedAt: wire.At(now),
		Version: 1, evPos: now.UnixMicro(),
	}
	if t.IPAllowlist == nil {
		t.IPAllowlist = []string{}
	}
	if !in.NeverExpires {
		at := wire.At(now.Add(in.Lifetime))
		t.ExpiresAt = &at
	}
	if in.By != uuid.Nil {
		t.CreatedByID = &in.By
	}
	return t
}

// Tokens lists the tokens of a company, newest first; revoked ones only when asked for.
func (s *Service) Tokens(ctx context.Context, company tenant.ID, withRevoked bool) ([]Token, error) {
	return many(ctx, s.db, scanToken, sqlSelectTokens, company, withRevoked)
}

// Token reads one token.
func (s *Service) Token(ctx context.Context, company tenant.ID, id uuid.UUID) (Token, error) {
	return getToken(ctx, s.db, company, id)
}

// RevokeToken ends a token at once, with all its secrets. Revoking twice changes nothing.
func (s *Service) RevokeToken(ctx context.Context, company tenant.ID, id uuid.UUID) (Token, error) {
	now := s.now()
	var t Token
	err := s.db.RunTx(ctx, "company.token.revoke", func(ctx context.Context, tx *db.Tx) (err error) {
		if t, err = getToken(ctx, tx, company, id); err != nil || t.RevokedAt != nil {
			return err
		}
		at := wire.At(now)
		t.RevokedAt = &at
		t.bump(now)
		updateToken(tx, t)
		deleteSecrets(tx, t)
		return announceToken(ctx, tx, company, t, now)
	})
	s.cache.dropToken(company, id)
	return t, err
}

// RotateToken gives a token a new secret; older ones stay valid for the overlap, 0 to 7 days.
func (s *Service) RotateToken(ctx context.Context, company tenant.ID, id uuid.UUID, overlap time.Duration) (Issued, error) {
	var faults fault.Fields
	if overlap < 0 || overlap > maxOverlap {
		faults.Add("overlap", fault.Max, "must be between 0 and 7 days")
		return Issued{}, faults.Err()
	}
	now := s.now()
	var issued Issued
	err := s.db.RunTx(ctx, "company.token.rotate", func(ctx context.Context, tx *db.Tx) (err error) {
		t, err := getToken(ctx, tx, company, id)
		if err != nil {
			return err
		}
		if t.RevokedAt != nil {
			return fault.StateConflict("TOKEN_REVOKED", "token %s is revoked: issue a new one", id)
		}
		t.bump(now)
		var hash tokenHash
		issued.Token = t
		issued.Text, hash = newSecret(t.Prefix)
		updateToken(tx, t)
		retireSecrets(tx, t, now, now.Add(overlap))
		insertSecret(tx, t, hash)
		return announceToken(ctx, tx, company, t, now)
	})
	s.cache.dropToken(company, id)
	return issued, err
}

func (t *Token) bump(now time.Time) {
	t.Version++
	t.evPos = nextPos(t.evPos, now)
	t.UpdatedAt = wire.At(now)
}
