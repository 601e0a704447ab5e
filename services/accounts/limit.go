package accounts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"time"

	"github.com/tradegrid/tradegrid/pkg/cleanup"
	"github.com/tradegrid/tradegrid/pkg/db"
)

// bucket limits attempts: burst at once, then one each interval.
type bucket struct {
	name     string
	burst    int64
	interval time.Duration
}

// A browser that has signed in to an account before has a bucket of its own there, and none for its address. So neither
// somebody who guesses at an account, nor a neighbour behind the same proxy, keeps its owner out. From a new browser the wait is
// at most the interval, unless others use up each attempt; then a link by e-mail remains.
var (
	byDevice  = bucket{"device", 10, 90 * time.Second}
	byAccount = bucket{"account", 10, 90 * time.Second}
	byAddress = bucket{"address", 60, 10 * time.Second}
	byCode    = bucket{"code", 6, 2 * time.Minute}
	byReset   = bucket{"reset", 3, 2 * time.Hour}
)

// of names the bucket of somebody. Keys are hashed: the table holds no addresses.
func (b bucket) of(who string) limited {
	sum := sha256.Sum256([]byte(who))
	return limited{b, b.name + ":" + hex.EncodeToString(sum[:16])}
}

func ofAddress(a netip.Addr) limited {
	a = a.Unmap()
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return byAddress.of(p.String())
		}
	}
	return byAddress.of(a.String())
}

type limited struct {
	bucket
	key string
}

const signInLimits = db.Table("sign_in_limits")

const sqlSelectArrival = `SELECT arrival FROM sign_in_limits WHERE key = $1`

var (
	// sqlTake returns no row when the bucket is empty.
	sqlTake = signInLimits.Insert(`AS l (key, arrival, expires_at) VALUES ($1, $2::TIMESTAMPTZ + $3::BIGINT * INTERVAL '1 microsecond', $4)
ON CONFLICT (key) DO UPDATE SET arrival = GREATEST(l.arrival, $2::TIMESTAMPTZ) + $3::BIGINT * INTERVAL '1 microsecond', expires_at = excluded.expires_at
WHERE l.arrival <= $5 RETURNING arrival`)
	sqlGiveBack = signInLimits.Update(`SET arrival = arrival - $2::BIGINT * INTERVAL '1 microsecond' WHERE key = $1`)
	sqlRefill   = signInLimits.Delete(`WHERE key = $1`)
)

// allow takes an attempt from each bucket, or from none and returns a [LimitedError]. An attempt is taken before it is made, so
// that many at once are no more than one after the other.
func (s *Service) allow(ctx context.Context, all ...limited) error {
	err := s.cfg.DB.RunTx(ctx, "accounts.limit", func(ctx context.Context, tx *db.Tx) error {
		for _, l := range all {
			if err := l.take(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	}, db.ReadCommitted())
	return err
}

func (l limited) take(ctx context.Context, tx *db.Tx) error {
	now := tx.Now()
	whole := time.Duration(l.burst) * l.interval
	latest := now.Add(whole - l.interval)
	var arrival time.Time
	err := tx.ReturningRow(ctx, sqlTake, l.key, now, l.interval.Microseconds(), now.Add(whole), latest).Scan(&arrival)
	if err == nil {
		return nil
	}
	if !db.IsNoRows(err) {
		return fmt.Errorf("take attempt: %w", err)
	}
	if err := tx.QueryRow(ctx, sqlSelectArrival, l.key).Scan(&arrival); err != nil {
		return fmt.Errorf("read limit: %w", err)
	}
	return &LimitedError{Wait: max(arrival.Sub(latest), time.Second)}
}

// giveBack returns an attempt that was good: a person who knows the password costs the others at the address nothing.
func (l limited) giveBack(tx *db.Tx) { tx.Queue(sqlGiveBack, l.key, l.interval.Microseconds()) }

// refill makes a bucket full again.
func (l limited) refill(tx *db.Tx) { tx.Queue(sqlRefill, l.key) }

var limitsExpire = cleanup.Job{
	Every:  time.Hour,
	Delete: signInLimits.Delete(`WHERE key IN (SELECT key FROM sign_in_limits WHERE expires_at < $1 LIMIT 1000)`),
}
