package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/compress"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/quota"
	"github.com/tradegrid/tradegrid/pkg/secret"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// QuotaKind is the kind of bytes that stored responses count towards the quota of a company.
const QuotaKind = "answers"

// keyStore stores the responses of mutating requests by X-Idempotency-Key; see docs/reference/idempotency.md.
type keyStore struct {
	db      *db.DB
	ttl     time.Duration
	lease   time.Duration
	seal    *secret.Keys
	quota   *quota.Meter
	running *runningKeys
}

// claim is a request's hold of its idempotency key. An operation of one transaction, see [Op.OneTx], stores nothing before
// that: the key is held in this process, and the first transaction that stores an answer under it decides between processes.
// Other operations insert the key with a lease before they begin, which excludes other requests everywhere.
type claim struct {
	keys    *keyStore
	company tenant.ID
	key     uuid.UUID
	lease   uuid.UUID
	leased  bool // a row with the lease was inserted before the change
	secret  bool // the answer is sealed before it is stored
	size    int  // of the answer as it is stored
	stored  bool // the answer was queued in a transaction that is committed
	partial bool // the request is not complete: a repeat continues, so the answer is not stored

	fingerprint []byte // of the request that holds the key
}

const sqlClaimKey = `INSERT INTO idempotency_keys (company_id, key, fingerprint, state, lease_id, lease_until, expires_at)
VALUES ($1, $2, $3, 0, $4, $5, $6)
ON CONFLICT (company_id, key) DO UPDATE
SET fingerprint = excluded.fingerprint, state = 0, lease_id = excluded.lease_id, lease_until = excluded.lease_until,
    expires_at = excluded.expires_at, status = NULL, headers = NULL, body = NULL
WHERE idempotency_keys.expires_at < $7 OR idempotency_keys.lease_id = excluded.lease_id
   OR (idempotency_keys.state = 0 AND idempotency_keys.lease_until < $7 AND idempotency_keys.fingerprint = excluded.fingerprint)
RETURNING lease_id`

const sqlSelectKey = `SELECT fingerprint, state, lease_until, status, headers, body FROM idempotency_keys
WHERE company_id = $1 AND key = $2 AND expires_at >= $3`

// stateDone is the state of a key with an answer.
const stateDone = 1

// lease_until of the new row is the current time.
const sqlInsertAnswer = `INSERT INTO idempotency_keys (company_id, key, fingerprint, state, lease_id, lease_until, expires_at, status, headers, body)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (company_id, key) DO UPDATE
SET fingerprint = excluded.fingerprint, state = excluded.state, lease_id = excluded.lease_id, lease_until = excluded.lease_until,
    expires_at = excluded.expires_at, status = excluded.status, headers = excluded.headers, body = excluded.body
WHERE idempotency_keys.expires_at < excluded.lease_until
   OR (idempotency_keys.state = 0 AND idempotency_keys.lease_until < excluded.lease_until AND idempotency_keys.fingerprint = excluded.fingerprint)`

const sqlFinishKey = `UPDATE idempotency_keys SET state = 1, status = $4, headers = $5, body = $6
WHERE company_id = $1 AND key = $2 AND lease_id = $3 AND state = 0`

const sqlReleaseKey = `DELETE FROM idempotency_keys WHERE company_id = $1 AND key = $2 AND lease_id = $3 AND state = 0`

const sqlKeyDone = `SELECT EXISTS (SELECT 1 FROM idempotency_keys WHERE company_id = $1 AND key = $2 AND lease_id = $3 AND state = 1)`

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

// claimKey claims the key of a mutating request. It returns the stored response if the request was already executed.
func (r *request) claimKey(ctx context.Context) (*response, error) {
	if !r.op.Mutating() {
		return nil, nil //nolint:nilnil // no stored response
	}
	key, err := r.idempotencyKey()
	if err != nil {
		return nil, err
	}
	c := &claim{keys: &r.api.keys, company: r.call.Company, key: key, lease: uuid.New(), secret: r.op.Secret, leased: !r.op.OneTx}
	refused := r.admit(c)
	if key == uuid.Nil {
		return nil, refused
	}
	c.fingerprint = r.fingerprint()
	if refused != nil {
		return c.collect(ctx, refused)
	}
	if c.leased {
		resp, err := c.take(ctx)
		if resp == nil && err == nil {
			r.call.claim = c
		}
		return resp, err
	}
	return r.hold(ctx, c)
}

// hold holds the key in this process until the end of the request, and returns the stored response, if there is one.
func (r *request) hold(ctx context.Context, c *claim) (*response, error) {
	holder, ok := c.keys.running.enter(c)
	if ok {
		r.held = c
	}
	resp, err := c.read(ctx)
	switch {
	case !errors.Is(err, errKeyFree):
		return resp, err
	case ok:
		idempotency.WithLabelValues(keyClaimed).Inc()
		r.call.claim = c
		return nil, nil //nolint:nilnil // no stored response
	case string(holder) != string(c.fingerprint):
		idempotency.WithLabelValues(keyReused).Inc()
		return nil, errKeyReused
	}
	idempotency.WithLabelValues(keyInFlight).Inc()
	return nil, errInFlight
}

