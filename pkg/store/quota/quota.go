// Package quota counts the bytes that each company keeps in a table that grows by itself, such as stored answers and the
// event log, and says which companies are above their quota.
//
// Counting costs no statement per request: a [Meter] adds in memory and writes the sums every few seconds, by company and
// day of expiry, so that bytes stop counting when their rows expire. Hence a quota is exceeded by at most what all processes
// store between two writes; and what a process counted before it was killed stays uncounted, which is as little.
// What happens above the quota is up to the owner of the table.
package quota

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
)

// writeEvery is the interval between writes.
const writeEvery = 10 * time.Second

// Config configures a [Meter].
type Config struct {
	DB    *db.DB
	Kind  string // what is counted, such as "answers"; the label of the metrics
	Limit int64  // bytes per company; 0 = no quota, and nothing is counted

	// Owners are told once a month when their company has used 80 % of its quota; nil = they are not told. Beyond tells them what
	// happens above the quota.
	Owners ownermail.Owners
	Beyond string

	// Above is called after a write for each company that stored bytes and is above the quota. It may make room.
	Above func(ctx context.Context, company tenant.ID, used int64) error
	Log   *slog.Logger
}

// Meter counts what one process stores.
type Meter struct {
	cfg Config

	mu      sync.Mutex
	pending map[tenant.ID]map[time.Time]int64 // bytes not written yet, by day of expiry
	told    map[tenant.ID]time.Time           // months in which owners were told, of companies that are near the quota
	used    map[tenant.ID]int64               // bytes of all processes at the last write, of companies that stored any or were above
}

// New returns a meter.
func New(cfg Config) *Meter {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Meter{cfg: cfg, pending: map[tenant.ID]map[time.Time]int64{}, used: map[tenant.ID]int64{}}
}

// Limit is the quota in bytes; 0 = none.
func (m *Meter) Limit() int64 {
	if m == nil {
		return 0
	}
	return m.cfg.Limit
}

// expiry is the end of the day on which bytes expire; they count until then.
func expiry(at time.Time) time.Time {
	return at.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
}

// Add counts bytes that were stored, until they expire. A nil meter counts nothing.
func (m *Meter) Add(company tenant.ID, n int, expires time.Time) {
	if m.Limit() == 0 || n == 0 {
		return
	}
	day := expiry(expires)
	m.mu.Lock()
	defer m.mu.Unlock()
	days := m.pending[company]
	if days == nil {
		days = map[time.Time]int64{}
		m.pending[company] = days
	}
	days[day] += int64(n)
}

// Above reports whether a company has reached its quota, and how many bytes it uses as far as this process knows.
func (m *Meter) Above(company tenant.ID) (used int64, above bool) {
	if m.Limit() == 0 {
		return 0, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	used = m.used[company]
	for _, n := range m.pending[company] {
		used += n
	}
	return used, used >= m.cfg.Limit
}

// Never is when bytes expire that count until they are deleted.
var Never = time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)

// Take counts bytes in the transaction that stores them, unless the company would be above its quota then: exactly, at the price of a
// row that such transactions of a company write one after the other. Owners are told as by a write of the meter. A nil meter, or one
// without a limit, counts nothing.
func (m *Meter) Take(ctx context.Context, tx *db.Tx, company tenant.ID, n int64, expires time.Time) (used int64, ok bool, err error) {
	if m.Limit() == 0 {
		return 0, true, nil
	}
	tx.Queue(sqlAddUsage, []uuid.UUID{uuid.UUID(company)}, m.cfg.Kind, []time.Time{expiry(expires)}, []int64{n})
	sums, err := db.Map[uuid.UUID, int64](ctx, tx, "count stored "+m.cfg.Kind, sqlSumUsage, []tenant.ID{company}, m.cfg.Kind, tx.Now())
	if err != nil {
		return 0, false, err
	}
	used = sums[uuid.UUID(company)]
	if used > m.cfg.Limit {
		return used - n, false, nil
	}
	if percent := m.percent(used); m.cfg.Owners != nil && percent >= near {
		err = m.addNotice(ctx, tx, company, monthOf(tx.Now()), percent)
	}
	return used, err == nil, err
}

// Taken adds bytes that [Meter.Take] has counted, and that are stored now, to the metric.
func (m *Meter) Taken(n int64) {
	if m.Limit() > 0 {
		countedBytes.WithLabelValues(m.cfg.Kind).Add(float64(n))
	}
}

// Run writes what was counted until ctx is done, and then once more.
func (m *Meter) Run(ctx context.Context) error {
	if m.Limit() == 0 {
		return nil
	}
	t := time.NewTicker(writeEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer cancel()
			m.flush(last)
			return nil
		case <-t.C:
			m.flush(ctx)
		}
	}
}

