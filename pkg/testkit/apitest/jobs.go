package apitest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
)

// Work runs the jobs of all companies of a database, a step at a time, until the end of the test or of stop.
// It repeats failed steps quickly, and soon takes over what another worker left.
func Work(t testing.TB, d *db.DB, handlers []job.Handler) (stop func()) {
	t.Helper()
	w := job.NewWorker(job.Config{
		DB: d, Owner: uuid.NewString(), Handlers: handlers,
		Every: 5 * time.Millisecond, Slice: time.Nanosecond, Lease: 10 * time.Second, Retry: 5 * time.Millisecond,
	})
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); require.NoError(t, <-done) })
	t.Cleanup(stop)
	return stop
}
