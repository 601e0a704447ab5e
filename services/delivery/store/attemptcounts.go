package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// AttemptCountsKept is how long the counts of attempts are kept.
const AttemptCountsKept = 48 * time.Hour

// AttemptCount is how many attempts were made in a minute.
type AttemptCount struct {
	At        time.Time // the end of the minute
	Delivered int64
	Retried   int64 // failed, and another attempt follows
	Failed    int64 // failed for good
}

const attemptCounts = db.Table("attempt_counts")

var sqlUpsertAttemptCounts = attemptCounts.Insert(`(at, sender, delivered, retried, failed, expires_at)
SELECT at, $1, delivered, retried, failed, expires FROM unnest($2::TIMESTAMPTZ[], $3::BIGINT[], $4::BIGINT[], $5::BIGINT[], $6::TIMESTAMPTZ[])
 AS u(at, delivered, retried, failed, expires)
ON CONFLICT (at, sender) DO UPDATE SET delivered = excluded.delivered, retried = excluded.retried, failed = excluded.failed`)

// sqlSumAttemptCounts reads by the primary key a row a minute of each sender.
const sqlSumAttemptCounts = `SELECT at, sum(delivered)::BIGINT, sum(retried)::BIGINT, sum(failed)::BIGINT FROM attempt_counts WHERE at >= $1 GROUP BY at ORDER BY at LIMIT $2`

// AttemptCountsExpire deletes old counts.
var AttemptCountsExpire = cleanup.Job{
	Every:  time.Hour,
	Delete: attemptCounts.Delete(`WHERE (at, sender) IN (SELECT at, sender FROM attempt_counts WHERE expires_at < $1 ORDER BY at LIMIT 1000)`),
}

// UpsertAttemptCounts stores what a sender counted in minutes. To store one again changes nothing.
func UpsertAttemptCounts(ctx context.Context, d *db.DB, sender uuid.UUID, minutes []AttemptCount) error {
	var at, expires []time.Time
	var delivered, retried, failed []int64
	for _, m := range minutes {
		at, expires = append(at, m.At.UTC()), append(expires, m.At.UTC().Add(AttemptCountsKept))
		delivered, retried, failed = append(delivered, m.Delivered), append(retried, m.Retried), append(failed, m.Failed)
	}
	if _, err := d.Write(ctx, sqlUpsertAttemptCounts, sender, at, delivered, retried, failed, expires); err != nil {
		return fmt.Errorf("store counts of attempts: %w", err)
	}
	return nil
}

// SumAttemptCounts returns what all senders counted in the minutes that ended at or after a time, the oldest first. Minutes in which
// none counted are missing.
func SumAttemptCounts(ctx context.Context, q db.Querier, since time.Time) ([]AttemptCount, error) {
	return db.Collect(ctx, q, "read counts of attempts", pgx.RowToStructByPos[AttemptCount], sqlSumAttemptCounts, since, int(AttemptCountsKept/time.Minute)+1)
}
