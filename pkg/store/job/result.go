package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/compress"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

var sqlInsertChunk = jobChunks.Insert(`(company_id, job_id, n, body, expires_at) VALUES ($1, $2, $3, $4, $5)`)

// addResult adds a piece to the result of a job, as part of the step that wrote it.
func addResult(tx *db.Tx, t Task, piece []byte) {
	// A job with a result ends within maxAge, and the result is kept for as long after that.
	tx.Queue(sqlInsertChunk, t.Company, t.ID, t.Steps, compress.Pack(piece), tx.Now().Add(maxAge+ResultKept+time.Hour))
}

// The pieces of a result have several megabytes, so they are read in slices.
const (
	sqlNextChunk = `SELECT n, substring(body, 1, $4) FROM job_chunks
WHERE company_id = $1 AND job_id = $2 AND n > $3 ORDER BY company_id, job_id, n LIMIT 1`
	sqlChunkSlice = `SELECT substring(body, $4, $5) FROM job_chunks WHERE company_id = $1 AND job_id = $2 AND n = $3`
)

const sliceSize = 256 << 10

// ResultMemory is about what a reader of a result holds, in bytes.
const ResultMemory = sliceSize + compress.ReaderMemory

// result reads the pieces of a result one after the other.
type result struct {
	chunk
	open io.ReadCloser // of the piece; nil before the first and between two
	left int64         // bytes
}

// chunk reads a piece as it is stored.
type chunk struct {
	ctx   context.Context //nolint:containedctx // an io.Reader gets none, and reads for as long as its response is written
	q     db.Querier
	job   Found
	n     int64
	read  int // bytes of it
	slice []byte
	ended bool // the slice is the last
}

// Result returns a reader of the result of a job, which holds up to [ResultMemory]. It fails if the result ends early.
func Result(ctx context.Context, q db.Querier, f Found) io.ReadCloser {
	return &result{chunk: chunk{ctx: ctx, q: q, job: f, n: -1}, left: f.Bytes}
}

// Read implements [io.Reader].
func (r *result) Read(p []byte) (n int, err error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	for n == 0 && err == nil {
		if r.open == nil {
			if err = r.next(); err == nil {
				r.open, err = compress.NewReader(&r.chunk)
			}
			if err != nil {
				break
			}
		}
		if n, err = r.open.Read(p); errors.Is(err, io.EOF) {
			err = r.Close()
		}
	}
	r.left -= int64(n)
	if err != nil {
		err = fmt.Errorf("read result of job %s, piece %d: %w", r.job.ID, r.n, err)
	}
	return n, err
}

// Close implements [io.Closer].
func (r *result) Close() error {
	open := r.open
	r.open = nil
	if open == nil {
		return nil
	}
	return open.Close()
}

// next begins with the piece after this one.
func (c *chunk) next() error {
	if err := c.q.QueryRow(c.ctx, sqlNextChunk, c.job.CompanyID, c.job.ID, c.n, sliceSize).Scan(&c.n, &c.slice); err != nil {
		return fmt.Errorf("the one after it: %w", err)
	}
	c.read, c.ended = len(c.slice), len(c.slice) < sliceSize
	return nil
}

// Read implements [io.Reader].
func (c *chunk) Read(p []byte) (int, error) {
	if len(c.slice) == 0 && !c.ended {
		if err := c.q.QueryRow(c.ctx, sqlChunkSlice, c.job.CompanyID, c.job.ID, c.n, c.read+1, sliceSize).Scan(&c.slice); err != nil {
			return 0, err
		}
		c.read, c.ended = c.read+len(c.slice), len(c.slice) < sliceSize
	}
	if len(c.slice) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.slice)
	c.slice = c.slice[n:]
	return n, nil
}