// recall returns the stored response for a request that failed because another process has executed it meanwhile: what it
// stored under the key, or what it changed, was in the way of this one.
func (r *request) recall(ctx context.Context, failed error) (*response, error) {
	c := r.call.claim
	if c == nil || c.leased {
		return nil, failed
	}
	taken := errors.Is(failed, errKeyTaken)
	if f, ok := apierr.As(failed); !taken && (!ok || f.Status >= http.StatusInternalServerError) {
		return nil, failed
	}
	resp, err := c.read(ctx)
	switch {
	case err == nil:
		return resp, nil
	case taken && errors.Is(err, errKeyFree):
		return nil, errInFlight // it was free again at once; a repeat finds out
	case taken:
		return nil, err
	}
	return nil, failed
}

// admit reports why a change that is new cannot be made now.
func (r *request) admit(c *claim) error {
	if r.api.cfg.Gate != nil {
		if err := r.api.cfg.Gate.Admit(); err != nil {
			return err
		}
	}
	return c.room()
}

// room refuses a new key for a company whose stored answers have reached their quota.
func (c *claim) room() error {
	if c.key == uuid.Nil {
		return nil
	}
	used, above := c.keys.quota.Above(c.company)
	if !above {
		return nil
	}
	idempotency.WithLabelValues(keyRefused).Inc()
	err := apierr.New(http.StatusTooManyRequests, "IDEMPOTENCY_QUOTA_EXCEEDED",
		"the stored answers of the company have reached their quota; known keys are still answered; use new ones after older answers have expired, or ask for a larger quota").
		With("limit", c.keys.quota.Limit()).With("used", used)
	err.RetryAfter = quotaRetryAfter
	return err
}

// quotaRetryAfter is in seconds: answers stop counting at the end of the day on which they expire.
const quotaRetryAfter = 3600

// collect looks up the stored response of a request that would be rejected if it were new.
func (c *claim) collect(ctx context.Context, refused error) (*response, error) {
	resp, err := c.read(ctx)
	if errors.Is(err, errKeyFree) {
		return nil, refused
	}
	return resp, err
}

func (r *request) idempotencyKey() (uuid.UUID, error) {
	primary, alias := r.header("X-Idempotency-Key"), r.header("Idempotency-Key")
	hasPrimary, hasAlias := r.hasHeader("X-Idempotency-Key"), r.hasHeader("Idempotency-Key") // an empty key is a mistake, not a request without one
	if !hasPrimary && !hasAlias {
		return uuid.Nil, nil
	}
	if !hasPrimary {
		return parseKey("Idempotency-Key", alias)
	}
	key, err := parseKey("X-Idempotency-Key", primary)
	if err != nil || !hasAlias {
		return key, err
	}
	if other, err := parseKey("Idempotency-Key", alias); err != nil || other != key {
		return uuid.Nil, apierr.InvalidField("Idempotency-Key", apierr.Conflict, "must equal X-Idempotency-Key; send only one of them")
	}
	return key, nil
}

// fingerprint identifies a request by method, path, sorted query and normalized body.
func (r *request) fingerprint() []byte {
	h := sha256.New()
	query := make([]string, 0, 4)
	for name, value := range r.QueryNames() {
		query = append(query, name+"="+value)
	}
	slices.Sort(query)
	fmt.Fprintf(h, "%s\n%s\n%s\n", r.fc.Method(), r.fc.Path(), strings.Join(query, "&"))
	body := r.body.Raw
	if len(body) > 0 {
		tree, err := r.bodyTree()
		defer r.processing()()
		if err == nil {
			if canonical, err := json.Marshal(tree); err == nil {
				body = canonical
			}
		}
	}
	h.Write(body)
	return h.Sum(nil)
}

func parseKey(header string, text string) (uuid.UUID, error) {
	text = strings.Trim(text, `"`)
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 {
		return uuid.Nil, apierr.InvalidField(header, apierr.Format, "must be a UUID; use a new one for each change")
	}
	return id, nil
}

func (c *claim) take(ctx context.Context) (*response, error) {
	now := time.Now().UTC()
	expires := now.Add(c.keys.lease + c.keys.ttl) // the request ends within the lease, and its response is stored from then on
	for range 3 {                                 // the row may be deleted between the two statements, which frees the key
		var claimed bool
		err := c.keys.db.RunTx(ctx, "idempotency.claim", func(_ context.Context, tx *db.Tx) error {
			tx.Queue(sqlClaimKey, c.company, c.key, c.fingerprint, c.lease, now.Add(c.keys.lease), expires, now).
				Rows(func(rows pgx.Rows) error { claimed = rows.Next(); return nil })
			return nil
		}, db.ReadCommitted(), db.Repeatable(), db.AsyncCommit()) // losing a claim in a crash is safe: its change was not committed
		if err != nil {
			// An earlier attempt may have been stored although its result was lost; release it so that the client can retry at once.
			return nil, fmt.Errorf("claim idempotency key: %w", errors.Join(err, c.release(ctx)))
		}
		if claimed {
			idempotency.WithLabelValues(keyClaimed).Inc()
			return nil, nil //nolint:nilnil // no stored response
		}
		resp, err := c.read(ctx)
		if !errors.Is(err, errKeyFree) {
			return resp, err
		}
	}
	return nil, errInFlight
}

