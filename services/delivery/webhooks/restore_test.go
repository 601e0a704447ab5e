package webhooks_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

// platform is a database with a relay, and an API for one company.
type platform struct {
	*kit

	broker kafka.Config
}

func newPlatform(t *testing.T, broker kafka.Config, like *platform) *platform {
	t.Helper()
	d := dbtest.OpenNew(t)
	server := apitest.New(t, d, webhooks.New(webhooks.Config{DB: d, Registry: registry(), Policy: policy(), Deliveries: store.Deliveries{}, Keys: apitest.Keys(t)}).Register)
	p := &platform{&kit{t: t, db: d, server: server}, broker}
	if like == nil {
		p.Client = server.Company()
	} else {
		p.Client = server.Caller(like.company())
	}
	return p
}

// relay publishes until it is stopped.
func (p *platform) relay() (stop func()) {
	client, err := outbox.NewClient(p.broker)
	require.NoError(p.t, err)
	relay, err := outbox.NewRelay(p.db, client, outbox.RelayConfig{RelaySettings: config.Defaults[outbox.RelaySettings](), Node: "restore", EventRetention: policy().EventRetention})
	require.NoError(p.t, err)
	ctx, cancel := context.WithCancel(p.t.Context())
	done := make(chan error, 1)
	go func() { done <- relay.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(p.t, <-done)
		client.Close()
	}
}

// raise raises one event.
func (p *platform) raise(ctx context.Context) error {
	return p.db.RunTx(ctx, "test.raise", func(ctx context.Context, tx *db.Tx) error {
		id, entity := uuid.Must(uuid.NewV7()), uuid.New()
		body, err := event.Envelope{
			Event: "order.created", CompanyID: p.company(), OccurredAt: tx.Now(), ActorID: "system", Data: fmt.Appendf(nil, `{"id":%q}`, entity), EventID: id.String(),
		}.Freeze()
		if err != nil {
			return err
		}
		return outbox.Append(ctx, tx, p.company(), outbox.Message{
			ID: id, Name: "order.created", AggType: "order", AggID: entity, Version: 1, Pos: tx.Now().UnixMicro(), Payload: body, CreatedAt: tx.Now(),
		})
	})
}

