package leads

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/leads"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// perPage is how many leads the inbox shows at once.
const perPage = 30

type inboxPage struct {
	Header  web.Header
	List    string // address of the same leads as a list
	Address string
	State   state
	Status  string // of the state
	States  []web.Tab
	Search  string
	Fault   string
	Rows    []row
	Next    string
	First   string // address of the first page; "" = this is it
	Empty   web.Empty
	Talk    *talk
	Open    bool // the address names the lead: a phone shows it instead of the list
	Back    string
}

type row struct {
	Name, Text, Note, Href string
	Face                   web.Picture
	At                     web.Moment
	New, Current           bool
}

// states are what the chips select; the first is what the inbox begins with.
var states = []struct {
	name string
	of   []string // statuses; nil = any
}{
	{"open", []string{leads.StatusNew, "in_progress"}}, {leads.StatusNew, []string{leads.StatusNew}}, {"in_progress", []string{"in_progress"}}, {leads.StatusConverted, []string{leads.StatusConverted}}, {"spam", []string{"spam"}}, {"all", nil},
}

// state is what the address of the inbox says.
type state struct {
	status, search, cursor string
	mine                   bool
	open                   *uuid.UUID
}

func stateOf(q *web.Request) (state, error) {
	s := state{status: states[0].name, search: strings.TrimSpace(q.Form.Get("search")), cursor: q.Form.Get("cursor"), mine: q.Form.Get("mine") != ""}
	for _, one := range states {
		if one.name == q.Form.Get("status") {
			s.status = one.name
		}
	}
	var err error
	s.open, err = q.FormID("open")
	return s, err
}

// href is the address of the inbox in the state.
func (s state) href(q *web.Request) string {
	status, mine, open := s.status, "", ""
	if status == states[0].name {
		status = ""
	}
	if s.mine {
		mine = "1"
	}
	if s.open != nil {
		open = s.open.String()
	}
	return web.With(q.Path("/leads"), "status", status, "mine", mine, "search", s.search, "cursor", s.cursor, "open", open)
}

// Hidden are the fields by which a form comes back to the same place of the inbox.
func (s state) Hidden() map[string]string {
	all := map[string]string{"status": s.status, "search": s.search, "cursor": s.cursor}
	if s.mine {
		all["mine"] = "1"
	}
	return all
}

func (s state) with(status string, mine bool) state {
	s.status, s.mine, s.cursor, s.open = status, mine, "", nil
	return s
}

func (s state) opened(id uuid.UUID) state {
	s.open = &id
	return s
}

// filter is the state for the API.
func (s state) filter(q *web.Request) leads.Filter {
	f := leads.Filter{Params: list.Params{PageSize: perPage, Order: "desc", Search: s.search, Cursor: s.cursor}, Sort: "createdAt", Status: s.statuses()}
	if s.mine {
		f.AssignedToID = q.Session.User.String()
	}
	return f
}

func (s state) statuses() []string {
	i := slices.IndexFunc(states, func(one struct {
		name string
		of   []string
	},
	) bool {
		return one.name == s.status
	})
	return states[i].of
}

func (pages *Pages) inbox(ctx context.Context, q *web.Request) (web.Answer, error) {
	s, err := stateOf(q)
	if err != nil {
		return web.Answer{}, err
	}
	return pages.show(ctx, q, s, "")
}

