package requests

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/quota"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// What is kept; see docs/reference/requests.md#sampling.
const (
	wholePerSecond = 5   // requests of a token that are all kept
	wholeOfAll     = 100 // requests of all tokens that are all kept in a second: BenchmarkRequestLog shows what they cost
	oneIn          = 100 // of the others
)

// Bounds of what one process holds until it is written.
const (
	maxQueue   = 4 << 20      // bytes
	maxShare   = maxQueue / 4 // bytes of one company
	maxBody    = 32 << 10     // bytes of a body, and of an error, that are kept
	maxPath    = 2 << 10      // bytes
	rowBytes   = 400          // about what a row takes without path, error and body, here and in the database
	batchRows  = 500
	writeEvery = time.Second
	writeTime  = 5 * time.Second // for one batch
	idleAfter  = 60              // seconds until a token is forgotten
)

// QuotaKind is the kind of bytes that kept requests count towards the quota of a company.
const QuotaKind = "requests"

// LogConfig configures a [Log].
type LogConfig struct {
	DB    *db.DB
	Quota *quota.Meter // of the bytes that the requests of a company take
	Log   *slog.Logger
}

// Log takes in the requests that a process has answered and writes them in batches. It implements [httpapi.RequestLog]. What
// it cannot write in time it drops and counts.
type Log struct {
	cfg  LogConfig
	full chan struct{} // a batch is waiting

	mu     sync.Mutex
	tokens map[window]*sample
	all    sample // of all tokens together
	queue  []*entry
	bytes  int
	share  map[tenant.ID]int // bytes of the queue by company
}

// window is what is sampled together: refusals must not hide what succeeds.
type window struct {
	token   uuid.UUID
	refused bool
}

// sample is the sampling of the requests of one window.
type sample struct {
	second  int64
	kept    int   // in this second
	skipped int64 // since the last that was kept
}

// entry is a request that waits to be written.
type entry struct {
	Request
	company       tenant.ID
	refusal, body []byte
	bodyBytes     int32
	size          int // about how many bytes it takes
}

// NewLog returns a log. It keeps what it is given until [Log.Run] writes it.
func NewLog(cfg LogConfig) *Log {
	return &Log{cfg: cfg, full: make(chan struct{}, 1), tokens: map[window]*sample{}, share: map[tenant.ID]int{}}
}

// Record implements [httpapi.RequestLog].
func (l *Log) Record(by *access.Principal, status int, paid bool, describe func() httpapi.Served) {
	refused := status >= 400
	_, above := l.cfg.Quota.Above(by.Company)
	represents := int64(1)
	if !refused || !paid || above {
		if represents = l.sample(window{by.TokenID, refused}, time.Now().Unix(), above); represents == 0 {
			return
		}
	}
	e := newEntry(by, describe(), represents)
	if above {
		e.body, e.refusal = nil, nil
	}
	e.size = rowBytes + len(*e.Path) + len(e.refusal) + len(e.body)
	l.put(e)
}

// sample returns how many requests the one that has just come stands for; 0 = it is not kept.
func (l *Log) sample(of window, second int64, above bool) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.tokens[of]
	if s == nil {
		s = &sample{}
		l.tokens[of] = s
	}
	s.begin(second)
	l.all.begin(second)
	whole := !above && s.kept < wholePerSecond && l.all.kept < wholeOfAll
	if s.skipped++; !whole && s.skipped < oneIn {
		return 0
	}
	represents := s.skipped
	s.kept, s.skipped = s.kept+1, 0
	l.all.kept++
	return represents
}

// begin counts what is kept anew in each second.
func (s *sample) begin(second int64) {
	if s.second != second {
		s.second, s.kept = second, 0
	}
}

func newEntry(by *access.Principal, s httpapi.Served, represents int64) *entry {
	path := clean(s.Target, maxPath)
	e := &entry{company: by.Company, Request: Request{
		ID: s.ID, CreatedAt: jsontype.At(s.At), Method: s.Method, Route: s.Op.Path, Operation: s.Op.ID, Path: &path,
		Status: int32(s.Status), DurationMs: int32((s.Took + time.Millisecond - 1) / time.Millisecond),
		TokenID: by.TokenID, TokenName: clean(by.TokenName, 100), Address: s.Address.String(), Represents: represents, scope: s.Op.Scope,
	}}
	if e.ID == uuid.Nil {
		e.ID, e.RequestID = record.NewID(), s.RequestID
		arrived, _ := record.IDsBetween(s.At, s.At)
		copy(e.ID[:6], arrived[:6]) // entries are listed by their ids
	}
	if s.Entity != uuid.Nil {
		e.EntityID = &s.Entity
	}
	e.bodyBytes = int32(len(s.Body))
	if s.Status < 400 {
		return e
	}
	if s.Refusal.Code != "" {
		e.Code = &s.Refusal.Code
	}
	if len(s.Refusal.Body) <= maxBody {
		e.refusal = s.Refusal.Body
	}
	if len(s.Body) <= maxBody {
		e.body = s.Body
	}
	return e
}

