// Package quickstart is the page that leads from nothing to the first webhook. Each step looks at the company itself for whether it is
// done.
package quickstart

import (
	"context"
	"embed"
	"io/fs"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/platform/requests"
)

//go:embed *.html
var files embed.FS

// scope is that of the operations on the request log and on tokens.
const scope = "company"

// Pages are the pages of the area.
type Pages struct {
	Docs fs.FS  // the pages of the documentation, whose examples are shown
	API  string // address of the external API, for commands to copy
}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "quickstart", Templates: files, Routes: []web.Page{web.Get(web.QuickStart, scope, "/quick-start", pages.show)}}
}

// facts is what the company has of what the steps ask for.
type facts struct {
	token  *company.Token // the newest that works
	call   *requests.Request
	follow *requests.Request      // of the event log, as `tradegrid listen` reads it
	first  *webhooks.Subscription // that has taken a delivery, or else the newest
	count  int                    // of subscriptions
}

// delivered reports whether a receiver has taken a webhook.
func (f facts) delivered() bool { return f.first != nil && f.first.LastSuccessAt != nil }

func (pages *Pages) facts(ctx context.Context, q *web.Request) (f facts, err error) {
	tokens, err := web.CallAdmin[[]company.Token](ctx, q, "listTokens", web.Input{})
	if err != nil {
		return f, err
	}
	for i, t := range tokens {
		if t.ExpiresAt == nil || t.ExpiresAt.Std().After(q.Now) {
			f.token = &tokens[i]
			break
		}
	}
	if f.call, err = pages.latest(ctx, q, requests.Query{Answer: "2xx"}); err != nil {
		return f, err
	}
	if f.call != nil {
		if f.follow, err = pages.latest(ctx, q, requests.Query{Answer: "2xx", Operation: "listEvents"}); err != nil {
			return f, err
		}
	}
	subs, err := web.List[webhooks.Subscription](ctx, q, "listWebhookSubscriptions", webhooks.SubscriptionFilter{Params: list.Params{PageSize: access.MaxSubscriptions}, Sort: "createdAt"})
	if err != nil {
		return f, err
	}
	f.count = len(subs.Items)
	for i, s := range subs.Items {
		if f.first == nil || s.LastSuccessAt != nil {
			f.first = &subs.Items[i]
		}
		if s.LastSuccessAt != nil {
			break
		}
	}
	return f, nil
}

// latest is the last request that passes a filter; nil = there is none in the log.
func (pages *Pages) latest(ctx context.Context, q *web.Request, query requests.Query) (*requests.Request, error) {
	query.Limit = 1
	found, err := web.Call[requests.Page](ctx, q, "listRequests", web.Input{Query: web.Query(query)})
	if err != nil || len(found.Items) == 0 {
		return nil, err
	}
	return &found.Items[0], nil
}

// Left counts the steps that a company has not done, for the pages of other areas; 0 = its first webhook has arrived, or the person does
// not see the page.
func (pages *Pages) Left(ctx context.Context, q *web.Request) (int, error) {
	if !q.Sees(web.QuickStart) {
		return 0, nil
	}
	f, err := pages.facts(ctx, q)
	if err != nil || f.delivered() {
		return 0, err
	}
	left := 0
	for _, s := range pages.steps(q, f, languages[0]) {
		if !s.Done {
			left++
		}
	}
	return left, nil
}

type page struct {
	Header  web.Header
	Note    web.Note
	Tabs    []web.Tab
	Steps   []step
	Next    []web.Link // when all is done
	Refresh string     // address that the page is read from again; "" = all is done
}

func (pages *Pages) show(ctx context.Context, q *web.Request) (web.Answer, error) {
	f, err := pages.facts(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	lang := web.OneOf(q.Form.Get("lang"), languages)
	if lang == "" {
		lang = languages[0]
	}
	at := q.Path("/quick-start")
	p := page{Header: web.Header{Title: q.T("area.quick_start"), Facts: q.T("quickstart.intro")}, Steps: pages.steps(q, f, lang)}
	for _, l := range languages {
		p.Tabs = append(p.Tabs, web.Tab{Text: q.T("quickstart.lang." + l), Href: web.With(at, "lang", l), Current: l == lang})
	}
	done := 0
	for i := range p.Steps {
		if p.Steps[i].Done {
			done++
			continue
		}
		p.Steps[i].Current = true
		break
	}
	if f.delivered() {
		p.Note = web.Note{Kind: web.Good, Title: q.T("quickstart.done"), Text: q.T("quickstart.done.text", q.At(f.first.LastSuccessAt.Std()).Short())}
		p.Next = []web.Link{
			{Text: q.T("area.event_catalog"), Href: q.Path("/event-catalog")},
			{Text: q.T("area.explorer"), Href: q.Path("/explorer")},
			{Text: q.T("area.requests"), Href: q.Path("/requests")},
			{Text: q.T("area.webhooks"), Href: q.Path("/webhooks")},
		}
	} else {
		p.Note, p.Refresh = web.Note{Kind: web.Info, Text: q.T("quickstart.progress", done, len(p.Steps))}, web.With(at, "lang", lang)
	}
	return web.Show("quickstart/start", q.T("area.quick_start"), p), nil
}
