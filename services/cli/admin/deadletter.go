package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/operations"
	"github.com/tradegrid/tradegrid/services/roles"
)

type deadletterCmd struct {
	List      deadletterListCmd      `cmd:"" default:"withargs" help:"List what was given up, newest first."`
	Redeliver deadletterRedeliverCmd `cmd:"" help:"Count what can be sent again; with --yes, send it. Repeats are recognised."`
	Purge     deadletterPurgeCmd     `cmd:"" help:"Count what would be deleted; with --yes, delete it."`
}

// deadletterFlags are those of all subcommands.
type deadletterFlags struct {
	roles.KafkaFlags
	Company *tenant.ID `help:"Only of this company; all by default." placeholder:"UUID"`
}

// with runs a subcommand with the brokers.
func (c *deadletterFlags) with(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd, run func(admin, *operations.Platform) error) error {
	broker, err := c.KafkaConfig("admin", log)
	if err != nil {
		return err
	}
	return all.do(ctx, out, log, func(a admin) error {
		if c.Company != nil {
			if _, err := a.Get(ctx, *c.Company); err != nil {
				return err
			}
		}
		p := a.all.NewPlatform(&broker, log)
		defer p.Close()
		return run(a, p)
	})
}

type deadletterListCmd struct {
	deadletterFlags
	Source string `help:"outbox (events that Kafka does not take), events (records that dispatchers cannot process) or deliveries (that failed for good); all by default." enum:"outbox,events,deliveries," default:""`
	Limit  int    `help:"Maximum number, 1 to 1000." default:"50"`
}

// Run lists the newest.
func (c *deadletterListCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	if c.Limit < 1 || c.Limit > 1000 {
		return fmt.Errorf("--limit %d: must be between 1 and 1000", c.Limit)
	}
	return c.with(ctx, out, log, all, func(a admin, p *operations.Platform) error {
		f := operations.DeadFilter{Source: c.Source, Company: c.Company, Limit: c.Limit}
		if c.Company == nil {
			f.Newest = int64(c.Limit)
		}
		found, missing, err := p.DeadLetters(ctx, f)
		if err = errors.Join(err, missing); err != nil {
			return err
		}
		return a.write(found, "SOURCE AT COMPANY SUBSCRIPTION EVENT EVENT-ID REASON BYTES PLACE ERROR", cellsOf(found, func(l operations.DeadLetter) []any {
			return []any{l.Source, l.At.Format(time.RFC3339), idOrDash(l.CompanyID), idOrDash(l.SubscriptionID), l.Event, idOrDash(l.EventID), l.Reason, l.Bytes, l.Place, l.Error}
		})...)
	})
}

func idOrDash[T fmt.Stringer](id *T) string {
	if id == nil {
		return "-"
	}
	return (*id).String()
}

type deadletterRedeliverCmd struct {
	deadletterFlags
	Source string `help:"outbox (publish again what Kafka did not take), events (publish again, from the event log, what dispatchers could not process) or deliveries (send again what failed and was not sent again since)." enum:"outbox,events,deliveries" required:""`
	Yes    bool   `help:"Send; without it, only count."`
}

// Run sends again.
func (c *deadletterRedeliverCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return c.with(ctx, out, log, all, func(a admin, p *operations.Platform) error {
		var record operations.Recorded
		if c.Yes {
			record = a.recorded(c)
		}
		done, err := p.Redeliver(ctx, operations.DeadFilter{Source: c.Source, Company: c.Company}, record)
		if err = errors.Join(err, a.write(done, "SOURCE FOUND SENT NOT-POSSIBLE", []any{done.Source, done.Found, done.Sent, done.Without})); err != nil || c.Yes || a.asJSON {
			return err
		}
		_, err = fmt.Fprintln(out, "Nothing was sent. Add --yes to send.")
		return err
	})
}

type deadletterPurgeCmd struct {
	roles.KafkaFlags
	Source string     `help:"outbox, events or deliveries." enum:"outbox,events,deliveries" required:""`
	Before *time.Time `help:"Only what was given up until then; everything by default." placeholder:"TIME"`
	Yes    bool       `help:"Delete; without it, only count."`
}

// Run deletes. Deliveries and the event log keep what they have.
func (c *deadletterPurgeCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	before := time.Now()
	if c.Before != nil {
		before = *c.Before
	}
	flags := deadletterFlags{KafkaFlags: c.KafkaFlags}
	return flags.with(ctx, out, log, all, func(a admin, p *operations.Platform) error {
		var record operations.Recorded
		if c.Yes {
			record = a.recorded(c)
		}
		done, err := p.Purge(ctx, c.Source, before, record)
		if err != nil {
			return err
		}
		if err := a.write(done, "SOURCE FOUND DELETED", []any{done.Source, done.Found, done.Deleted}); err != nil || c.Yes || a.asJSON {
			return err
		}
		_, err = fmt.Fprintln(out, "Nothing was deleted. Add --yes to delete.")
		return err
	})
}
