package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
	"github.com/tradegrid/tradegrid/services/delivery/reconcile"
	"github.com/tradegrid/tradegrid/services/operations"
)

type reconcileCmd struct {
	From    time.Time  `help:"Earliest commit of the events, such as 2026-11-23T08:00:00Z." required:"" placeholder:"TIME"`
	To      *time.Time `help:"Latest commit of the events; a minute ago by default, because younger ones may still be on their way." placeholder:"TIME"`
	Company *tenant.ID `help:"Only this company; all by default." placeholder:"UUID"`
}

// ErrUneven makes the exit code of a check that found losses.
var ErrUneven = errors.New("there are events without deliveries that nothing explains")

// Reconciled is the result as JSON.
type Reconciled struct {
	reconcile.Balance
	MissingDeliveries []reconcile.Missing `json:"missingDeliveries"`
}

// Run compares the event log with the deliveries and prints each difference.
func (c *reconcileCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	to := time.Now().Add(-operations.RoutedWithin)
	if c.To != nil {
		to = *c.To
	}
	if !c.From.Before(to) {
		return fmt.Errorf("--from %s: must be before --to, %s", c.From.Format(time.RFC3339), to.Format(time.RFC3339))
	}
	return all.do(ctx, out, log, func(a admin) error {
		if c.Company != nil {
			if _, err := a.Get(ctx, *c.Company); err != nil {
				return err
			}
		}
		result := Reconciled{MissingDeliveries: []reconcile.Missing{}}
		var rows [][]any
		balance, err := a.all.NewPlatform(nil, log).Reconcile(ctx, reconcile.Interval{From: c.From, To: to, Company: c.Company}, func(m reconcile.Missing) error {
			if a.asJSON {
				result.MissingDeliveries = append(result.MissingDeliveries, m)
			}
			rows = append(rows, []any{m.CompanyID, m.SubscriptionID, m.EventID, m.Event, m.OccurredAt.String()})
			return nil
		})
		if err != nil {
			return err
		}
		if result.Balance = balance; len(rows) > 0 || a.asJSON {
			if err := a.write(result, "COMPANY SUBSCRIPTION EVENT-ID EVENT OCCURRED", rows...); err != nil {
				return err
			}
		}
		if !a.asJSON {
			if err := a.write(nil, "COMPANIES EVENTS UNPUBLISHED DELIVERED OPEN FAILED NOT-WANTED CHANGED MISSING", []any{
				balance.Companies, balance.Events, balance.Unpublished, balance.Delivered, balance.Open, balance.Failed, balance.NotWanted, balance.Changed, balance.Missing,
			}); err != nil {
				return err
			}
		}
		if !balance.Even() {
			return ErrUneven
		}
		return nil
	})
}

type stockCheckCmd struct {
	Company tenant.ID `help:"Company." required:"" placeholder:"UUID"`
}

func (c *stockCheckCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return all.do(ctx, out, log, func(a admin) error {
		if _, err := a.Get(ctx, c.Company); err != nil {
			return err
		}
		found, err := a.all.NewPlatform(nil, log).CheckStock(ctx, c.Company)
		return a.differences(found, err)
	})
}

type stockRepairCmd struct {
	Company tenant.ID `help:"Company." required:"" placeholder:"UUID"`
}

func (c *stockRepairCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return all.do(ctx, out, log, func(a admin) error {
		if _, err := a.Get(ctx, c.Company); err != nil {
			return err
		}
		return a.differences(a.all.NewPlatform(nil, log).RepairStock(ctx, c.Company, a.recorded(c)))
	})
}

func (a admin) differences(found []warehouse.Difference, err error) error {
	if err != nil {
		return err
	}
	rows := make([][]any, len(found))
	for i, d := range found {
		rows[i] = []any{d.WarehouseID, d.ProductID, d.VariantID, d.Field, d.Stored, d.Expected}
	}
	return a.write(found, "WAREHOUSE PRODUCT VARIANT FIELD STORED EXPECTED", rows...)
}
