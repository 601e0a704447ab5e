package idempotency

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// ErrItemDone ends the transaction of an item that another request with the same key has already made.
var ErrItemDone = errors.New("the item of the batch is done")

// itemKey is the key under which the result of an item is stored. Clients cannot send one that is equal by chance.
func (c *Claim) itemKey(index int) uuid.UUID {
	return uuid.NewSHA1(c.Key, []byte("item "+strconv.Itoa(index)))
}

var sqlInsertItem = idempotencyKeys.InsertRow("company_id", "key", "fingerprint", "state", "lease_id", "lease_until", "expires_at", "status", "headers", "body").
	OnConflict(`(company_id, key) DO UPDATE
SET fingerprint = excluded.fingerprint, state = excluded.state, lease_id = excluded.lease_id, lease_until = excluded.lease_until, expires_at = excluded.expires_at,
    status = excluded.status, body = excluded.body
WHERE idempotency_keys.expires_at < excluded.lease_until`)

// StoreItemIn stores the result of an item of a batch in the transaction of its change. If the item is already done, the transaction
// is rolled back with [ErrItemDone].
func (c *Claim) StoreItemIn(tx *db.Tx, index, status int, result []byte) {
	if c == nil {
		return
	}
	now := time.Now().UTC()
	tx.QueueRow(sqlInsertItem, c.Company, c.itemKey(index), c.Fingerprint, stateDone, c.lease, now, now.Add(c.store.Lease+c.store.TTL), status, []byte("{}"), result).
		Expect(1, ErrItemDone)
}

const sqlSelectItems = `SELECT fingerprint, body FROM idempotency_keys WHERE company_id = $1 AND key = ANY($2::UUID[]) AND expires_at > $3`

// DoneItems returns the results of those of count items that earlier requests with this key have made.
func (c *Claim) DoneItems(ctx context.Context, q db.Querier, count int) (results [][]byte, err error) {
	if c == nil {
		return nil, nil // nothing is stored without a key
	}
	keys := make([]uuid.UUID, count)
	for i := range keys {
		keys[i] = c.itemKey(i)
	}
	rows, err := q.Query(ctx, sqlSelectItems, c.Company, keys, time.Now().UTC())
	if err != nil {
		return nil, fmt.Errorf("select results of a batch: %w", err)
	}
	var theirs, result []byte
	_, err = pgx.ForEachRow(rows, []any{&theirs, &result}, func() error {
		if string(theirs) != string(c.Fingerprint) {
			return errKeyReused
		}
		results = append(results, bytes.Clone(result))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read results of a batch: %w", err)
	}
	return results, nil
}

const sqlItemDone = `SELECT EXISTS (SELECT 1 FROM idempotency_keys WHERE company_id = $1 AND key = $2 AND lease_id = $3)`

// ItemTxOptions are [Claim.TxOptions] of the transaction that makes an item, and possibly others.
func (c *Claim) ItemTxOptions(index int) []db.Option {
	if c == nil {
		return nil
	}
	return []db.Option{db.WithCommitCheck(func(ctx context.Context, q db.Querier) (done bool, err error) {
		err = q.QueryRow(ctx, sqlItemDone, c.Company, c.itemKey(index), c.lease).Scan(&done)
		return done, err
	})}
}
