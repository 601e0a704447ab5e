package loadshed

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// Large is the size, in bytes, above which a request or a response needs a reservation.
const Large = 64 << 10

// CompanyShare is the part of a limit of bytes that one company may hold: a quarter.
const CompanyShare = 4

const (
	patience   = time.Second // how long a reservation waits for bytes that are free
	maxWaiting = 8           // reservations that wait for what is in memory already: their bytes are not reserved
)

// Bytes bounds the memory that this process spends on one kind of things: the large requests that it decodes, or the large
// responses that it builds and sends. A request holds its reservation until it is answered, a response until it is written or its
// connection is closed. A nil Bytes reserves nothing.
type Bytes struct {
	name       string // of the limit
	gauge      prometheus.Gauge
	all, owned *apierr.Error // when all companies hold too much, and when its own does

	mu       sync.Mutex
	limit    int64 // 0 = none
	used     int64
	reserved int64 // in all; see [Shedder.watchMemory]
	held     map[account]int64
	waiting  int
	freed    chan struct{} // closed when bytes are released
}

// account holds the reservations of a company. Responses to changes have one of their own, because they are never refused:
// the change is made already.
type account struct {
	company tenant.ID
	change  bool
}

func newResponses(limit int64) *Bytes {
	return &Bytes{
		name: ResponseBytes, gauge: responseBytes, all: errResponses, owned: errOwnResponses,
		limit: limit, held: map[account]int64{}, freed: make(chan struct{}),
	}
}

func newRequests(limit int64) *Bytes {
	return &Bytes{
		name: RequestBytes, gauge: requestBytes, all: errRequests, owned: errOwnRequests,
		limit: limit, held: map[account]int64{}, freed: make(chan struct{}),
	}
}

// Reservation is what one request or response holds. A nil Reservation holds nothing. It is not safe for concurrent use.
type Reservation struct {
	from  *Bytes
	of    account
	bytes int64
}

var (
	errResponses = apierr.Unavailable(apierr.Overloaded, 1,
		"too many large responses are being sent; ask for less (pageSize, fields, include), or repeat the request after the time in Retry-After")
	errOwnResponses = apierr.Unavailable(apierr.Overloaded, 1,
		"too many large responses are being sent to the company; read them one after the other and without delay, ask for less (pageSize, fields, include), "+
			"or repeat the request after the time in Retry-After; nothing was done")
	errRequests = apierr.Unavailable(apierr.Overloaded, 1,
		"too many large requests are being processed; nothing was done, repeat the request after the time in Retry-After")
	errOwnRequests = apierr.Unavailable(apierr.Overloaded, 5, // about the time of a few large batches
		"too many large requests of the company are being processed; send them one after the other, or fewer items in each; nothing was done, "+
			"repeat the request after the time in Retry-After")
)

// Open returns a reservation for the company, which holds nothing yet. It returns a fault for the response to a change, if the
// company does not read the large ones to changes before.
func (r *Bytes) Open(company tenant.ID, change bool) (*Reservation, error) {
	if r == nil {
		return nil, nil //nolint:nilnil // a nil reservation is valid
	}
	v := &Reservation{from: r, of: account{company, change}}
	r.mu.Lock()
	defer r.mu.Unlock()
	if change && r.limit > 0 && r.held[v.of] >= r.limit/CompanyShare {
		shedTotal.WithLabelValues(r.name).Inc()
		return nil, r.owned
	}
	return v, nil
}

// Reserve reserves bytes, unless they are few. It waits for a second at most. Few may wait that have been read already, and are in
// memory.
func (v *Reservation) Reserve(ctx context.Context, bytes int, read bool) error {
	if v == nil || bytes <= Large || int64(bytes) <= v.bytes {
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
				shedTotal.WithLabelValues(v.from.name).Inc()
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
			shedTotal.WithLabelValues(v.from.name).Inc()
		}
		resume()
		return err
	}
}

// mayWait counts one that waits although it has been read.
func (r *Bytes) mayWait() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting >= maxWaiting {
		return false
	}
	r.waiting++
	return true
}

func (r *Bytes) stopWaiting() {
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
	case r.limit > 0 && own > 0 && own+bytes > r.limit/CompanyShare: // one of any size is always possible
		return r.freed, r.owned
	case r.limit > 0 && others > 0 && others+bytes > r.limit:
		return r.freed, r.all
	}
	r.set(v, bytes)
	return nil, nil
}

// Set sets what is held to a size that is known now. A small one holds nothing.
func (v *Reservation) Set(bytes int) {
	if v == nil {
		return
	}
	if bytes <= Large {
		bytes = 0
	}
	v.from.mu.Lock()
	defer v.from.mu.Unlock()
	v.from.set(v, int64(bytes))
}

// Release releases what is held. It may be called more than once.
func (v *Reservation) Release() { v.Set(0) }

// set needs the lock.
func (r *Bytes) set(v *Reservation, bytes int64) {
	more := bytes - v.bytes
	v.bytes = bytes
	if more == 0 {
		return
	}
	r.used += more
	r.reserved += max(more, 0)
	if r.held[v.of] += more; r.held[v.of] == 0 {
		delete(r.held, v.of)
	}
	if more < 0 {
		close(r.freed)
		r.freed = make(chan struct{})
	}
	r.gauge.Set(float64(r.used))
}

func (r *Bytes) setLimit(limit int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limit = limit
}

// usedBytes is what all hold.
func (r *Bytes) usedBytes() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used
}
