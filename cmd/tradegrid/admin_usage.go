package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/outbox"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/services/requests"
	"github.com/tradegrid/tradegrid/services/webhooks"
)

type companyUsageCmd struct {
	Company tenant.ID `help:"Company." required:"" placeholder:"UUID"`
	Days    int       `help:"How many days (UTC), today included, 1 to 30." default:"7"`
}

// usage is what the company did on a day.
type usage struct {
	Day      string `json:"day"`
	Requests *int64 `json:"requests"` // null = no longer in the request log
	Refused  *int64 `json:"refused"`
	Events   int64  `json:"events"`
	Bytes    int64  `json:"eventBytes"`
	webhooks.DeliveryCount
}

// Run counts what is stored, an hour at a time, so that no statement takes long. Nothing is recorded for it.
func (c *companyUsageCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *AdminCmd) error {
	if c.Days < 1 || c.Days > 30 {
		return fmt.Errorf("--days %d: must be between 1 and 30", c.Days)
	}
	return all.do(ctx, out, log, func(a admin) error {
		if _, err := a.Get(ctx, c.Company); err != nil {
			return err
		}
		subs, err := a.all.webhooks.Delivered(ctx, c.Company)
		if err != nil {
			return err
		}
		now := time.Now().UTC()
		found := make([]usage, c.Days)
		rows := make([][]any, c.Days)
		for i := range found {
			day := now.Truncate(24*time.Hour).AddDate(0, 0, i+1-c.Days)
			u, err := a.usage(ctx, c.Company, subs, day, now)
			if err != nil {
				return err
			}
			found[i] = u
			rows[i] = []any{u.Day, orDash(u.Requests), orDash(u.Refused), u.Events, u.Bytes, u.Deliveries, u.Arrived, u.Failed, u.Attempts}
		}
		return a.write(found, "DAY REQUESTS REFUSED EVENTS EVENT-BYTES DELIVERIES ARRIVED FAILED ATTEMPTS", rows...)
	})
}

func orDash(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

func (a admin) usage(ctx context.Context, company tenant.ID, subs []uuid.UUID, day, now time.Time) (u usage, err error) {
	u = usage{Day: day.Format(time.DateOnly)}
	var sent, refused int64
	for hour := range 24 {
		from := day.Add(time.Duration(hour) * time.Hour)
		to := from.Add(time.Hour)
		n, bad, err := requests.Count(ctx, a.all.db, company, from, to)
		if err != nil {
			return u, err
		}
		events, bytes, err := outbox.MeasureLog(ctx, a.all.db, company, from, to)
		if err != nil {
			return u, err
		}
		c, err := a.all.webhooks.CountDeliveries(ctx, company, subs, from, to)
		if err != nil {
			return u, err
		}
		sent, refused, u.Events, u.Bytes = sent+n, refused+bad, u.Events+events, u.Bytes+bytes
		u.DeliveryCount = u.Add(c)
	}
	if day.After(now.Add(-requests.Kept)) {
		u.Requests, u.Refused = &sent, &refused
	}
	return u, nil
}
