package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/operations"
	"github.com/tradegrid/tradegrid/services/roles"
)

type pipelineCmd struct{ roles.KafkaFlags }

// Run shows hop by hop what is under way, from the outbox to the receivers.
func (c *pipelineCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	broker, err := c.KafkaConfig("admin", log)
	if err != nil {
		return err
	}
	return all.do(ctx, out, log, func(a admin) error {
		p := a.all.NewPlatform(&broker, log)
		defer p.Close()
		s, missing, err := p.Pipeline(ctx)
		if err = errors.Join(err, missing); err != nil {
			return err
		}
		if a.asJSON {
			return a.write(s, "")
		}
		now := time.Now()
		return errors.Join(
			a.write(nil, "OUTBOX OLDEST DEAD", []any{s.OutboxRows, ageOf(s.OutboxOldest, now), s.OutboxDead}), a.gap(),
			a.write(nil, "GROUP STATE MEMBERS LAG UNOWNED", cellsOf(s.Groups, func(g operations.GroupLag) []any { return []any{g.Group, g.State, g.Members, g.Lag, g.Unowned} })...), a.gap(),
			a.write(nil, "DELIVERIES-WAITING-FOR COUNT OLDEST", cellsOf(s.Waiting, func(w store.WaitingCount) []any { return []any{w.For, w.Count, ageOf(&w.Oldest, now)} })...), a.gap(),
			a.write(nil, "OPEN-CIRCUIT COMPANY URL FAILING-FOR NEXT-ATTEMPT-IN", cellsOf(s.OpenCircuits, func(r store.OpenCircuit) []any {
				return []any{r.SubscriptionID, r.CompanyID, r.URL, ageOf(r.FailingSince, now), untilOf(r.OpenUntil, now)}
			})...),
		)
	})
}

// gap separates two tables.
func (a admin) gap() error {
	_, err := fmt.Fprintln(a.out)
	return err
}

func cellsOf[T any](all []T, row func(T) []any) [][]any {
	rows := make([][]any, len(all))
	for i, v := range all {
		rows[i] = row(v)
	}
	return rows
}

func ageOf(at *time.Time, now time.Time) string {
	if at == nil {
		return "-"
	}
	return now.Sub(*at).Round(time.Second).String()
}

func untilOf(at *time.Time, now time.Time) string {
	if at == nil || !at.After(now) {
		return "-"
	}
	return at.Sub(now).Round(time.Second).String()
}

type processesCmd struct{}

// Run lists the processes that have announced themselves in the last minute.
func (*processesCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return all.do(ctx, out, log, func(a admin) error {
		found, err := a.all.NewPlatform(nil, log).Processes(ctx)
		if err != nil {
			return err
		}
		rows := make([][]any, len(found))
		for i, p := range found {
			rows[i] = []any{p.Role, p.Node, p.Release, p.StartedAt, p.SeenAt}
		}
		return a.write(found, "ROLE NODE RELEASE STARTED SEEN", rows...)
	})
}

type restoredCmd struct {
	Cause string `help:"What was restored and why, such as the time of the backup; shown in /readyz and the log." default:"tradegrid admin restored"`
}

func (c *restoredCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return all.do(ctx, out, log, func(a admin) error {
		var before, now outbox.Epoch
		err := a.all.DB.RunTx(ctx, "admin.restored", func(ctx context.Context, tx *db.Tx) (err error) {
			if before, err = outbox.CurrentEpoch(ctx, tx); err != nil {
				return err
			}
			if now, err = outbox.BeginEpoch(ctx, tx, before, c.Cause); err != nil {
				return err
			}
			if err := a.all.Accounts.EndAll(ctx, tx); err != nil {
				return err
			}
			return a.record(tx, "databaseRestored", c, tenant.ID{}, nil)
		})
		if err != nil {
			return err
		}
		return a.write(map[string]any{"before": before.Number, "epoch": now.Number, "beganAt": now.BeganAt}, "BEFORE EPOCH BEGAN", []any{before.Number, now.Number, now.BeganAt})
	})
}
