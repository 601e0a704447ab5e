package job

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/compress"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const (
	sqlSelectPart  = `SELECT body FROM job_inputs WHERE company_id = $1 AND job_id = $2 AND n = $3`
	sqlSelectEnded = `SELECT id FROM jobs WHERE company_id = $1 AND type = $2 AND ended_at IS NOT NULL ORDER BY company_id DESC, id DESC LIMIT $4 OFFSET $3`
)

var (
	sqlInsertPart  = jobInputs.Insert(`(company_id, job_id, n, body, expires_at) VALUES ($1, $2, $3, $4, $5)`)
	sqlMoveParts   = jobInputs.Update(`SET job_id = $3, expires_at = $4 WHERE company_id = $1 AND job_id = $2`)
	sqlDropParts   = jobInputs.Delete(`WHERE company_id = $1 AND job_id = ANY($2)`)
	sqlDeleteParts = jobInputs.Delete(`WHERE company_id = $1 AND job_id = $2`)
)

// ErrNoParts means that a job has no parts that another could take over: they have expired, or another has them.
var ErrNoParts = errors.New("the job has no parts any more")

// DropParts deletes parts that ended jobs of a type have kept, but for the latest of them. Like [Admit], it reads jobs from q.
func DropParts(ctx context.Context, tx *db.Tx, q db.Querier, by access.Caller, t Type, but int) error {
	rows, err := q.Query(ctx, sqlSelectEnded, by.Company, t.Name, but, maxRecent)
	if err != nil {
		return fmt.Errorf("select ended jobs: %w", err)
	}
	ended, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return fmt.Errorf("select ended jobs: %w", err)
	}
	if len(ended) > 0 {
		tx.Queue(sqlDropParts, by.Company, ended)
	}
	return nil
}

// PackPart makes bytes a part of [Options.Parts]. It is compressed as soon as it is made, because a request may hold many of them.
func PackPart(body []byte) []byte { return compress.Pack(body) }

// Parts are parts that are in memory already.
func Parts(all [][]byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, part := range all {
			if !yield(part, nil) {
				return
			}
		}
	}
}

// sentBytes is how many bytes of parts are sent at a time: they are held twice until then.
const sentBytes = 1 << 20

// addParts stores the parts of the input of a new job.
func addParts(ctx context.Context, tx *db.Tx, r Record, o Options, expires time.Time) error {
	if o.PartsOf != uuid.Nil {
		moved, err := tx.Write(ctx, sqlMoveParts, r.CompanyID, o.PartsOf, r.ID, expires)
		if err == nil && moved.RowsAffected() == 0 {
			err = ErrNoParts
		}
		return err
	}
	if o.Parts == nil {
		return nil
	}
	n, queued := 0, 0
	for part, err := range o.Parts {
		if err != nil {
			return fmt.Errorf("encode part %d of the input of a job: %w", n, err)
		}
		tx.Queue(sqlInsertPart, r.CompanyID, r.ID, n, part, expires)
		n++
		if queued += len(part); queued < sentBytes {
			continue
		}
		if err := tx.Flush(ctx); err != nil {
			return fmt.Errorf("store the input of a job: %w", err)
		}
		queued = 0
	}
	return nil
}

// Part reads a part of the input, from 0, of [Options.Parts].
func (t Task) Part(ctx context.Context, q db.Querier, n int) ([]byte, error) {
	var packed []byte
	if err := q.QueryRow(ctx, sqlSelectPart, t.Company, t.ID, n).Scan(&packed); err != nil {
		return nil, fmt.Errorf("read part %d of the input of job %s: %w", n, t.ID, err)
	}
	part, err := compress.Open(packed)
	if err != nil {
		return nil, fmt.Errorf("open part %d of the input of job %s: %w", n, t.ID, err)
	}
	return part, nil
}
