package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/term"
	"github.com/tradegrid/tradegrid/services/delivery/trigger"
	"github.com/tradegrid/tradegrid/services/roles"
)

// TriggerCmd makes an event happen.
type TriggerCmd struct {
	ClientFlags
	Event string        `arg:"" optional:"" help:"Name of the event, such as order.shipped; without one, those that can be triggered are listed." placeholder:"EVENT"`
	Wait  time.Duration `help:"How long to wait until the event is in the log." default:"30s"`
}

// Run makes the event happen in a test company, and whatever it needs first.
func (c *TriggerCmd) Run(ctx context.Context, out io.Writer) error {
	if c.Event == "" {
		return listTriggers(out)
	}
	event, ok := roles.EventTypes().Lookup(c.Event)
	if !ok {
		return fmt.Errorf("%s: there is no such event; `tradegrid trigger` lists those that can be triggered", c.Event)
	}
	if err := trigger.Check(event); err != nil {
		return err
	}
	api, err := c.client()
	if err != nil {
		return err
	}
	var me struct {
		CompanyName string
		IsTest      bool
	}
	if err := api.call(ctx, http.MethodGet, "/token", nil, &me); err != nil {
		return err
	}
	if !me.IsTest {
		return fmt.Errorf("%s is not a test company: trigger makes records, and would mix them with those of the business; use a token of a test company", me.CompanyName)
	}
	after, err := logEnd(ctx, api)
	if err != nil {
		return err
	}
	run := trigger.New(api.trigger, time.Now())
	run.Each = func(m trigger.Made) { fmt.Fprintf(out, "%s %s → %s\n", m.Method, m.Path, term.Show(m.ID)) }
	if err := run.Cause(ctx, event); err != nil {
		return err
	}
	return c.await(ctx, api, out, run, after)
}

func listTriggers(out io.Writer) error {
	rows := [][]any{}
	for _, e := range roles.EventTypes().All() {
		if len(e.Requests) > 0 {
			rows = append(rows, []any{e.Name, strings.Join(trigger.Requests(e), ", ")})
		}
	}
	for _, e := range roles.EventTypes().All() {
		if len(e.Requests) == 0 {
			rows = append(rows, []any{e.Name, "not: " + e.Raiser})
		}
	}
	return term.Table(out, "EVENT REQUESTS", rows)
}

// trigger is the [trigger.Sender] of a token.
func (c *apiClient) trigger(ctx context.Context, method, path string, body []byte) (status int, answer json.RawMessage, err error) {
	err = c.send(ctx, method, path, body, &answer)
	if refused, ok := errors.AsType[*apiError](err); ok {
		status = refused.Status
	}
	return status, answer, err
}

// logEnd is the place in the event log from which the event will be found; "" when the token may not read the log.
func logEnd(ctx context.Context, api *apiClient) (string, error) {
	var page struct{ NextCursor string }
	err := api.call(ctx, http.MethodGet, "/events", url.Values{"start": {"now"}}, &page)
	if refused, ok := errors.AsType[*apiError](err); ok && refused.Status == http.StatusForbidden {
		return "", nil
	}
	return page.NextCursor, err
}

// await shows the event once it is in the log: the one that names what the run has made.
func (c *TriggerCmd) await(ctx context.Context, api *apiClient, out io.Writer, run *trigger.Run, after string) error {
	switch {
	case c.Event == trigger.Test:
		fmt.Fprintf(out, "%s goes to that subscription alone, and is not in the event log\n", c.Event)
		return nil
	case after == "":
		fmt.Fprintf(out, "%s was caused; the token lacks events:read, so it is not shown\n", c.Event)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.Wait)
	defer cancel()
	f := &feed{feedFlags: feedFlags{Events: []string{c.Event}, Every: 200 * time.Millisecond}, api: api, out: out, cursor: after}
	found := false
	err := f.follow(ctx, func(_ context.Context, e *Logged) error {
		if !found && run.Concerns(e.raw) {
			found = true
			fmt.Fprintln(out, e.line())
			cancel()
		}
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("%s was caused, but is not in the log after %s; look later with `tradegrid events tail --events %s --from %s`", c.Event, c.Wait, c.Event, f.cursor)
	}
	return err
}
