package admin

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

type replayCmd struct {
	Start  replayStartCmd  `cmd:"" default:"withargs" help:"Count the events of an interval that would be sent again; with --yes, start a replay for each subscription that has some."`
	List   replayListCmd   `cmd:"" help:"List the replays that have not ended, those that companies started, too."`
	Pause  replayPauseCmd  `cmd:"" help:"Pause replays."`
	Resume replayResumeCmd `cmd:"" help:"Resume paused replays."`
	Cancel replayCancelCmd `cmd:"" help:"Cancel replays."`
}

type replayStartCmd struct {
	From         time.Time  `help:"Earliest time of the events, such as 2026-11-23T08:00:00Z." required:"" placeholder:"TIME"`
	To           *time.Time `help:"Latest time of the events; now by default." placeholder:"TIME"`
	Company      *tenant.ID `help:"Only this company; all by default." placeholder:"UUID"`
	Subscription *uuid.UUID `help:"Only this subscription of the company." placeholder:"UUID"`
	Status       string     `help:"What is sent again: failed, missed (these, and what occurred while the subscription was disabled) or all." enum:"failed,missed,all" default:"missed"`
	Rate         int        `help:"Events a second and subscription at most, 1 to 500." default:"50"`
	Yes          bool       `help:"Start the replays; without it, nothing is sent."`
}

// Replayed is a line of the answer.
type Replayed struct {
	CompanyID      tenant.ID  `json:"companyId"`
	SubscriptionID uuid.UUID  `json:"subscriptionId"`
	Selected       int64      `json:"selected"`
	Seconds        int64      `json:"seconds"`
	JobID          *uuid.UUID `json:"jobId"` // null = nothing was started
	Refused        string     `json:"refused,omitempty"`
}

// replayer is an operator who acts for a company and may send whatever its subscriptions carry.
func (a admin) replayer(ctx context.Context, company tenant.ID) (access.Caller, error) {
	components, err := a.all.ComponentsOf(ctx, []tenant.ID{company})
	return access.Caller{Principal: &access.Principal{Company: company, Scopes: access.Scopes{"*:write"}, Components: components[company]}}, err
}

func (c *replayStartCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	switch {
	case c.Subscription != nil && c.Company == nil:
		return fmt.Errorf("--subscription: needs --company")
	case c.Rate < 1 || c.Rate > 500:
		return fmt.Errorf("--rate %d: must be between 1 and 500", c.Rate)
	case c.To != nil && c.From.After(*c.To):
		return fmt.Errorf("--from %s: must not be after --to", c.From.Format(time.RFC3339))
	}
	return all.do(ctx, out, log, func(a admin) error {
		found := []Replayed{}
		if err := a.eachCompany(ctx, c.Company, func(company tenant.ID) error {
			some, err := c.ofCompany(ctx, a, company)
			found = append(found, some...)
			return err
		}); err != nil {
			return err
		}
		rows := make([][]any, len(found))
		for i, r := range found {
			id := ""
			if r.JobID != nil {
				id = r.JobID.String()
			}
			rows[i] = []any{r.CompanyID, r.SubscriptionID, r.Selected, time.Duration(r.Seconds) * time.Second, id, r.Refused}
		}
		if err := a.write(found, "COMPANY SUBSCRIPTION EVENTS TAKES JOB REFUSED", rows...); err != nil || a.asJSON {
			return err
		}
		if !c.Yes && len(found) > 0 {
			_, err := fmt.Fprintln(out, "Nothing was sent. Add --yes to start.")
			return err
		}
		return nil
	})
}

// eachCompany calls do for one company, or for all.
func (a admin) eachCompany(ctx context.Context, one *tenant.ID, do func(tenant.ID) error) error {
	if one != nil {
		if _, err := a.Get(ctx, *one); err != nil {
			return err
		}
		return do(*one)
	}
	for after := (tenant.ID{}); ; {
		ids, err := a.IDs(ctx, after)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			if err := do(id); err != nil {
				return err
			}
		}
		after = ids[len(ids)-1]
	}
}

