package list

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Node is what the lists of one process share: totals and keys of deep pages, kept for some seconds, and the limits that
// keep expensive lists from using up the database. A list without a node counts at every request and has no limits of its
// own. See docs/architecture.md#lists.
type Node struct {
	cfg    NodeConfig
	totals *lru.Cache[key, total]
	parted *lru.Cache[key, *segments] // totals of large lists
	places *lru.Cache[key, []place]
	slow   *lru.Cache[key, time.Time] // statements that took too long, and when

	mu      sync.Mutex
	running map[key]*runningCount

	pages, counts *slots
}

// NodeConfig holds the limits of a node.
type NodeConfig struct {
	Writes *db.WriteLog  // of the database that is read: after a change of this process, what was read before is not used
	Conns  int           // connections of the pool: lists use at most half of them for pages and a quarter for counts; default 4
	Limit  time.Duration // of one statement; default 1 s
	Skip   int           // records that a page may skip by reading them, before its place is looked up; default 1000
	Large  int64         // a total from which on it is kept in segments, if the list allows it; default 5000
}

// totalTTL is how long a total is used after its count began.
const totalTTL = 4 * time.Second

const _ = uint(db.WritesKept - totalTTL) // each write since a total began is known

// TooExpensive is the code of a list that would take longer than the limit.
const TooExpensive = "QUERY_TOO_EXPENSIVE"

// cooldown is how long a statement that took too long is refused without another try.
const cooldown = 5 * time.Second

var errTooExpensive = apierr.TooExpensive(TooExpensive, int(cooldown/time.Second),
	"the list takes too long with these filters, this sort and as many records; ask for fewer records (pageSize) or without parts that you do not need (include, fields), "+
		"narrow the filters, use another sort, or read by cursor without total")

// key identifies a statement with its arguments; the company is part of it.
type key struct {
	company tenant.ID
	hash    [sha256.Size]byte
}

// total is a count of the last seconds.
type total struct {
	n     int64
	began time.Time // before its snapshot was taken
}

const (
	remembered = 10_000 // totals, lists with deep pages, and slow statements that a node remembers
	segmented  = 1000   // totals in segments that it remembers
)

// NewNode returns a node.
func NewNode(cfg NodeConfig) *Node {
	cfg.Conns, cfg.Limit, cfg.Skip, cfg.Large = max(cfg.Conns, 4), cmp.Or(cfg.Limit, time.Second), cmp.Or(cfg.Skip, 1000), cmp.Or(cfg.Large, 5000)
	if cfg.Writes == nil {
		cfg.Writes = &db.WriteLog{}
	}
	return &Node{
		cfg: cfg, totals: cache[total](remembered), parted: cache[*segments](segmented), places: cache[[]place](remembered), slow: cache[time.Time](remembered),
		running: map[key]*runningCount{}, pages: newSlots(cfg.Conns / 2), counts: newSlots(cfg.Conns / 4),
	}
}

func cache[V any](size int) *lru.Cache[key, V] {
	c, err := lru.New[key, V](size)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return c
}

// runningCount is a count that is waiting or under way.
type runningCount struct {
	done  chan struct{}
	began time.Time // before its snapshot; set before done is closed; zero if it did not begin
	n     int64
	err   error
}

// total returns a count that began at or after notBefore and is at most totalTTL old. Equal counts are made once at a time and
// shared. One that is in demand is renewed before it is too old, so that nobody has to wait for it.
func (n *Node) total(ctx context.Context, k key, notBefore time.Time, count func(context.Context) (int64, error)) (int64, error) {
	for {
		n.mu.Lock()
		t, ok := n.totals.Get(k)
		age := time.Since(t.began)
		if ok && age < totalTTL && !t.began.Before(notBefore) {
			if age > totalTTL/2 && n.running[k] == nil {
				n.startCount(ctx, k, count)
			}
			n.mu.Unlock()
			return t.n, nil
		}
		f := n.running[k]
		if f == nil {
			f = n.startCount(ctx, k, count)
		}
		n.mu.Unlock()
		resume := cputime.Wait()
		select {
		case <-f.done:
			resume()
		case <-ctx.Done():
			resume()
			return 0, ctx.Err()
		}
		if f.err != nil || !f.began.Before(notBefore) {
			return f.n, f.err
		}
	}
}

