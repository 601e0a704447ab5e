package files

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/fileuse"
	"github.com/tradegrid/tradegrid/pkg/store/lease"
)

const (
	sweepEvery = time.Minute
	sweepBatch = 100
)

// due are contents that may have to be removed.
type due struct {
	Company tenant.ID
	File    uuid.UUID
	At      time.Time
}

const sqlDueBlobs = `SELECT company_id, file_id, due_at FROM file_blobs WHERE due_at <= $1 ORDER BY due_at NULLS LAST LIMIT $2`

// Run removes files that no record has referred to for a day, and contents without a file, until ctx ends. Of several processes, one
// does it.
func (s *Service) Run(ctx context.Context, node string) error {
	held := lease.New(lease.Config{DB: s.cfg.DB, Name: "files.sweep", Node: node})
	defer func() { _ = held.Release(context.WithoutCancel(ctx)) }() // it expires otherwise
	t := time.NewTicker(sweepEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		if err := s.sweepWhile(telemetry.Untraced(ctx), held.Hold); err != nil && ctx.Err() == nil {
			s.cfg.Log.WarnContext(ctx, "sweep of files failed; it is repeated", "error", err)
		}
	}
}

func (s *Service) sweepWhile(ctx context.Context, hold func(context.Context) (bool, error)) error {
	for {
		if held, err := hold(ctx); err != nil || !held {
			return err
		}
		more, err := s.Sweep(ctx)
		if err != nil || !more {
			return err
		}
	}
}

// Sweep removes what is due, up to a batch, and reports whether there may be more. It may run in several processes.
func (s *Service) Sweep(ctx context.Context) (more bool, err error) {
	all, err := db.Collect(ctx, s.cfg.DB, "select contents that are due", pgx.RowToStructByPos[due], sqlDueBlobs, s.cfg.DB.Now(), sweepBatch)
	if err != nil {
		return false, err
	}
	for _, d := range all {
		if err := s.sweepOne(ctx, d); err != nil {
			return false, fmt.Errorf("sweep file %s of company %s: %w", d.File, d.Company, err)
		}
	}
	return len(all) == sweepBatch, nil
}

// sweepOne removes the record first, then the contents, and at last what tells of them: whatever is interrupted is repeated.
func (s *Service) sweepOne(ctx context.Context, d due) error {
	remove, err := s.drop(ctx, d)
	if err != nil || !remove {
		return err
	}
	for _, part := range parts() {
		if err := s.cfg.Store.Delete(ctx, key(d.Company, d.File, part)); err != nil {
			return err
		}
	}
	if err := s.forget(ctx, d); err != nil {
		return err
	}
	s.cfg.Log.DebugContext(ctx, "file removed", "company_id", d.Company, "file_id", d.File)
	return nil
}

const sqlLockFile = `SELECT id FROM files WHERE company_id = $1 AND id = $2 FOR UPDATE`

var (
	sqlDeleteFile = files.Delete(`WHERE company_id = $1 AND id = $2`)
	sqlNotDue     = fileBlobs.Update(`SET due_at = NULL WHERE company_id = $1 AND file_id = $2 AND due_at = $3`)
)

var errUsed = errors.New("a record has begun to refer to the file")

// drop deletes the record of a file to which nothing refers, and reports whether its contents are to be removed.
func (s *Service) drop(ctx context.Context, d due) (remove bool, err error) {
	err = s.cfg.DB.RunTx(ctx, "files.sweep", func(ctx context.Context, tx *db.Tx) error {
		remove = true
		var id uuid.UUID
		err := tx.QueryRow(ctx, sqlLockFile, d.Company, d.File).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // it was deleted, or never stored
		}
		if err != nil {
			return fmt.Errorf("lock file: %w", err)
		}
		uses, err := fileuse.Of(ctx, tx, d.Company, d.File, 1)
		if err != nil {
			return err
		}
		if len(uses) > 0 {
			remove = false
			tx.Queue(sqlNotDue, d.Company, d.File, d.At)
			return nil
		}
		tx.Queue(sqlDeleteFile, d.Company, d.File).OnConstraint("file_uses_file_fkey", errUsed)
		return nil
	}, db.Repeatable())
	if errors.Is(err, errUsed) {
		return false, nil // the next sweep sees it
	}
	return remove && err == nil, err
}

var sqlForgetBlob = fileBlobs.Delete(`WHERE company_id = $1 AND file_id = $2 RETURNING bytes`)

// forget ends what is known of contents that are removed.
func (s *Service) forget(ctx context.Context, d due) error {
	return s.cfg.DB.RunTx(ctx, "files.forget", func(ctx context.Context, tx *db.Tx) error {
		var bytes int64
		err := tx.ReturningRow(ctx, sqlForgetBlob, d.Company, d.File).Scan(&bytes)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("delete: %w", err)
		}
		s.uncount(tx, d.Company, bytes)
		return nil
	}, db.Repeatable())
}
