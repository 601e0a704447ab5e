package accounts

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const (
	exchangeEvery = time.Second
	maxExchanged  = 1000 // buckets of one exchange
)

const signInLimits = db.Table("sign_in_limits")

const sqlSelectArrivals = `SELECT key, arrival FROM sign_in_limits WHERE key = ANY($1)`

var (
	sqlSaveLevels = signInLimits.Insert(`AS l (key, arrival, expires_at)
SELECT u.key, $1::TIMESTAMPTZ + u.taken * INTERVAL '1 microsecond', $1::TIMESTAMPTZ + u.whole * INTERVAL '1 microsecond'
FROM unnest($2::TEXT[], $3::BIGINT[], $4::BIGINT[]) AS u(key, taken, whole)
ON CONFLICT (key) DO UPDATE SET arrival = GREATEST(l.arrival, $1::TIMESTAMPTZ) + (excluded.arrival - $1::TIMESTAMPTZ), expires_at = excluded.expires_at
RETURNING key, arrival`)
	sqlRefill = signInLimits.Delete(`WHERE key = ANY($1)`)
	// sqlOnce inserts no row when the key is there already.
	sqlOnce = signInLimits.Insert(`(key, arrival, expires_at) VALUES ($1, $2, $2) ON CONFLICT (key) DO NOTHING`)
)

// take takes an attempt as [limits.take] does. What this process does not know yet, it reads, without waiting for who writes it.
func (s *Service) take(ctx context.Context, all ...limited) error {
	if keys := s.limits.unknown(all); len(keys) > 0 {
		arrivals, err := db.Map[string, time.Time](ctx, s.cfg.DB, "read limits", sqlSelectArrivals, keys)
		if err != nil {
			return err
		}
		s.limits.learn(all, arrivals)
	}
	return s.limits.take(s.cfg.DB.Now(), all...)
}

// Run exchanges limits with the other processes until ctx is done.
func (s *Service) Run(ctx context.Context) error {
	ticker := time.NewTicker(exchangeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), exchangeEvery)
			defer cancel()
			s.exchange(last) // what cannot be written is lost: others let somebody try as much more
			return nil
		case <-ticker.C:
			s.exchange(ctx)
		}
	}
}

// exchange writes what this process has counted, and reads what others have. [Service.Run] calls it. It has one connection, and nothing
// else in the process waits for rows of the table. If it fails, the next one tells the same.
func (s *Service) exchange(ctx context.Context) {
	out := s.limits.outgoing()
	if len(out) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*exchangeEvery)
	defer cancel()
	arrivals, err := s.tell(ctx, out)
	if err != nil {
		if ctx.Err() == nil {
			s.cfg.Log.WarnContext(ctx, "limits of sign-ins not exchanged", "error", err)
		}
		return
	}
	s.limits.exchanged(out, arrivals)
}

func (s *Service) tell(ctx context.Context, out []sent) (arrivals map[string]time.Time, err error) {
	var refilled, saved, refused []string
	var taken, whole []int64
	for _, one := range out {
		if one.refilled {
			refilled = append(refilled, one.key)
		}
		if one.taken != 0 {
			saved, taken, whole = append(saved, one.key), append(taken, one.taken.Microseconds()), append(whole, one.level.whole().Microseconds())
		} else {
			refused = append(refused, one.key)
		}
	}
	read := func(rows pgx.Rows) error {
		var key string
		var arrival time.Time
		_, err := pgx.ForEachRow(rows, []any{&key, &arrival}, func() error {
			arrivals[key] = arrival
			return nil
		})
		return err
	}
	err = s.cfg.DB.RunTx(ctx, "accounts.limits", func(_ context.Context, tx *db.Tx) error {
		arrivals = map[string]time.Time{}
		tx.Queue(sqlRefill, refilled)
		tx.Queue(sqlSaveLevels, tx.Now(), saved, taken, whole).Rows(read)
		tx.QueueRead(sqlSelectArrivals, refused).Rows(read)
		return nil
	}, db.ReadCommitted())
	return arrivals, err
}

// sent is what an exchange tells of a bucket.
type sent struct {
	key      string
	level    *level
	taken    time.Duration // since the exchange before
	refilled bool
	refills  int
}

// outgoing is what there is to exchange. Keys are in order, so that processes wait for each other's rows in the same order.
func (l *limits) outgoing() (out []sent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, v := range l.dirty {
		if len(out) == maxExchanged {
			break
		}
		out = append(out, sent{key, v, v.unsaved, v.refilled, v.refills})
	}
	slices.SortFunc(out, func(a, b sent) int { return strings.Compare(a.key, b.key) })
	return out
}

// exchanged notes what the table says. What was counted meanwhile comes on top; a bucket that was refilled meanwhile stays full.
func (l *limits) exchanged(out []sent, arrivals map[string]time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range out {
		v := one.level
		if v.refills != one.refills {
			continue
		}
		v.unsaved -= one.taken
		v.arrival, v.refilled = arrivals[one.key].Add(v.unsaved), false // no row: the bucket is full
		if v.unsaved == 0 {
			delete(l.dirty, one.key)
		}
	}
}

var limitsExpire = cleanup.Job{
	Every:  time.Hour,
	Delete: signInLimits.Delete(`WHERE key IN (SELECT key FROM sign_in_limits WHERE expires_at < $1 LIMIT 1000)`),
}
