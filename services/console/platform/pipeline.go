package platform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/operations"
)

type pipelinePage struct {
	Header       web.Header
	Live         string // its stream
	Note         web.Note
	Brokers      *web.Note // what is missing without them
	Figures      []web.Figure
	History      history
	Groups       web.Table
	Waiting      web.Table
	OpenCircuits web.Table
}

const (
	// lookWithin bounds what a page waits for the brokers.
	lookWithin = 5 * time.Second
	// lateAfter is the age of the outbox from which on the pipeline is not well.
	lateAfter = 30 * time.Second
	// watchEvery is how often the pipeline is read for those who watch it: it counts all that is under way, and asks the brokers.
	watchEvery = lookWithin
)

// watchPipeline is what the page of the pipeline shows.
func (pages *Pages) watchPipeline(context.Context, *web.Request) (web.ChangeSource, error) {
	return web.ChangeSource{Key: "pipeline", Every: watchEvery, Token: func(ctx context.Context) (string, error) {
		s, brokers, err := pages.Platform.Pipeline(ctx)
		if err != nil {
			return "", err
		}
		return pipelineToken(s, brokers, time.Now())
	}}, nil
}

// pipelineToken is another one when the page would show something else. What waits gets older, so that its token changes with the time.
func pipelineToken(s operations.Pipeline, brokers error, now time.Time) (string, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("make the change token of the pipeline: %w", err)
	}
	token := string(text) + strconv.FormatBool(brokers == nil)
	if s.OutboxOldest != nil || len(s.Waiting) > 0 || len(s.OpenCircuits) > 0 {
		token += now.Truncate(watchEvery).String()
	}
	return web.Sum(token), nil
}

// pipeline shows hop by hop what is under way, from the outbox to the receivers.
func (pages *Pages) pipeline(ctx context.Context, q *web.Request) (web.Answer, error) {
	within, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	s, brokers, err := pages.Platform.Pipeline(within)
	if err != nil {
		return web.Answer{}, err
	}
	p := pipelinePage{Header: web.Header{Title: q.T("area.pipeline"), Facts: q.T("platform.pipeline.intro")}, Brokers: brokersNote(q, brokers), Note: sentence(q, s)}
	p.Live = web.Renews(ctx, "/platform/live/pipeline", web.ChangeSource{Token: func(context.Context) (string, error) { return pipelineToken(s, brokers, q.Now) }})
	p.Figures, p.Groups, p.Waiting = figures(q, s), groups(q, s, brokers), waiting(q, s)
	if p.History, err = pages.history(ctx, q); err != nil {
		return web.Answer{}, err
	}
	p.OpenCircuits, err = pages.openCircuits(ctx, q, s)
	return web.Show("platform/pipeline", q.T("area.pipeline"), p), err
}

// brokersNote says what a page lacks without brokers.
func brokersNote(q *web.Request, err error) *web.Note {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, operations.ErrNoBrokers):
		return &web.Note{Kind: web.Info, Title: q.T("platform.no_brokers"), Text: q.T("platform.no_brokers.next")}
	}
	return &web.Note{Kind: web.Bad, Title: q.T("platform.brokers_failed"), Text: err.Error()}
}

// sentence says how the pipeline is, and what comes next: the hop nearest to the beginning that is not well.
func sentence(q *web.Request, s operations.Pipeline) web.Note {
	age := oldest(q, s)
	switch {
	case age > lateAfter:
		return web.Note{Kind: web.Bad, Title: q.T("platform.late", q.Duration(age)), Text: q.T("platform.late.next")}
	case s.OutboxDead > 0:
		return web.Note{Kind: web.Bad, Title: q.T("platform.dead", s.OutboxDead), Text: q.T("platform.dead.next")}
	case len(s.OpenCircuits) > 0:
		return web.Note{Kind: web.Warn, Title: q.T("platform.circuit_open", len(s.OpenCircuits)), Text: q.T("platform.circuit_open.next")}
	}
	return web.Note{Kind: web.Good, Title: q.T("platform.well"), Text: q.T("platform.well.next")}
}

