package company

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Rate tiers.
const (
	TierStandard = "standard"
	TierHigh     = "high"
	TierCustom   = "custom"
)

const (
	maxTokens       = 50 // unrevoked, per company
	maxLifetime     = 3 * 365 * 24 * time.Hour
	defaultLifetime = 365 * 24 * time.Hour
	maxOverlap      = 7 * 24 * time.Hour
	maxAllowlist    = 100
)

// Token is the record of an API token, without its secret.
type Token struct {
	record.Key
	Name        string         `json:"name"`
	Prefix      string         `json:"prefix"` // public part of the token
	Scopes      []string       `json:"scopes"`
	ActorID     uuid.UUID      `json:"actorId"` // the technical user
	ExpiresAt   *jsontype.Time `json:"expiresAt"`
	IPAllowlist []string       `json:"ipAllowlist"` // CIDR; empty = any address
	RateTier    string         `json:"rateTier"`
	CustomRate  CustomRate     `json:"customRate,omitzero" doc:"only for the tier custom"`
	LastUsedAt  *jsontype.Time `json:"lastUsedAt"`
	CreatedByID *uuid.UUID     `json:"createdById"`
	RevokedAt   *jsontype.Time `json:"revokedAt"`
	record.Meta
}

// CustomRate is the rate of the custom tier; a field that is 0 sets no limit.
type CustomRate struct {
	RefillMilli int64 `json:"refillMilli" minimum:"0" maximum:"1000000000" doc:"requests per 1000 seconds in the long run; 0 = unlimited"`
	Burst       int32 `json:"burst" minimum:"0" maximum:"1000000" doc:"requests at once after a pause; 0 = unlimited"`
	InFlight    int32 `json:"inFlight" minimum:"0" maximum:"1000000" doc:"requests of the company at the same time; 0 = unlimited"`
}

// NewToken is the input of [Service.IssueToken].
type NewToken struct {
	Name         string
	Scopes       []string
	Lifetime     time.Duration // 0 = 365 days
	NeverExpires bool          // then Lifetime is ignored
	IPAllowlist  []string      // addresses or CIDR ranges
	RateTier     string        // "" = standard
	CustomRate   CustomRate    // for the custom tier
}

// Issued is a token with its text, which is returned once and not stored.
type Issued struct {
	Token
	Text string `json:"token"`
}

// SchemaName implements [jsontype.Named].
func (Issued) SchemaName() string { return "IssuedToken" }

func (in *NewToken) check(known *access.Registry) error {
	in.Name = strings.TrimSpace(in.Name)
	in.RateTier = cmp.Or(in.RateTier, TierStandard)
	if in.Lifetime == 0 {
		in.Lifetime = defaultLifetime
	}
	var faults apierr.Fields
	checkText(&faults, "name", in.Name, maxName)
	checkScopes(&faults, known, in.Scopes)
	if !in.NeverExpires && (in.Lifetime < 0 || in.Lifetime > maxLifetime) {
		faults.Add("lifetime", apierr.Max, "must be above 0 and at most 3 years (1095 days), or never be over")
	}
	checkAllowlist(&faults, in.IPAllowlist)
	in.checkRate(&faults)
	return faults.Err()
}

func checkScopes(faults *apierr.Fields, known *access.Registry, scopes []string) {
	if len(scopes) == 0 {
		faults.Add("scopes", apierr.Required, "name at least one of %s", strings.Join(known.Scopes(), ", "))
	} else if _, err := known.ParseScopes(scopes); err != nil {
		faults.Add("scopes", apierr.Enum, "%s", err.Error())
	}
}

// checkAllowlist brings the ranges into their usual form.
func checkAllowlist(faults *apierr.Fields, list []string) {
	if len(list) > maxAllowlist {
		faults.Add("ipAllowlist", apierr.Length, "at most %d ranges", maxAllowlist)
	}
	for i, text := range list {
		p, err := parseRange(text)
		if err != nil {
			faults.Add(fmt.Sprintf("ipAllowlist[%d]", i), apierr.Format, "%q is not a range: use CIDR such as 203.0.113.0/24", text)
			continue
		}
		list[i] = p.String()
	}
}

func (in *NewToken) checkRate(faults *apierr.Fields) {
	r := in.CustomRate
	switch {
	case in.RateTier != TierStandard && in.RateTier != TierHigh && in.RateTier != TierCustom:
		faults.Add("rateTier", apierr.Enum, "%q is not a tier: use %s, %s or %s", in.RateTier, TierStandard, TierHigh, TierCustom)
	case in.RateTier != TierCustom && r != CustomRate{}:
		faults.Add("customRate", apierr.Conflict, "is only for the %s tier", TierCustom)
	}
	const most = 1_000_000
	if r.RefillMilli < 0 || r.RefillMilli > most*1000 || r.Burst < 0 || r.Burst > most || r.InFlight < 0 || r.InFlight > most {
		faults.Add("customRate", apierr.Max, "refill per second, burst and requests in flight must each be between 0 (unlimited) and %d", most)
	}
	if (r.RefillMilli == 0) != (r.Burst == 0) {
		faults.Add("customRate", apierr.Conflict, "refill and burst must both be set, or both be 0 for no limit")
	}
}

