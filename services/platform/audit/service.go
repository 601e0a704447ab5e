// Package audit lets operators of the platform in and records what they and the people of companies change. The operations themselves belong to the
// other domains, which register them with the admin API.
package audit

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// kept is how long the record of a change is kept.
const kept = 400 * 24 * time.Hour

// Config holds the dependencies of the service.
type Config struct {
	DB        *db.DB
	Operators *secret.Operators // nil lets nobody in
	Access    *access.Registry
}

// Service lets operators in. It is safe for concurrent use.
type Service struct{ cfg Config }

// New returns a service.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

var errToken = apierr.New(http.StatusUnauthorized, "AUTH_API_TOKEN_INVALID", "the token is missing or is not that of an operator; send one as Authorization: Bearer <token>")

// Authenticate implements [httpapi.Authenticator] for operators. The principal belongs to no company and has no user: what
// operators change is a change by the platform itself. A valid token is accepted whatever else came from its address:
// looking it up costs no query, and operators often share one address with whoever guesses.
func (s *Service) Authenticate(_ context.Context, bearer string, _ netip.Addr, _ bool) (*access.Principal, error) {
	if s.cfg.Operators == nil {
		return nil, errToken
	}
	operator, ok := s.cfg.Operators.Find(bearer)
	if !ok {
		return nil, errToken
	}
	scopes := access.Scopes{"*:read"}
	if operator.Writes() {
		scopes = access.Scopes{"*:write"}
	}
	hash := sha256.Sum256([]byte(operator.Name))
	return &access.Principal{
		TokenID: uuid.UUID(hash[:16]), TokenName: operator.Name, Scopes: scopes, Components: s.cfg.Access.Components(), PlanAPI: true,
		Rate: access.Rate{Unlimited: true},
	}, nil
}

// Record implements [httpapi.Auditor].
func (s *Service) Record(tx *db.Tx, c httpapi.AdminChange) error {
	insertChange(tx, c)
	return nil
}

// RecordPerson stores the record of a change that somebody made in the console, in the transaction of the change.
func (s *Service) RecordPerson(tx *db.Tx, c PersonChange) error { return insertPersonChange(tx, c) }

// Changes returns a page of the changes that operators made.
func (s *Service) Changes(ctx context.Context, by access.Caller, f Filter) (*list.Page[Change], error) {
	return items.Page(ctx, s.cfg.DB, by.Company, f)
}