// countPatience is how long a count may take, in limits of a statement.
const countPatience = 30

// startCount starts a count, which goes on when the request that asked for it ends.
func (n *Node) startCount(ctx context.Context, k key, count func(context.Context) (int64, error)) *runningCount {
	f := &runningCount{done: make(chan struct{})}
	n.running[k] = f
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), countPatience*n.cfg.Limit)
		defer cancel()
		f.err = n.limited(ctx, n.counts, k, func() (err error) {
			f.began = time.Now()
			f.n, err = count(ctx)
			return err
		})
		n.mu.Lock()
		defer n.mu.Unlock()
		if f.err == nil {
			n.totals.Add(k, total{f.n, f.began})
		}
		delete(n.running, k)
		close(f.done)
	}()
	return f
}

// limited runs a statement in a slot of the company, and remembers it if it takes too long.
func (n *Node) limited(ctx context.Context, slots *slots, k key, run func() error) error {
	if at, slow := n.slow.Get(k); slow && time.Since(at) < cooldown {
		return errTooExpensive
	}
	leave, err := slots.enter(ctx, k.company, n.cfg.Limit)
	if err != nil {
		return err
	}
	defer leave()
	err = run()
	if errors.Is(err, db.ErrTooLong) {
		n.slow.Add(k, time.Now())
		return errTooExpensive
	}
	return err
}

// page runs the statements of a page.
func (n *Node) page(ctx context.Context, d *db.DB, k key, p db.Plan, b *pgx.Batch) error {
	return n.limited(ctx, n.pages, k, func() error { return d.ReadWithTimeout(ctx, n.cfg.Limit, p, b) })
}

// Sum runs statements over many records, such as those of a report, as totals run: in a slot of the company, each with the limit of
// a statement. what identifies them; if one takes too long, they are refused for a while. A nil node has no limits: 0.
func (n *Node) Sum(ctx context.Context, company tenant.ID, what []any, run func(ctx context.Context, limit time.Duration) error) error {
	if n == nil {
		return run(ctx, 0)
	}
	return n.limited(ctx, n.counts, key{company, hashOf([]string{"sum"}, what)}, func() error { return run(ctx, n.cfg.Limit) })
}

// slots bound how many statements run at once, and how many of them for one company.
type slots struct {
	all   chan struct{}
	share int

	mu  sync.Mutex
	own map[tenant.ID]*ownSlots
}

type ownSlots struct {
	free  chan struct{}
	users int
}

func newSlots(n int) *slots {
	return &slots{all: make(chan struct{}, max(n, 1)), share: max(n/2, 1), own: map[tenant.ID]*ownSlots{}}
}

var errNoSlot = apierr.Unavailable(apierr.PoolExhausted, 1, "too many expensive lists are being read; retry after the time in Retry-After")

// enter waits for a slot of the company and one of the node, at most for the time given.
func (s *slots) enter(ctx context.Context, company tenant.ID, patience time.Duration) (leave func(), err error) {
	s.mu.Lock()
	own := s.own[company]
	if own == nil {
		own = &ownSlots{free: make(chan struct{}, s.share)}
		s.own[company] = own
	}
	own.users++
	s.mu.Unlock()
	forget := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(s.own, company)
		}
	}
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	defer cputime.Wait()()
	for i, slot := range []chan struct{}{own.free, s.all} {
		select {
		case slot <- struct{}{}:
			continue
		case <-ctx.Done():
			err = ctx.Err()
		case <-timeout.C:
			err = errNoSlot
		}
		if i > 0 {
			<-own.free
		}
		forget()
		return nil, err
	}
	return func() {
		<-s.all
		<-own.free
		forget()
	}, nil
}
