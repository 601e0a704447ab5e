package idempotency

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/compress"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Claim is the claim of a request to its idempotency key. All methods of a nil claim do nothing: a request without a key has none.
type Claim struct {
	Request

	store      *Store
	lease      uuid.UUID
	size       int  // of the response as it is stored
	stored     bool // the response was queued in a transaction that is committed
	incomplete bool // see Incomplete
}

const idempotencyKeys = db.Table("idempotency_keys")

var sqlClaimKey = idempotencyKeys.Insert(`(company_id, key, fingerprint, state, lease_id, lease_until, expires_at)
VALUES ($1, $2, $3, 0, $4, $5, $6)
ON CONFLICT (company_id, key) DO UPDATE
SET fingerprint = excluded.fingerprint, state = 0, lease_id = excluded.lease_id, lease_until = excluded.lease_until,
    expires_at = excluded.expires_at, status = NULL, headers = NULL, body = NULL
WHERE idempotency_keys.expires_at < $7 OR idempotency_keys.lease_id = excluded.lease_id
   OR (idempotency_keys.state = 0 AND idempotency_keys.lease_until < $7 AND idempotency_keys.fingerprint = excluded.fingerprint)
RETURNING lease_id`)

const sqlSelectKey = `SELECT fingerprint, state, lease_until, status, headers, body FROM idempotency_keys
WHERE company_id = $1 AND key = $2 AND expires_at >= $3`

// stateDone is the state of a key with an answer.
const stateDone = 1

// lease_until of the new row is the current time.
var sqlInsertAnswer = idempotencyKeys.InsertRow("company_id", "key", "fingerprint", "state", "lease_id", "lease_until", "expires_at", "status", "headers", "body").
	OnConflict(`(company_id, key) DO UPDATE
SET fingerprint = excluded.fingerprint, state = excluded.state, lease_id = excluded.lease_id, lease_until = excluded.lease_until,
    expires_at = excluded.expires_at, status = excluded.status, headers = excluded.headers, body = excluded.body
WHERE idempotency_keys.expires_at < excluded.lease_until`)

var sqlFinishKey = idempotencyKeys.Update(`SET state = 1, status = $4, headers = $5, body = $6
WHERE company_id = $1 AND key = $2 AND lease_id = $3 AND state = 0`)

var sqlReleaseKey = idempotencyKeys.Delete(`WHERE company_id = $1 AND key = $2 AND lease_id = $3 AND state = 0`)

const sqlKeyDone = `SELECT EXISTS (SELECT 1 FROM idempotency_keys WHERE company_id = $1 AND key = $2 AND lease_id = $3 AND state = 1)`

// claimInProcess holds the key in this process until the claim is closed. It returns the stored response, if there is one.
func (c *Claim) claimInProcess(ctx context.Context) (*Response, error) {
	holder, ok := c.store.running.hold(c)
	stored, err := c.read(ctx)
	if ok && !errors.Is(err, errKeyFree) {
		c.Close()
	}
	switch {
	case !errors.Is(err, errKeyFree):
		return stored, err
	case ok:
		return nil, nil //nolint:nilnil // no stored response
	case string(holder) != string(c.Fingerprint):
		requests.WithLabelValues(reused).Inc()
		return nil, errKeyReused
	}
	requests.WithLabelValues(inFlight).Inc()
	return nil, errInFlight
}