// oldest is the age of the oldest row of the outbox.
func oldest(q *web.Request, s operations.Pipeline) time.Duration {
	if s.OutboxOldest == nil {
		return 0
	}
	return max(q.Now.Sub(*s.OutboxOldest), 0)
}

func number(q *web.Request, n int64) string { return q.Count(n) }

func figures(q *web.Request, s operations.Pipeline) []web.Figure {
	var open int64
	var since *time.Time
	for _, w := range s.Waiting {
		if open += w.Count; since == nil || w.Oldest.Before(*since) {
			since = &w.Oldest
		}
	}
	undelivered := web.Figure{Label: q.T("platform.open"), Value: number(q, open), Href: "#waiting"}
	if since != nil {
		undelivered.Detail = q.T("platform.oldest", q.Duration(q.Now.Sub(*since)))
	}
	outbox := web.Figure{Label: q.T("platform.outbox"), Value: number(q, s.OutboxRows), Href: "#hops"}
	if s.OutboxOldest != nil {
		outbox.Detail = q.T("platform.oldest", q.Duration(oldest(q, s)))
	}
	if oldest(q, s) > lateAfter {
		outbox.Kind = web.Bad
	}
	return []web.Figure{
		outbox,
		{Label: q.T("platform.outbox_dead"), Value: number(q, s.OutboxDead), Href: "/platform/dead-letters?source=" + operations.DeadInOutbox},
		undelivered,
		{Label: q.T("platform.circuits"), Value: number(q, int64(len(s.OpenCircuits))), Href: "#circuits"},
	}
}

func groups(q *web.Request, s operations.Pipeline, brokers error) web.Table {
	t := web.Table{
		Label:   q.T("platform.hops"),
		Columns: []web.Column{{Text: q.T("platform.group")}, {Text: q.T("people.status")}, {Text: q.T("platform.members"), Num: true}, {Text: q.T("platform.lag"), Num: true}, {Text: q.T("platform.unowned"), Num: true}},
		Empty:   web.Empty{Title: q.T("platform.hops.none"), Text: q.T("platform.hops.none.text")},
	}
	if brokers != nil {
		t.Empty = web.Empty{Title: q.T("platform.hops.unknown"), Text: q.T("platform.hops.unknown.text")}
	}
	for _, g := range s.Groups {
		state := web.State(web.Good, g.State)
		if g.Members == 0 || g.Unowned > 0 {
			state = web.State(web.Bad, g.State)
		}
		t.Rows = append(t.Rows, []web.Cell{web.Code(g.Group, ""), state, web.Number(strconv.Itoa(g.Members)), web.Number(number(q, g.Lag)), web.Number(number(q, int64(g.Unowned)))})
	}
	return t
}

func waiting(q *web.Request, s operations.Pipeline) web.Table {
	t := web.Table{
		Label:   q.T("platform.waiting"),
		Columns: []web.Column{{Text: q.T("platform.waiting_for")}, {Text: q.T("platform.count"), Num: true}, {Text: q.T("platform.oldest_one"), Num: true}},
		Empty:   web.Empty{Title: q.T("platform.waiting.none"), Text: q.T("platform.waiting.none.text")},
	}
	for _, w := range s.Waiting {
		t.Rows = append(t.Rows, []web.Cell{web.Text(q.T("waiting." + w.For)).With(w.For), web.Number(number(q, w.Count)), web.Number(q.Duration(q.Now.Sub(w.Oldest)))})
	}
	return t
}

