// Package lease elects one process for a job: the sweep of deliveries, a measurement. It keeps a job from being done twice
// and passes it on when a process dies. It excludes nobody from data: a process that was frozen may finish, after its
// lease is over, what it had begun before, so whatever the job writes must be correct with two owners. See
// docs/architecture.md#leases, also for what other packages lease and why they do it in their own way.
package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const jobLeases = db.Table("job_leases")

// Those who wait only read, so that they do not lock the row against its owner.
const sqlHeldByOther = `SELECT EXISTS (SELECT 1 FROM job_leases WHERE name = $1 AND owner <> $2 AND expires_at > now())`

// Only the clock of the database decides who holds a lease. The epoch counts changes of the owner.
var (
	// Renews the lease of its owner, or takes one that is over.
	sqlTake = jobLeases.Insert(`(name, owner, epoch, expires_at) VALUES ($1, $2, 1, now() + $3::BIGINT * INTERVAL '1 millisecond')
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at,
 epoch = job_leases.epoch + CASE WHEN job_leases.owner = excluded.owner THEN 0 ELSE 1 END
WHERE job_leases.owner = excluded.owner OR job_leases.expires_at <= now() RETURNING epoch`)
	sqlRelease = jobLeases.Update(`SET expires_at = now() WHERE name = $1 AND owner = $2 AND expires_at > now()`)
)

// Config says which job is leased, and by whom. DB and Name are required.
type Config struct {
	DB   *db.DB
	Name string           // the job
	Node string           // of this process, for people; each lease adds a unique suffix
	TTL  time.Duration    // without a renewal, another process takes over this much later; default 15 s
	Now  func() time.Time // clock of this process; time.Now if nil
}

// Lease is this process's part in the election for a job. It is used by one goroutine at a time.
type Lease struct {
	cfg   Config
	owner string
	until time.Time // this process counts on the lease until then
	taken bool      // the database may name this process as the owner
}

// New makes a lease that is not held yet.
func New(cfg Config) *Lease {
	if cfg.TTL <= 0 {
		cfg.TTL = 15 * time.Second
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	// A restarted process must not take itself for its predecessor.
	return &Lease{cfg: cfg, owner: cfg.Node + "/" + uuid.NewString()[:8]}
}

// Hold reports whether this process holds the lease, and takes it if it is free. Call it before each piece of work that
// takes at most half of the TTL: it asks the database only when less than that is left. The owner stops a tenth of the TTL
// before its lease expires, which covers clocks that run at different speeds. With an error the database did not answer;
// held then says whether this process may go on until the answers return.
func (l *Lease) Hold(ctx context.Context) (held bool, err error) {
	asked := l.cfg.Now()
	if l.until.Sub(asked) > l.cfg.TTL/2 {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(telemetry.Untraced(ctx), l.cfg.TTL/2)
	defer cancel()
	mine, err := l.take(ctx)
	switch {
	case err != nil:
		err = fmt.Errorf("hold lease %s: %w", l.cfg.Name, err)
	case mine:
		// The answer may have taken long: the lease counts from before the question.
		l.until = asked.Add(l.cfg.TTL * 9 / 10)
	default:
		l.until = time.Time{}
	}
	return l.until.After(l.cfg.Now()), err
}

func (l *Lease) take(ctx context.Context) (mine bool, err error) {
	if !l.taken {
		var other bool
		if err := l.cfg.DB.QueryRow(ctx, sqlHeldByOther, l.cfg.Name, l.owner).Scan(&other); err != nil || other {
			return false, err
		}
	}
	l.taken = true // even if the answer is lost
	var epoch int64
	err = l.cfg.DB.RunTx(ctx, "lease.take", func(ctx context.Context, tx *db.Tx) error {
		return tx.ReturningRow(ctx, sqlTake, l.cfg.Name, l.owner, l.cfg.TTL.Milliseconds()).Scan(&epoch)
	}, db.ReadCommitted(), db.Repeatable())
	if errors.Is(err, pgx.ErrNoRows) {
		l.taken = false
		return false, nil
	}
	return err == nil, err
}

// Release lets another process take over at once. Without it, or when it fails, the lease expires.
func (l *Lease) Release(ctx context.Context) error {
	l.until = time.Time{}
	if !l.taken {
		return nil
	}
	err := l.cfg.DB.RunTx(telemetry.Untraced(ctx), "lease.release", func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlRelease, l.cfg.Name, l.owner)
		return nil
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil {
		return fmt.Errorf("release lease %s: %w", l.cfg.Name, err)
	}
	l.taken = false
	return nil
}
