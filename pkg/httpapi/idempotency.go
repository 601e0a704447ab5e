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

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/secret"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// keyStore keeps the answers of mutating requests by X-Idempotency-Key; see docs/reference/idempotency.md.
type keyStore struct {
	db    *db.DB
	ttl   time.Duration
	lease time.Duration
	seal  *secret.Keys
}

// claim is the right of one request to be the one that carries out a key.
type claim struct {
	keys    *keyStore
	company tenant.ID
	key     uuid.UUID
	lease   uuid.UUID
	secret  bool // the answer is sealed before it is stored
	stored  bool // the answer was queued in a transaction that is committed
}

const sqlClaimKey = `INSERT INTO idempotency_keys (company_id, key, fingerprint, state, lease_id, lease_until, expires_at)
VALUES ($1, $2, $3, 0, $4, $5, $6)
ON CONFLICT (company_id, key) DO UPDATE
SET fingerprint = excluded.fingerprint, state = 0, lease_id = excluded.lease_id, lease_until = excluded.lease_until,
    expires_at = excluded.expires_at, status = NULL, headers = NULL, body = NULL
WHERE idempotency_keys.expires_at < $7 OR idempotency_keys.lease_id = excluded.lease_id
   OR (idempotency_keys.state = 0 AND idempotency_keys.lease_until < $7 AND idempotency_keys.fingerprint = excluded.fingerprint)
RETURNING lease_id`

const sqlSelectKey = `SELECT fingerprint, state, status, headers, body FROM idempotency_keys WHERE company_id = $1 AND key = $2`

const sqlFinishKey = `UPDATE idempotency_keys SET state = 1, status = $4, headers = $5, body = $6
WHERE company_id = $1 AND key = $2 AND lease_id = $3 AND state = 0`

const sqlReleaseKey = `DELETE FROM idempotency_keys WHERE company_id = $1 AND key = $2 AND lease_id = $3 AND state = 0`

const sqlKeyDone = `SELECT EXISTS (SELECT 1 FROM idempotency_keys WHERE company_id = $1 AND key = $2 AND lease_id = $3 AND state = 1)`

var errInFlight = &fault.Error{
	Status: http.StatusConflict, Code: "IDEMPOTENCY_IN_FLIGHT", RetryAfter: 1,
	Message: "the first request with this X-Idempotency-Key is unfinished; repeat in about a second to collect its answer",
}

var errKeyReused = fault.New(http.StatusUnprocessableEntity, "IDEMPOTENCY_KEY_REUSED",
	"this X-Idempotency-Key belongs to another request; use a new key for each change")

// claimKey takes the key of a mutating request. It returns the stored answer of a request that was done already.
func (r *request) claimKey(ctx context.Context) (*answer, error) {
	if !r.op.Mutating() {
		return nil, nil //nolint:nilnil // no answer yet
	}
	key, err := r.idempotencyKey()
	if err != nil {
		return nil, err
	}
	c := &claim{keys: &r.api.keys, company: r.call.Company, key: key, lease: uuid.New(), secret: r.op.Secret}
	if refused := r.admit(); refused != nil {
		return c.collect(ctx, r.fingerprint(), refused)
	}
	if key == uuid.Nil {
		return nil, nil //nolint:nilnil // nothing to keep
	}
	ans, err := c.take(ctx, r.fingerprint())
	if err != nil {
		return nil, err
	}
	if ans == nil {
		r.call.claim = c
	}
	return ans, nil
}

func (r *request) admit() error {
	if r.api.cfg.Gate == nil {
		return nil
	}
	return r.api.cfg.Gate.Admit()
}

// collect looks for the stored answer of a request that would be refused if it were new.
func (c *claim) collect(ctx context.Context, fingerprint []byte, refused error) (*answer, error) {
	if c.key == uuid.Nil {
		return nil, refused
	}
	ans, err := c.read(ctx, fingerprint)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, refused
	}
	return ans, err
}

func (r *request) idempotencyKey() (uuid.UUID, error) {
	primary, alias := r.header("X-Idempotency-Key"), r.header("Idempotency-Key")
	hasPrimary, hasAlias := r.hasHeader("X-Idempotency-Key"), r.hasHeader("Idempotency-Key") // an empty key is a mistake, not the wish for none
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
		return uuid.Nil, fault.Invalid(fault.Field{
			Field: "Idempotency-Key", Code: fault.Conflict,
			Message: "Idempotency-Key: differs from X-Idempotency-Key; send one of them",
		})
	}
	return key, nil
}

