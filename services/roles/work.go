package roles

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// work is what a role does while its process runs.
type work struct {
	role    string
	parts   []func(context.Context) error
	started func(ops string) // logs that the role is up
}

// named adds the name of the role to the errors of its parts, for a process of several roles.
func (w work) named() work {
	parts := make([]func(context.Context) error, len(w.parts))
	for i, part := range w.parts {
		parts[i] = func(ctx context.Context) error { return ofRole(w.role, part(ctx)) }
	}
	w.parts = parts
	return w
}

func ofRole(role string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", role, err)
	}
	return nil
}

// A process of several roles stops them in turn, so that what the API has just answered is published, and what is published is
// delivered. None waits long for those before it, which go on finishing: a row that is left in the outbox is published by another
// process, or by the next. Three turns are over within the 25 s that a process has.
const (
	turn      = 5 * time.Second
	lastDrain = 15 * time.Second
)

// inTurn starts the works in the group. When ctx is done, the first ones are stopped, and each next ones when those before them have
// ended, or a turn after they were stopped.
func inTurn(ctx context.Context, g *errgroup.Group, turns [][]work) {
	stop := ctx.Done()
	for _, works := range turns {
		own, end := context.WithCancel(context.WithoutCancel(ctx))
		ended, next := make(chan struct{}), make(chan struct{})
		var running sync.WaitGroup
		for _, w := range works {
			for _, part := range w.parts {
				running.Add(1)
				g.Go(func() error {
					defer running.Done()
					return part(own)
				})
			}
		}
		go func() {
			running.Wait()
			close(ended)
		}()
		go func(stop <-chan struct{}) {
			defer close(next)
			<-stop
			end()
			select {
			case <-ended:
			case <-time.After(turn):
			}
		}(stop)
		stop = next
	}
}
