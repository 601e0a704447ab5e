package operations

import (
	"context"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
	"github.com/tradegrid/tradegrid/services/delivery/reconcile"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/topics"
)

// RoutedWithin is how long after its commit an event may be without deliveries in ordinary times.
const RoutedWithin = time.Minute

// Reconcile compares the events of an interval with their deliveries, and calls missing for each that is missing.
func (p *Platform) Reconcile(ctx context.Context, in reconcile.Interval, missing func(reconcile.Missing) error) (reconcile.Balance, error) {
	r := reconcile.New(p.cfg.DB, nil, reconcile.Config{Group: topics.Routers, Events: p.cfg.Events, Components: p.cfg.Components, CompaniesChanged: company.ChangedAt, Log: p.cfg.Log})
	return r.Check(ctx, in, missing)
}

// CheckStock compares the stock of a company with the movements and reserves that it is the sum of.
func (p *Platform) CheckStock(ctx context.Context, company tenant.ID) ([]warehouse.Difference, error) {
	return p.cfg.Stock.Check(ctx, company)
}

// RepairStock sets the stock of a company to these sums where it differs, and returns what differed.
func (p *Platform) RepairStock(ctx context.Context, company tenant.ID, record Recorded) ([]warehouse.Difference, error) {
	found, err := p.cfg.Stock.Check(ctx, company)
	if err != nil {
		return nil, err
	}
	for _, d := range found {
		if err := record(ctx, "repairStock", company, func(ctx context.Context, tx *db.Tx) (any, error) {
			return nil, p.cfg.Stock.Repair(ctx, tx, company, d)
		}, db.ReadCommitted()); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Jobs lists jobs of all companies; see [job.Search].
func (p *Platform) Jobs(ctx context.Context, in job.Query) ([]job.Record, error) {
	return job.Search(ctx, p.cfg.DB, in)
}
