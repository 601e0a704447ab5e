package events

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/platform/requests"
)

type listPage struct {
	Header  web.Header
	Request *web.Note // the request whose events these are
	Facts   []web.Fact
	Filter  web.Filter
	Table   web.Table
}

// filters are the names of what narrows the list, as they stand in the address.
var filters = []string{"event", "entity", "request", filterActor, "from", "to"}

// filterActor names the filter by who caused an event: the id of a token or of a person.
const filterActor = "actor"

func (pages *Pages) list(ctx context.Context, q *web.Request) (web.Answer, error) {
	p := listPage{Header: web.Header{Title: q.T("area.events"), Facts: q.T("events.intro")}}
	period := q.Period("from", "to")
	query := webhooks.TailQuery{Limit: 50, From: period.From, To: period.To}
	fields, err := pages.fields(ctx, q, &query, period)
	if err != nil {
		return web.Answer{}, err
	}
	fault := func(name, text string) {
		i := slices.IndexFunc(fields, func(f web.Field) bool { return f.Name == name })
		fields[i].Fault = text
	}
	ok := period.Valid()
	for name, to := range map[string]*uuid.UUID{"entity": &query.EntityID, "before": &query.Before} {
		id, err := q.FormID(name)
		switch {
		case err != nil && name == "entity":
			fault(name, q.T("events.entity.fault"))
			ok = false
		case err != nil:
			return web.Answer{}, err
		case id != nil:
			*to = *id
		}
	}
	if request := strings.TrimSpace(q.Form.Get("request")); request != "" {
		if err := pages.ofRequest(ctx, q, request, &p, &query); errors.Is(err, web.NoPage()) {
			fault("request", q.T("events.request.fault"))
			ok = false
		} else if err != nil {
			return web.Answer{}, err
		}
	}
	var found []webhooks.Logged
	var next uuid.UUID
	if ok {
		found, next, err = pages.Events.Tail(ctx, q.Caller, query)
		if text := q.FaultWithin(err, "events"); text != "" {
			fault("event", text)
		} else if err != nil {
			return web.Answer{}, err
		}
	}
	for i := range fields {
		if fields[i].Name == "entity" && len(found) > 0 && query.EntityID != uuid.Nil {
			fields[i].Pick.Text = RecordOf(q, found[0])
		}
	}
	p.Filter = web.Filter{Action: q.Path("/events"), Button: q.T("filter.apply"), Fields: fields, Ranges: q.PeriodRanges(period, func(from, to string) string {
		return web.With(q.Path("/events"), append(q.Pairs(filters...), "from", from, "to", to)...)
	})}
	if q.Pairs(filters...) != nil {
		p.Filter.Clear = q.Path("/events")
	}
	p.Table = tableOf(q, found)
	if next != uuid.Nil {
		p.Table.Next = web.With(q.Path("/events"), append(q.Pairs(filters...), "before", next.String())...)
	}
	return web.Show("events/list", q.T("area.events"), p), nil
}

// fields are those of the filter.
func (pages *Pages) fields(ctx context.Context, q *web.Request, query *webhooks.TailQuery, period web.Period) ([]web.Field, error) {
	name := strings.TrimSpace(q.Form.Get("event"))
	if name != "" {
		query.Events = []string{name}
	}
	fields := []web.Field{
		{Name: "event", Label: q.T("events.name"), Value: name, Help: q.T("events.name.help")},
		{Name: "entity", Label: q.T("events.entity"), Value: q.Form.Get("entity"), Pick: &web.Picker{Address: q.Path(web.AnyRecord), Hint: q.T("pick.hint.any"), Text: q.Form.Get("entity")}},
		{Name: "request", Label: q.T("events.request.filter"), Value: q.Form.Get("request")},
	}
	fields = append(fields, q.PeriodFields(period)...)
	if actor, err := q.FormID(filterActor); err != nil {
		return nil, err
	} else if actor != nil {
		query.Actor = actor.String()
	}
	actors, err := actors(ctx, q)
	if err != nil || len(actors) == 0 {
		return fields, err
	}
	actors = slices.Insert(actors, 0, web.Option{Text: q.T("filter.any")})
	return append(fields, web.Choice(filterActor, q.T("events.actor"), query.Actor, actors...)), nil
}

// actors are the tokens and people of the company by name, of those that the person may see.
func actors(ctx context.Context, q *web.Request) (options []web.Option, err error) {
	if q.Sees(web.Tokens) {
		tokens, err := web.CallAdmin[[]company.Token](ctx, q, "listTokens", web.Input{Query: url.Values{"includeRevoked": {"true"}}})
		if err != nil {
			return nil, err
		}
		for _, t := range tokens {
			options = append(options, web.Option{Value: t.ID.String(), Text: q.T("events.actor.token", t.Name)})
		}
	}
	if q.Sees(web.People) {
		users, err := web.CallAdmin[[]company.User](ctx, q, "listUsers", web.Input{})
		if err != nil {
			return nil, err
		}
		for _, u := range users {
			if name := cmp.Or(record.OrZero(u.Name), record.OrZero(u.Email)); name != "" {
				options = append(options, web.Option{Value: u.ID.String(), Text: name})
			}
		}
	}
	return options, nil
}

// ofRequest narrows the list to the events that a request caused, and says what the request was. text is its id in the log, or the
// X-Request-Id of its answer.
func (pages *Pages) ofRequest(ctx context.Context, q *web.Request, text string, p *listPage, query *webhooks.TailQuery) error {
	id, err := uuid.Parse(text)
	if err == nil {
		if _, err := web.Call[requests.RequestDetail](ctx, q, "getRequest", web.ByID(id)); web.Refused(err) {
			id = uuid.Nil
		} else if err != nil {
			return err
		}
	}
	if id == uuid.Nil {
		found, err := web.Call[requests.Page](ctx, q, "listRequests", web.Input{Query: web.Query(requests.Query{RequestID: text, PageLimit: list.PageLimit{Limit: 1}})})
		if web.Refused(err) || err == nil && len(found.Items) == 0 {
			return web.NoPage()
		}
		if err != nil {
			return err
		}
		id = found.Items[0].ID
	}
	d, err := web.Call[requests.RequestDetail](ctx, q, "getRequest", web.ByID(id))
	if err != nil {
		return err
	}
	query.IDs = append([]uuid.UUID{}, d.EventIDs...)
	p.Request, p.Facts = requestFacts(q, d)
	return nil
}

func requestFacts(q *web.Request, d requests.RequestDetail) (*web.Note, []web.Fact) {
	kind := web.Good
	if d.Status >= 400 {
		kind = web.Bad
	}
	note := &web.Note{Kind: kind, Title: d.Method + " " + pathOf(d.Request) + " · " + strconv.Itoa(int(d.Status)), Text: q.T("events.request", len(d.EventIDs))}
	facts := []web.Fact{
		{Label: q.T("audit.when"), Cell: web.When(q.At(d.CreatedAt.Std()))},
		{Label: q.T("events.token"), Cell: web.LinkTo(d.TokenName, web.With(q.Path("/events"), filterActor, d.TokenID.String())).With(d.Address)},
		{Label: q.T("webhooks.took"), Cell: web.Text(q.T("unit.ms", d.DurationMs))},
		{Label: q.T("events.request.id"), Cell: web.Code(d.RequestID, "")},
	}
	if d.Code != nil {
		facts = append(facts, web.Fact{Label: q.T("events.code"), Cell: web.Code(*d.Code, "")})
	}
	return note, facts
}
