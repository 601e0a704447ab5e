package migrate

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const (
	// batchRows is how many rows a batch looks at. Those that it changes are locked until it commits, so a request may wait for
	// one batch: tens of milliseconds.
	batchRows = 250
	// reportEvery is how often a backfill says how far it is.
	reportEvery = 10 * time.Second
)

const schemaProgress = db.Table("schema_progress")

const (
	// The checksum is part of the key: a step whose text was mended begins anew.
	sqlCreateProgress = `CREATE TABLE IF NOT EXISTS schema_progress (
		version TEXT NOT NULL, step INT4 NOT NULL, checksum TEXT NOT NULL, last_key TEXT[] NOT NULL, rows_seen BIGINT NOT NULL, updated_at TIMESTAMPTZ NOT NULL,
		CONSTRAINT schema_progress_pkey PRIMARY KEY (version, step, checksum))`
	sqlSelectProgress = `SELECT last_key, rows_seen FROM schema_progress WHERE version = $1 AND step = $2 AND checksum = $3`
	sqlSelectKey      = `SELECT k.column_name, c.udt_name FROM information_schema.table_constraints AS t
JOIN information_schema.key_column_usage AS k ON k.constraint_schema = t.constraint_schema AND k.constraint_name = t.constraint_name AND k.table_name = t.table_name
JOIN information_schema.columns AS c ON c.table_schema = t.table_schema AND c.table_name = t.table_name AND c.column_name = k.column_name
WHERE t.table_schema = current_schema() AND t.table_name = $1 AND t.constraint_type = 'PRIMARY KEY' ORDER BY k.ordinal_position`
)

var (
	sqlUpsertProgress = schemaProgress.Insert(`(version, step, checksum, last_key, rows_seen, updated_at)
		SELECT $1::TEXT, $2::INT4, $3::TEXT, $4::TEXT[], $5::BIGINT, now() WHERE EXISTS (SELECT 1 FROM schema_lock WHERE id = 1 AND epoch = $6::BIGINT)
		ON CONFLICT (version, step, checksum) DO UPDATE SET last_key = excluded.last_key, rows_seen = excluded.rows_seen, updated_at = excluded.updated_at`).Reading(schemaLock)
	sqlDeleteProgress = schemaProgress.Delete(`WHERE version = $1 AND step = $2`)
)

// update is what an UPDATE of one table says.
type update struct {
	table, alias string
	head, where  string // the statement before its condition, and the condition
}

var updateHead = regexp.MustCompile(`(?i)^UPDATE (\w+)(?: AS (\w+))? SET `)

func parseUpdate(sql string) (update, bool) {
	m := updateHead.FindStringSubmatch(sql)
	at := topLevel(sql, " WHERE ")
	if m == nil || at < 0 || topLevel(sql, " RETURNING ") >= 0 {
		return update{}, false
	}
	u := update{table: m[1], alias: m[2], head: sql[:at], where: sql[at+len(" WHERE "):]}
	if u.alias == "" {
		u.alias = u.table
	}
	return u, true
}

// topLevel finds a word outside of parentheses and quotes; -1 if there is none.
func topLevel(sql, word string) int {
	depth, quote := 0, byte(0)
	for i := range len(sql) {
		switch c := sql[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth == 0 && len(sql)-i >= len(word) && strings.EqualFold(sql[i:i+len(word)], word):
			return i
		}
	}
	return -1
}

// keyRange writes conditions on a range of the primary key.
type keyRange struct {
	columns, casts []string // qualified names, and the type of each
}

func (k keyRange) tuple() string { return "(" + strings.Join(k.columns, ", ") + ")" }

// bound is a condition such as (p.company_id, p.id) > ($1::TEXT::uuid, $2::TEXT::uuid).
func (k keyRange) bound(operator string, first int) string {
	params := make([]string, len(k.casts))
	for i, cast := range k.casts {
		params[i] = fmt.Sprintf("$%d::TEXT::%s", first+i, cast)
	}
	return k.tuple() + " " + operator + " (" + strings.Join(params, ", ") + ")"
}

func readKey(ctx context.Context, conn *pgx.Conn, u update) (k keyRange, err error) {
	rows, err := conn.Query(ctx, sqlSelectKey, u.table)
	if err != nil {
		return k, fmt.Errorf("read the primary key of %s: %w", u.table, err)
	}
	var column, cast string
	_, err = pgx.ForEachRow(rows, []any{&column, &cast}, func() error {
		k.columns, k.casts = append(k.columns, u.alias+"."+column), append(k.casts, cast)
		return nil
	})
	if err == nil && len(k.columns) == 0 {
		err = errors.New("it has none")
	}
	if err != nil {
		return k, fmt.Errorf("read the primary key of %s: %w", u.table, err)
	}
	return k, nil
}

