package admin

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
	"github.com/tradegrid/tradegrid/services/operations"
)

type deliveriesCmd struct {
	List deliveriesListCmd `cmd:"" default:"withargs" help:"List deliveries of all companies or of one, those of the newest events first."`
	Show deliveriesShowCmd `cmd:"" help:"Show a delivery with its payload and attempts."`
}

type deliveriesListCmd struct {
	Company      *tenant.ID    `help:"Only this company; all by default." placeholder:"UUID"`
	Subscription *uuid.UUID    `help:"Only this subscription of the company, also one that was deleted." placeholder:"UUID"`
	Status       string        `help:"pending, delivering, success or failed." enum:"pending,delivering,success,failed," default:""`
	Answer       string        `help:"Status class of the last attempt: 2xx, 3xx, 4xx, 5xx or none." enum:"2xx,3xx,4xx,5xx,none," default:""`
	Events       []string      `help:"Names of events and prefixes such as order.*; all by default."`
	From         *time.Time    `help:"Earliest time of the events; by default as long ago as --last says." placeholder:"TIME"`
	To           *time.Time    `help:"Latest time of the events; now by default." placeholder:"TIME"`
	Last         time.Duration `help:"How far to look back without --from." default:"24h"`
	Limit        int           `help:"Maximum number, 1 to 1000." default:"50"`
}

func (c *deliveriesListCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	switch {
	case c.Subscription != nil && c.Company == nil:
		return fmt.Errorf("--subscription: needs --company")
	case c.Limit < 1 || c.Limit > 1000:
		return fmt.Errorf("--limit %d: must be between 1 and 1000", c.Limit)
	}
	return all.do(ctx, out, log, func(a admin) error {
		if c.Company != nil {
			if _, err := a.Get(ctx, *c.Company); err != nil {
				return err
			}
		}
		newest, _, err := a.all.NewPlatform(nil, log).FindDeliveries(ctx, c.filter())
		if err != nil {
			return err
		}
		rows := make([][]any, len(newest))
		for i, d := range newest {
			answer := "-"
			if d.HTTPCode != nil {
				answer = fmt.Sprint(*d.HTTPCode)
			}
			rows[i] = []any{d.CompanyID, d.SubscriptionID, d.ID, d.CreatedAt.String(), d.Event, d.Status, d.Attempt, answer, d.ErrorMessage}
		}
		return a.write(newest, "COMPANY SUBSCRIPTION DELIVERY CREATED EVENT STATUS ATTEMPTS ANSWER ERROR", rows...)
	})
}

func (c *deliveriesListCmd) filter() operations.DeliveryFilter {
	from := list.From(time.Now().Add(-c.Last))
	if c.From != nil {
		from = list.From(*c.From)
	}
	f := operations.DeliveryFilter{
		Company: c.Company, Limit: c.Limit,
		DeliveryQuery: webhooks.DeliveryQuery{SubscriptionID: c.Subscription, Status: c.Status, Answer: c.Answer, Events: c.Events, DateFrom: &from},
	}
	if c.To != nil {
		to := list.To(*c.To)
		f.DateTo = &to
	}
	return f
}

type deliveriesShowCmd struct {
	Company  tenant.ID `help:"Company." required:"" placeholder:"UUID"`
	Delivery uuid.UUID `arg:"" help:"Id of the delivery."`
}

func (c *deliveriesShowCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return all.do(ctx, out, log, func(a admin) error {
		if _, err := a.Get(ctx, c.Company); err != nil {
			return err
		}
		by, err := a.replayer(ctx, c.Company)
		if err != nil {
			return err
		}
		d, err := a.all.Webhooks.Delivery(ctx, by, c.Delivery)
		if err != nil {
			return err
		}
		a.asJSON = true // a table has no room for a payload
		return a.write(d, "")
	})
}