func (m *Meter) flush(ctx context.Context) {
	if err := m.Flush(ctx); err != nil && ctx.Err() == nil {
		m.cfg.Log.WarnContext(ctx, "stored bytes not counted; they are counted at the next try", "kind", m.cfg.Kind, "error", err)
	}
}

const storageUsage = db.Table("storage_usage")

const (
	sqlSumUsage = `SELECT company_id, CAST(sum(bytes) AS INT8) FROM storage_usage
WHERE company_id = ANY($1::UUID[]) AND kind = $2 AND expires_at > $3 GROUP BY company_id`
	sqlSumKinds = `SELECT kind, CAST(sum(bytes) AS INT8) FROM storage_usage WHERE company_id = $1 AND expires_at > $2 GROUP BY kind`
)

// The rows are written in the order of their keys by every process.
var sqlAddUsage = storageUsage.Insert(`(company_id, kind, expires_at, bytes)
SELECT u.c, $2, u.e, u.n FROM unnest($1::UUID[], $3::TIMESTAMPTZ[], $4::BIGINT[]) AS u(c, e, n)
ON CONFLICT (company_id, kind, expires_at) DO UPDATE SET bytes = storage_usage.bytes + excluded.bytes`)

// Stored returns the bytes that count for a company, by kind, as far as they have been written. Kinds without a quota are not counted.
func Stored(ctx context.Context, q db.Querier, company tenant.ID, now time.Time) (map[string]int64, error) {
	return db.Map[string, int64](ctx, q, "sum stored bytes of company "+company.String(), sqlSumKinds, company, now)
}

// usage is the rows of one write.
type usage struct {
	companies []uuid.UUID
	expires   []time.Time
	bytes     []int64
}

func (u *usage) add(company tenant.ID, days map[time.Time]int64) {
	for _, day := range slices.SortedFunc(maps.Keys(days), time.Time.Compare) {
		u.companies, u.expires, u.bytes = append(u.companies, uuid.UUID(company)), append(u.expires, day), append(u.bytes, days[day])
	}
}

// Flush writes what was counted and learns what the companies use altogether.
func (m *Meter) Flush(ctx context.Context) error {
	ctx = telemetry.Untraced(ctx)
	m.mu.Lock()
	counted := m.pending
	m.pending = map[tenant.ID]map[time.Time]int64{}
	ask := slices.Collect(maps.Keys(counted))
	for company, used := range m.used {
		if _, known := counted[company]; !known && used >= m.cfg.Limit {
			ask = append(ask, company) // its bytes may have expired meanwhile
		}
	}
	m.mu.Unlock()
	slices.SortFunc(ask, func(a, b tenant.ID) int { return bytes.Compare(a[:], b[:]) })
	used, err := m.write(ctx, ask, counted)
	if err != nil {
		m.putBack(counted)
		return fmt.Errorf("count stored %s: %w", m.cfg.Kind, err)
	}
	above := 0
	for _, n := range used {
		if n >= m.cfg.Limit {
			above++
		}
	}
	m.mu.Lock()
	m.used = used
	m.mu.Unlock()
	companiesAbove.WithLabelValues(m.cfg.Kind).Set(float64(above))
	return errors.Join(m.makeRoom(ctx, ask, used), m.tell(ctx, used))
}

func (m *Meter) write(ctx context.Context, ask []tenant.ID, counted map[tenant.ID]map[time.Time]int64) (map[tenant.ID]int64, error) {
	used := make(map[tenant.ID]int64, len(ask))
	for part := range slices.Chunk(ask, 500) {
		var rows usage
		for _, company := range part {
			rows.add(company, counted[company])
		}
		err := m.cfg.DB.RunTx(ctx, "quota.count", func(ctx context.Context, tx *db.Tx) error {
			if len(rows.companies) > 0 {
				tx.Queue(sqlAddUsage, rows.companies, m.cfg.Kind, rows.expires, rows.bytes)
			}
			sums, err := db.Map[uuid.UUID, int64](ctx, tx, "count stored "+m.cfg.Kind, sqlSumUsage, part, m.cfg.Kind, tx.Now())
			for company, n := range sums {
				used[tenant.ID(company)] = n
			}
			return err
		}, db.ReadCommitted())
		if err != nil {
			return nil, err
		}
		for _, company := range part {
			delete(counted, company) // it is written, also if a later part fails
		}
		for _, n := range rows.bytes {
			countedBytes.WithLabelValues(m.cfg.Kind).Add(float64(n))
		}
	}
	return used, nil
}