// ofCompany counts what is to be sent to each subscription of a company, and starts the replays. A subscription that needs
// none is left out.
func (c *replayStartCmd) ofCompany(ctx context.Context, a admin, company tenant.ID) (found []Replayed, err error) {
	by, err := a.replayer(ctx, company)
	if err != nil {
		return nil, err
	}
	subs, err := a.all.Webhooks.Subscriptions(ctx, by, webhooks.SubscriptionFilter{Params: list.Params{PageSize: access.MaxSubscriptions}})
	if err != nil {
		return nil, err
	}
	from := jsontype.At(c.From)
	in := webhooks.ReplayInput{From: &from, Status: c.Status, Rate: c.Rate}
	if c.To != nil {
		to := jsontype.At(*c.To)
		in.To = &to
	}
	for _, sub := range subs.Items {
		if c.Subscription != nil && *c.Subscription != sub.ID {
			continue
		}
		summary, err := a.all.Webhooks.CountReplay(ctx, by, sub.ID, in)
		if err != nil {
			return found, err
		}
		if summary.Selected == 0 {
			continue
		}
		r := Replayed{CompanyID: company, SubscriptionID: sub.ID, Selected: summary.Selected, Seconds: summary.Seconds}
		if c.Yes {
			if err := c.start(ctx, a, by, in, &r); err != nil {
				return found, err
			}
		}
		found = append(found, r)
	}
	return found, nil
}

// start starts a replay. A company with too many jobs refuses it, and the next one goes on.
func (c *replayStartCmd) start(ctx context.Context, a admin, by access.Caller, in webhooks.ReplayInput, r *Replayed) error {
	started, err := audited(ctx, a, "replayWebhookEvents", c, by.Company, func(ctx context.Context, tx *db.Tx, _ access.Caller) (job.Record, error) {
		return a.all.Webhooks.Replay(ctx, tx, by, r.SubscriptionID, in)
	})
	if f, ok := apierr.As(err); ok {
		r.Refused = f.Message
		return nil
	}
	r.JobID = &started.ID
	return err
}

// maxReplays bounds what is listed and stopped at once.
const maxReplays = 1000

type replayListCmd struct{}

func (*replayListCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return all.do(ctx, out, log, func(a admin) error {
		found, err := job.Unfinished(ctx, a.all.DB, webhooks.ReplayJob, maxReplays)
		if err != nil {
			return err
		}
		return a.replays(found)
	})
}

func (a admin) replays(found []job.Record) error {
	rows := make([][]any, len(found))
	for i, r := range found {
		summary := ""
		if r.Summary != nil {
			summary = string(*r.Summary)
		}
		rows[i] = []any{r.CompanyID, r.ID, r.Status, r.Progress, r.Processed, r.CreatedAt, summary}
	}
	return a.write(found, "COMPANY JOB STATUS PERCENT PROCESSED STARTED SUMMARY", rows...)
}

// replaySelection is the replays that a command stops or resumes.
type replaySelection struct {
	Company *tenant.ID `help:"Only replays of this company." placeholder:"UUID"`
	Job     *uuid.UUID `help:"Only this replay." placeholder:"UUID"`
	All     bool       `help:"All replays of all companies."`
}

type (
	replayPauseCmd  struct{ replaySelection }
	replayResumeCmd struct{ replaySelection }
	replayCancelCmd struct{ replaySelection }
)

func (c *replayPauseCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return c.control(ctx, out, log, all, "pauseJob", c, job.Pause)
}

func (c *replayResumeCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return c.control(ctx, out, log, all, "resumeJob", c, job.Resume)
}

func (c *replayCancelCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return c.control(ctx, out, log, all, "cancelJob", c, job.Cancel)
}

// control does the same with each of the replays, and shows what became of them.
func (w replaySelection) control(
	ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd, operation string, command any,
	do func(context.Context, *db.Tx, access.Caller, uuid.UUID) (job.Record, error),
) error {
	if w.Company == nil && w.Job == nil && !w.All {
		return fmt.Errorf("--company, --job or --all: say which replays")
	}
	return all.do(ctx, out, log, func(a admin) error {
		found, err := job.Unfinished(ctx, a.all.DB, webhooks.ReplayJob, maxReplays)
		if err != nil {
			return err
		}
		done := []job.Record{}
		for _, r := range found {
			if (w.Company != nil && *w.Company != r.CompanyID) || (w.Job != nil && *w.Job != r.ID) {
				continue
			}
			by, err := a.replayer(ctx, r.CompanyID)
			if err != nil {
				return err
			}
			r, err := audited(ctx, a, operation, command, r.CompanyID, func(ctx context.Context, tx *db.Tx, _ access.Caller) (job.Record, error) {
				return do(ctx, tx, by, r.ID)
			})
			if apierr.Is(err, "JOB_HAS_ENDED") {
				continue // just now
			}
			if err != nil {
				return err
			}
			done = append(done, r)
		}
		return a.replays(done)
	})
}
