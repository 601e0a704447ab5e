package job

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/tradegrid/tradegrid/pkg/compress"
	"github.com/tradegrid/tradegrid/pkg/db"
)

const sqlInsertChunk = `INSERT INTO job_chunks (company_id, job_id, n, body, expires_at) VALUES ($1, $2, $3, $4, $5)`

// addResult adds a piece to the result of a job, as part of the step that wrote it.
func addResult(tx *db.Tx, t Task, piece []byte) {
	// A job ends within maxAge, and its result is kept for as long after that.
	tx.Queue(sqlInsertChunk, t.Company, t.ID, t.Steps, compress.Pack(piece), tx.Now().Add(maxAge+ResultKept+time.Hour))
}

const sqlNextChunk = `SELECT n, body FROM job_chunks WHERE company_id = $1 AND job_id = $2 AND n > $3 ORDER BY company_id, job_id, n LIMIT 1`

// result reads the pieces of a result one after the other.
type result struct {
	ctx  context.Context //nolint:containedctx // an io.Reader gets none, and reads for as long as its response is written
	q    db.Querier
	job  Found
	last int64
	left int64 // bytes
	rest []byte
}

// Result returns a reader of the result of a job. It holds one piece in memory. It fails if it ends early.
func Result(ctx context.Context, q db.Querier, f Found) io.Reader {
	return &result{ctx: ctx, q: q, job: f, last: -1, left: f.Bytes}
}

// Read implements [io.Reader].
func (r *result) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	for len(r.rest) == 0 {
		var stored []byte
		err := r.q.QueryRow(r.ctx, sqlNextChunk, r.job.CompanyID, r.job.ID, r.last).Scan(&r.last, &stored)
		if err == nil {
			r.rest, err = compress.Open(stored)
		}
		if err != nil {
			return 0, fmt.Errorf("read result of job %s after piece %d: %w", r.job.ID, r.last, err)
		}
	}
	n := copy(p, r.rest)
	r.rest, r.left = r.rest[n:], r.left-int64(n)
	return n, nil
}
