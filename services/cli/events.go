package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/term"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// feedFlags say which events are wanted.
type feedFlags struct {
	Events []string      `help:"Names of events and prefixes such as order.*; all by default."`
	Filter string        `help:"Filter, as subscriptions have it: JSON with paths into the envelope and the values that must stand there." placeholder:"JSON"`
	From   string        `help:"Cursor of the event log to go on from; by default only what happens from now on." placeholder:"CURSOR"`
	Every  time.Duration `help:"Pause between two looks for new events." default:"1s"`
}

// feed follows the event log.
type feed struct {
	feedFlags
	api    *apiClient
	out    io.Writer
	filter *webhook.Filter
	cursor string
}

func (f feedFlags) open(api *apiClient, out io.Writer) (*feed, error) {
	filter, faults := webhook.CompileFilter([]byte(f.Filter))
	if len(faults) > 0 {
		return nil, fmt.Errorf("--filter: %s %s", faults[0].Key, faults[0].Message)
	}
	return &feed{feedFlags: f, api: api, out: out, filter: filter, cursor: f.From}, nil
}

// Logged is an event of the log. Raw is the body that receivers get, byte for byte.
type Logged struct {
	Event      string
	EventID    uuid.UUID
	CompanyID  uuid.UUID
	OccurredAt string
	Data       struct {
		ID      any
		Version any
	}
	raw json.RawMessage
}

// line describes the event.
func (e *Logged) line() string {
	return fmt.Sprintf("%s  %-28s %s  %s", e.OccurredAt, e.Event, e.EventID, term.Show(cmp.Or(fmt.Sprint(e.Data.ID), "-")))
}

// follow hands over each event in order, until ctx is done, the API refuses, or handle fails. While the API cannot be reached it
// waits; then it goes on where it was.
func (f *feed) follow(ctx context.Context, handle func(context.Context, *Logged) error) error {
	pause := f.Every
	for {
		more, err := f.page(ctx, handle)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was interrupted
		}
		switch {
		case err == nil:
			if pause = f.Every; more {
				continue
			}
		case ended(err):
			if f.cursor != "" {
				return fmt.Errorf("%w; go on with --from %s", err, f.cursor)
			}
			return err
		default:
			fmt.Fprintf(f.out, "waiting: %v\n", err)
			pause = min(2*max(pause, time.Second), 30*time.Second)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// page reads the next page and hands its events over.
func (f *feed) page(ctx context.Context, handle func(context.Context, *Logged) error) (more bool, err error) {
	query := url.Values{"limit": {"200"}}
	if f.cursor == "" {
		query.Set("start", "now")
	} else {
		query.Set("cursor", f.cursor)
	}
	if len(f.Events) > 0 {
		query.Set("events", strings.Join(f.Events, ","))
	}
	var page struct {
		Items      []json.RawMessage
		NextCursor string
		HasMore    bool
	}
	if err := f.api.call(ctx, http.MethodGet, "/events", query, &page); err != nil {
		return false, err
	}
	for _, raw := range page.Items {
		e := &Logged{raw: raw}
		if err := json.Unmarshal(raw, e); err != nil {
			return false, fmt.Errorf("read event: %w", err)
		}
		if !f.filter.Match(webhook.NewDoc(raw)) {
			continue
		}
		if err := handle(ctx, e); err != nil {
			return false, err
		}
	}
	f.cursor = page.NextCursor
	return page.HasMore, nil
}

// EventsCmd works with the event log.
type EventsCmd struct {
	Tail EventsTailCmd `cmd:"" help:"Follow the event log."`
}

// EventsTailCmd shows events as they happen.
type EventsTailCmd struct {
	ClientFlags
	feedFlags
	JSON bool `name:"json" help:"Write each event as a line of JSON, byte for byte as receivers get it."`
}

// Run follows the log until it is interrupted.
func (c *EventsTailCmd) Run(ctx context.Context, out io.Writer) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	f, err := c.open(api, out)
	if err != nil {
		return err
	}
	return f.follow(ctx, func(_ context.Context, e *Logged) error {
		if c.JSON {
			_, err := fmt.Fprintf(out, "%s\n", e.raw)
			return err
		}
		_, err := fmt.Fprintln(out, e.line())
		return err
	})
}

// DeliveriesCmd works with deliveries.
type DeliveriesCmd struct {
	List      DeliveriesListCmd      `cmd:"" help:"List deliveries, newest event first."`
	Show      DeliveriesShowCmd      `cmd:"" help:"Show a delivery with its payload and attempts."`
	Redeliver DeliveriesRedeliverCmd `cmd:"" help:"Send a delivery again."`
}

// DeliveriesListCmd lists deliveries.
type DeliveriesListCmd struct {
	ClientFlags
	Subscription string `help:"Only those of this subscription." placeholder:"UUID"`
	Status       string `help:"pending, delivering, success or failed." enum:"pending,delivering,success,failed," default:""`
	Answer       string `help:"Status class of the last attempt: 2xx, 3xx, 4xx, 5xx or none." enum:"2xx,3xx,4xx,5xx,none," default:""`
	Event        string `help:"Only those of this event." placeholder:"UUID"`
	Entity       string `help:"Only those of the events of this record." placeholder:"UUID"`
	Limit        int    `help:"Maximum number, 1 to 200." default:"50"`
	JSON         bool   `name:"json" help:"Write the answer of the API."`
}

// delivery is what a line shows.
type delivery struct {
	ID, EventID, Event, Status string
	Attempt                    int
	HTTPCode                   *int
	WaitingFor, NextAttemptAt  *string
	CreatedAt                  string
}

// Run lists one page.
func (c *DeliveriesListCmd) Run(ctx context.Context, out io.Writer) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	query := url.Values{"limit": {fmt.Sprint(c.Limit)}}
	for name, value := range map[string]string{"subscriptionId": c.Subscription, "status": c.Status, "answer": c.Answer, "eventId": c.Event, "entityId": c.Entity} {
		if value != "" {
			query.Set(name, value)
		}
	}
	var raw json.RawMessage
	if err := api.call(ctx, http.MethodGet, "/webhooks/deliveries", query, &raw); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(out, raw)
	}
	var page struct {
		Items   []delivery
		HasMore bool
	}
	if err := json.Unmarshal(raw, &page); err != nil {
		return fmt.Errorf("read the answer of the API: %w", err)
	}
	rows := make([][]any, len(page.Items))
	for i, d := range page.Items {
		code := "-"
		if d.HTTPCode != nil {
			code = fmt.Sprint(*d.HTTPCode)
		}
		rows[i] = []any{d.ID, d.CreatedAt, d.Event, d.Status, d.Attempt, code, d.WaitingFor, d.NextAttemptAt}
	}
	if err := term.Table(out, "ID CREATED EVENT STATUS ATTEMPTS ANSWER WAITING-FOR NEXT-ATTEMPT", rows); err != nil {
		return err
	}
	if page.HasMore {
		fmt.Fprintln(out, "there are more: narrow the list, or raise --limit")
	}
	return nil
}