// IssueToken creates a token and its technical user. Only this result holds the text of the token.
func (s *Service) IssueToken(ctx context.Context, tx *db.Tx, by access.Caller, in NewToken) (Issued, error) {
	if err := in.check(s.cfg.Access); err != nil {
		return Issued{}, err
	}
	c, err := getCompany(ctx, tx, by.Company)
	if err != nil {
		return Issued{}, err
	}
	if n, err := countTokens(ctx, tx, by.Company); err != nil {
		return Issued{}, err
	} else if n >= maxTokens {
		return Issued{}, apierr.StateConflict("TOKEN_LIMIT_REACHED", "a company has at most %d tokens: revoke one that is no longer used", maxTokens)
	}
	actor, err := users.Create(ctx, tx, by, User{Person: Person{Name: &in.Name, Status: UserActive}, IsTechnical: true})
	if err != nil {
		return Issued{}, err
	}
	t := in.token(c, actor.ID, by, tx.Now())
	text, hash := newSecret(t.Prefix)
	insertToken(tx, t)
	insertSecret(tx, t, hash)
	return Issued{t, text}, s.invalidateToken(ctx, tx, t)
}

func (in *NewToken) token(c Company, actor uuid.UUID, by access.Caller, now time.Time) Token {
	t := Token{
		Key: record.Key{ID: record.NewID(), CompanyID: c.ID}, Name: in.Name, Prefix: newPublicPart(c.IsTest, c.Cell), Scopes: in.Scopes, ActorID: actor,
		IPAllowlist: in.IPAllowlist, RateTier: in.RateTier, CustomRate: in.CustomRate, Meta: record.New(now),
	}
	if t.IPAllowlist == nil {
		t.IPAllowlist = []string{}
	}
	if !in.NeverExpires {
		at := jsontype.At(now.Add(in.Lifetime))
		t.ExpiresAt = &at
	}
	if by.Actor != uuid.Nil {
		t.CreatedByID = &by.Actor
	}
	return t
}

// Tokens returns the tokens of the company, newest first; revoked ones on request.
func (s *Service) Tokens(ctx context.Context, by access.Caller, withRevoked bool) ([]Token, error) {
	return db.Collect(ctx, s.cfg.DB, "select tokens", scanToken, sqlSelectTokens, by.Company, withRevoked)
}

// Token returns a token.
func (s *Service) Token(ctx context.Context, by access.Caller, id uuid.UUID) (Token, error) {
	return getToken(ctx, s.cfg.DB, by.Company, id)
}

// RevokeToken revokes a token with all its secrets, at once. It is idempotent.
func (s *Service) RevokeToken(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Token, error) {
	t, err := getToken(ctx, tx, by.Company, id)
	if err != nil || t.RevokedAt != nil {
		return t, err
	}
	at := jsontype.At(tx.Now())
	t.RevokedAt = &at
	deleteSecrets(tx, t)
	return t, s.storeToken(ctx, tx, by, &t)
}

// Rotation is the input of [Service.RotateToken].
type Rotation struct {
	TokenID uuid.UUID
	Overlap time.Duration // how long older secrets stay valid: 0 to 7 days
}

// RotateToken gives a token a new secret; older ones stay valid for the overlap.
func (s *Service) RotateToken(ctx context.Context, tx *db.Tx, by access.Caller, in Rotation) (Issued, error) {
	var faults apierr.Fields
	if in.Overlap < 0 || in.Overlap > maxOverlap {
		faults.Add("overlap", apierr.Max, "must be between 0 and 7 days")
		return Issued{}, faults.Err()
	}
	t, err := getToken(ctx, tx, by.Company, in.TokenID)
	if err != nil {
		return Issued{}, err
	}
	if t.RevokedAt != nil {
		return Issued{}, revoked(t)
	}
	text, hash := newSecret(t.Prefix)
	retireSecrets(tx, t, tx.Now(), tx.Now().Add(in.Overlap))
	insertSecret(tx, t, hash)
	err = s.storeToken(ctx, tx, by, &t)
	return Issued{t, text}, err
}

// storeToken stores the next version of a token that this transaction has read.
func (s *Service) storeToken(ctx context.Context, tx *db.Tx, by access.Caller, t *Token) error {
	if err := by.Expect(t.Version); err != nil {
		return err
	}
	t.Touch(tx.Now())
	updateToken(tx, *t)
	return s.invalidateToken(ctx, tx, *t)
}

// TokenState is what the platform knows of a token beyond its record.
type TokenState struct {
	// Announcing is true until the last change of the token has gone out to the API nodes. They apply it as they get it: usually
	// within two seconds of the change, and within 30 seconds if the announcement is lost.
	Announcing bool
	// OldSecretUntil is when the last secret that a rotation has replaced ends; nil = only the newest one is valid.
	OldSecretUntil *time.Time
}

const sqlSelectOldSecret = `SELECT max(expires_at) FROM token_secrets WHERE company_id = $1 AND token_id = $2 AND expires_at > $3`

// TokenState says how far the last change of a token is, and whether older secrets are valid beside the newest.
func (s *Service) TokenState(ctx context.Context, by access.Caller, t Token) (state TokenState, err error) {
	if state.Announcing, err = outbox.Waits(ctx, s.cfg.DB, by.Company, t.ID, t.EvPos); err != nil {
		return state, err
	}
	if err := s.cfg.DB.QueryRow(ctx, sqlSelectOldSecret, by.Company, t.ID, s.cfg.DB.Now()).Scan(&state.OldSecretUntil); err != nil {
		return state, fmt.Errorf("select secrets of token: %w", err)
	}
	return state, nil
}
