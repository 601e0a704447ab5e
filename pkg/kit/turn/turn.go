// Package turn makes the requests of a company wait for each other, so that a company takes one of the places that a process has for
// costly work, and leaves the others to its neighbors.
package turn

import (
	"context"
	"sync"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// Turns are the turns of all companies at one kind of work. The zero value is ready.
type Turns struct {
	mu  sync.Mutex
	all map[tenant.ID]*turn
}

// turn makes the requests of a company wait for each other.
type turn struct {
	free  chan struct{} // holds a value while nobody has the turn
	users int
}

// Enter waits until no other request of the company has its turn, at most until ctx ends.
func (t *Turns) Enter(ctx context.Context, company tenant.ID) (leave func(), err error) {
	own := t.use(company)
	select {
	case <-own.free:
		return func() { own.free <- struct{}{}; t.forget(company, own) }, nil
	case <-ctx.Done():
		t.forget(company, own)
		return nil, ctx.Err()
	}
}

func (t *Turns) use(company tenant.ID) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[tenant.ID]*turn{}
	}
	own := t.all[company]
	if own == nil {
		own = &turn{free: make(chan struct{}, 1)}
		own.free <- struct{}{}
		t.all[company] = own
	}
	own.users++
	return own
}

func (t *Turns) forget(company tenant.ID, own *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(t.all, company)
	}
}