// ofDelivery names a delivery.
type ofDelivery struct {
	ClientFlags
	Delivery uuid.UUID `arg:"" help:"Id of the delivery."`
}

// ask calls an operation on the delivery and shows the answer.
func (c ofDelivery) ask(ctx context.Context, out io.Writer, method, command string) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if err := api.call(ctx, method, "/webhooks/deliveries/"+c.Delivery.String()+command, nil, &raw); err != nil {
		return err
	}
	return printJSON(out, raw)
}

// DeliveriesShowCmd shows a delivery.
type DeliveriesShowCmd struct{ ofDelivery }

// Run shows it.
func (c *DeliveriesShowCmd) Run(ctx context.Context, out io.Writer) error {
	return c.ask(ctx, out, http.MethodGet, "")
}

// DeliveriesRedeliverCmd sends a delivery again.
type DeliveriesRedeliverCmd struct{ ofDelivery }

// Run starts the redelivery and shows it.
func (c *DeliveriesRedeliverCmd) Run(ctx context.Context, out io.Writer) error {
	return c.ask(ctx, out, http.MethodPost, "/redeliver")
}

// ExplainCmd explains what became of an event.
type ExplainCmd struct {
	ClientFlags
	Event        uuid.UUID `arg:"" help:"Id of the event."`
	Subscription string    `help:"Only for this subscription." placeholder:"UUID"`
	JSON         bool      `name:"json" help:"Write the answer of the API."`
}

// Run explains it for each subscription.
func (c *ExplainCmd) Run(ctx context.Context, out io.Writer) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if err := api.call(ctx, http.MethodGet, "/events/"+c.Event.String()+"/deliveries", nil, &raw); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(out, raw)
	}
	var page struct {
		Items []struct {
			SubscriptionID, Outcome, Message string
			Reason                           *string
		}
	}
	if err := json.Unmarshal(raw, &page); err != nil {
		return fmt.Errorf("read the answer of the API: %w", err)
	}
	known := false
	for _, e := range page.Items {
		if c.Subscription != "" && !strings.EqualFold(e.SubscriptionID, c.Subscription) {
			continue
		}
		known = true
		fmt.Fprintf(out, "%s  %s %s\n    %s\n", e.SubscriptionID, e.Outcome, term.Show(e.Reason), e.Message)
	}
	switch {
	case c.Subscription != "" && !known:
		return fmt.Errorf("--subscription: the company has no subscription %s", c.Subscription)
	case len(page.Items) == 0:
		return errors.New("the company has no subscriptions: nothing is sent")
	}
	return nil
}
