package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// The feature is turned on by a contract migration, when no process runs any more that could not read what it writes.
const sqlSelectFeature = `SELECT EXISTS (SELECT 1 FROM schema_features WHERE name = 'compressed_bodies')`

// featureCheck is how often a process looks whether the schema has been contracted meanwhile.
const featureCheck = 30 * time.Second

// Compresses reports whether bodies may be stored compressed: every process that may read them is able to.
func (t *Tx) Compresses() bool { return t.run.compresses }

// ReadFeatures looks which features of the schema are turned on.
func (d *DB) ReadFeatures(ctx context.Context) error {
	var on bool
	err := d.pool.QueryRow(ctx, sqlSelectFeature).Scan(&on)
	if IsUndefinedTable(err) {
		return nil // the schema of an earlier release
	}
	if err != nil {
		return fmt.Errorf("read features of the schema: %w", err)
	}
	d.compress.Store(on)
	return nil
}

// IsUndefinedTable reports whether a statement failed because its table does not exist: the schema is that of an earlier
// release.
func IsUndefinedTable(err error) bool {
	pg := (*pgconn.PgError)(nil)
	return errors.As(err, &pg) && pg.Code == "42P01"
}

// IsUndefinedColumn is [IsUndefinedTable] for a column.
func IsUndefinedColumn(err error) bool {
	pg := (*pgconn.PgError)(nil)
	return errors.As(err, &pg) && pg.Code == "42703"
}

// WatchFeatures follows the features of the schema until ctx is done: what a contract migration turns on is used
// without a restart. A failed look is repeated.
func (d *DB) WatchFeatures(ctx context.Context) error {
	t := time.NewTicker(featureCheck)
	defer t.Stop()
	for !d.compress.Load() {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		if err := d.ReadFeatures(ctx); err != nil && ctx.Err() == nil {
			d.log.WarnContext(ctx, "features of the schema not read", "error", err)
		}
	}
	return nil
}