// show is the inbox; fault is what the API said of a command.
func (pages *Pages) show(ctx context.Context, q *web.Request, s state, fault string) (web.Answer, error) {
	p := inboxPage{Header: web.Header{Title: q.T("area.leads")}, State: s, Status: s.status, Search: s.search, Fault: fault, Open: s.open != nil, Address: q.Path("/leads"), List: web.With(q.Path("/leads/list"), "status", strings.Join(s.statuses(), ","), "search", s.search)}
	if q.MayCall("createLead") {
		p.Header.Main = &web.Link{Text: q.T("leads.new"), Href: q.Path("/leads/list/new")}
	}
	p.chips(q, s)
	found, err := web.List[leads.Lead](ctx, q, "listLeads", s.filter(q))
	switch {
	case web.Refused(err):
		p.Fault, found = q.Fault(err), &list.Page[leads.Lead]{}
	case err != nil:
		return web.Answer{}, err
	}
	if p.Header.Lead, err = waiting(ctx, q); err != nil {
		return web.Answer{}, err
	}
	opened := s
	if s.open == nil && len(found.Items) > 0 {
		opened = s.opened(found.Items[0].ID)
	}
	p.rows(q, opened, found)
	closed := s
	closed.open = nil
	p.Back = closed.href(q)
	if opened.open != nil {
		if p.Talk, err = pages.talk(ctx, q, *opened.open); err != nil {
			return web.Answer{}, err
		}
	}
	answer := web.Show("leads/inbox", p.Header.Title, p)
	if fault != "" {
		answer = answer.Refuse()
	}
	return answer, nil
}

func (p *inboxPage) chips(q *web.Request, s state) {
	for _, one := range states {
		p.States = append(p.States, web.Tab{Text: q.T("leads.state." + one.name), Href: s.with(one.name, s.mine).href(q), Current: one.name == s.status})
	}
	if !q.Person.Operator() {
		p.States = append(p.States, web.Tab{Text: q.T("leads.mine"), Href: s.with(s.status, !s.mine).href(q), Current: s.mine})
	}
}

func (p *inboxPage) rows(q *web.Request, s state, found *list.Page[leads.Lead]) {
	for _, l := range found.Items {
		r := row{Name: nameOf(q, l), Text: firstLine(record.OrZero(l.Message)), Note: noteOf(q, l), Href: s.opened(l.ID).href(q), At: q.At(l.CreatedAt.Std()), New: l.Status == leads.StatusNew, Current: s.open != nil && l.ID == *s.open}
		r.Face = web.Face(r.Name)
		p.Rows = append(p.Rows, r)
	}
	if found.NextCursor != nil {
		next := s
		next.cursor, next.open = *found.NextCursor, nil
		p.Next = next.href(q)
	}
	if s.cursor != "" {
		p.First = s.with(s.status, s.mine).href(q)
	}
	p.Empty = web.Empty{Title: q.T("leads.none"), Text: q.T("leads.none.text")}
}

// waiting says how many people wait for an answer, and since when.
func waiting(ctx context.Context, q *web.Request) (*web.Note, error) {
	first, err := web.List[leads.Lead](ctx, q, "listLeads", leads.Filter{Params: list.Params{PageSize: 1, Order: "asc"}, Sort: "createdAt", Status: []string{leads.StatusNew}})
	if err != nil {
		return nil, err
	}
	n := record.OrZero(first.Total)
	switch {
	case len(first.Items) == 0:
		return &web.Note{Title: q.T("leads.waiting.none")}, nil
	case n == 1:
		return &web.Note{Title: q.T("leads.waiting.one", q.At(first.Items[0].CreatedAt.Std()).Short())}, nil
	}
	return &web.Note{Title: q.T("leads.waiting", n, q.At(first.Items[0].CreatedAt.Std()).Short())}, nil
}

// nameOf is what people call a lead.
func nameOf(q *web.Request, l leads.Lead) string {
	return cmp.Or(record.OrZero(l.Name), record.OrZero(l.Phone), record.OrZero(l.Email), q.T("leads.nameless"))
}

// noteOf is where a lead comes from, what has become of it, and who answers.
func noteOf(q *web.Request, l leads.Lead) string {
	return strings.Join(slices.DeleteFunc([]string{q.InlineWord(l.Source), q.InlineWord(l.Status), record.OrZero(l.AssignedToName)}, func(s string) bool { return s == "" }), " · ")
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if letters := []rune(first); len(letters) > maxLine {
		return string(letters[:maxLine]) + "…"
	}
	return first
}

const maxLine = 120 // characters