// raiseUntil raises events until stop is set.
func (p *platform) raiseUntil(stop *atomic.Bool) (wait func()) {
	done := make(chan error, 1)
	go func() {
		for !stop.Load() {
			if err := p.raise(p.t.Context()); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	return func() { require.NoError(p.t, <-done) }
}

func (p *platform) count(sql string, args ...any) (n int) {
	p.t.Helper()
	require.NoError(p.t, p.db.QueryRow(p.t.Context(), sql, args...).Scan(&n))
	return n
}

// reader follows the log.
type reader struct {
	cursor string
	seen   map[string]bool
}

// poll reads one page.
func (r *reader) poll(t *testing.T, c *apitest.Client) (more bool) {
	t.Helper()
	query := "limit=50"
	if r.cursor != "" {
		query += "&cursor=" + r.cursor
	}
	page := readLog(t, c, query)
	for _, id := range page.ids(t) {
		r.seen[id] = true
	}
	r.cursor = page.NextCursor
	return page.HasMore || len(page.Items) > 0
}

// dump takes a backup while others write, and returns what restores it: with pg_dump and pg_restore as docs/restore.md says, or
// where these are missing, by copying all tables in one snapshot.
func (p *platform) dump() (load func(into *platform)) {
	p.t.Helper()
	bin := p.programs()
	if bin == "" {
		p.t.Log("no pg_dump for this database: the tables are copied")
		copies := p.copyTables()
		return func(into *platform) { into.pasteTables(copies) }
	}
	file := filepath.Join(p.t.TempDir(), "tradegrid.dump")
	run := func(program string, args ...string) {
		p.t.Helper()
		out, err := exec.CommandContext(p.t.Context(), filepath.Join(bin, program), args...).CombinedOutput()
		require.NoError(p.t, err, string(out))
	}
	run("pg_dump", "--format=custom", "--file="+file, p.url())
	return func(into *platform) {
		into.t.Helper()
		_, err := into.db.Pool().Exec(into.t.Context(), "DROP SCHEMA public CASCADE")
		require.NoError(into.t, err)
		_, err = into.db.Pool().Exec(into.t.Context(), "CREATE SCHEMA public")
		require.NoError(into.t, err)
		run("pg_restore", "--exit-on-error", "--no-owner", "--dbname="+into.url(), file)
		into.db.Pool().Reset() // connections know statements on the tables of before
	}
}

func (p *platform) url() string { return p.db.Pool().Config().ConnString() }

// programs is the directory of a pg_dump that can read the database; empty = there is none. One that is older than the server
// refuses.
func (p *platform) programs() string {
	p.t.Helper()
	if dbtest.Dialect(p.t) != db.PostgreSQL {
		return ""
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pg_dump")
	require.NoError(p.t, err)
	if path, err := exec.LookPath("pg_dump"); err == nil {
		found = append(found, path)
	}
	server := p.count(`SELECT current_setting('server_version_num')::INT / 10000`)
	for _, path := range found {
		said, err := exec.CommandContext(p.t.Context(), path, "--version").Output()
		var major int
		if _, scanErr := fmt.Sscanf(string(said), "pg_dump (PostgreSQL) %d", &major); err == nil && scanErr == nil && major >= server {
			return filepath.Dir(path)
		}
	}
	return ""
}

// copyTables copies all tables as they are at one moment.
func (p *platform) copyTables() map[string][]byte {
	p.t.Helper()
	conn, err := p.db.Pool().Acquire(p.t.Context())
	require.NoError(p.t, err)
	defer conn.Release()
	tx, err := conn.BeginTx(p.t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	require.NoError(p.t, err)
	defer func() { _ = tx.Rollback(context.Background()) }()
	rows, err := tx.Query(p.t.Context(), `SELECT table_name::TEXT FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'`)
	require.NoError(p.t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(p.t, err)
	copies := map[string][]byte{}
	for _, table := range tables {
		var to bytes.Buffer
		_, err := tx.Conn().PgConn().CopyTo(p.t.Context(), &to, "COPY "+table+" TO STDOUT")
		require.NoError(p.t, err)
		copies[table] = to.Bytes()
	}
	return copies
}

func (p *platform) pasteTables(copies map[string][]byte) {
	p.t.Helper()
	conn, err := p.db.Pool().Acquire(p.t.Context())
	require.NoError(p.t, err)
	defer conn.Release()
	for table, rows := range copies {
		if len(rows) == 0 {
			continue // empty in a new database, too
		}
		require.NoError(p.t, conn.Conn().PgConn().Exec(p.t.Context(), "DELETE FROM "+table).Close())
		_, err = conn.Conn().PgConn().CopyFrom(p.t.Context(), bytes.NewReader(rows), "COPY "+table+" FROM STDIN")
		require.NoError(p.t, err)
	}
}

// Events that a reader never saw take the positions of those that it saw before the restore. It is told, and misses nothing.
func TestRestoreUnderReaders(t *testing.T) {
	t.Parallel()
	broker := kafka.Config{Brokers: dbtest.Broker(t), ClientID: "test"}
	before := newPlatform(t, broker, nil)
	stopRelay := before.relay()
	var enough atomic.Bool
	raised := before.raiseUntil(&enough)
	old := &reader{seen: map[string]bool{}}
	for len(old.seen) < 100 {
		old.poll(t, before.Client)
	}
	restore := before.dump() // under load
	for atDump := len(old.seen); len(old.seen) < atDump+100; {
		old.poll(t, before.Client)
	}
	enough.Store(true)
	raised()
	for before.count(`SELECT count(*) FROM outbox`) > 0 || old.poll(t, before.Client) {
	}
	stopRelay()
	last := before.count(`SELECT max(seq) FROM events WHERE company_id = $1`, before.company())

	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	outbox.FindRestore(t.Context(), before.db, broker, log)
	require.Zero(t, epochOf(t, before), "nothing was restored yet")

	for _, found := range []struct {
		name string
		by   func(p *platform)
	}{
		{"by a relay that starts", func(p *platform) { outbox.FindRestore(p.t.Context(), p.db, broker, log) }},
		{"by the operator", func(p *platform) {
			require.NoError(p.t, p.db.RunTx(p.t.Context(), "test.restored", func(ctx context.Context, tx *db.Tx) error {
				now, err := outbox.CurrentEpoch(ctx, tx)
				if err == nil {
					_, err = outbox.BeginEpoch(ctx, tx, now, "test")
				}
				return err
			}))
		}},
	} {
		t.Run(found.name, func(t *testing.T) {
			after := newPlatform(t, broker, before)
			restore(after)
			refuse := func() {
				t.Helper()
				got := after.Do(t, "GET", "/events?cursor="+old.cursor, nil).Fault(410, "EVENTS_CURSOR_EXPIRED")
				require.Contains(t, got["message"], "restored from a backup")
				require.Contains(t, got["message"], "start=now")
			}
			refuse() // the cursor is ahead of the log
			found.by(after)
			epoch := epochOf(t, after)
			require.NotZero(t, epoch)
			outbox.FindRestore(t.Context(), after.db, broker, log)
			require.Equal(t, epoch, epochOf(t, after), "one restore is one epoch")

			defer after.relay()()
			var stop atomic.Bool
			raised := after.raiseUntil(&stop)
			behind := func() int {
				return after.count(`SELECT COALESCE(max(seq), 0) FROM events WHERE company_id = $1`, after.company())
			}
			require.Eventually(t, func() bool { return behind() > last }, time.Minute, 10*time.Millisecond)
			refuse() // the log has grown beyond the cursor

			all := func() (ids []string) {
				rows, err := after.db.Query(t.Context(), `SELECT id::TEXT FROM events WHERE company_id = $1`, after.company())
				require.NoError(t, err)
				ids, err = pgx.CollectRows(rows, pgx.RowTo[string])
				require.NoError(t, err)
				return ids
			}
			// What the advice of the answer says: a cursor, then the records, which the events themselves stand for here.
			next := &reader{seen: map[string]bool{}}
			page := readLog(t, after.Client, "start=now")
			require.Empty(t, page.Items)
			next.cursor = page.NextCursor
			records := all()
			lost := 0
			for _, id := range records {
				if next.seen[id] = true; !old.seen[id] {
					lost++
				}
			}
			require.Positive(t, lost, "the reader would have missed events")
			for next.poll(t, after.Client) && len(next.seen) < len(records)+50 {
			}
			stop.Store(true)
			raised()
			for after.count(`SELECT count(*) FROM outbox`) > 0 || next.poll(t, after.Client) {
			}
			for _, id := range all() {
				require.True(t, next.seen[id], id)
			}
		})
	}
}

func epochOf(t *testing.T, p *platform) int64 {
	t.Helper()
	epoch, err := outbox.CurrentEpoch(t.Context(), p.db)
	require.NoError(t, err)
	return epoch.Number
}

// Cursors of the first epoch do not name it.
func TestCursorsOfTheFirstEpoch(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_790_000_000_000).UTC()
	before, err := outbox.ParseCursor("2s.mubiohs0")
	require.NoError(t, err)
	require.EqualValues(t, 100, before.After)
	require.Zero(t, before.Epoch)
	require.False(t, outbox.LogState{Head: 100}.Restored(before))
	require.True(t, outbox.LogState{Head: 99}.Restored(before), "ahead of the log")
	require.True(t, outbox.LogState{Head: 100, Epoch: 7}.Restored(before))
	first := outbox.Cursor{After: 100, Seen: at}
	require.Equal(t, 1, bytes.Count([]byte(first.String()), []byte(".")), "no epoch")
	for _, c := range []outbox.Cursor{first, {After: 1, Seen: at, Epoch: 1<<63 - 1}} {
		got, err := outbox.ParseCursor(c.String())
		require.NoError(t, err)
		require.Equal(t, c, got)
	}
}

func TestLogFromNowOn(t *testing.T) {
	t.Parallel()
	r := setup(t)
	r.log("order.created", uuid.New(), time.Now())
	page := readLog(t, r.Client, "start=now")
	require.Empty(t, page.Items)
	require.False(t, page.HasMore)
	id, _ := r.log("order.created", uuid.New(), time.Now())
	require.Equal(t, []string{id.String()}, readLog(t, r.Client, "cursor="+page.NextCursor).ids(t))
	require.Len(t, readLog(t, r.Client, "start=oldest").Items, 2)
	require.Equal(t, map[string]string{"start": "CONFLICT"}, r.Do(t, "GET", "/events?start=now&cursor="+page.NextCursor, nil).Fields())
	require.Equal(t, map[string]string{"start": "ENUM"}, r.Do(t, "GET", "/events?start=later", nil).Fields())
}
