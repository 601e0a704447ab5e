package admin

import (
	"context"
	"io"
	"log/slog"
)

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
