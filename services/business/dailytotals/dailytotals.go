// Package dailytotals adds up records by day, exactly. The sums of a day that is over are kept, so that a report of a year costs what
// its open days cost; a change of a record of such a day makes them invalid. A domain declares a [Report] of its records and counts
// their changes; what is shown of the sums is the business of the caller of [Reader.Read]. See docs/architecture.md#reports.
package dailytotals

import (
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// A day is kept only when it ended longer ago than keptAfter, and a change counts if its record is older than countedAfter. What
// lies between them bounds the time that a transaction may take and the error of clocks: a record that is not counted was
// committed long before its day is summed to be kept.
const (
	keptAfter    = 12 * time.Hour
	countedAfter = 6 * time.Hour
)

const dayChanges = db.Table("day_changes")

var sqlInsertChange = dayChanges.InsertRow("company_id", "report", "day", "id", "n")

// Changed queues that the sums of the report change on the days of these instants: call it in the transaction that adds a record, or
// changes what the report sums of one, with the instants that its day follows from, before and after the change.
func (r *Report) Changed(tx *db.Tx, company tenant.ID, at ...time.Time) {
	old := time.Now().Add(-countedAfter) // the clock of records may be another one in demo data and tests
	var last time.Time
	for _, t := range at {
		if day := dayOf(t); t.Before(old) && !day.Equal(last) {
			tx.QueueRow(sqlInsertChange, company, r.Name, day, record.NewID(), int64(1))
			last = day
		}
	}
}

// dayOf is the day in UTC.
func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