// claimByLease inserts the key with a lease. It returns the stored response, if there is one.
func (c *Claim) claimByLease(ctx context.Context) (*Response, error) {
	now := time.Now().UTC()
	expires := now.Add(c.store.Lease + c.store.TTL) // the request ends within the lease, and its response is stored from then on
	for range 3 {                                   // the row may be deleted between the two statements, which frees the key
		var inserted bool
		err := c.store.DB.RunTx(ctx, "idempotency.claim", func(_ context.Context, tx *db.Tx) error {
			tx.Queue(sqlClaimKey, c.Company, c.Key, c.Fingerprint, c.lease, now.Add(c.store.Lease), expires, now).
				Rows(func(rows pgx.Rows) error { inserted = rows.Next(); return nil })
			return nil
		}, db.ReadCommitted(), db.Repeatable(), db.AsyncCommit()) // losing a claim in a crash is safe: its change was not committed
		if err != nil {
			// An earlier attempt may have been stored although its result was lost; release it so that the client can retry at once.
			return nil, fmt.Errorf("claim idempotency key: %w", errors.Join(err, c.release(ctx)))
		}
		if inserted {
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
func (c *Claim) read(ctx context.Context) (*Response, error) {
	var (
		theirs  []byte
		state   int16
		until   time.Time
		status  *int32
		headers []byte
		resp    Response
	)
	now := time.Now().UTC()
	err := c.store.DB.QueryRow(ctx, sqlSelectKey, c.Company, c.Key, now).Scan(&theirs, &state, &until, &status, &headers, &resp.Body)
	switch {
	case db.IsNoRows(err):
		return nil, errKeyFree
	case err != nil:
		return nil, fmt.Errorf("read idempotency key: %w", err)
	case string(theirs) != string(c.Fingerprint):
		requests.WithLabelValues(reused).Inc()
		return nil, errKeyReused
	case state == 0 && until.Before(now):
		return nil, errKeyFree
	case state == 0:
		requests.WithLabelValues(inFlight).Inc()
		return nil, errInFlight
	}
	if err := json.Unmarshal(headers, &resp.Headers); err != nil {
		return nil, fmt.Errorf("read stored headers: %w", err)
	}
	if resp.Body, err = c.open(resp.Body); err != nil {
		return nil, fmt.Errorf("open stored response: %w", err)
	}
	resp.Status = int(*status)
	requests.WithLabelValues(replayed).Inc()
	return &resp, nil
}

// StoreIn stores the response in the transaction of the change. If another request holds the key by now, the change is
// rolled back.
func (c *Claim) StoreIn(tx *db.Tx, resp Response) error {
	if c == nil {
		return nil
	}
	headers, err := json.Marshal(resp.Headers)
	if err != nil {
		return fmt.Errorf("encode response headers: %w", err)
	}
	body := resp.Body
	if c.Secret {
		text, err := c.store.Keys.Seal(body, c.context())
		if err != nil {
			return fmt.Errorf("encrypt response: %w", err)
		}
		body = []byte(text)
	}
	body = compress.Pack(body)
	c.size = len(body)
	if c.OneTx {
		now := time.Now().UTC()
		tx.QueueRow(sqlInsertAnswer, c.Company, c.Key, c.Fingerprint, stateDone, c.lease, now, now.Add(c.store.Lease+c.store.TTL), resp.Status, headers, body).
			Expect(1, errKeyTaken)
		return nil
	}
	tx.Queue(sqlFinishKey, c.Company, c.Key, c.lease, resp.Status, headers, body).Expect(1, errInFlight)
	return nil
}

// open gives a stored body as the client gets it.
func (c *Claim) open(stored []byte) ([]byte, error) {
	body, err := compress.Open(stored)
	if err != nil {
		return nil, err
	}
	if !c.Secret {
		return body, nil
	}
	return c.store.Keys.Open(string(body), c.context())
}

// context binds a sealed answer to its key.
func (c *Claim) context() string {
	return "idempotent answer " + c.Company.String() + "/" + c.Key.String()
}

// done reports whether a commit with an unknown result took effect.
func (c *Claim) done(ctx context.Context, q db.Querier) (done bool, err error) {
	err = q.QueryRow(ctx, sqlKeyDone, c.Company, c.Key, c.lease).Scan(&done)
	return done, err
}

// TxOptions returns the options of the transaction that stores the response: how to find out whether a commit with an
// unknown result took effect.
func (c *Claim) TxOptions() []db.Option {
	if c == nil {
		return nil
	}
	return []db.Option{db.WithCommitCheck(c.done)}
}

// Committed records that the transaction with the response is committed.
func (c *Claim) Committed() {
	if c == nil {
		return
	}
	c.stored = true
	c.store.Quota.Add(c.Company, c.size, c.store.DB.Now().Add(c.store.Lease+c.store.TTL))
}

// Incomplete says that the request has done only a part of its work: a repeat continues, so the response is not stored.
func (c *Claim) Incomplete() {
	if c != nil {
		c.incomplete = true
	}
}

// Finish stores the response of a request that has not stored it in a transaction of its own, so that a replay returns the same.
// If another process has executed the request meanwhile, it returns the response of that one.
func (c *Claim) Finish(ctx context.Context, resp Response) (other *Response, err error) {
	if c == nil || c.stored || c.incomplete {
		return nil, nil //nolint:nilnil // no other response
	}
	err = c.store.DB.RunTx(ctx, "idempotency.keep", func(_ context.Context, tx *db.Tx) error { return c.StoreIn(tx, resp) },
		append(c.TxOptions(), db.ReadCommitted())...)
	if err != nil {
		return c.Recover(ctx, err)
	}
	c.Committed()
	return nil, nil //nolint:nilnil // no other response
}

// Recover returns the stored response for a request that failed because another process has executed it meanwhile: what that
// one stored under the key, or what it changed, was in the way of this one. Else it returns the error.
func (c *Claim) Recover(ctx context.Context, failed error) (*Response, error) {
	if c == nil || !c.OneTx {
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

// Release frees the key of a request that has stored no response: one that failed, or is incomplete.
func (c *Claim) Release(ctx context.Context) error {
	if c == nil || c.stored || c.OneTx {
		return nil
	}
	return c.release(ctx)
}

// release frees the key if this claim has its lease and no response is stored. It continues briefly after ctx ends.
func (c *Claim) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_, err := c.store.DB.Write(ctx, sqlReleaseKey, c.Company, c.Key, c.lease)
	return err
}

// Close ends the hold of the key in this process.
func (c *Claim) Close() {
	if c != nil && c.OneTx {
		c.store.running.free(c)
	}
}

// runningKeys are the keys that requests of this process hold, with the fingerprints of these requests.
type runningKeys struct{ m sync.Map }

type runningKey struct {
	company tenant.ID
	key     uuid.UUID
}

// hold holds the key of a claim; otherwise it returns the fingerprint of the request that does.
func (k *runningKeys) hold(c *Claim) (holder []byte, ok bool) {
	v, loaded := k.m.LoadOrStore(runningKey{c.Company, c.Key}, c.Fingerprint)
	holder, _ = v.([]byte)
	return holder, !loaded
}

func (k *runningKeys) free(c *Claim) { k.m.Delete(runningKey{c.Company, c.Key}) }