// openCircuits lists the receivers whose circuit breakers are open.
func (pages *Pages) openCircuits(ctx context.Context, q *web.Request, s operations.Pipeline) (web.Table, error) {
	t := web.Table{
		Label:   q.T("platform.circuits"),
		Columns: []web.Column{{Text: q.T("webhooks.receiver")}, {Text: q.T("platform.company")}, {Text: q.T("platform.failing"), Num: true}, {Text: q.T("platform.next_try")}},
		Empty:   web.Empty{Title: q.T("platform.circuits.none"), Text: q.T("platform.circuits.none.text")},
	}
	ids := make([]tenant.ID, len(s.OpenCircuits))
	for i, one := range s.OpenCircuits {
		ids[i] = one.CompanyID
	}
	names, err := pages.names(ctx, q, ids)
	if err != nil {
		return t, err
	}
	for _, one := range s.OpenCircuits {
		failing, next := web.Number("–"), web.Text("–")
		if one.FailingSince != nil {
			failing = web.Number(q.Duration(q.Now.Sub(*one.FailingSince)))
		}
		if one.OpenUntil != nil {
			next = web.When(q.At(*one.OpenUntil))
		}
		t.Rows = append(t.Rows, []web.Cell{
			web.LinkTo(one.URL, "/c/"+one.CompanyID.String()+"/webhooks/"+one.SubscriptionID.String()), companyCell(one.CompanyID, names), failing, next,
		})
	}
	return t, nil
}

type nodesPage struct {
	Header web.Header
	Note   web.Note
	Table  web.Table
}

// nodes lists the processes that run.
func (pages *Pages) nodes(ctx context.Context, q *web.Request) (web.Answer, error) {
	found, err := pages.Platform.Processes(ctx)
	if err != nil {
		return web.Answer{}, err
	}
	p := nodesPage{Header: web.Header{Title: q.T("area.nodes"), Facts: q.T("platform.nodes.intro")}, Table: web.Table{
		Label:   q.T("area.nodes"),
		Columns: []web.Column{{Text: q.T("platform.role")}, {Text: q.T("platform.node")}, {Text: q.T("platform.release")}, {Text: q.T("platform.started")}, {Text: q.T("platform.seen")}},
		Empty:   web.Empty{Title: q.T("platform.nodes.none"), Text: q.T("platform.nodes.none.text")},
	}}
	releases := map[string]bool{}
	for _, one := range found {
		release := web.Code(one.Release, "")
		if releases[one.Release] = true; one.Release == "" {
			release = web.Text(q.T("platform.release.unknown"))
		}
		p.Table.Rows = append(p.Table.Rows, []web.Cell{web.Text(one.Role), web.Code(one.Node, ""), release, web.When(q.At(one.StartedAt.Std())), web.When(q.At(one.SeenAt.Std()))})
	}
	p.Note = web.Note{Kind: web.Good, Text: q.T("platform.releases.one", len(found))}
	if len(releases) > 1 {
		p.Note = web.Note{Kind: web.Warn, Title: q.T("platform.releases.many", len(releases)), Text: q.T("platform.releases.many.next")}
	}
	return web.Show("platform/nodes", q.T("area.nodes"), p), nil
}

type topicsPage struct {
	Header  web.Header
	Note    web.Note
	Changes []string
}

// topics compares the topics of the cluster with their declaration.
func (pages *Pages) topics(ctx context.Context, q *web.Request) (web.Answer, error) {
	within, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	p := topicsPage{Header: web.Header{Title: q.T("area.topics"), Facts: q.T("platform.topics.intro")}}
	declared, changes, err := pages.Platform.Topics(within)
	if note := brokersNote(q, err); note != nil {
		p.Note = *note
		return web.Show("platform/topics", q.T("area.topics"), p), nil
	}
	p.Note = web.Note{Kind: web.Good, Text: q.T("platform.topics.same", declared)}
	if len(changes) > 0 {
		p.Note = web.Note{Kind: web.Bad, Title: q.T("platform.topics.differ", len(changes)), Text: q.T("platform.topics.next")}
	}
	for _, c := range changes {
		p.Changes = append(p.Changes, c.String())
	}
	return web.Show("platform/topics", q.T("area.topics"), p), nil
}
