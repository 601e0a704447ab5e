package sweeper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
)

// sqlTakeLease renews the lease of its owner, or takes an expired one. Only the clock of the database counts.
const sqlTakeLease = `UPDATE job_leases SET owner = $2, epoch = epoch + CASE WHEN owner = $2 THEN 0 ELSE 1 END,
 expires_at = now() + $3::BIGINT * INTERVAL '1 millisecond'
WHERE name = $1 AND (owner = $2 OR expires_at < now()) RETURNING epoch`

const sqlReleaseLease = `UPDATE job_leases SET expires_at = now() WHERE name = $1 AND owner = $2`

// lease elects one process for a job.
type lease struct {
	db    *db.DB
	name  string
	owner string
	ttl   time.Duration
	now   func() time.Time

	until time.Time // this process counts on the lease until then
}

// hold reports whether this process holds the lease. It asks the database when half of the time is over.
func (l *lease) hold(ctx context.Context) (bool, error) {
	asked := l.now()
	if l.until.Sub(asked) > l.ttl/2 {
		return true, nil
	}
	var epoch int64
	err := l.db.RunTx(ctx, "job.lease", func(ctx context.Context, tx *db.Tx) error {
		return tx.QueryRow(ctx, sqlTakeLease, l.name, l.owner, l.ttl.Milliseconds()).Scan(&epoch)
	}, db.ReadCommitted(), db.Repeatable())
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		l.until = time.Time{}
		return false, nil
	case err != nil:
		return l.until.After(l.now()), fmt.Errorf("renew lease %s: %w", l.name, err)
	}
	// The answer may have taken long: the lease counts from before the question, less a margin.
	l.until = asked.Add(l.ttl * 9 / 10)
	return true, nil
}

// release lets another process take over at once.
func (l *lease) release(ctx context.Context) error {
	if l.until.IsZero() {
		return nil
	}
	l.until = time.Time{}
	err := l.db.RunTx(ctx, "job.release", func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlReleaseLease, l.name, l.owner)
		return nil
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil {
		return fmt.Errorf("release lease %s: %w", l.name, err)
	}
	return nil
}
