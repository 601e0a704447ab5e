package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

type replayPage struct {
	subscription
	Note web.Note
	Form *web.Form // counts first; nil = the person may not
	Jobs web.Table
	Live string
}

// watchReplays is what the part of the page with replays shows.
func (pages *Pages) watchReplays(ctx context.Context, q *web.Request) (web.ChangeSource, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.ChangeSource{}, err
	}
	if _, err := pages.Webhooks.Replays(ctx, q.Caller, id); err != nil {
		return web.ChangeSource{}, err
	}
	return pages.changesReplays(q, id), nil
}

func (pages *Pages) changesReplays(q *web.Request, id uuid.UUID) web.ChangeSource {
	by := q.Caller
	return web.ChangeSource{Key: "replays " + by.Company.String() + " " + id.String(), Token: func(ctx context.Context) (string, error) {
		all, err := pages.Webhooks.Replays(ctx, by, id)
		token := ""
		for _, j := range all[:min(len(all), shownReplays)] {
			token += j.Status + fmt.Sprint(j.UpdatedAt.Std().UnixMicro())
		}
		return web.Sum(token), err
	}}
}

// shownReplays is how many of the last replays are shown.
const shownReplays = 20

// replayFields are those of the operation; the button says whether it only counts.
func replayFields(q *web.Request, typed url.Values, err error) web.Fields {
	return web.Fields{
		Op: q.Operation("replayWebhookEvents"), Only: []string{"status", "events", "from", "to", "rate"}, Typed: typed, Err: err,
		Help: map[string]string{"status": "", "events": q.T("webhooks.replay.events"), "from": q.T("webhooks.replay.from"), "to": q.T("webhooks.replay.to"), "rate": q.T("webhooks.replay.rate")},
		Pick: map[string][]web.Option{"status": {
			{Value: "failed", Text: q.T("replay.failed")}, {Value: "missed", Text: q.T("replay.missed")}, {Value: "all", Text: q.T("replay.all")},
		}},
	}
}

// replays shows the form of a replay and those that were made. The address may fill the form.
func (pages *Pages) replays(ctx context.Context, q *web.Request, s webhooks.Subscription, head subscription, typed url.Values, refused error) (web.Answer, error) {
	live := web.Renews(ctx, q.Path("/live/replays/"+s.ID.String()), pages.changesReplays(q, s.ID))
	all, err := pages.Webhooks.Replays(ctx, q.Caller, s.ID)
	if err != nil {
		return web.Answer{}, err
	}
	if typed == nil {
		typed = url.Values{}
		for _, name := range []string{"status", "events", "from", "to", "rate"} {
			typed.Set(name, q.Form.Get(name))
		}
	}
	page := q.Path("/webhooks/" + s.ID.String())
	p := replayPage{subscription: head, Live: live, Jobs: replayTable(q, s, all), Note: web.Note{Kind: web.Info, Text: q.T("webhooks.replay.text")}}
	if q.Allows(scope, true) {
		fields := q.FieldsOf(replayFields(q, typed, refused))
		fields[0].Label, fields[4].Label = q.T("webhooks.replay.what"), q.T("webhooks.replay.rate.label")
		p.Form = &web.Form{Post: page + "/replay", Fields: fields, Hidden: map[string]string{"do": "count"}, Button: q.T("webhooks.replay.count"), Fault: q.FormFault(refused, fields)}
	}
	return web.Show("webhooks/replay", nameOf(s), p), nil
}

func replayTable(q *web.Request, s webhooks.Subscription, all []webhooks.StartedReplay) web.Table {
	t := web.Table{
		Label: q.T("webhooks.replays"),
		Columns: []web.Column{
			{Text: q.T("webhooks.replay.began")}, {Text: q.T("webhooks.replay.what")}, {Text: q.T("people.status")}, {Text: q.T("webhooks.replay.progress")}, {Text: q.T("webhooks.replay.found")}, {}, {},
		},
		Empty: web.Empty{Title: q.T("webhooks.replays.none"), Text: q.T("webhooks.replays.none.text")},
	}
	for _, j := range all[:min(len(all), shownReplays)] {
		t.Rows = append(t.Rows, replayRow(q, s, j))
	}
	return t
}

var jobKinds = map[string]string{"pending": web.Warn, "processing": web.Info, "paused": web.Off, "done": web.Good, "failed": web.Bad, "canceled": web.Off}

func replayRow(q *web.Request, s webhooks.Subscription, j webhooks.StartedReplay) []web.Cell {
	what := q.T("replay." + j.Input.Status)
	if j.Input.DryRun {
		what = q.T("webhooks.replay.counts", what)
	}
	state := web.State(jobKinds[j.Status], q.T("job."+j.Status))
	if j.Error != nil && j.Error.Message != "" {
		state = state.With(q.Why(&apierr.Error{Code: j.Error.Code, Message: j.Error.Message}))
	}
	cells := []web.Cell{web.When(q.At(j.CreatedAt.Std())), web.Text(what), state, web.Progress(j.Progress, q.T("webhooks.replay.of", q.Count(j.Processed))), web.Text(foundBy(q, j))}
	if !q.Allows(scope, true) {
		return append(cells, web.Text(""), web.Text(""))
	}
	return append(cells, controls(q, s, j)...)
}