// putBack counts at the next try what could not be written.
func (m *Meter) putBack(counted map[tenant.ID]map[time.Time]int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for company, days := range counted {
		if m.pending[company] == nil {
			m.pending[company] = map[time.Time]int64{}
		}
		for day, n := range days {
			m.pending[company][day] += n
		}
	}
}

func (m *Meter) makeRoom(ctx context.Context, ask []tenant.ID, used map[tenant.ID]int64) error {
	if m.cfg.Above == nil {
		return nil
	}
	for _, company := range ask {
		if used[company] <= m.cfg.Limit {
			continue
		}
		if err := m.cfg.Above(ctx, company, used[company]); err != nil {
			return fmt.Errorf("make room for %s of company %s: %w", m.cfg.Kind, company, err)
		}
	}
	return nil
}

// near is the share of the quota, in percent, from which on owners are told.
const near = 80

// tell tells the owners of companies that are near their quota. It remembers them, so that the database is asked once.
func (m *Meter) tell(ctx context.Context, used map[tenant.ID]int64) error {
	if m.cfg.Owners == nil {
		return nil
	}
	told := map[tenant.ID]time.Time{}
	defer func() { m.told = told }()
	for company, n := range used {
		percent := m.percent(n)
		if percent < near {
			continue
		}
		month := monthOf(m.cfg.DB.Now())
		if !m.told[company].Equal(month) {
			if err := m.tellOwners(ctx, company, month, percent); err != nil {
				return fmt.Errorf("tell company %s of its quota: %w", company, err)
			}
		}
		told[company] = month
	}
	return nil
}

func (m *Meter) tellOwners(ctx context.Context, company tenant.ID, month time.Time, percent int64) error {
	return m.cfg.DB.RunTx(ctx, "quota.tell", func(ctx context.Context, tx *db.Tx) error {
		return m.addNotice(ctx, tx, company, month, percent)
	})
}

func (m *Meter) addNotice(ctx context.Context, tx *db.Tx, company tenant.ID, month time.Time, percent int64) error {
	_, err := ownermail.Add(ctx, tx, company, m.cfg.Owners, ownermail.Notice{
		Kind: "quota." + m.cfg.Kind, Record: uuid.UUID(company), Since: month,
		Subject: fmt.Sprintf("Stored %s have reached %d %% of their quota", m.cfg.Kind, percent),
		Text:    fmt.Sprintf("The stored %s of the company take %d %% of their quota of %d bytes.\n\n%s", m.cfg.Kind, percent, m.cfg.Limit, m.cfg.Beyond),
	})
	return err
}

// percent is the share of the quota that bytes take.
func (m *Meter) percent(bytes int64) int64 { return bytes / max(m.cfg.Limit/100, 1) }

// monthOf is the beginning of a month.
func monthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

var sqlSubtractUsage = storageUsage.Update(`SET bytes = GREATEST(storage_usage.bytes - u.n, 0)
FROM unnest($3::TIMESTAMPTZ[], $4::BIGINT[]) AS u(e, n)
WHERE storage_usage.company_id = $1 AND storage_usage.kind = $2 AND storage_usage.expires_at = u.e`)

// Subtract uncounts bytes that were deleted before their time, by the time at which they would have expired, in the
// transaction that deletes them.
func Subtract(tx *db.Tx, company tenant.ID, kind string, freed map[time.Time]int64) {
	days := map[time.Time]int64{}
	for at, n := range freed {
		days[expiry(at)] += n
	}
	var rows usage
	rows.add(company, days)
	tx.Queue(sqlSubtractUsage, company, kind, rows.expires, rows.bytes)
}

// CleanupJob deletes the counts of bytes that have expired.
var CleanupJob = cleanup.Job{
	Every:  time.Hour,
	Delete: storageUsage.Delete(`WHERE (company_id, kind, expires_at) IN (SELECT company_id, kind, expires_at FROM storage_usage WHERE expires_at < $1 LIMIT 1000)`),
}

var (
	companiesAbove = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_storage_quota_companies", Help: "Companies at or above their storage quota, among those that this process stored bytes for lately, by kind.",
	}, []string{"kind"})
	countedBytes = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_storage_bytes_total", Help: "Bytes stored that count towards a quota, by kind.",
	}, []string{"kind"})
)

// Metrics returns the collectors of this package, to be registered once per process. The series of the kinds start at 0.
func Metrics(kinds ...string) []prometheus.Collector {
	for _, kind := range kinds {
		companiesAbove.WithLabelValues(kind)
		countedBytes.WithLabelValues(kind)
	}
	return []prometheus.Collector{companiesAbove, countedBytes}
}
