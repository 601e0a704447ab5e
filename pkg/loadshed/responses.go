package loadshed

import (
	"context"
	"sync"
	"time"

	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/cputime"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// LargeResponse is the size of a response, in bytes, above which it needs a reservation.
const LargeResponse = 64 << 10

const (
	companyShare = 4           // one company may hold a quarter of the limit
	patience     = time.Second // how long a response waits for its reservation
	maxWaiting   = 8           // responses that wait although they have been read: their bytes are not reserved
)

// Responses bounds the bytes of the large responses that this process builds and sends. A response holds its reservation until
// it is written or its connection is closed. A nil Responses reserves nothing.
type Responses struct {
	mu      sync.Mutex
	limit   int64 // 0 = none
	used    int64
	held    map[account]int64
	waiting int
	freed   chan struct{} // closed when bytes are released
}

// account holds the reservations of a company. Responses to changes have one of their own, because they are never refused:
// the change is made already.
type account struct {
	company tenant.ID
	change  bool
}

func newResponses(limit int64) *Responses {
	return &Responses{limit: limit, held: map[account]int64{}, freed: make(chan struct{})}
}

// Reservation is what one response holds. A nil Reservation holds nothing. It is not safe for concurrent use.
type Reservation struct {
	from  *Responses
	of    account
	bytes int64
}

var (
	errResponses = apierr.Unavailable(apierr.Overloaded, 1,
		"too many large responses are being sent; ask for less (pageSize, fields, include), or repeat the request after the time in Retry-After")
	errOwnResponses = apierr.Unavailable(apierr.Overloaded, 1,
		"too many large responses are being sent to the company; read them one after the other and without delay, ask for less (pageSize, fields, include), "+
			"or repeat the request after the time in Retry-After; nothing was done")
)

// Open returns the reservation of a response to a request of the company, which holds nothing yet. It returns a fault for a
// change whose company does not read the large responses to changes before.
func (r *Responses) Open(company tenant.ID, change bool) (*Reservation, error) {
	if r == nil {
		return nil, nil //nolint:nilnil // a nil reservation is valid
	}
	v := &Reservation{from: r, of: account{company, change}}
	r.mu.Lock()
	defer r.mu.Unlock()
	if change && r.limit > 0 && r.held[v.of] >= r.limit/companyShare {
		shedTotal.WithLabelValues(ResponseBytes).Inc()
		return nil, errOwnResponses
	}
	return v, nil
}

// Reserve reserves the bytes of a response, unless it is small. It waits for a second at most. Few responses may wait that have
// been read already, and are in memory.
func (v *Reservation) Reserve(ctx context.Context, bytes int, read bool) error {
	if v == nil || bytes <= LargeResponse || int64(bytes) <= v.bytes {
		return nil
	}
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	waiting := false
	defer func() {
		if waiting {
			v.from.stopWaiting()
		}
	}()
	for {
		freed, err := v.take(int64(bytes))
		if freed == nil {
			return err
		}
		if read && !waiting {
			if waiting = v.from.mayWait(); !waiting {
				shedTotal.WithLabelValues(ResponseBytes).Inc()
				return err
			}
		}
		resume := cputime.Wait()
		select {
		case <-freed:
			resume()
			continue
		case <-ctx.Done():
			err = ctx.Err()
		case <-timeout.C:
			shedTotal.WithLabelValues(ResponseBytes).Inc()
		}
		resume()
		return err
	}
}

// mayWait counts a response that waits although it has been read.
func (r *Responses) mayWait() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting >= maxWaiting {
		return false
	}
	r.waiting++
	return true
}

func (r *Responses) stopWaiting() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting--
}

// take takes the bytes if they are free. Otherwise it returns a channel to wait for before the next try, and the fault if there
// is none.
func (v *Reservation) take(bytes int64) (freed <-chan struct{}, err error) {
	r := v.from
	r.mu.Lock()
	defer r.mu.Unlock()
	switch others, own := r.used-v.bytes, r.held[v.of]-v.bytes; {
	case r.limit > 0 && own > 0 && own+bytes > r.limit/companyShare: // one response of any size is always possible
		return r.freed, errOwnResponses
	case r.limit > 0 && others > 0 && others+bytes > r.limit:
		return r.freed, errResponses
	}
	r.set(v, bytes)
	return nil, nil
}

// Set sets what the response holds to its size, which is known now. A small one holds nothing.
func (v *Reservation) Set(bytes int) {
	if v == nil {
		return
	}
	if bytes <= LargeResponse {
		bytes = 0
	}
	v.from.mu.Lock()
	defer v.from.mu.Unlock()
	v.from.set(v, int64(bytes))
}

// Release releases what the response holds. It may be called more than once.
func (v *Reservation) Release() { v.Set(0) }

// set needs the lock.
func (r *Responses) set(v *Reservation, bytes int64) {
	more := bytes - v.bytes
	v.bytes = bytes
	if more == 0 {
		return
	}
	r.used += more
	if r.held[v.of] += more; r.held[v.of] == 0 {
		delete(r.held, v.of)
	}
	if more < 0 {
		close(r.freed)
		r.freed = make(chan struct{})
	}
	responseBytes.Set(float64(r.used))
}

func (r *Responses) setLimit(limit int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limit = limit
}

// usedBytes is what all responses hold.
func (r *Responses) usedBytes() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used
}
