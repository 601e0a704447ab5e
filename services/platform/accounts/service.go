// Package accounts lets people in: passwords, second factors, recovery codes, passkeys, providers, links that work once, and sessions. Who a user
// is and what he may do is up to services/platform/company and to the console; an account is how the user proves to be that user.
package accounts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Config holds the dependencies of the service.
type Config struct {
	DB   *db.DB
	Keys *secret.Keys // seal the secrets of second factors, and what browsers keep

	// Active reports whether a user exists, is active and has a role that may sign in.
	Active func(ctx context.Context, company tenant.ID, user uuid.UUID) (bool, error)

	// URL is where people reach the console, without a slash at the end, for links in mails; "" sends no mails.
	URL string

	Log *slog.Logger // nil = nothing is logged

	// Provider is the OpenID Connect provider that people sign in by; nil = there is none.
	Provider *Provider
}

// Service lets people in. It is safe for concurrent use.
type Service struct {
	cfg     Config
	limits  *limits
	seen    *lru.Cache[string, struct{}] // hashes of sessions that were there when they were last looked up
	turns   *ratelimit.FairQueue         // of attempts
	asking  *ratelimit.FairQueue         // of requests to the provider, which may take seconds
	hashing chan struct{}                // a place for each password that is hashed
	party   *webauthn.WebAuthn           // of passkeys; nil = there are none
}

// New returns a service. [Service.Run] must run in the background where people sign in.
func New(cfg Config) *Service {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	seen, _ := lru.New[string, struct{}](maxSeen) // fails only on a size below 1
	return &Service{
		cfg: cfg, seen: seen, limits: newLimits(), turns: newTurns(cfg.DB), asking: ratelimit.NewFairQueue(ratelimit.FairLimits{Running: 8, Waiting: 32, PerKey: 8, Longest: longestTurn}),
		hashing: make(chan struct{}, max(1, min(maxHashing, runtime.GOMAXPROCS(0)/2))), party: newRelyingParty(cfg.URL),
	}
}

// Owner is whose credentials are meant.
type Owner struct {
	Company tenant.ID
	User    uuid.UUID
}

func (o Owner) context(what string) string {
	return "account/" + what + "/" + o.Company.String() + "/" + o.User.String()
}

// Visit is from where somebody asks.
type Visit struct {
	Address netip.Addr
	Agent   string // User-Agent
	Device  string // what the browser keeps since an earlier sign-in; "" = nothing
}

// maxAgent is how much of a User-Agent is kept.
const maxAgent = 200

var (
	// ErrRefused means that the credentials are wrong, or that the user may not sign in. It does not say which.
	ErrRefused = errors.New("the credentials are wrong")
	// ErrLink means that a link is unknown, was used, or has expired.
	ErrLink = errors.New("the link was used before or has expired")
	// ErrSession means that there is no such session any more.
	ErrSession = errors.New("the session is over")
	// ErrBusy means that too many people try to get in right now.
	ErrBusy = errors.New("too many attempts at the same time")
)

// LimitedError means that there were too many attempts.
type LimitedError struct{ Wait time.Duration }

func (e *LimitedError) Error() string {
	return fmt.Sprintf("too many attempts; try again in %s", e.Wait.Round(time.Second))
}
