package blob

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// chunkSize is how many bytes a row holds.
const chunkSize = 512 << 10

// Database is a [Store] in the table file_chunks. Each piece has a transaction of its own, so that a large content holds no
// connection while it is sent.
type Database struct{ db *db.DB }

// NewDatabase returns the store of a database.
func NewDatabase(d *db.DB) *Database { return &Database{db: d} }

const fileChunks = db.Table("file_chunks")

const sqlSelectChunk = `SELECT body FROM file_chunks WHERE company_id = $1 AND file_id = $2 AND part = $3 AND n = $4`

var (
	sqlInsertChunk = fileChunks.Insert(`(company_id, file_id, part, n, body) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (company_id, file_id, part, n) DO UPDATE SET body = excluded.body`)
	sqlDeleteChunks = fileChunks.Delete(`WHERE company_id = $1 AND file_id = $2 AND part = $3 AND n >= $4`)
)

// Put implements [Store].
func (s *Database) Put(ctx context.Context, key Key, _ string, size int64, body io.ReadSeeker) error {
	chunk := make([]byte, min(chunkSize, max(size, 1)))
	n := int32(0)
	for left := size; left > 0 || n == 0; n++ {
		part := chunk[:min(int64(len(chunk)), left)]
		if _, err := io.ReadFull(body, part); err != nil {
			return fmt.Errorf("read piece %d of %s: %w", n, key, err)
		}
		left -= int64(len(part))
		err := s.write(ctx, "blob.put", func(tx *db.Tx) {
			tx.Queue(sqlInsertChunk, key.Company, key.File, key.Part, n, part)
			if left == 0 {
				tx.Queue(sqlDeleteChunks, key.Company, key.File, key.Part, n+1) // of a longer content that was there before
			}
		})
		if err != nil {
			return fmt.Errorf("store piece %d of %s: %w", n, key, err)
		}
	}
	return nil
}

func (s *Database) write(ctx context.Context, name string, queue func(*db.Tx)) error {
	return s.db.RunTx(ctx, name, func(_ context.Context, tx *db.Tx) error {
		queue(tx)
		return nil
	}, db.ReadCommitted(), db.Repeatable())
}

// Delete implements [Store].
func (s *Database) Delete(ctx context.Context, key Key) error {
	err := s.write(ctx, "blob.delete", func(tx *db.Tx) { tx.Queue(sqlDeleteChunks, key.Company, key.File, key.Part, 0) })
	if err != nil {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	return nil
}

// Open implements [Store].
func (s *Database) Open(ctx context.Context, key Key) (io.ReadCloser, error) {
	r := &chunks{ctx: ctx, db: s.db, key: key}
	if err := r.next(); errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	} else if err != nil {
		return nil, err
	}
	return r, nil
}

// chunks reads a content piece by piece.
type chunks struct {
	ctx  context.Context //nolint:containedctx // an io.Reader gets none, and reads for as long as its response is written
	db   *db.DB
	key  Key
	n    int32
	body []byte // of the piece, not read yet
	last bool   // no piece follows
}

func (c *chunks) next() error {
	err := c.db.QueryRow(c.ctx, sqlSelectChunk, c.key.Company, c.key.File, c.key.Part, c.n).Scan(&c.body)
	if err != nil {
		return fmt.Errorf("read piece %d of %s: %w", c.n, c.key, err)
	}
	c.n, c.last = c.n+1, len(c.body) < chunkSize
	return nil
}

// Read implements [io.Reader].
func (c *chunks) Read(p []byte) (int, error) {
	for len(c.body) == 0 {
		if c.last {
			return 0, io.EOF
		}
		if err := c.next(); errors.Is(err, pgx.ErrNoRows) {
			c.last = true // the content is a multiple of pieces
		} else if err != nil {
			return 0, err
		}
	}
	n := copy(p, c.body)
	c.body = c.body[n:]
	return n, nil
}

// Close implements [io.Closer].
func (c *chunks) Close() error { return nil }