// clean makes text of a client fit a column.
func clean(text string, limit int) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text[:min(len(text), limit)], "\x00", ""), "")
}

// storedBody is the body without secrets; nil if it is no JSON. It is made off the path of requests.
func (e *entry) storedBody() []byte {
	if len(e.body) == 0 {
		return nil
	}
	body, err := httpapi.WithoutSecrets(e.body)
	if err != nil {
		return nil
	}
	return body
}

func (l *Log) put(e *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bytes+e.size > maxQueue || l.share[e.company]+e.size > maxShare {
		dropped.WithLabelValues(droppedQueue).Inc()
		return
	}
	l.queue, l.bytes = append(l.queue, e), l.bytes+e.size
	l.share[e.company] += e.size
	if len(l.queue) >= batchRows {
		select {
		case l.full <- struct{}{}:
		default:
		}
	}
}

// Run writes requests until ctx is done, and then once more.
func (l *Log) Run(ctx context.Context) error {
	t := time.NewTicker(writeEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
			defer cancel()
			l.flush(last)
			return nil
		case now := <-t.C:
			l.forgetIdle(now.Unix())
		case <-l.full:
		}
		l.flush(ctx)
	}
}

// flush writes what waits, in batches. What an unavailable database does not take stays, within the bounds of the queue.
func (l *Log) flush(ctx context.Context) {
	for {
		l.mu.Lock()
		batch := l.queue[:min(len(l.queue), batchRows)]
		l.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		err := l.write(ctx, batch)
		if _, down := db.Unavailable(err); err != nil && (down || ctx.Err() != nil) {
			l.cfg.Log.WarnContext(ctx, "requests not logged yet", "error", err, "requests", len(batch))
			return
		}
		if err != nil {
			l.cfg.Log.ErrorContext(ctx, "requests not logged", "error", err, "requests", len(batch))
			dropped.WithLabelValues(droppedDatabase).Add(float64(len(batch)))
		}
		l.written(len(batch), err == nil)
	}
}

func (l *Log) write(ctx context.Context, batch []*entry) error {
	ctx, cancel := context.WithTimeout(telemetry.Untraced(ctx), writeTime)
	defer cancel()
	var r rows
	for _, e := range batch {
		if masked := httpapi.TargetWithoutSecrets(*e.Path); masked != *e.Path {
			e.Path = &masked
		}
		r.add(e)
	}
	return l.cfg.DB.RunTx(ctx, "requests.log", func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlInsertRequests, r.args()...)
		return nil
	}, db.ReadCommitted(), db.Repeatable())
}

// written takes the first n requests out of the queue.
func (l *Log) written(n int, stored bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.queue[:n] {
		l.bytes -= e.size
		if l.share[e.company] -= e.size; l.share[e.company] == 0 {
			delete(l.share, e.company)
		}
		if stored {
			l.cfg.Quota.Add(e.company, e.size, e.CreatedAt.Std().Add(Kept))
			logged.Inc()
		}
	}
	l.queue = append(make([]*entry, 0, len(l.queue)-n), l.queue[n:]...)
}

// forgetIdle forgets tokens that have not been used for a minute.
func (l *Log) forgetIdle(now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for of, s := range l.tokens {
		if s.second < now-idleAfter {
			delete(l.tokens, of)
		}
	}
}

var (
	logged = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_request_log_written_total", Help: "Requests written to the request log.",
	})
	dropped = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_request_log_dropped_total",
		Help: "Requests that were to be logged and were not, by reason: queue (they came faster than they could be written), database (it refused them).",
	}, []string{"reason"})
)

const (
	droppedQueue    = "queue"
	droppedDatabase = "database"
)

// Metrics returns the collectors of this package, to be registered once per process.
func Metrics() []prometheus.Collector {
	for _, reason := range []string{droppedQueue, droppedDatabase} {
		dropped.WithLabelValues(reason)
	}
	return []prometheus.Collector{logged, dropped}
}
