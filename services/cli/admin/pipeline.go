package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

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