// batchRun is a backfill under way. A batch and its progress are one transaction, so each row is changed once, whatever happens.
type batchRun struct {
	r     *runner
	conn  *pgx.Conn
	step  Step
	epoch int64
	u     update
	key   keyRange
	last  []string // key of the last row of the last batch; empty at the beginning
	seen  int64
}

// backfill runs an UPDATE in batches by primary key, and pauses after each as long as it took, so that it takes half of one
// connection at most. Stopped, it goes on after the last batch.
func (r *runner) backfill(ctx context.Context, conn *pgx.Conn, step Step, epoch int64) error {
	b := &batchRun{r: r, conn: conn, step: step, epoch: epoch}
	b.u, _ = parseUpdate(step.SQL)
	var err error
	if b.key, err = readKey(ctx, conn, b.u); err != nil {
		return err
	}
	switch err := conn.QueryRow(ctx, sqlSelectProgress, step.Version, step.Number, step.Checksum).Scan(&b.last, &b.seen); {
	case err == nil:
		r.log.InfoContext(ctx, "migration step goes on where it was stopped", "file", step.File, "step", step.Number, "rows", b.seen)
	case !errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("read progress: %w", err)
	}
	reported := time.Now()
	for more := true; more; {
		began := time.Now()
		if err := r.retry(ctx, func() (err error) { more, err = b.batch(ctx); return err }); err != nil {
			return err
		}
		if time.Since(reported) > reportEvery {
			reported = time.Now()
			r.log.InfoContext(ctx, "migration step under way", "file", step.File, "step", step.Number, "table", b.u.table, "rows", b.seen)
		}
		if more && !wait(ctx, time.Since(began)) {
			return ctx.Err()
		}
	}
	return nil
}

// batch runs the next batch and reports whether rows may be left.
func (b *batchRun) batch(ctx context.Context) (more bool, err error) {
	var next []string
	err = pgx.BeginTxFunc(ctx, b.conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if next, err = b.end(ctx, tx); err != nil {
			return fmt.Errorf("find the end of a batch: %w", err)
		}
		stmt, args := b.u.head+" WHERE ("+b.u.where+")", []any{}
		if len(b.last) > 0 {
			stmt, args = stmt+" AND "+b.key.bound(">", len(args)+1), append(args, values(b.last)...)
		}
		if next != nil {
			stmt, args = stmt+" AND "+b.key.bound("<=", len(args)+1), append(args, values(next)...)
		}
		if _, err := tx.Exec(ctx, stmt, args...); err != nil {
			return err
		}
		if next == nil {
			_, err = tx.Exec(ctx, sqlDeleteProgress.SQL(), b.step.Version, b.step.Number)
			return err
		}
		tag, err := tx.Exec(ctx, sqlUpsertProgress.SQL(), b.step.Version, b.step.Number, b.step.Checksum, next, b.seen+batchRows, b.epoch)
		if err == nil && tag.RowsAffected() == 0 {
			return errLockLost
		}
		return err
	})
	if err != nil || next == nil {
		return false, err
	}
	b.last, b.seen = next, b.seen+batchRows
	return true, nil
}

// end returns the key of the last row of the next batch; nil if the rest is smaller than a batch.
func (b *batchRun) end(ctx context.Context, tx pgx.Tx) ([]string, error) {
	texts := make([]string, len(b.key.columns))
	for i, c := range b.key.columns {
		texts[i] = c + "::TEXT"
	}
	stmt, args := "SELECT "+strings.Join(texts, ", ")+" FROM "+b.u.table+" AS "+b.u.alias, []any{}
	if len(b.last) > 0 {
		stmt, args = stmt+" WHERE "+b.key.bound(">", 1), values(b.last)
	}
	stmt += fmt.Sprintf(" ORDER BY %s LIMIT 1 OFFSET %d", strings.Join(b.key.columns, ", "), batchRows-1)
	next := make([]string, len(b.key.columns))
	into := make([]any, len(next))
	for i := range next {
		into[i] = &next[i]
	}
	err := tx.QueryRow(ctx, stmt, args...).Scan(into...)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return next, err
}

func values(key []string) []any {
	all := make([]any, len(key))
	for i, v := range key {
		all[i] = v
	}
	return all
}
