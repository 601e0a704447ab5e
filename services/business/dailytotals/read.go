package dailytotals

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// Report says what to sum.
type Report struct {
	Name string // rows of the database refer to it
	Form int32  // of what SQL returns; another meaning of its columns needs another number

	// Counter is the name under which changes are counted: reports whose sums change together share one. Default: Name.
	Counter string

	// SQL sums the records of the company $1 from the instant $2 to before $3, in groups: columns of type TEXT, not null, that
	// identify the group, and then columns of type BIGINT.
	SQL     string
	Keys    int // columns of the first kind
	Amounts int // columns of the second kind
}

func (r *Report) counter() string { return cmp.Or(r.Counter, r.Name) }

// Group is the sums of a group of records of one day.
type Group struct {
	Day     jsontype.Date
	Keys    []string
	Amounts []int64
}

// Config holds the dependencies of a [Reader].
type Config struct {
	DB    *db.DB
	Lists *list.Node // whose limits apply; nil = none
	Log   *slog.Logger
}

// Reader reads reports.
type Reader struct {
	cfg   Config
	parts *lru.Cache[large, int] // of each day of a report with very many records
}

// large is a report with very many records.
type large struct {
	company tenant.ID
	report  string
}

const remembered = 1000

// NewReader returns a reader.
func NewReader(cfg Config) *Reader {
	parts, err := lru.New[large, int](remembered)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &Reader{cfg, parts}
}

const (
	atOnce   = 16               // statements in one round trip
	patience = 10 * time.Second // after which a read ends, with what it has summed kept for the next one
	maxKept  = 1000             // groups of a day that is kept

	// A day whose records take longer than a statement may is summed in parts.
	moreParts = 32
	maxParts  = 1024
)

var errTooExpensive = apierr.TooExpensive(list.TooExpensive, 5, "the report takes too long, because many records of these days have to be summed: "+
	"retry after the time in Retry-After, when more of the days are summed, or ask for fewer days")

// OutOfRange is the code of a sum that is no amount any more.
const OutOfRange = "REPORT_AMOUNT_OUT_OF_RANGE"

// ErrOutOfRange is the error of a sum beyond [money.MaxAmount].
var ErrOutOfRange error = apierr.StateConflict(OutOfRange, "a sum of these days exceeds %s minor units, the largest amount; ask for fewer days or more groups", money.MaxAmount)

// Read returns, for each report, the sums of the days from first to last in the time zone, ordered by day. Days without records have no
// groups. All are of one snapshot, which has every change that was committed before the call.
//
// Errors: 503 [list.TooExpensive], 409 [OutOfRange].
func (r *Reader) Read(ctx context.Context, company tenant.ID, zone *time.Location, first, last jsontype.Date, reports ...*Report) ([][]Group, error) {
	passes, about := make([]*pass, len(reports)), []any{first, last}
	for i, report := range reports {
		passes[i], about = r.newPass(company, report), append(about, report.Name)
	}
	err := r.cfg.Lists.Sum(ctx, company, about, func(ctx context.Context, limit time.Duration) error {
		return r.readParts(ctx, passes, limit, func() []*day { return daysBetween(zone, first, last) })
	})
	switch {
	case errors.Is(err, db.ErrTooLong), apierr.Is(err, list.TooExpensive):
		return nil, errTooExpensive
	case err != nil:
		return nil, readError(err)
	}
	groups := make([][]Group, len(passes))
	for i, p := range passes {
		groups[i] = p.groups()
	}
	return groups, nil
}

// newPass begins to read a report, in as many parts as its days were read the last time.
func (r *Reader) newPass(company tenant.ID, report *Report) *pass {
	p := &pass{report: report, company: company, deadline: time.Now().Add(patience), parts: 1}
	if known, ok := r.parts.Get(large{company, report.Name}); ok {
		p.parts = known
	}
	return p
}

