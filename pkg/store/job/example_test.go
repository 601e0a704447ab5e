package job_test

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
)

var recount = job.Type{Name: "recount", Resources: []string{"orders"}}

// A request starts a job in its transaction, and a handler does the work in steps. Each step goes on where the last one that was
// stored ended, in whichever process.
func ExampleHandler() {
	type state struct{ Next int64 }
	start := func(ctx context.Context, tx *db.Tx, q db.Querier, by access.Caller) (job.Record, error) {
		admission, err := job.Admit(ctx, tx, q, by.Company)
		if err != nil {
			return job.Record{}, err
		}
		return job.Start(ctx, tx, by, admission, recount, job.Options{Total: 1000})
	}
	handler := job.Handler{Type: recount, Step: func(_ context.Context, t job.Task) (job.Store, error) {
		var at state
		if err := t.State(&at); err != nil {
			return nil, err
		}
		at.Next += 100 // read here, outside of a transaction
		return func(context.Context, *db.Tx) (job.Progress, error) {
			return job.Progress{State: at, Done: at.Next, Total: t.Total, End: at.Next >= t.Total}, nil // store the effect here, with tx
		}, nil
	}}
	_, _ = start, handler // the service returns the handler by its method Jobs
}
