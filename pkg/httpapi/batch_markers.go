package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
)

// errItemDone ends the transaction of an item that another request with the same idempotency key has already made.
var errItemDone = errors.New("the item of the batch is done")

// itemKey is the key under which the result of an item is stored. Clients cannot send one that is equal by chance.
func (c *claim) itemKey(index int) uuid.UUID {
	return uuid.NewSHA1(c.key, []byte("item "+strconv.Itoa(index)))
}

const sqlInsertItem = `INSERT INTO idempotency_keys (company_id, key, fingerprint, state, lease_id, lease_until, expires_at, status, headers, body)
VALUES ($1, $2, $3, 1, $4, $5, $6, $7, '{}', $8)
ON CONFLICT (company_id, key) DO UPDATE
SET fingerprint = excluded.fingerprint, lease_id = excluded.lease_id, lease_until = excluded.lease_until, expires_at = excluded.expires_at,
    status = excluded.status, body = excluded.body
WHERE idempotency_keys.expires_at < $5`

// finishItem stores the result of an item in the transaction of its change. If the item is already done, it is rolled back.
func (c *claim) finishItem(tx *db.Tx, result BatchResult) error {
	if c == nil {
		return nil
	}
	body, err := marshal(result)
	if err != nil {
		return err
	}
	now := time.Now().UTC()
	tx.Queue(sqlInsertItem, c.company, c.itemKey(result.Index), c.fingerprint, c.lease, now, now.Add(c.keys.lease+c.keys.ttl), result.Status, body).
		Expect(1, errItemDone)
	return nil
}

const sqlSelectItems = `SELECT fingerprint, body FROM idempotency_keys WHERE company_id = $1 AND key = ANY($2::UUID[]) AND expires_at > $3`

// doneItems returns the results of the items that earlier requests with this key have made, by index.
func (c *claim) doneItems(ctx context.Context, q db.Querier, count int) (map[int]BatchResult, error) {
	if c == nil {
		return nil, nil //nolint:nilnil // nothing is stored without a key
	}
	keys := make([]uuid.UUID, count)
	for i := range keys {
		keys[i] = c.itemKey(i)
	}
	rows, err := q.Query(ctx, sqlSelectItems, c.company, keys, time.Now().UTC())
	if err != nil {
		return nil, fmt.Errorf("select results of a batch: %w", err)
	}
	done := map[int]BatchResult{}
	var theirs, body []byte
	_, err = pgx.ForEachRow(rows, []any{&theirs, &body}, func() error {
		if string(theirs) != string(c.fingerprint) {
			return errKeyReused
		}
		var result BatchResult
		if err := json.Unmarshal(body, &result); err != nil {
			return fmt.Errorf("decode: %w", err)
		}
		done[result.Index] = result
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read results of a batch: %w", err)
	}
	return done, nil
}

const sqlItemDone = `SELECT EXISTS (SELECT 1 FROM idempotency_keys WHERE company_id = $1 AND key = $2 AND lease_id = $3)`

// itemOptions are [Call.TxOptions] for the transaction of an item.
func (c *claim) itemOptions(index int) []db.Option {
	if c == nil {
		return nil
	}
	return []db.Option{db.WithCommitCheck(func(ctx context.Context, q db.Querier) (done bool, err error) {
		err = q.QueryRow(ctx, sqlItemDone, c.company, c.itemKey(index), c.lease).Scan(&done)
		return done, err
	})}
}
