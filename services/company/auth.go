package company

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
)

var (
	errTokenInvalid = fault.New(http.StatusUnauthorized, "AUTH_API_TOKEN_INVALID",
		"the API token is missing, unknown, revoked, or not allowed from this address: send a valid one as Authorization: Bearer <token>")
	errTokenExpired    = fault.New(http.StatusUnauthorized, "AUTH_API_TOKEN_EXPIRED", "the API token has expired: ask the company for a new one")
	errCompanyArchived = fault.New(http.StatusUnauthorized, "COMPANY_ARCHIVED", "the company is archived: its API is closed")
)

// loadTimeout bounds a look-up, which several requests may wait for, whatever happens to the first of them.
const loadTimeout = 5 * time.Second

// known is what the cache keeps of a secret. It never changes, apart from the time of last use.
type known struct {
	access.Principal

	allow       []ipRange
	secretUntil time.Time // of a replaced secret; zero = as long as the token
	loadedAt    time.Time
	use         *lastUse
}

type ipRange = netip.Prefix

// Authenticate finds out who shows a token: the text after "Bearer", which may be in a buffer that is used again.
// The address is the caller's. Tokens are remembered for at most 30 s, less when a change is announced. Without lookUp
// the database is not asked about a token that was never seen to exist: it counts as unknown.
// Faults, in this order: 401 AUTH_API_TOKEN_INVALID (unknown, revoked, or from an address outside the list),
// 401 AUTH_API_TOKEN_EXPIRED, 401 COMPANY_ARCHIVED; 503 when the token is not remembered and the database is away.
func (s *Service) Authenticate(ctx context.Context, bearer string, ip netip.Addr, lookUp bool) (*access.Principal, error) {
	hash, ok := hashOf(bearer)
	if !ok {
		return nil, errTokenInvalid
	}
	now := s.db.Now()
	k, fresh := s.cache.get(hash, now)
	if !fresh {
		if k == nil && !lookUp {
			return nil, errTokenInvalid
		}
		var err error
		if k, err = s.load(ctx, hash); err != nil {
			return nil, err
		}
	}
	if err := k.refuse(ip, now); err != nil {
		return nil, err
	}
	s.used.touch(k, now)
	return &k.Principal, nil
}

// refuse tells why a caller with this secret may not enter; k is nil for an unknown one.
func (k *known) refuse(ip netip.Addr, now time.Time) error {
	switch {
	case k == nil, !k.secretUntil.IsZero() && !now.Before(k.secretUntil), !k.allows(ip):
		return errTokenInvalid
	case k.Expired, k.ExpiresAt != nil && !now.Before(*k.ExpiresAt):
		return errTokenExpired
	case k.Archived:
		return errCompanyArchived
	}
	return nil
}

func (k *known) allows(ip netip.Addr) bool {
	if len(k.allow) == 0 {
		return true
	}
	ip = ip.Unmap()
	for _, r := range k.allow {
		if r.Contains(ip) {
			return true
		}
	}
	return false
}

// load reads the secret from the database, once for all requests that ask for it at the same time.
func (s *Service) load(ctx context.Context, hash tokenHash) (*known, error) {
	// With the stamp in its key, nobody joins a look-up that began before the last change.
	stamp := s.cache.stamp()
	key := string(binary.BigEndian.AppendUint64(hash[:], stamp))
	result := s.cache.flight.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTimeout)
		defer cancel()
		now := s.db.Now()
		k, err := s.selectKnown(ctx, hash, now)
		if err != nil {
			return nil, err
		}
		s.cache.put(hash, k, stamp, now)
		return k, nil
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-result:
		return loaded(r)
	}
}

func loaded(r singleflight.Result) (*known, error) {
	if r.Err != nil {
		refused := fault.Unavailable(db.UnavailableOr(r.Err, fault.DatabaseUnavailable), 1, "the token cannot be checked right now; try again")
		return nil, fmt.Errorf("%w (look up token: %w)", refused, r.Err)
	}
	k, _ := r.Val.(*known)
	return k, nil
}
