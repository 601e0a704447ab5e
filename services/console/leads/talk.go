package leads

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/clients"
	"github.com/tradegrid/tradegrid/services/business/leads"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// latest is how many interactions with the client the inbox shows.
const latest = 20

// talk is a lead with what was said.
type talk struct {
	Name, Contact, Href string
	Face                web.Picture
	Post                string
	Version             int64
	Menu                string // address of its further commands; "" = the person may give none
	Call, Write         string // number to dial and address to write to; "" = there is none
	Client, Deal        *web.Link
	Make                bool // a deal can be made of it
	Statuses            []status
	Match               *match
	Said                []said
	Note                bool         // what was said can be noted
	Kinds               []web.Option // of what was said
	Key                 string       // makes sending a note twice the same as once
}

// status is one that the lead has or can be given.
type status struct {
	Value, Text string
	Current     bool
}

// match is a client who has the same phone number.
type match struct {
	Text, Href string
	Join       bool
}

// said is a message or an interaction.
type said struct {
	Text, Note string
	Out        bool
}

// given are the statuses that people give; a conversion gives the other one.
var given = []string{leads.StatusNew, "in_progress", "spam"}

// kinds are those of what was said, as the API names them.
var kinds = []string{"call", "email", "message", "meeting", "note"}

func (pages *Pages) talk(ctx context.Context, q *web.Request, id uuid.UUID) (*talk, error) {
	l, err := web.Call[leads.Lead](ctx, q, "getLead", web.ByID(id))
	if err != nil {
		return nil, err
	}
	at := q.Path("/leads/" + id.String())
	t := &talk{Name: nameOf(q, l), Href: at, Post: at + "/command", Version: l.Version, Contact: contact(l)}
	if t.Contact == t.Name {
		t.Contact = ""
	}
	t.Face = web.Face(t.Name)
	t.Call, t.Write = web.Dial(record.OrZero(l.Phone)), record.OrZero(l.Email)
	if message := record.OrZero(l.Message); message != "" {
		t.Said = append(t.Said, said{Text: message, Note: q.T("leads.came", q.At(l.CreatedAt.Std()).Short(), q.InlineWord(l.Source))})
	}
	if q.Allows(scope, true) {
		t.Menu, t.Make = at+"/do/menu", l.DealID == nil && q.MayCall("convertLeadToDeal")
		if l.Status != leads.StatusConverted {
			for _, s := range given {
				t.Statuses = append(t.Statuses, status{s, q.T("leads.state." + s), s == l.Status})
			}
		}
	}
	if l.DealID != nil && q.Sees(web.Deals) && q.MayCall("getDeal") {
		t.Deal = &web.Link{Text: q.T("leads.deal"), Href: q.Path("/deals/" + l.DealID.String())}
	}
	if !q.Sees(web.Clients) || !q.MayCall("listClients") {
		return t, nil
	}
	if l.ClientID != nil {
		return t, t.interactions(ctx, q, *l.ClientID)
	}
	return t, t.matching(ctx, q, l)
}

func contact(l leads.Lead) string {
	if phone, email := record.OrZero(l.Phone), record.OrZero(l.Email); phone != "" && email != "" {
		return phone + " · " + email
	}
	return cmp.Or(record.OrZero(l.Phone), record.OrZero(l.Email))
}

// interactions are what was said with the client that the lead has become, oldest first.
func (t *talk) interactions(ctx context.Context, q *web.Request, client uuid.UUID) error {
	t.Client = &web.Link{Text: q.T("leads.client"), Href: q.Path("/clients/" + client.String())}
	t.Note, t.Key = q.MayCall("createClientInteraction"), uuid.NewString()
	in := web.ByID(client)
	in.Query = web.Query(clients.InteractionFilter{Params: list.Params{PageSize: latest, Order: "desc"}, Sort: "occurredAt"})
	for _, kind := range kinds {
		t.Kinds = append(t.Kinds, web.Option{Value: kind, Text: q.Word(kind)})
	}
	found, err := web.Call[*list.Page[clients.Interaction]](ctx, q, "listClientInteractions", in)
	if err != nil {
		return err
	}
	for i := len(found.Items) - 1; i >= 0; i-- {
		one := found.Items[i]
		text := cmp.Or(record.OrZero(one.Body), record.OrZero(one.Subject))
		t.Said = append(t.Said, said{Text: text, Note: q.At(one.OccurredAt.Std()).Short() + " · " + q.Word(one.Type), Out: record.OrZero(one.Direction) == "out"})
	}
	return nil
}

// matching looks for the client who has the phone number, whom a conversion takes.
func (t *talk) matching(ctx context.Context, q *web.Request, l leads.Lead) error {
	if record.OrZero(l.Phone) == "" {
		return nil
	}
	found, err := web.List[clients.ListItem](ctx, q, "listClients", clients.Filter{Params: list.Params{PageSize: 1, Order: "asc"}, Sort: "createdAt", Status: []string{clients.StatusActive}, Phone: *l.Phone})
	if err != nil || len(found.Items) == 0 {
		if web.Refused(err) {
			err = nil // it is nobody's number
		}
		return err
	}
	c := found.Items[0]
	t.Match = &match{Text: c.DisplayName, Href: q.Path("/clients/" + c.ID.String()), Join: q.MayCall("convertLead")}
	return nil
}

// command gives a command to the lead, and comes back to the inbox, or leads to what was made.
func (pages *Pages) command(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.Answer{}, err
	}
	s, err := stateOf(q)
	if err != nil {
		return web.Answer{}, err
	}
	s = s.opened(id)
	to, err := pages.do(ctx, q, id)
	switch {
	case web.Refused(err):
		return pages.show(ctx, q, s, q.Fault(err))
	case err != nil:
		return web.Answer{}, err
	}
	return web.Go(cmp.Or(to, s.href(q))), nil
}

// do gives the command, and answers the address of what was made; "" = nothing was.
func (pages *Pages) do(ctx context.Context, q *web.Request, id uuid.UUID) (to string, err error) {
	in := web.ByID(id)
	in.Version = q.FormVersion()
	switch do := q.Form.Get("do"); do {
	case "deal":
		in.Body = map[string]any{}
		made, err := web.Call[leads.DealConversion](ctx, q, "convertLeadToDeal", in)
		if err != nil || !q.Sees(web.Deals) {
			return "", err
		}
		return web.With(q.Path("/deals/"+made.DealID.String()), "done", "records"), nil
	case "client":
		_, err = web.Call[leads.Conversion](ctx, q, "convertLead", in)
	case "note":
		err = pages.note(ctx, q, id)
	default:
		in.Body = map[string]any{"status": do}
		_, err = web.Call[leads.Lead](ctx, q, "setLeadStatus", in)
	}
	return "", err
}

// note records what was said with the client of a lead.
func (pages *Pages) note(ctx context.Context, q *web.Request, id uuid.UUID) error {
	l, err := web.Call[leads.Lead](ctx, q, "getLead", web.ByID(id))
	if err != nil {
		return err
	}
	if l.ClientID == nil {
		return web.NoPage()
	}
	body := strings.TrimSpace(q.Form.Get("body"))
	if body == "" {
		return web.Refusal(http.StatusBadRequest, "error.form")
	}
	in := web.ByID(*l.ClientID)
	in.Body = map[string]any{"type": q.Form.Get("type"), "direction": "out", "body": body}
	if key, err := uuid.Parse(q.Form.Get("key")); err == nil {
		in.Key = key.String()
	}
	_, err = web.Call[clients.Interaction](ctx, q, "createClientInteraction", in)
	return err
}
