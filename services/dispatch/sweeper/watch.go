package sweeper

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/services/dispatch/deadletter"
	"github.com/tradegrid/tradegrid/services/dispatch/reconcile"
)

const (
	countDeadEvery = 15 * time.Second
	reconcileEvery = 30 * time.Second
)

// watch measures, beside the sweeps, what one process has to measure for all.
type watch struct {
	admin      *kadm.Client
	reconciler *reconcile.Reconciler // nil = off

	counted, reconciled time.Time
}

func newWatch(d *db.DB, client *kgo.Client, cfg *Config) watch {
	w := watch{admin: kadm.NewClient(client)}
	if cfg.Reconcile != nil {
		w.reconciler = reconcile.New(d, w.admin, *cfg.Reconcile)
	}
	return w
}

// turn does what is due. It never leaves out one thing because the other failed.
func (w *watch) turn(ctx context.Context, now time.Time) error {
	var errs []error
	if now.Sub(w.counted) >= countDeadEvery {
		w.counted = now
		depth, err := deadletter.Depth(ctx, w.admin)
		if err == nil {
			deadletter.ShowDepth(depth)
		}
		errs = append(errs, err)
	}
	if w.reconciler != nil && now.Sub(w.reconciled) >= reconcileEvery {
		w.reconciled = now
		errs = append(errs, w.reconciler.Step(ctx))
	}
	return errors.Join(errs...)
}

// reset shows nothing: another process measures.
func (w *watch) reset() {
	w.counted, w.reconciled = time.Time{}, time.Time{}
	deadletter.ShowDepth(nil)
	if w.reconciler != nil {
		w.reconciler.Reset()
	}
}