// fingerprint identifies what is asked: method, path, sorted query, and the body whatever its spelling.
func (r *request) fingerprint() []byte {
	h := sha256.New()
	query := make([]string, 0, 4)
	for name, value := range r.queryNames() {
		query = append(query, name+"="+value)
	}
	slices.Sort(query)
	fmt.Fprintf(h, "%s\n%s\n%s\n", r.fc.Method(), r.fc.Path(), strings.Join(query, "&"))
	body := r.body
	if len(body) > 0 {
		if tree, err := r.bodyTree(); err == nil {
			if canonical, err := json.Marshal(tree); err == nil {
				body = canonical
			}
		}
	}
	h.Write(body)
	return h.Sum(nil)
}

func (c *claim) take(ctx context.Context, fingerprint []byte) (*answer, error) {
	now := time.Now().UTC()
	expires := now.Add(c.keys.lease + c.keys.ttl) // the request ends within the lease, and from then on its answer is kept
	for range 3 {                                 // the row may go between the two statements: then the key is free again
		var claimed bool
		err := c.keys.db.RunTx(ctx, "idempotency.claim", func(_ context.Context, tx *db.Tx) error {
			tx.Queue(sqlClaimKey, c.company, c.key, fingerprint, c.lease, now.Add(c.keys.lease), expires, now).
				Rows(func(rows pgx.Rows) error { claimed = rows.Next(); return nil })
			return nil
		}, db.ReadCommitted(), db.Repeatable(), db.AsyncCommit()) // a claim that a crash undoes has no change behind it
		if err != nil {
			// An earlier try may have been stored and its answer lost; the client may repeat the request at once.
			return nil, fmt.Errorf("claim idempotency key: %w", errors.Join(err, c.release(ctx)))
		}
		if claimed {
			idempotency.WithLabelValues(keyClaimed).Inc()
			return nil, nil //nolint:nilnil // no answer yet
		}
		ans, err := c.read(ctx, fingerprint)
		if !errors.Is(err, pgx.ErrNoRows) {
			return ans, err
		}
	}
	return nil, errInFlight
}

// read looks at a key that somebody else has claimed.
func (c *claim) read(ctx context.Context, fingerprint []byte) (*answer, error) {
	var (
		theirs  []byte
		state   int16
		status  *int32
		headers []byte
		ans     answer
	)
	err := c.keys.db.QueryRow(ctx, sqlSelectKey, c.company, c.key).Scan(&theirs, &state, &status, &headers, &ans.body)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read idempotency key: %w", err)
	case string(theirs) != string(fingerprint):
		idempotency.WithLabelValues(keyReused).Inc()
		return nil, errKeyReused
	case state == 0:
		idempotency.WithLabelValues(keyInFlight).Inc()
		return nil, errInFlight
	}
	if err := json.Unmarshal(headers, &ans.headers); err != nil {
		return nil, fmt.Errorf("read stored headers: %w", err)
	}
	if ans.body, err = c.open(ans.body); err != nil {
		return nil, fmt.Errorf("read stored answer: %w", err)
	}
	ans.status, ans.replayed = int(*status), true
	idempotency.WithLabelValues(keyReplayed).Inc()
	return &ans, nil
}

// finish stores the answer in the transaction that makes the change. A claim that was lost to another
// request meanwhile undoes the change.
func (c *claim) finish(tx *db.Tx, ans *answer) error {
	headers, err := json.Marshal(ans.headers)
	if err != nil {
		return fmt.Errorf("write headers for a repeat: %w", err)
	}
	body := ans.body
	if c.secret {
		text, err := c.keys.seal.Seal(body, c.context())
		if err != nil {
			return fmt.Errorf("seal answer for a repeat: %w", err)
		}
		body = []byte(text)
	}
	tx.Queue(sqlFinishKey, c.company, c.key, c.lease, ans.status, headers, body).Expect(1, errInFlight)
	return nil
}

// open gives a stored body as the client gets it. Releases before sealing stored all of them in clear.
func (c *claim) open(body []byte) ([]byte, error) {
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

// keep stores the answer of an operation that changed nothing in the database, so that a repeat gets the same.
func (r *request) keep(ctx context.Context, ans *answer) error {
	c := r.call.claim
	if c == nil || c.stored || ans.replayed {
		return nil
	}
	err := c.keys.db.RunTx(ctx, "idempotency.keep", func(_ context.Context, tx *db.Tx) error { return c.finish(tx, ans) },
		db.ReadCommitted(), db.WithCommitCheck(c.done))
	c.stored = err == nil
	return err
}

// giveUpKey frees the key of a request that failed: only answers of success are kept.
func (r *request) giveUpKey(ctx context.Context) {
	c := r.call.claim
	if c == nil || c.stored {
		return
	}
	if err := c.release(ctx); err != nil {
		r.api.log.WarnContext(ctx, "idempotency key not released; its lease will end", "error", err)
	}
}

// release frees the key if this claim has it and no answer is stored. It goes on for a moment when ctx is over.
func (c *claim) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_, err := c.keys.db.Exec(ctx, sqlReleaseKey, c.company, c.key, c.lease)
	return err
}