// read returns the response that is stored under the key, or errKeyFree if a request may execute its change.
func (c *claim) read(ctx context.Context) (*response, error) {
	var (
		theirs  []byte
		state   int16
		until   time.Time
		status  *int32
		headers []byte
		resp    response
	)
	now := time.Now().UTC()
	err := c.keys.db.QueryRow(ctx, sqlSelectKey, c.company, c.key, now).Scan(&theirs, &state, &until, &status, &headers, &resp.body)
	switch {
	case db.IsNoRows(err):
		return nil, errKeyFree
	case err != nil:
		return nil, fmt.Errorf("read idempotency key: %w", err)
	case string(theirs) != string(c.fingerprint):
		idempotency.WithLabelValues(keyReused).Inc()
		return nil, errKeyReused
	case state == 0 && until.Before(now):
		return nil, errKeyFree
	case state == 0:
		idempotency.WithLabelValues(keyInFlight).Inc()
		return nil, errInFlight
	}
	if err := json.Unmarshal(headers, &resp.headers); err != nil {
		return nil, fmt.Errorf("read stored headers: %w", err)
	}
	if resp.body, err = c.open(resp.body); err != nil {
		return nil, fmt.Errorf("open stored response: %w", err)
	}
	resp.status, resp.replayed = int(*status), true
	idempotency.WithLabelValues(keyReplayed).Inc()
	return &resp, nil
}

// finish stores the response in the transaction of the change. If another request holds the key by now, the change is
// rolled back.
func (c *claim) finish(tx *db.Tx, resp *response) error {
	headers, err := json.Marshal(resp.headers)
	if err != nil {
		return fmt.Errorf("encode response headers: %w", err)
	}
	body := resp.body
	if c.secret {
		text, err := c.keys.seal.Seal(body, c.context())
		if err != nil {
			return fmt.Errorf("encrypt response: %w", err)
		}
		body = []byte(text)
	}
	if tx.Compresses() {
		body = compress.Pack(body)
	}
	c.size = len(body)
	if !c.leased {
		now := time.Now().UTC()
		tx.QueueRow(sqlInsertAnswer, c.company, c.key, c.fingerprint, stateDone, c.lease, now, now.Add(c.keys.lease+c.keys.ttl), resp.status, headers, body).
			Expect(1, errKeyTaken)
		return nil
	}
	tx.Queue(sqlFinishKey, c.company, c.key, c.lease, resp.status, headers, body).Expect(1, errInFlight)
	return nil
}

// open gives a stored body as the client gets it. Releases before sealing stored all of them in clear.
func (c *claim) open(stored []byte) ([]byte, error) {
	body, err := compress.Open(stored)
	if err != nil {
		return nil, err
	}
	if !c.secret || !secret.Sealed(body) {
		return body, nil
	}
	return c.keys.seal.Open(string(body), c.context())
}

// context binds a sealed answer to its key.
func (c *claim) context() string {
	return "idempotent answer " + c.company.String() + "/" + c.key.String()
}

// done tells after a commit without an answer whether it has happened.
func (c *claim) done(ctx context.Context, q db.Querier) (done bool, err error) {
	err = q.QueryRow(ctx, sqlKeyDone, c.company, c.key, c.lease).Scan(&done)
	return done, err
}

// storeResponse stores the response of an operation that changed nothing in the database, so that a replay returns the same.
// It returns the response to send.
func (r *request) storeResponse(ctx context.Context, resp *response) (*response, error) {
	c := r.call.claim
	if c == nil || c.stored || resp.replayed {
		return resp, nil
	}
	if c.partial {
		r.releaseKey(ctx)
		return resp, nil
	}
	err := c.keys.db.RunTx(ctx, "idempotency.keep", func(_ context.Context, tx *db.Tx) error { return c.finish(tx, resp) },
		db.ReadCommitted(), db.WithCommitCheck(c.done))
	if err != nil {
		return r.recall(ctx, err)
	}
	c.committed()
	return resp, nil
}

// committed records that the answer is stored.
func (c *claim) committed() {
	c.stored = true
	c.keys.quota.Add(c.company, c.size, c.keys.db.Now().Add(c.keys.lease+c.keys.ttl))
}

// releaseKey frees the key of a failed request: only successful responses are stored.
func (r *request) releaseKey(ctx context.Context) {
	c := r.call.claim
	if c == nil || c.stored || !c.leased {
		return
	}
	if err := c.release(ctx); err != nil {
		r.api.log.WarnContext(ctx, "idempotency key not released; its lease will expire", "error", err)
	}
}

// release frees the key if this claim holds it and no response is stored. It continues briefly after ctx ends.
func (c *claim) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_, err := c.keys.db.Exec(ctx, sqlReleaseKey, c.company, c.key, c.lease)
	return err
}
