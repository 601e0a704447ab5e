// Package events holds the pages on events: which there are, and the timeline of each, from the request to the receivers.
package events

import (
	"context"
	"embed"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
	"github.com/tradegrid/tradegrid/services/platform/requests"
)

//go:embed *.html
var files embed.FS

// scope is that of the operations of the API on the event log.
const scope = "events"

// Service reads the event log backwards, which the API reads forward, and tells when an event has changed.
type Service interface {
	Tail(ctx context.Context, by access.Caller, q webhooks.TailQuery) (found []webhooks.Logged, next uuid.UUID, err error)
	EventToken(ctx context.Context, company tenant.ID, event uuid.UUID) (string, error)
}

// Pages are the pages of the area.
type Pages struct {
	Events   Service
	TraceURL string // address of a trace, with {traceId}; "" = traces are not linked
}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "events", Templates: files, Routes: []web.Page{
		web.Get(web.Events, scope, "/events", pages.list),
		web.Get(web.Events, scope, "/events/{id}", pages.show),
		web.Live(web.Events, scope, "/live/events/{id}", pages.watch),
	}}
}

func pathOf(r requests.Request) string {
	if r.Path != nil {
		return *r.Path
	}
	return r.Route
}

func tableOf(q *web.Request, found []webhooks.Logged) web.Table {
	t := web.Table{
		Label:   q.T("area.events"),
		Columns: []web.Column{{Text: q.T("events.name")}, {Text: q.T("events.record")}, {Text: q.T("events.version"), Num: true}, {Text: q.T("audit.when")}, {Text: q.T("events.id")}},
		Empty:   web.Empty{Title: q.T("events.none"), Text: q.T("events.none.text")},
	}
	for _, e := range found {
		t.Rows = append(t.Rows, []web.Cell{
			web.LinkTo(e.Event, q.Path("/events/"+e.ID.String())), web.LinkTo(RecordOf(q, e), web.With(q.Path("/events"), "entity", e.EntityID.String())),
			web.Number(strconv.FormatInt(e.Version, 10)), web.When(q.At(e.OccurredAt)), web.Code(e.ID.String(), ""),
		})
	}
	return t
}

// kindOf is what people call the kind of record that an event is about. One of a later release has no text.
func kindOf(q *web.Request, e webhooks.Logged) string {
	key := "events.kind." + e.EntityType
	if text := q.T(key); text != key {
		return text
	}
	return strings.ReplaceAll(e.EntityType, "_", " ")
}

// RecordOf is what people call the record of an event, as far as its body says: its number or name.
func RecordOf(q *web.Request, e webhooks.Logged) string {
	var body struct {
		Data struct {
			Number  *int64  `json:"number"`
			Name    *string `json:"name"`
			Display *string `json:"displayName"`
			Title   *string `json:"title"`
			Product *string `json:"productName"`
		} `json:"data"`
	}
	kind := kindOf(q, e)
	if json.Unmarshal(e.Body, &body) != nil {
		return kind
	}
	if n := body.Data.Number; n != nil {
		return q.T("events.record.number", kind, *n)
	}
	for _, name := range []*string{body.Data.Name, body.Data.Display, body.Data.Title, body.Data.Product} {
		if name != nil && *name != "" {
			return kind + " " + *name
		}
	}
	return kind
}

// RequestPage is where a request is shown: its own page, or its events for those who do not see the log.
func RequestPage(q *web.Request, id string) string {
	if q.Sees(web.Requests) {
		return "/requests/" + id
	}
	return "/events?request=" + id
}
