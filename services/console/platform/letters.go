package platform

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/operations"
)

type lettersPage struct {
	Header  web.Header
	Note    *web.Note // what an action did
	Brokers *web.Note
	Tabs    []web.Tab
	About   string // what the source is, and what its actions do
	Actions []web.Action
	Table   web.Table
}

const (
	lettersShown = 50
	// lettersRead bounds how many of each partition of a topic are read.
	lettersRead = 200
	// actWithin bounds an action: it leaves time for the page that says what it did.
	actWithin = 8 * time.Second
)

// deadLetters lists what the platform gave up.
func (pages *Pages) deadLetters(ctx context.Context, q *web.Request) (web.Answer, error) {
	return pages.lettersOf(ctx, q, web.OneOf(q.Form.Get("source"), operations.Sources()), nil)
}

func (pages *Pages) lettersOf(ctx context.Context, q *web.Request, source string, did *web.Note) (web.Answer, error) {
	within, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	found, brokers, err := pages.Platform.DeadLetters(within, operations.DeadFilter{Source: source, Limit: lettersShown, Newest: lettersRead})
	if err != nil {
		return web.Answer{}, err
	}
	p := lettersPage{
		Header: web.Header{Title: q.T("area.dead_letters"), Facts: q.T("platform.letters.intro", lettersShown)}, Note: did, Brokers: brokersNote(q, brokers),
		About: q.T("platform.letters.all.about"), Tabs: []web.Tab{{Text: q.T("platform.letters.all"), Href: "/platform/dead-letters", Current: source == ""}},
	}
	for _, s := range operations.Sources() {
		p.Tabs = append(p.Tabs, web.Tab{Text: q.T("platform.letters." + s), Href: "/platform/dead-letters?source=" + s, Current: s == source})
	}
	if source != "" {
		p.About = q.T("platform.letters." + source + ".about")
		if q.Allows("*", true) && brokers == nil && len(found) > 0 {
			p.Actions = lettersActions(q, source)
		}
	}
	p.Table, err = pages.letterTable(ctx, q, found)
	return web.Show("platform/letters", q.T("area.dead_letters"), p), err
}

func lettersActions(q *web.Request, source string) []web.Action {
	of := map[string]string{"source": source}
	return []web.Action{
		{ID: "redeliver", Text: q.T("platform.redeliver"), Post: "/platform/dead-letters/redeliver", Values: of, Confirm: q.T("platform.letters." + source + ".redeliver")},
		{ID: "purge", Text: q.T("platform.purge"), Post: "/platform/dead-letters/purge", Kind: "danger", Values: of, Confirm: q.T("platform.letters." + source + ".purge")},
	}
}

func (pages *Pages) letterTable(ctx context.Context, q *web.Request, found []operations.DeadLetter) (web.Table, error) {
	t := web.Table{
		Label: q.T("area.dead_letters"),
		Columns: []web.Column{
			{Text: q.T("audit.when")}, {Text: q.T("platform.source")}, {Text: q.T("platform.company")}, {Text: q.T("webhooks.event")}, {Text: q.T("platform.reason")}, {Text: q.T("platform.error")}, {Text: q.T("platform.place")},
		},
		Empty: web.Empty{Title: q.T("platform.letters.none"), Text: q.T("platform.letters.none.text")},
	}
	ids := make([]tenant.ID, 0, len(found))
	for _, l := range found {
		if l.CompanyID != nil {
			ids = append(ids, *l.CompanyID)
		}
	}
	names, err := pages.names(ctx, q, ids)
	for _, l := range found {
		company, event := web.Text("–"), web.Text(l.Event)
		if l.CompanyID != nil {
			company = companyCell(*l.CompanyID, names)
			if at := "/c/" + l.CompanyID.String(); l.DeliveryID != nil {
				event.Href = at + "/webhooks/deliveries/" + l.DeliveryID.String()
			} else if l.EventID != nil {
				event.Href = at + "/events/" + l.EventID.String()
			}
		}
		t.Rows = append(t.Rows, []web.Cell{
			web.When(q.At(l.At)), web.Text(q.T("platform.letters." + l.Source)), company, event, web.Text(q.Word(l.Reason)), web.Text(short(l.Error)), web.Code(l.Place, ""),
		})
	}
	return t, err
}

// maxError is how much of an error a row shows, in characters.
const maxError = 300

func short(text string) string {
	if runes := []rune(text); len(runes) > maxError {
		return string(runes[:maxError]) + "…"
	}
	return text
}

// sourceOf is the source that a form names.
func sourceOf(q *web.Request) (string, error) {
	source := web.OneOf(q.Form.Get("source"), operations.Sources())
	if source == "" {
		return "", web.Refusal(400, "error.form")
	}
	return source, nil
}

// redeliver sends the dead letters of a source again. What takes longer than a page goes on with the next press of the button.
func (pages *Pages) redeliver(ctx context.Context, q *web.Request) (web.Answer, error) {
	source, err := sourceOf(q)
	if err != nil {
		return web.Answer{}, err
	}
	within, cancel := context.WithTimeout(ctx, actWithin)
	defer cancel()
	done, err := pages.Platform.Redeliver(within, operations.DeadFilter{Source: source}, recorded(q))
	note := &web.Note{Kind: web.Good, Text: q.T("platform.redelivered", done.Sent, done.Found, done.Without)}
	if note, err = outcome(q, note, err); err != nil {
		return web.Answer{}, err
	}
	return pages.lettersOf(ctx, q, source, note)
}

// purge deletes the dead letters of a source that there are now.
func (pages *Pages) purge(ctx context.Context, q *web.Request) (web.Answer, error) {
	source, err := sourceOf(q)
	if err != nil {
		return web.Answer{}, err
	}
	within, cancel := context.WithTimeout(ctx, actWithin)
	defer cancel()
	done, err := pages.Platform.Purge(within, source, q.Now, recorded(q))
	note := &web.Note{Kind: web.Good, Text: q.T("platform.purged", done.Deleted)}
	if note, err = outcome(q, note, err); err != nil {
		return web.Answer{}, err
	}
	return pages.lettersOf(ctx, q, source, note)
}

// outcome says what became of an action that may have ended early.
func outcome(q *web.Request, done *web.Note, err error) (*web.Note, error) {
	switch {
	case err == nil:
		return done, nil
	case errors.Is(err, context.DeadlineExceeded):
		return &web.Note{Kind: web.Warn, Title: done.Text, Text: q.T("platform.unfinished")}, nil
	case errors.Is(err, operations.ErrNoBrokers):
		return brokersNote(q, err), nil
	}
	return nil, err
}

// companyIn is the company that a field names; nil = none.
func companyIn(q *web.Request, field string) (*tenant.ID, error) {
	text := q.Form.Get(field)
	if text == "" {
		return nil, nil //nolint:nilnil // none is named
	}
	id, err := uuid.Parse(text)
	of := tenant.ID(id)
	return &of, err
}
