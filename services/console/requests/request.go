package requests

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/services/console/explorer"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
	"github.com/tradegrid/tradegrid/services/platform/requests"
)

type requestPage struct {
	Header web.Header
	Note   web.Note
	Facts  []web.Fact
	Sent   string
	Answer string
	Events web.Table
	API    web.Shown
}

func (pages *Pages) show(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.Answer{}, err
	}
	d, err := web.Call[requests.RequestDetail](ctx, q, "getRequest", web.ByID(id))
	if err != nil {
		return web.Answer{}, err
	}
	chip := answer(d.Status).Chip
	p := requestPage{
		Header: web.Header{
			Title: d.Method + " " + pathOf(d.Request), Chip: chip, Facts: q.At(d.CreatedAt.Std()).Exact(),
			Crumbs: []web.Link{{Text: q.T("area.requests"), Href: q.Path("/requests")}},
		},
		Note: sentence(q, d), Facts: factsOf(q, d), Sent: explorer.Sent(d),
	}
	if d.Error != nil {
		p.Answer = web.Pretty([]byte(*d.Error))
	}
	if again := tryAgain(q, d.Request); again != "" {
		p.Header.Main = &web.Link{Text: q.T("requests.again"), Href: again}
	}
	if d.Code != nil && *d.Code == "AUTH_API_SCOPE_INSUFFICIENT" && q.Allows(scope, true) {
		p.Header.Links = append(p.Header.Links, web.Link{Text: q.T("requests.change_token"), Href: q.Path("/tokens/" + d.TokenID.String() + "/change")})
	}
	if len(d.EventIDs) > 0 {
		if p.Events, err = pages.events(ctx, q, d); err != nil {
			return web.Answer{}, err
		}
	}
	p.API = q.Show("getRequest", web.ByID(id), d)
	return web.Show("requests/request", d.Method+" "+d.Route, p), nil
}

// sentence says what the request did.
func sentence(q *web.Request, d requests.RequestDetail) web.Note {
	switch {
	case d.Status >= 500:
		return web.Note{Kind: web.Bad, Title: q.T("requests.failed"), Text: q.T("requests.failed.next")}
	case d.Status >= 400:
		return web.Note{Kind: web.Warn, Title: q.T("requests.refused"), Text: message(d)}
	case d.Method == http.MethodGet:
		return web.Note{Kind: web.Good, Text: q.T("requests.read")}
	case len(d.EventIDs) == 0:
		return web.Note{Kind: web.Good, Text: q.T("requests.no_events")}
	}
	return web.Note{Kind: web.Good, Text: q.T("requests.caused", len(d.EventIDs))}
}

// message is what the API said of the error.
func message(d requests.RequestDetail) string {
	var body struct{ Message any }
	if d.Error == nil || json.Unmarshal([]byte(*d.Error), &body) != nil {
		return ""
	}
	switch m := body.Message.(type) {
	case string:
		return m
	case []any:
		var all []string
		for _, v := range m {
			if text, ok := v.(string); ok {
				all = append(all, text)
			}
		}
		return strings.Join(all, "; ")
	}
	return ""
}

func factsOf(q *web.Request, d requests.RequestDetail) []web.Fact {
	facts := []web.Fact{
		{Label: q.T("requests.token"), Cell: web.LinkTo(d.TokenName, q.Path("/tokens/"+d.TokenID.String())).With(d.Address)},
		{Label: q.T("webhooks.took"), Cell: web.Text(q.T("unit.ms", d.DurationMs))},
		{Label: q.T("requests.filter.operation"), Cell: web.Code(d.Operation, web.With(q.Path("/explorer"), "operation", d.Operation))},
		{Label: q.T("requests.body_bytes"), Cell: web.Text(strconv.Itoa(int(d.BodyBytes)))},
		{Label: q.T("requests.filter.requestId"), Cell: web.Code(d.RequestID, "")},
	}
	if d.Code != nil {
		facts = append(facts, web.Fact{Label: q.T("requests.code"), Cell: web.Code(*d.Code, web.With(q.Path("/requests"), "code", *d.Code))})
	}
	if d.EntityID != nil {
		facts = append(facts,
			web.Fact{Label: q.T("events.record"), Cell: web.Code(d.EntityID.String(), q.Path("/go/"+d.EntityID.String()))},
			web.Fact{Label: q.T("requests.of_record"), Cell: web.LinkTo(q.T("requests.of_record.link"), web.With(q.Path("/requests"), "entityId", d.EntityID.String()))})
	}
	if d.Represents > 1 {
		facts = append(facts, web.Fact{Label: q.T("requests.stands_for"), Cell: web.Text(q.T("requests.represents", d.Represents))})
	}
	return facts
}

// events are those that the request caused.
func (pages *Pages) events(ctx context.Context, q *web.Request, d requests.RequestDetail) (web.Table, error) {
	found, _, err := pages.Events.Tail(ctx, q.Caller, webhooks.TailQuery{IDs: append([]uuid.UUID{}, d.EventIDs...), Limit: 50})
	t := web.Table{
		Label: q.T("area.events"), Columns: []web.Column{{Text: q.T("events.name")}, {Text: q.T("events.version"), Num: true}, {Text: q.T("audit.when")}, {Text: q.T("events.id")}},
		Empty: web.Empty{Title: q.T("events.none"), Text: q.T("requests.events.pending")},
	}
	for _, e := range found {
		t.Rows = append(t.Rows, []web.Cell{
			web.LinkTo(e.Event, q.Path("/events/"+e.ID.String())), web.Number(strconv.FormatInt(e.Version, 10)), web.When(q.At(e.OccurredAt)), web.Code(e.ID.String(), ""),
		})
	}
	if len(d.EventIDs) > len(found) && len(found) > 0 {
		t.Next = web.With(q.Path("/events"), "request", d.ID.String())
	}
	return t, err
}

// tryAgain is the page of the explorer with a request as it was sent; "" for one that cannot be shown there. A body does not stand in
// the address: the explorer reads it from the log.
func tryAgain(q *web.Request, r requests.Request) string {
	if r.Path == nil || !q.Sees(web.Explorer) || !explorer.Offers(q, r.Operation) {
		return ""
	}
	path, query, _ := strings.Cut(*r.Path, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return ""
	}
	in := url.Values{"operation": {r.Operation}}
	if r.Method != http.MethodGet {
		in.Set("request", r.ID.String())
	}
	parts := strings.Split(path, "/")
	for i, part := range strings.Split(r.Route, "/") {
		name, ok := strings.CutPrefix(part, "{")
		if !ok || i >= len(parts) {
			continue
		}
		value, err := url.PathUnescape(parts[i])
		if err != nil {
			return ""
		}
		in.Set("path-"+strings.TrimSuffix(name, "}"), value)
	}
	for name, all := range values {
		in.Set("query-"+name, strings.Join(all, ","))
	}
	return q.Path("/explorer?" + in.Encode())
}