// readParts reads the days of all passes, in more parts if one takes too long, and keeps what it has summed, even if not all was.
func (r *Reader) readParts(ctx context.Context, passes []*pass, limit time.Duration, days func() []*day) error {
	for {
		err := r.cfg.DB.ReadSnapshot(ctx, limit, func(q db.Querier) error {
			for _, p := range passes {
				p.days = days()
			}
			for _, p := range passes {
				if err := p.read(ctx, q); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, db.ErrTooLong) {
			return err
		}
		for _, p := range passes {
			r.keep(ctx, p)
		}
		slow := slices.IndexFunc(passes, func(p *pass) bool { return len(p.open()) > 0 })
		if err == nil || slow < 0 || passes[slow].parts == maxParts || time.Now().After(passes[slow].deadline) {
			return err
		}
		p := passes[slow]
		p.parts *= moreParts
		r.parts.Add(large{p.company, p.report.Name}, p.parts)
	}
}

func readError(err error) error {
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) && pg.Code == "22003" {
		return ErrOutOfRange
	}
	if _, ok := apierr.As(err); ok {
		return err
	}
	return fmt.Errorf("sum days: %w", err)
}

// day is one day of a report.
type day struct {
	date       jsontype.Date
	start, end time.Time // end is that of the day before the next one; both are equal if the zone skipped the day

	state  int
	before int64 // changes of its records that the snapshot has
	sums
}

// States of a day.
const (
	unknown = iota // not read yet
	kept           // the kept sums are valid
	summed         // its records were summed
)

// sums are the groups of a day, one after the other.
type sums struct {
	keys    []string
	amounts []int64
}

// daysBetween lists the days with their bounds.
func daysBetween(zone *time.Location, first, last jsontype.Date) (days []*day) {
	for at := time.Time(first); !at.After(time.Time(last)); at = at.AddDate(0, 0, 1) {
		date := jsontype.Date(at)
		days = append(days, &day{date: date, start: date.At(0, zone), end: date.At(24*60, zone)})
	}
	return days
}

// pass is one try to read a report.
type pass struct {
	report   *Report
	company  tenant.ID
	deadline time.Time
	parts    int // in which each day is summed
	days     []*day
	now      time.Time           // of the snapshot
	rows     map[time.Time]int64 // of day_changes, by day in UTC
}

// part is a part of a day that is summed by one statement.
type part struct {
	day      *day
	from, to time.Time
	last     bool
}

// read reads the days that are kept, and sums the others, until the deadline.
func (p *pass) read(ctx context.Context, q db.Querier) error {
	if err := p.readKept(ctx, q); err != nil {
		return err
	}
	for parts := range slices.Chunk(p.open(), atOnce) {
		if time.Now().After(p.deadline) {
			return db.ErrTooLong
		}
		b := &pgx.Batch{}
		for _, part := range parts {
			b.Queue(p.report.SQL, p.company, part.from, part.to).Query(func(rows pgx.Rows) error {
				s, err := p.report.scan(rows)
				if err != nil {
					return err
				}
				if part.last {
					part.day.state = summed
				}
				return part.day.add(s, p.report)
			})
		}
		if err := q.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
	}
	return nil
}

// open lists the parts of the days that have to be summed.
func (p *pass) open() (all []part) {
	for _, d := range p.days {
		if d.state != unknown {
			continue
		}
		from := d.start
		for i := range p.parts {
			to := d.start.Add(d.end.Sub(d.start) / time.Duration(p.parts) * time.Duration(i+1)).Truncate(time.Microsecond)
			if i == p.parts-1 {
				to = d.end
			}
			all = append(all, part{d, from, to, i == p.parts-1})
			from = to
		}
	}
	return all
}

// add adds the groups of a part of the day. The error is [ErrOutOfRange].
func (s *sums) add(part sums, report *Report) error {
	if s.amounts == nil {
		*s = part
		return nil
	}
	for i := range len(part.amounts) / report.Amounts {
		keys, amounts := part.keys[i*report.Keys:(i+1)*report.Keys], part.amounts[i*report.Amounts:(i+1)*report.Amounts]
		known := s.group(keys, report)
		if known == nil {
			s.keys, s.amounts = append(s.keys, keys...), append(s.amounts, amounts...)
		} else if err := Add(known, amounts); err != nil {
			return err
		}
	}
	return nil
}

// group returns the amounts of the group with these keys; nil if there is none.
func (s *sums) group(keys []string, report *Report) []int64 {
	for i := range len(s.amounts) / report.Amounts {
		if slices.Equal(s.keys[i*report.Keys:(i+1)*report.Keys], keys) {
			return s.amounts[i*report.Amounts : (i+1)*report.Amounts]
		}
	}
	return nil
}

// Add adds amounts to others. The error is [ErrOutOfRange].
func Add(to, amounts []int64) error {
	for i, n := range amounts {
		total, err := money.Sum(money.Amount(to[i]), money.Amount(n))
		if err != nil {
			return ErrOutOfRange
		}
		to[i] = int64(total)
	}
	return nil
}

// scan reads the groups of a day.
func (r *Report) scan(rows pgx.Rows) (s sums, err error) {
	keys, amounts := make([]string, r.Keys), make([]int64, r.Amounts)
	var targets []any
	for i := range keys {
		targets = append(targets, &keys[i])
	}
	for i := range amounts {
		targets = append(targets, &amounts[i])
	}
	_, err = pgx.ForEachRow(rows, targets, func() error {
		s.keys, s.amounts = append(s.keys, keys...), append(s.amounts, amounts...)
		return nil
	})
	return s, err
}

const (
	sqlSelectNow     = `SELECT now()`
	sqlSelectKept    = `SELECT day, starts_at, ends_at, form, changes, keys, amounts FROM day_sums WHERE company_id = $1 AND report = $2 AND day >= $3 AND day <= $4`
	sqlSelectChanges = `SELECT day, sum(n)::BIGINT, count(*) FROM day_changes WHERE company_id = $1 AND report = $2 AND day >= $3 AND day <= $4 GROUP BY day`
)

// readKept reads the kept days, and which of them are valid.
func (p *pass) readKept(ctx context.Context, q db.Querier) error {
	first, last := p.days[0], p.days[len(p.days)-1]
	changes := map[time.Time]int64{}
	p.rows = map[time.Time]int64{}
	found := map[string]*day{}
	forms := map[string]int32{}
	b := &pgx.Batch{}
	b.Queue(sqlSelectNow).QueryRow(func(row pgx.Row) error { return row.Scan(&p.now) })
	b.Queue(sqlSelectChanges, p.company, p.report.counter(), dayOf(first.start), dayOf(last.end)).Query(func(rows pgx.Rows) error {
		var at time.Time
		var n, count int64
		_, err := pgx.ForEachRow(rows, []any{&at, &n, &count}, func() error {
			changes[at], p.rows[at] = n, count
			return nil
		})
		return err
	})
	b.Queue(sqlSelectKept, p.company, p.report.Name, first.date, last.date).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			k := &day{}
			var form int32
			if err := rows.Scan(&k.date, &k.start, &k.end, &form, &k.before, &k.keys, &k.amounts); err != nil {
				return err
			}
			found[k.date.String()], forms[k.date.String()] = k, form
		}
		return rows.Err()
	})
	if err := q.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	for _, d := range p.days {
		for _, at := range d.utcDays() {
			d.before += changes[at]
		}
		k := found[d.date.String()]
		switch {
		case d.start.Equal(d.end):
			d.state = kept // nothing can be in it
		case k != nil && forms[d.date.String()] == p.report.Form && k.before == d.before && k.start.Equal(d.start) && k.end.Equal(d.end):
			d.state, d.sums = kept, k.sums
		}
	}
	return nil
}

// utcDays are the days in UTC that the day overlaps.
func (d *day) utcDays() (all []time.Time) {
	for at := dayOf(d.start); at.Before(d.end); at = at.AddDate(0, 0, 1) {
		all = append(all, at)
	}
	return all
}

// groups lists the groups of all days.
func (p *pass) groups() (all []Group) {
	for _, d := range p.days {
		for i := range len(d.amounts) / p.report.Amounts {
			g := Group{
				Day:     d.date,
				Keys:    d.keys[i*p.report.Keys : (i+1)*p.report.Keys],
				Amounts: d.amounts[i*p.report.Amounts : (i+1)*p.report.Amounts],
			}
			all = append(all, g)
		}
	}
	return all
}
