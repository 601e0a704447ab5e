package company

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

var (
	errTokenInvalid = apierr.New(http.StatusUnauthorized, "AUTH_API_TOKEN_INVALID",
		"the API token is missing, unknown, revoked, or not allowed from this address: send a valid one as Authorization: Bearer <token>")
	errTokenExpired    = apierr.New(http.StatusUnauthorized, "AUTH_API_TOKEN_EXPIRED", "the API token has expired: ask the company for a new one")
	errCompanyArchived = apierr.New(http.StatusUnauthorized, "COMPANY_ARCHIVED", "the company is archived: its API is closed")
)

// loadTimeout bounds a look-up. Several requests may wait for one, so it does not end with the request that started it.
const loadTimeout = 5 * time.Second

// known is the cache entry of a secret. It is immutable, apart from the time of last use.
type known struct {
	access.Principal

	allow       []ipRange
	secretUntil time.Time // when a replaced secret ends; zero = with the token
	loadedAt    time.Time
	use         *lastUse
}

type ipRange = netip.Prefix

// Authenticate returns the principal of a token. The bearer is the text after "Bearer" and may point into a reused buffer;
// ip is the address of the caller. Tokens are cached for at most 30 s, and dropped from the cache when a change is announced.
// Without lookUp, a token that is not cached is not looked up in the database and counts as unknown.
//
// Errors, in this order: 401 AUTH_API_TOKEN_INVALID (unknown, revoked, or from an address outside the allow-list),
// 401 AUTH_API_TOKEN_EXPIRED, 401 COMPANY_ARCHIVED, each with the principal of a token that is known; 503 if the token is not
// cached and the database is unavailable.
func (s *Service) Authenticate(ctx context.Context, bearer string, ip netip.Addr, lookUp bool) (*access.Principal, error) {
	hash, ok := hashOf(bearer)
	if !ok {
		return nil, errTokenInvalid
	}
	now := s.cfg.DB.Now()
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
		return k.principal(), err
	}
	s.used.touch(k, now)
	return &k.Principal, nil
}

// principal is whose secret it is; nil for an unknown secret.
func (k *known) principal() *access.Principal {
	if k == nil {
		return nil
	}
	return &k.Principal
}

// refuse returns the 401 for a caller that may not use this secret, or nil; k is nil for an unknown secret.
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

// load reads a secret from the database, once for all concurrent requests with it.
func (s *Service) load(ctx context.Context, hash tokenHash) (*known, error) {
	// The version in the key keeps requests from joining a look-up that began before the last invalidation.
	version := s.cache.version()
	key := string(binary.BigEndian.AppendUint64(hash[:], version))
	result := s.cache.flight.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTimeout)
		defer cancel()
		now := s.cfg.DB.Now()
		k, err := s.selectKnown(ctx, hash, now)
		if err != nil {
			return nil, err
		}
		s.cache.put(hash, k, version, now)
		return k, nil
	})
	defer cputime.Wait()()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-result:
		return loaded(r)
	}
}

func loaded(r singleflight.Result) (*known, error) {
	if r.Err != nil {
		refused := apierr.Unavailable(db.UnavailableOr(r.Err, apierr.DatabaseUnavailable), 1, "the token cannot be checked right now; try again")
		return nil, fmt.Errorf("%w (look up token: %w)", refused, r.Err)
	}
	k, _ := r.Val.(*known)
	return k, nil
}

// parseRange parses a CIDR range, or an address as the range of this one address.
func parseRange(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	return p.Masked(), err
}

// Enter returns an operator as a caller of a company, which may be archived. An unknown company is 404 COMPANY_NOT_FOUND.
func (s *Service) Enter(ctx context.Context, operator *access.Principal, id tenant.ID) (*access.Principal, error) {
	c, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	p := *operator
	p.Company, p.CompanyName, p.IsTest, p.Currency, p.CountryPrefix = c.ID, c.Name, c.IsTest, c.Currency, c.CountryPrefix
	p.Plan, p.Archived = c.Plan, c.Status == Archived
	p.Settings = c.forCallers()
	return &p, nil
}
