// Package dailytotals adds up records by day, exactly. The sums of a day that is over are kept, so that a report of a year costs what
// its open days cost; a change of a record of such a day makes them invalid. A domain declares a [Report] of its records and counts
// their changes; what is shown of the sums is the business of the caller of [Reader.Read]. See docs/architecture.md#reports.
package dailytotals

import (
	"context"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const (
	mergedFrom = 64     // rows of a day in day_changes from which on they are merged
	mergedOnce = 10_000 // rows that are merged at once
)

const daySums = db.Table("day_sums")

var (
	// A day that another process has summed meanwhile may be overwritten with older sums: their number of changes says so.
	sqlUpsertSums = daySums.Insert(`(company_id, report, day, starts_at, ends_at, form, changes, keys, amounts) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (company_id, report, day) DO UPDATE SET starts_at = excluded.starts_at, ends_at = excluded.ends_at, form = excluded.form,
  changes = excluded.changes, keys = excluded.keys, amounts = excluded.amounts`)

	sqlDeleteChanges = dayChanges.Delete(`WHERE (company_id, report, day, id) IN (
  SELECT company_id, report, day, id FROM day_changes WHERE company_id = $1 AND report = $2 AND day = $3 ORDER BY id LIMIT $4) RETURNING n`)
)

// keep stores the days that were summed and are over. It is not needed for the answer, so its failure is only logged.
//
// Sums and the number of changes that they have are of one snapshot, and that number only grows, by every change and in its
// transaction. So sums are valid exactly as long as it is the same, whoever stores them, and when.
func (r *Reader) keep(ctx context.Context, p *pass) {
	days, crowded := p.keepable(), p.crowded()
	if len(days)+len(crowded) == 0 {
		return
	}
	err := r.cfg.DB.RunTx(ctx, "reports.keep", func(ctx context.Context, tx *db.Tx) error {
		for _, d := range days {
			keys, amounts := d.keys, d.amounts
			if keys == nil {
				keys, amounts = []string{}, []int64{}
			}
			tx.Queue(sqlUpsertSums, p.company, p.report.Name, d.date, d.start, d.end, p.report.Form, d.before, keys, amounts)
		}
		for _, at := range crowded {
			if err := p.merge(ctx, tx, at); err != nil {
				return err
			}
		}
		return nil
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil && ctx.Err() == nil {
		r.cfg.Log.WarnContext(telemetry.Untraced(ctx), "daily totals not kept", "report", p.report.Name, "error", err)
	}
}

// keepable lists the days that were summed and are over.
func (p *pass) keepable() (days []*day) {
	for _, d := range p.days {
		if d.state == summed && d.end.Before(p.now.Add(-keptAfter)) && len(d.amounts) <= maxKept*p.report.Amounts {
			days = append(days, d)
		}
	}
	return days
}

// crowded lists the days in UTC whose changes take many rows.
func (p *pass) crowded() (all []time.Time) {
	for at, n := range p.rows {
		if n >= mergedFrom {
			all = append(all, at)
		}
	}
	return all
}

// merge makes one row of the changes of a day. Their number stays the same at every commit, also if two processes do it at once:
// a row is deleted by one of them, which adds what it counted.
func (p *pass) merge(ctx context.Context, tx *db.Tx, at time.Time) error {
	rows, err := tx.Returning(ctx, sqlDeleteChanges, p.company, p.report.counter(), at, mergedOnce)
	if err != nil {
		return err
	}
	var n, sum int64
	for rows.Next() {
		if err := rows.Scan(&n); err != nil {
			rows.Close()
			return err
		}
		sum += n
	}
	if rows.Err() != nil || sum == 0 {
		return rows.Err()
	}
	tx.Queue(sqlInsertChange, p.company, p.report.counter(), at, record.NewID(), sum)
	return nil
}

// A day is kept only when it ended longer ago than keptAfter, and a change counts if its record is older than countedAfter. What
// lies between them bounds the time that a transaction may take and the error of clocks: a record that is not counted was
// committed long before its day is summed to be kept.
const (
	keptAfter    = 12 * time.Hour
	countedAfter = 6 * time.Hour
)

const dayChanges = db.Table("day_changes")

var sqlInsertChange = dayChanges.InsertRow("company_id", "report", "day", "id", "n")

// Changed queues that the sums of the report, and of others with its counter, change on the days of these instants: call it in the transaction that adds a record, or
// changes what the report sums of one, with the instants that its day follows from, before and after the change.
func (r *Report) Changed(tx *db.Tx, company tenant.ID, at ...time.Time) {
	old := time.Now().Add(-countedAfter) // the clock of records may be another one in demo data and tests
	var last time.Time
	for _, t := range at {
		if day := dayOf(t); t.Before(old) && !day.Equal(last) {
			tx.QueueRow(sqlInsertChange, company, r.counter(), day, record.NewID(), int64(1))
			last = day
		}
	}
}

// dayOf is the day in UTC.
func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
