package admin

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/operations"
)

type companyUsageCmd struct {
	Company tenant.ID `help:"Company." required:"" placeholder:"UUID"`
	Days    int       `help:"How many days (UTC), today included, 1 to 30." default:"7"`
}

// Run counts what is stored. Nothing is recorded for it.
func (c *companyUsageCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	if c.Days < 1 || c.Days > 30 {
		return fmt.Errorf("--days %d: must be between 1 and 30", c.Days)
	}
	return all.do(ctx, out, log, func(a admin) error {
		if _, err := a.Get(ctx, c.Company); err != nil {
			return err
		}
		found, err := a.all.NewPlatform(nil, log).Usage(ctx, c.Company, c.Days, time.Now())
		if err != nil {
			return err
		}
		return a.write(found, "DAY REQUESTS REFUSED EVENTS EVENT-BYTES DELIVERIES ARRIVED FAILED ATTEMPTS", cellsOf(found, func(u operations.Usage) []any {
			return []any{u.Day, orDash(u.Requests), orDash(u.Refused), u.Events, u.Bytes, u.Deliveries, u.Arrived, u.Failed, u.Attempts}
		})...)
	})
}

func orDash(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}
