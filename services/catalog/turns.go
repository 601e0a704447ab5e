package catalog

import (
	"context"
	"hash/maphash"

	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// turns lets transactions that want the same counter row go one after the other: on one node waiting in line is
// cheaper than being refused by the database and trying again. Other nodes are kept apart by the database alone.
type turns struct {
	seed  maphash.Seed
	lines [64]chan struct{}
}

func newTurns() *turns {
	t := &turns{seed: maphash.MakeSeed()}
	for i := range t.lines {
		t.lines[i] = make(chan struct{}, 1)
	}
	return t
}

// take waits for the company's turn, or for the end of ctx. Companies may share a line.
func (t *turns) take(ctx context.Context, company tenant.ID) (release func(), err error) {
	line := t.lines[maphash.Comparable(t.seed, company)%uint64(len(t.lines))]
	select {
	case line <- struct{}{}:
		return func() { <-line }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
