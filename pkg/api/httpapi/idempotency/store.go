// Package idempotency stores the responses of changes by their X-Idempotency-Key, so that a repeat gets the response of the
// first request and changes nothing; see docs/reference/idempotency.md. It knows requests only by their key and fingerprint.
package idempotency

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/quota"
)

// QuotaKind is the kind of bytes that stored responses count towards the quota of a company.
const QuotaKind = "answers"

// Config configures a [Store].
type Config struct {
	DB    *db.DB
	TTL   time.Duration // how long a response is stored
	Lease time.Duration // how long an unfinished request blocks its key
	Keys  *secret.Keys  // encrypt the responses of requests that show a secret
	Quota *quota.Meter  // counts the bytes of stored responses; nil = no quota
}

// Store holds the responses of all companies.
type Store struct {
	Config
	running runningKeys
}

// New returns a store.
func New(cfg Config) *Store { return &Store{Config: cfg} }

// Request identifies a request that has a key.
type Request struct {
	Company     tenant.ID
	Key         uuid.UUID
	Fingerprint []byte // of all that makes a repeat the same request
	Secret      bool   // the response shows a secret: it is stored encrypted
	// OneTx says that the change is one transaction, which stores the response. Until then the key is held in this process,
	// and the first transaction that stores a response under it decides between processes. Other requests insert the key with a
	// lease before they begin, which excludes others everywhere.
	OneTx bool
}

// Response is a response as it is stored.
type Response struct {
	Status  int
	Headers map[string]string
	Body    []byte
}

var errInFlight = &apierr.Error{
	Status: http.StatusConflict, Code: "IDEMPOTENCY_IN_FLIGHT", RetryAfter: 1,
	Message: "the first request with this X-Idempotency-Key is still in progress; retry in about a second to get its response",
}

var errKeyReused = apierr.New(http.StatusUnprocessableEntity, "IDEMPOTENCY_KEY_REUSED",
	"this X-Idempotency-Key was used with another request; use a new key for each change")

var (
	errKeyFree  = errors.New("no request holds the idempotency key")
	errKeyTaken = errors.New("another request has stored something under the idempotency key") // fails the transaction of a change
)

// Begin claims the key of a request. If the request was executed before, it returns the stored response instead. refused says why
// the change cannot be made now, if it is a new one; nil = it can. Call [Claim.Close] at the end of the request.
func (s *Store) Begin(ctx context.Context, r Request, refused error) (*Claim, *Response, error) {
	c := &Claim{Request: r, store: s, lease: uuid.New()}
	if refused == nil {
		refused = s.overQuota(r.Company)
	}
	if refused != nil {
		stored, err := c.read(ctx)
		if errors.Is(err, errKeyFree) {
			err = refused
		}
		return nil, stored, err
	}
	claim := c.claimInProcess
	if !r.OneTx {
		claim = c.claimByLease
	}
	stored, err := claim(ctx)
	if stored != nil || err != nil {
		return nil, stored, err
	}
	requests.WithLabelValues(claimed).Inc()
	return c, nil, nil
}

// overQuota refuses a new key for a company whose stored responses have reached their quota.
func (s *Store) overQuota(company tenant.ID) error {
	used, above := s.Quota.Above(company)
	if !above {
		return nil
	}
	requests.WithLabelValues(refusedByQuota).Inc()
	err := apierr.New(http.StatusTooManyRequests, "IDEMPOTENCY_QUOTA_EXCEEDED",
		"the stored answers of the company have reached their quota; known keys are still answered; use new ones after older answers have expired, or ask for a larger quota").
		With("limit", s.Quota.Limit()).With("used", used)
	err.RetryAfter = quotaRetryAfter
	return err
}

// quotaRetryAfter is in seconds: responses stop counting at the end of the day on which they expire.
const quotaRetryAfter = 3600

// CleanupJob deletes expired keys with their responses.
var CleanupJob = cleanup.Job{
	Delete: idempotencyKeys.Delete(`WHERE (company_id, key) IN (SELECT company_id, key FROM idempotency_keys WHERE expires_at < $1 LIMIT 1000)`),
}

var requests = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "tradegrid_idempotency_total", Help: "Requests with an idempotency key, by outcome.",
}, []string{"result"})

// Outcomes of requests with a key.
const (
	claimed        = "claimed"
	reused         = "reused"
	inFlight       = "in_flight"
	replayed       = "replayed"
	refusedByQuota = "quota"
)

// Metrics returns the collectors of this package, to be registered once per process. All label values are initialized:
// rate() misses the first increment of a counter that did not exist before.
func Metrics() []prometheus.Collector {
	for _, result := range []string{claimed, reused, inFlight, replayed, refusedByQuota} {
		requests.WithLabelValues(result)
	}
	return []prometheus.Collector{requests}
}
