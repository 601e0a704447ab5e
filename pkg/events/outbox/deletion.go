package outbox

import (
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// recent bounds the positions of rows of several buckets that one statement deletes: in each of the buckets it passes everything
// between the first and the last.
const recent = 2 * time.Second

// deletion are rows that one statement deletes.
type deletion struct {
	of        []*decided
	low, high int64
	buckets   []int32
	at        []int64
	ids       []uuid.UUID
}

func (d *deletion) add(of *decided) {
	d.of = append(d.of, of)
	of.gone = make(map[place]bool, of.rows)
	for _, b := range of.batches {
		for i := range b.decided {
			pos := b.decided[i].Pos
			if len(d.at) == 0 {
				d.low, d.high = pos, pos
			}
			d.low, d.high = min(d.low, pos), max(d.high, pos)
			d.buckets, d.at, d.ids = append(d.buckets, of.bucket()), append(d.at, pos), append(d.ids, b.decided[i].ID)
		}
	}
}

// together divides buckets: those with recent rows only have one statement, each other, as one with a backlog, has its own.
func together(all []decided, now time.Time) (deletions []*deletion) {
	var joint deletion
	for i := range all {
		alone := &deletion{}
		alone.add(&all[i])
		if alone.low >= now.Add(-recent).UnixMicro() && alone.high <= now.Add(recent).UnixMicro() {
			joint.add(&all[i])
			continue
		}
		deletions = append(deletions, alone)
	}
	if len(joint.of) > 0 {
		deletions = append(deletions, &joint)
	}
	return deletions
}

// queue adds the statement, which tells of each row whether this transaction deleted it.
func (d *deletion) queue(tx *db.Tx) {
	byBucket := make(map[int32]*decided, len(d.of))
	buckets := make([]int32, len(d.of))
	for i, of := range d.of {
		byBucket[of.bucket()], buckets[i] = of, of.bucket()
	}
	tx.Queue(sqlDeleteRows, buckets, d.low, d.high, d.buckets, d.at, d.ids).Rows(func(rows pgx.Rows) error {
		deleted, err := pgx.CollectRows(rows, pgx.RowToStructByPos[place])
		for _, at := range deleted {
			byBucket[at.Bucket].gone[at] = true
		}
		return err
	})
}
