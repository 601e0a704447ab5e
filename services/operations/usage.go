package operations

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/quota"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
	"github.com/tradegrid/tradegrid/services/platform/requests"
)

// Usage is what a company did on a day.
type Usage struct {
	Day      string `json:"day"`
	Requests *int64 `json:"requests"` // null = no longer in the request log
	Refused  *int64 `json:"refused"`
	Events   int64  `json:"events"`
	Bytes    int64  `json:"eventBytes"`
	webhooks.DeliveryCount
}

// Usage counts by day (UTC) what is stored of the last days, today included. It reads an hour at a time, so that no statement takes
// long.
func (p *Platform) Usage(ctx context.Context, company tenant.ID, days int, now time.Time) ([]Usage, error) {
	subs, err := p.cfg.Deliveries.Delivered(ctx, company)
	if err != nil {
		return nil, err
	}
	now = now.UTC()
	found := make([]Usage, days)
	for i := range found {
		day := now.Truncate(24*time.Hour).AddDate(0, 0, i+1-days)
		if found[i], err = p.usageOf(ctx, company, subs, day, now); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (p *Platform) usageOf(ctx context.Context, company tenant.ID, subs []uuid.UUID, day, now time.Time) (u Usage, err error) {
	u = Usage{Day: day.Format(time.DateOnly)}
	var sent, refused int64
	for from := day; from.Before(day.AddDate(0, 0, 1)) && from.Before(now); from = from.Add(time.Hour) {
		to := from.Add(time.Hour)
		n, bad, err := requests.Count(ctx, p.cfg.DB, company, from, to)
		if err != nil {
			return u, err
		}
		events, bytes, err := outbox.MeasureLog(ctx, p.cfg.DB, company, from, to)
		if err != nil {
			return u, err
		}
		c, err := p.cfg.Deliveries.CountDeliveries(ctx, company, subs, from, to)
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

// Stored returns the bytes that a company keeps and that count towards a quota, by kind.
func (p *Platform) Stored(ctx context.Context, company tenant.ID, now time.Time) (map[string]int64, error) {
	return quota.Stored(ctx, p.cfg.DB, company, now)
}
