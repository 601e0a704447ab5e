package migrate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// lockTTL is how long others wait after the holder has died.
const lockTTL = 15 * time.Second

// errLockLost ends a run whose lock another process has taken.
var errLockLost = errors.New("the migration lock was lost to another process")

const schemaLock = db.Table("schema_lock")

// The lock is a row with an epoch, which can be acquired once it has expired by the database's clock. CockroachDB has no
// advisory locks.
const (
	sqlCreateLock = `CREATE TABLE IF NOT EXISTS schema_lock (
		id INT4 NOT NULL, owner TEXT NOT NULL, epoch BIGINT NOT NULL, expires_at TIMESTAMPTZ NOT NULL,
		CONSTRAINT schema_lock_pkey PRIMARY KEY (id))`
	sqlLockOwner = `SELECT owner FROM schema_lock WHERE id = 1`
)

var (
	sqlInsertLock = schemaLock.Insert(`(id, owner, epoch, expires_at) VALUES (1, '', 0, TIMESTAMPTZ '2000-01-01 00:00:00Z')
		ON CONFLICT (id) DO NOTHING`)
	sqlTakeLock = schemaLock.Update(`SET owner = $1, epoch = epoch + 1, expires_at = now() + $2::INTERVAL
		WHERE id = 1 AND expires_at < now() RETURNING epoch`)
	sqlRenewLock = schemaLock.Update(`SET expires_at = now() + $2::INTERVAL WHERE id = 1 AND epoch = $1`)
	sqlFreeLock  = schemaLock.Update(`SET expires_at = TIMESTAMPTZ '2000-01-01 00:00:00Z' WHERE id = 1 AND epoch = $1`)
)

func newRunner(pool *pgxpool.Pool, log *slog.Logger) *runner {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return &runner{pool: pool, log: log, ttl: lockTTL, owner: host + "/" + strconv.Itoa(os.Getpid()) + "/" + rand.Text()[:8]}
}

// heldLock is renewed until it is released. ctx is cancelled if it is lost.
type heldLock struct {
	r       *runner
	ctx     context.Context
	epoch   int64
	cancel  context.CancelCauseFunc
	renewed chan struct{} // closed when renewal has stopped
}

// take waits until the lock is free or ctx is done.
func (r *runner) take(ctx context.Context) (*heldLock, error) {
	for said := false; ; said = true {
		var epoch int64
		err := r.pool.QueryRow(ctx, sqlTakeLock.SQL(), r.owner, r.ttl).Scan(&epoch)
		switch {
		case err == nil:
			return r.hold(ctx, epoch), nil
		case ctx.Err() != nil: // done during the request; report it as while waiting
		case !errors.Is(err, pgx.ErrNoRows) && !transient(err):
			return nil, fmt.Errorf("take migration lock: %w", err)
		case !said:
			r.log.InfoContext(ctx, "waiting for another process to finish migrating", "owner", r.lockOwner(ctx))
		}
		if !wait(ctx, r.ttl/60) {
			return nil, fmt.Errorf("wait for the migration lock, held by %s: %w", r.lockOwner(context.WithoutCancel(ctx)), ctx.Err())
		}
	}
}

func (r *runner) lockOwner(ctx context.Context) (owner string) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := r.pool.QueryRow(ctx, sqlLockOwner).Scan(&owner); err != nil {
		return "an unknown process"
	}
	return owner
}

func (r *runner) hold(ctx context.Context, epoch int64) *heldLock {
	l := &heldLock{r: r, epoch: epoch, renewed: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	go l.renew()
	return l
}

// renew extends the lock every third of its TTL. It stops if another process has acquired the lock
// or if the lock could not be renewed before it expired.
func (l *heldLock) renew() {
	defer close(l.renewed)
	tick := time.NewTicker(l.r.ttl / 3)
	defer tick.Stop()
	for until := time.Now().Add(l.r.ttl); ; {
		select {
		case <-l.ctx.Done():
			return
		case <-tick.C:
		}
		sent := time.Now()
		tag, err := l.r.pool.Exec(l.ctx, sqlRenewLock.SQL(), l.epoch, l.r.ttl)
		switch {
		case err == nil && tag.RowsAffected() == 1:
			until = sent.Add(l.r.ttl)
		case err == nil, time.Now().After(until):
			l.cancel(errors.Join(errLockLost, err))
			return
		}
	}
}

// release releases the lock; if that fails, the lock expires.
func (l *heldLock) release(ctx context.Context) {
	l.cancel(nil)
	<-l.renewed
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if _, err := l.r.pool.Exec(ctx, sqlFreeLock.SQL(), l.epoch); err != nil {
		l.r.log.WarnContext(ctx, "releasing the migration lock failed; it will expire", "after", l.r.ttl, "error", err)
	}
}