// foundBy says what a replay has found so far.
func foundBy(q *web.Request, j webhooks.StartedReplay) string {
	var sum webhooks.ReplaySummary
	if j.Summary == nil || json.Unmarshal([]byte(*j.Summary), &sum) != nil {
		return ""
	}
	text := q.T("webhooks.replay.selected", q.Count(sum.Selected))
	if !j.Input.DryRun {
		text = q.T("webhooks.replay.sent", q.Count(sum.Sent))
	}
	const shown = 3
	names := slices.Sorted(maps.Keys(sum.Events))
	for i, name := range names {
		if i == shown {
			return text + " …"
		}
		text += fmt.Sprintf(" · %s %d", name, sum.Events[name])
	}
	return text
}

// controls are the buttons of a replay. A count that is done can be made a replay of the same events.
func controls(q *web.Request, s webhooks.Subscription, j webhooks.StartedReplay) []web.Cell {
	at, back := q.Path("/webhooks/replays/"+j.ID.String()), map[string]string{"subscription": s.ID.String()}
	do := func(command string) web.Cell {
		return web.Do(web.Action{Text: q.T("job.do." + command), Post: at + "/" + command, Values: back, Small: true})
	}
	cancel := web.Do(web.Action{ID: "cancel-" + j.ID.String(), Text: q.T("job.do.cancel"), Post: at + "/cancel", Values: back, Kind: "danger", Small: true, Confirm: q.T("webhooks.replay.cancel")})
	switch {
	case j.Status == "paused":
		return []web.Cell{do("resume"), cancel}
	case j.CompletedAt == nil:
		return []web.Cell{do("pause"), cancel}
	case j.Input.DryRun && j.Status == "done":
		var sum webhooks.ReplaySummary
		if j.Summary == nil || json.Unmarshal([]byte(*j.Summary), &sum) != nil || sum.Selected == 0 {
			break
		}
		values := map[string]string{"status": j.Input.Status, "events": strings.Join(j.Input.Events, "\n"), "rate": fmt.Sprint(max(j.Input.Rate, 1))}
		for name, at := range map[string]*jsontype.Time{"from": j.Input.From, "to": j.Input.To} {
			if at != nil && at.Std().Truncate(time.Minute).Equal(at.Std()) { // as it was typed; the default end is the time of the count
				values[name] = q.TimeField("", "", at.Std()).Value
			}
		}
		return []web.Cell{web.Do(web.Action{
			ID: "send-" + j.ID.String(), Text: q.T("webhooks.replay.these", q.Count(sum.Selected)), Post: q.Path("/webhooks/" + s.ID.String() + "/replay"), Values: values, Kind: "primary", Small: true,
			Confirm: q.T("webhooks.replay.confirm", q.Count(sum.Selected), nameOf(s), sum.Seconds),
		}), web.Text("")}
	}
	return []web.Cell{web.Text(""), web.Text("")}
}

// replay starts one, or a count of what it would send.
func (pages *Pages) replay(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.Answer{}, err
	}
	s, err := web.Call[webhooks.Subscription](ctx, q, "getWebhookSubscription", web.ByID(id))
	if err != nil {
		return web.Answer{}, err
	}
	body := q.BodyOf(replayFields(q, q.Form, nil), q.Form)
	done := "replay"
	if q.Form.Get("do") == "count" {
		body["dryRun"], done = true, "count"
	}
	in := web.ByID(id)
	in.Body = body
	started, err := web.Call[job.Record](ctx, q, "replayWebhookEvents", in)
	if web.Refused(err) {
		a, err := pages.replays(ctx, q, s, headOf(q, s, tabReplay), q.Form, err)
		return a.Refuse(), err
	}
	if err != nil {
		return web.Answer{}, err
	}
	pairs := []string{"tab", tabReplay, "done", done}
	if done == "count" {
		for _, name := range []string{"status", "events", "from", "to", "rate"} {
			pairs = append(pairs, name, q.Form.Get(name))
		}
	}
	return web.Started(web.With(q.Path("/webhooks/"+id.String()), pairs...), started.ID), nil
}

// steer pauses, resumes or cancels a replay.
func (pages *Pages) steer(operation string) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		sub, err := q.FormID("subscription")
		if err != nil {
			return web.Answer{}, err
		}
		return call(ctx, q, operation, nil, func(uuid.UUID, job.Record) string {
			if sub == nil {
				return "/webhooks"
			}
			return "/webhooks/" + sub.String() + "?tab=" + tabReplay
		})
	}
}
