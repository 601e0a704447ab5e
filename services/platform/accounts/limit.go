package accounts

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// bucket limits attempts: burst at once, then one each interval.
type bucket struct {
	name     string
	burst    int64
	interval time.Duration
}

// A browser that has signed in to an account before has buckets of its own there, and none for its address. So neither somebody
// who guesses at an account, nor a neighbour behind the same proxy, keeps its owner out. From a new browser the wait is at most the
// interval, unless others use up each attempt; then a link by e-mail remains, and for a code a recovery code.
var (
	byDevice  = bucket{"device", 10, 90 * time.Second}
	byAccount = bucket{"account", 10, 90 * time.Second}
	byAddress = bucket{"address", 60, 10 * time.Second}
	byCode    = bucket{"code", 6, 2 * time.Minute}
	byReset   = bucket{"reset", 3, 2 * time.Hour}
)

// whole is how long it takes to fill an empty bucket.
func (b bucket) whole() time.Duration { return time.Duration(b.burst) * b.interval }

// of names the bucket of somebody. Keys are hashed: the table holds no addresses.
func (b bucket) of(who string) limited {
	sum := sha256.Sum256([]byte(who))
	return limited{b, b.name + ":" + hex.EncodeToString(sum[:16])}
}

// networkOf is what counts as one address: an IPv6 host usually has a whole /64.
func networkOf(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}

func ofAddress(a netip.Addr) limited { return byAddress.of(networkOf(a)) }

type limited struct {
	bucket
	key string
}

// maxLevels is how many buckets a process knows; those that were used last stay.
const maxLevels = 50_000

// limits are the buckets as this process knows them. An attempt is counted here, and written to the table by the next exchange, which
// also tells what other processes have counted. So no attempt waits for a row that others write, and who spreads attempts over
// processes gets no more than those of one exchange beyond the limit.
type limits struct {
	mu    sync.Mutex
	of    *simplelru.LRU[string, *level]
	dirty map[string]*level // what the next exchange is about
}

// level is how full a bucket is: its theoretical arrival time is at most now while it is full, and each attempt adds an interval.
type level struct {
	bucket
	arrival  time.Time
	unsaved  time.Duration // of arrival, not yet written; below 0 = given back
	refilled bool          // full again, and not yet written
	refills  int
}

func newLimits() *limits {
	known, _ := simplelru.NewLRU[string, *level](maxLevels, nil) // fails only on a size below 1
	return &limits{of: known, dirty: map[string]*level{}}
}

// take takes an attempt from each bucket, or from none and returns a [LimitedError]. An attempt is taken before it is made, so that
// many at once are no more than one after the other.
func (l *limits) take(now time.Time, all ...limited) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.empty(now, all); err != nil {
		return err
	}
	for _, one := range all {
		v := l.changed(one)
		v.arrival = latest(v.arrival, now).Add(one.interval)
		v.unsaved += one.interval
	}
	return nil
}

// check is take without taking, for who need not even wait for their turn.
func (l *limits) check(now time.Time, all ...limited) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.empty(now, all)
}

func (l *limits) empty(now time.Time, all []limited) error {
	for _, one := range all {
		v, ok := l.of.Get(one.key)
		if !ok {
			continue
		}
		if last := now.Add(one.whole() - one.interval); v.arrival.After(last) {
			l.dirty[one.key] = v // perhaps another process has refilled it
			return &LimitedError{Wait: max(v.arrival.Sub(last), time.Second)}
		}
	}
	return nil
}

// first takes the one attempt of a bucket that the table is asked about at once, and reports whether this process had not done so before.
func (l *limits) first(one limited, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.level(one)
	if v.arrival.After(now) {
		return false
	}
	v.arrival = now.Add(one.interval)
	return true
}

// giveBack returns an attempt that was good: a person who knows the password costs the others at the address nothing.
func (l *limits) giveBack(one limited) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.changed(one)
	v.arrival = v.arrival.Add(-one.interval)
	v.unsaved -= one.interval
}

// refill makes a bucket full again.
func (l *limits) refill(one limited) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.changed(one)
	v.arrival, v.unsaved, v.refilled = time.Time{}, 0, true
	v.refills++
}

// changed is the level of a bucket that the next exchange is about.
func (l *limits) changed(one limited) *level {
	v, ok := l.dirty[one.key]
	if !ok {
		v = l.level(one)
		l.dirty[one.key] = v
	}
	return v
}

func (l *limits) level(one limited) *level {
	v, ok := l.of.Get(one.key)
	if !ok {
		v = &level{bucket: one.bucket}
		l.of.Add(one.key, v)
	}
	return v
}

// unknown are the keys that this process has no level of.
func (l *limits) unknown(all []limited) (keys []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range all {
		if !l.of.Contains(one.key) {
			keys = append(keys, one.key)
		}
	}
	return keys
}

// learn sets what the table says of buckets that this process did not know.
func (l *limits) learn(all []limited, arrivals map[string]time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range all {
		if arrival, ok := arrivals[one.key]; ok && !l.of.Contains(one.key) {
			l.level(one).arrival = arrival
		}
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
