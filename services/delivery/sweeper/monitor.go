package sweeper

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/deadletter"
	"github.com/tradegrid/tradegrid/services/delivery/reconcile"
	"github.com/tradegrid/tradegrid/topics"
)

const (
	countDeadEvery = 15 * time.Second
	groupsEvery    = 15 * time.Second
	reconcileEvery = 10 * time.Second
)

// monitor measures what one process measures for all.
type monitor struct {
	admin      *kadm.Client
	groups     *kafka.GroupWatch
	reconciler *reconcile.Reconciler // nil = off

	counted, grouped, reconciled time.Time
}

func newMonitor(d *db.DB, client *kgo.Client, cfg *Config) monitor {
	w := monitor{admin: kadm.NewClient(client)}
	w.groups = kafka.NewGroupWatch(w.admin, cfg.Log, topics.Consumers(cfg.Tiers))
	if cfg.Reconcile != nil {
		w.reconciler = reconcile.New(d, w.admin, *cfg.Reconcile)
	}
	return w
}

// check does what is due. One failure does not prevent the others.
func (w *monitor) check(ctx context.Context, now time.Time) error {
	var errs []error
	if now.Sub(w.counted) >= countDeadEvery {
		w.counted = now
		depth, err := deadletter.Depth(ctx, w.admin)
		if err == nil {
			deadletter.ShowDepth(depth)
		}
		errs = append(errs, err)
	}
	if now.Sub(w.grouped) >= groupsEvery {
		w.grouped = now
		errs = append(errs, w.groups.Measure(ctx, now))
	}
	if w.reconciler != nil && now.Sub(w.reconciled) >= reconcileEvery {
		w.reconciled = now
		errs = append(errs, w.reconciler.Step(ctx))
	}
	return errors.Join(errs...)
}

// reset clears the metrics, because another process measures now.
func (w *monitor) reset() {
	w.counted, w.grouped, w.reconciled = time.Time{}, time.Time{}, time.Time{}
	deadletter.ShowDepth(nil)
	w.groups.Reset()
	if w.reconciler != nil {
		w.reconciler.Reset()
	}
}
