package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/quota"
)

// QuotaKind is the kind of bytes that the event log counts towards the quota of a company.
const QuotaKind = "events"

// keepAlways is how long an event stays in the log in any case: deliveries that are under way need its body.
const keepAlways = 48 * time.Hour

// trimRows is the maximum number of events that one transaction removes.
const trimRows = 500

var (
	sqlTrimLog = events.Delete(`WHERE company_id = $1 AND seq IN (
 SELECT seq FROM events WHERE company_id = $1 AND occurred_at < $2 ORDER BY company_id, seq LIMIT $3) RETURNING seq, octet_length(body), occurred_at, expires_at`)
	sqlRaiseFloor = eventLogFloors.Insert(`(company_id, seq, occurred_at) VALUES ($1, $2, $3)
ON CONFLICT (company_id) DO UPDATE SET seq = GREATEST(event_log_floors.seq, excluded.seq),
 occurred_at = GREATEST(event_log_floors.occurred_at, excluded.occurred_at)`)
)

func newQuota(r *Relay) *quota.Meter {
	return quota.New(quota.Config{
		DB: r.db, Kind: QuotaKind, Limit: r.cfg.EventQuota, Above: r.trim, Log: r.log, Owners: r.cfg.Owners,
		Beyond: "Above the quota, the oldest events are removed from the event log before their time, but none of the last 48 hours. Webhooks are not affected.",
	})
}

// trim removes the oldest events of a company that is above its quota, until it is not, or only recent ones are left.
// A reader whose cursor is behind them is told so; see [Floor.Missed].
func (r *Relay) trim(ctx context.Context, company tenant.ID, used int64) error {
	removed := 0
	for used > r.cfg.EventQuota && ctx.Err() == nil {
		n, freed, err := r.trimSome(ctx, company)
		if err != nil {
			return err
		}
		removed, used = removed+n, used-freed
		if n < trimRows {
			break
		}
	}
	if removed > 0 {
		trimmed.Add(float64(removed))
		r.log.InfoContext(ctx, "events removed before their time", "company_id", company, "events", removed, "bytes", used, "quota", r.cfg.EventQuota)
	}
	return nil
}

func (r *Relay) trimSome(ctx context.Context, company tenant.ID) (n int, freed int64, err error) {
	type event struct {
		Seq      int64
		Bytes    int64
		Occurred time.Time
		Expires  time.Time
	}
	err = r.db.RunTx(ctx, "outbox.trim", func(ctx context.Context, tx *db.Tx) error {
		n, freed = 0, 0
		rows, err := tx.Returning(ctx, sqlTrimLog, company, tx.Now().Add(-keepAlways), trimRows)
		if err != nil {
			return fmt.Errorf("remove oldest events: %w", err)
		}
		gone, err := pgx.CollectRows(rows, pgx.RowToStructByPos[event])
		if err != nil {
			return fmt.Errorf("remove oldest events: %w", err)
		}
		var last Floor
		byExpiry := map[time.Time]int64{}
		for _, e := range gone {
			last.raise(e.Seq, e.Occurred)
			freed += e.Bytes
			byExpiry[e.Expires] += e.Bytes
		}
		if n = len(gone); n > 0 {
			tx.Queue(sqlRaiseFloor, company, last.Seq, last.At)
			quota.Subtract(tx, company, QuotaKind, byExpiry)
		}
		return nil
	}, db.ReadCommitted())
	return n, freed, err
}

// Floor is the last event of a company's log that was removed before its time. The zero value means that none was.
type Floor struct {
	Seq int64
	At  time.Time // when it occurred
}

func (f *Floor) raise(seq int64, at time.Time) {
	f.Seq = max(f.Seq, seq)
	if at.After(f.At) {
		f.At = at
	}
}

// becameVisible bounds the time from a change to the appearance of its event in the log. When the relay is further behind,
// there are no events to remove: those are at least [keepAlways] old.
const becameVisible = time.Hour

// Missed reports whether a reader at the cursor may have missed events that were removed. A reader without a cursor starts
// with the oldest event that there is.
func (f Floor) Missed(c Cursor) bool {
	// A reader that filters has seen everything up to a time, though its position is that of the last event which it wanted.
	return !c.Seen.IsZero() && c.After < f.Seq && c.Seen.Before(f.At.Add(becameVisible))
}
