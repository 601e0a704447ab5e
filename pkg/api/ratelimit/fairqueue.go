package ratelimit

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ErrQueueFull is the error of a call that got no turn: too many wait already, of the same key or in all, or the wait took too long.
var ErrQueueFull = errors.New("too many others are waiting")

// FairQueue lets a few calls run at a time. The others wait, a bounded number of them for a bounded time, and keys take turns: a key
// with many calls holds up its own. Calls that come first run before all others. It is safe for concurrent use.
type FairQueue struct {
	limits FairLimits

	mu      sync.Mutex
	running int
	ofKey   map[string]int // running and waiting calls
	first   line
	rest    line
}

// FairLimits are the limits of a [FairQueue].
type FairLimits struct {
	Running int           // calls at a time
	Waiting int           // of those that come first, and as many others
	PerKey  int           // running and waiting calls of one key
	Longest time.Duration // wait
}

// line are waiting calls.
type line struct {
	keys  []string // with waiting calls, in the order of their turns
	calls map[string][]chan struct{}
	n     int
}

// NewFairQueue returns a queue.
func NewFairQueue(limits FairLimits) *FairQueue {
	return &FairQueue{
		limits: limits, ofKey: map[string]int{}, first: line{calls: map[string][]chan struct{}{}}, rest: line{calls: map[string][]chan struct{}{}},
	}
}

// Enter waits for a turn. The call is over when leave is called, once. Errors are [ErrQueueFull] and that of ctx.
func (q *FairQueue) Enter(ctx context.Context, key string, first bool) (leave func(), err error) {
	turn, err := q.line(key, first)
	if err != nil {
		return nil, err
	}
	leave = sync.OnceFunc(func() { q.leave(key) })
	longest := time.NewTimer(q.limits.Longest)
	defer longest.Stop()
	select {
	case <-turn:
		return leave, nil
	case <-longest.C:
		err = ErrQueueFull
	case <-ctx.Done():
		err = ctx.Err()
	}
	if !q.withdraw(key, first, turn) {
		return leave, nil // the turn came just now
	}
	return nil, err
}

// line adds a call; turn is closed when it may run.
func (q *FairQueue) line(key string, first bool) (turn chan struct{}, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.of(first)
	switch {
	case q.ofKey[key] >= q.limits.PerKey:
		return nil, ErrQueueFull
	case q.running >= q.limits.Running && l.n >= q.limits.Waiting:
		return nil, ErrQueueFull
	}
	q.ofKey[key]++
	turn = make(chan struct{})
	if q.running < q.limits.Running { // nobody waits: whoever leaves hands the turn on
		q.running++
		close(turn)
		return turn, nil
	}
	l.add(key, turn)
	return turn, nil
}

func (q *FairQueue) of(first bool) *line {
	if first {
		return &q.first
	}
	return &q.rest
}

func (q *FairQueue) leave(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.forget(key)
	next := q.first.next()
	if next == nil {
		next = q.rest.next()
	}
	if next == nil {
		q.running--
		return
	}
	close(next)
}

// withdraw removes a call that waits no longer; false = its turn has come.
func (q *FairQueue) withdraw(key string, first bool, turn chan struct{}) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.of(first).remove(key, turn) {
		return false
	}
	q.forget(key)
	return true
}

func (q *FairQueue) forget(key string) {
	if q.ofKey[key]--; q.ofKey[key] == 0 {
		delete(q.ofKey, key)
	}
}

func (l *line) add(key string, turn chan struct{}) {
	if len(l.calls[key]) == 0 {
		l.keys = append(l.keys, key)
	}
	l.calls[key] = append(l.calls[key], turn)
	l.n++
}

// next takes out the call whose turn it is; nil = nobody waits.
func (l *line) next() chan struct{} {
	if l.n == 0 {
		return nil
	}
	key := l.keys[0]
	turn := l.calls[key][0]
	l.keys, l.calls[key] = append(l.keys[1:], key), l.calls[key][1:]
	l.n--
	if len(l.calls[key]) == 0 {
		l.keys = l.keys[:len(l.keys)-1]
		delete(l.calls, key)
	}
	return turn
}

func (l *line) remove(key string, turn chan struct{}) bool {
	i := slices.Index(l.calls[key], turn)
	if i < 0 {
		return false
	}
	l.calls[key] = slices.Delete(l.calls[key], i, i+1)
	l.n--
	if len(l.calls[key]) == 0 {
		delete(l.calls, key)
		l.keys = slices.DeleteFunc(l.keys, func(k string) bool { return k == key })
	}
	return true
}
