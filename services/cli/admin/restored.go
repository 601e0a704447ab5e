package admin

import (
	"context"
	"io"
	"log/slog"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

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
