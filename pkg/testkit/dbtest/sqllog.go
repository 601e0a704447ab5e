package dbtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// sqlLog appends each distinct statement of a process, with what was declared of it, to a file shared by several processes.
type sqlLog struct {
	path string
	mu   sync.Mutex
	seen map[string]bool
	err  error // write error; the next open returns it, so that no check runs on an incomplete log
}

var (
	sqlLogsMu sync.Mutex                 //nolint:gochecknoglobals // one log per file and process
	sqlLogs   = make(map[string]*sqlLog) //nolint:gochecknoglobals // one log per file and process
)

// openSQLLog returns the log of a path; nil if the path is empty.
func openSQLLog(path string) (*sqlLog, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // no log is wanted
	}
	sqlLogsMu.Lock()
	defer sqlLogsMu.Unlock()
	l, ok := sqlLogs[path]
	if !ok {
		l = &sqlLog{path: path, seen: make(map[string]bool)}
		sqlLogs[path] = l
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l, l.err
}

// TraceQueryStart implements [pgx.QueryTracer].
func (l *sqlLog) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	l.add(ctx, data.SQL)
	return ctx
}

// TraceQueryEnd implements [pgx.QueryTracer].
func (l *sqlLog) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TracePrepareStart implements [pgx.PrepareTracer], so that statements that are only prepared are logged too.
func (l *sqlLog) TracePrepareStart(ctx context.Context, _ *pgx.Conn, data pgx.TracePrepareStartData) context.Context {
	l.add(ctx, data.SQL)
	return ctx
}

// TracePrepareEnd implements [pgx.PrepareTracer].
func (l *sqlLog) TracePrepareEnd(context.Context, *pgx.Conn, pgx.TracePrepareEndData) {}

// TraceBatchStart implements [pgx.BatchTracer].
func (l *sqlLog) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	if data.Batch != nil {
		for _, q := range data.Batch.QueuedQueries {
			l.add(ctx, q.SQL)
		}
	}
	return ctx
}

// TraceBatchQuery implements [pgx.BatchTracer].
func (l *sqlLog) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements [pgx.BatchTracer].
func (l *sqlLog) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (l *sqlLog) add(ctx context.Context, sql string) {
	line := logged{SQL: sql}
	if d, ok := db.TableAccessOf(ctx, sql); ok {
		line.Declared = &d
	}
	text, err := json.Marshal(line)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen[string(text)] || l.err != nil {
		return
	}
	l.seen[string(text)] = true
	if err = errors.Join(err, appendLine(l.path, text)); err != nil {
		l.err = fmt.Errorf("log SQL: %w", err)
		fmt.Fprintln(os.Stderr, "dbtest:", l.err)
	}
}

// logged is a line of the log.
type logged struct {
	SQL      string          `json:"sql"`
	Declared *db.TableAccess `json:"declared,omitempty"` // of a write, and of all statements of transactions and lists
}

// appendLine appends a line in a single write, so that lines of several processes do not interleave.
func appendLine(path string, line []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
