package deals

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/deals"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// Bounds of a board.
const (
	maxColumns = 30
	maxCards   = 20 // of a column
	atOnce     = 4  // columns that are read at the same time
)

type boardPage struct {
	Header  web.Header
	Tabs    []web.Tab
	Note    *web.Note
	Columns []column
	Empty   web.Empty
	Moves   bool // the person may move deals

	open  int64  // deals in stages that end nothing
	total int64  // what they add up to
	many  bool   // there are more, and no total
	Post  string // address of the cards
}

type column struct {
	ID, Name, Href string
	Chip           *web.Chip // of the outcome
	Sum            string
	Cards          []card
	More           *web.Link
}

type card struct {
	ID, Title, Href string
	Client          string
	Amount, Age     string
	Late            bool // it has been in its stage for longer than the stage allows
	Version         int64
	Stages          []web.Option
	Reasons         []web.Option // of a move that needs one
	ReasonFault     string
	Fault           string
	Focus           bool
}

// refused is a move that the API refused; the card shows why, and keeps what was chosen.
type refused struct {
	deal          uuid.UUID
	stage, reason string
	err           error
}

func (pages *Pages) board(ctx context.Context, q *web.Request) (web.Answer, error) {
	p, err := pages.fill(ctx, q, q.Form.Get("type"), nil)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show("deals/board", q.T("deals.title"), p), nil
}

// fill reads the board of a type; "" = the default one.
func (pages *Pages) fill(ctx context.Context, q *web.Request, of string, no *refused) (boardPage, error) {
	p := boardPage{Header: header(q), Moves: q.Allows(scope, true), Post: q.Path("/deals/")}
	types, err := web.Call[[]deals.Type](ctx, q, "listDealTypes", web.Input{})
	if err != nil {
		return p, err
	}
	t, ok := chosen(types, of)
	if !ok && of != "" {
		return p, web.NoPage()
	}
	if !ok || len(t.Stages) == 0 {
		p.Empty = web.Empty{Title: q.T("deals.none"), Text: q.T("deals.none.text")}
		return p, nil
	}
	if len(types) > 1 {
		for _, other := range types {
			p.Tabs = append(p.Tabs, web.Tab{Text: other.Name, Href: web.With(q.Path("/deals"), "type", other.ID.String()), Current: other.ID == t.ID})
		}
	}
	stages := t.Stages[:min(len(t.Stages), maxColumns)]
	if err := pages.columns(ctx, q, &p, stages, no); err != nil {
		return p, err
	}
	pages.summary(q, &p, stages, no)
	return p, nil
}

// chosen is the type with the id, or the default one.
func chosen(types []deals.Type, id string) (deals.Type, bool) {
	i := slices.IndexFunc(types, func(t deals.Type) bool { return t.ID.String() == id })
	if id == "" {
		i = max(slices.IndexFunc(types, func(t deals.Type) bool { return t.IsDefault }), 0)
	}
	if i < 0 || i >= len(types) {
		return deals.Type{}, false
	}
	return types[i], true
}

// columns reads the cards and the sums of all stages.
func (pages *Pages) columns(ctx context.Context, q *web.Request, p *boardPage, stages []deals.Stage, no *refused) error {
	ids := make([]uuid.UUID, len(stages))
	cards := make([]*list.Page[deals.ListItem], len(stages))
	var sums []deals.StageSum
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, s := range stages {
		ids[i] = s.ID
		group.Go(func() (err error) {
			cards[i], err = web.List[deals.ListItem](within, q, "listDeals", deals.Filter{Params: list.Params{PageSize: maxCards, Order: "desc"}, Sort: "boardOrder", StageID: &s.ID})
			return err
		})
	}
	group.Go(func() (err error) {
		sums, err = pages.Deals.StageSums(within, q.Caller, ids)
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	var reasons []deals.LostReason
	if no != nil {
		var err error
		if reasons, err = web.Call[[]deals.LostReason](ctx, q, "listDealLostReasons", web.Input{}); err != nil {
			return err
		}
	}
	for i, s := range stages {
		c := column{ID: s.ID.String(), Name: s.Name, Href: web.With(q.Path("/deals/list"), "stageId", s.ID.String()), Chip: outcome(q, s), Sum: sumOf(q, sums[i])}
		for _, d := range cards[i].Items {
			c.Cards = append(c.Cards, cardOf(q, d, s, stages, reasons, no))
		}
		if cards[i].HasMore {
			c.More = &web.Link{Text: q.T("deals.more"), Href: web.With(q.Path("/deals/list"), "stageId", s.ID.String(), "sort", "boardOrder", "order", "desc")}
		}
		p.Columns = append(p.Columns, c)
		if s.Outcome == nil {
			p.open, p.total, p.many = p.open+sums[i].Count, p.total+int64(sums[i].Total), p.many || sums[i].Many
		}
	}
	return nil
}

// outcomes are the colours of terminal stages.
var outcomes = map[string]string{deals.Won: web.Good, deals.Done: web.Good, deals.Lost: web.Bad, deals.Cancelled: web.Off}

func outcome(q *web.Request, s deals.Stage) *web.Chip {
	if s.Outcome == nil {
		return nil
	}
	return &web.Chip{Kind: outcomes[*s.Outcome], Text: q.T("deals.outcome." + *s.Outcome)}
}

func sumOf(q *web.Request, s deals.StageSum) string {
	if s.Many {
		return q.T("deals.many", q.Number(strconv.Itoa(deals.MaxSummed)))
	}
	return q.T("deals.sum", q.Number(strconv.FormatInt(s.Count, 10)), q.Money(int64(s.Total)))
}

func cardOf(q *web.Request, d deals.ListItem, s deals.Stage, stages []deals.Stage, reasons []deals.LostReason, no *refused) card {
	since := cmp.Or(d.StageEnteredAt, &d.CreatedAt).Std()
	c := card{
		ID: d.ID.String(), Title: q.T("deals.number", d.Number), Href: q.Path("/deals/" + d.ID.String()), Amount: q.Money(int64(d.Total)), Age: age(q, q.Now.Sub(since)), Version: d.Version,
		Late: s.SLAHours != nil && *s.SLAHours > 0 && d.Outcome == nil && q.Now.Sub(since) > time.Duration(*s.SLAHours)*time.Hour, Focus: q.Form.Get("moved") == d.ID.String(),
	}
	if d.CustomerName != nil {
		c.Client = *d.CustomerName
	}
	to := s.ID.String()
	if no != nil && no.deal == d.ID {
		to, c.Focus = no.stage, true
		if c.ReasonFault = q.FaultOf(no.err, "lostReasonId"); c.ReasonFault != "" || no.reason != "" {
			c.Reasons = append(c.Reasons, web.Option{Text: q.T("deals.reason.choose")})
			for _, reason := range reasons {
				c.Reasons = append(c.Reasons, web.Option{Value: reason.ID.String(), Text: reason.Name, Selected: reason.ID.String() == no.reason})
			}
		}
		if c.ReasonFault == "" {
			c.Fault = q.Fault(no.err)
		}
	}
	for _, other := range stages {
		c.Stages = append(c.Stages, web.Option{Value: other.ID.String(), Text: other.Name, Selected: other.ID.String() == to})
	}
	return c
}

// age is how long a deal has been in its stage.
func age(q *web.Request, d time.Duration) string {
	switch {
	case d < time.Hour:
		return q.T("deals.age.minutes", max(int(d/time.Minute), 0))
	case d < 48*time.Hour:
		return q.T("deals.age.hours", int(d/time.Hour))
	}
	return q.T("deals.age.days", int(d/(24*time.Hour)))
}

// summary says in a sentence what is the case, or why a move was refused that no card shows.
func (pages *Pages) summary(q *web.Request, p *boardPage, stages []deals.Stage, no *refused) {
	late, shown := 0, false
	for i := range p.Columns {
		for _, c := range p.Columns[i].Cards {
			if c.Late {
				late++
			}
			shown = shown || no != nil && c.ID == no.deal.String()
			if moved := q.Form.Get("moved"); moved == c.ID && no == nil {
				p.Note = &web.Note{Kind: web.Good, Text: q.T("deals.moved", c.Title, stages[i].Name)}
			}
		}
	}
	switch {
	case no != nil && !shown:
		p.Note = &web.Note{Kind: web.Bad, Text: no.err.Error()}
	case p.Note == nil && late > 0:
		p.Note = &web.Note{Kind: web.Warn, Text: q.T("deals.late", late)}
	case p.Note == nil && p.many:
		p.Note = &web.Note{Kind: web.Info, Text: q.T("deals.open.many", q.Number(strconv.FormatInt(p.open, 10)))}
	case p.Note == nil:
		p.Note = &web.Note{Kind: web.Info, Text: q.T("deals.open", q.Number(strconv.FormatInt(p.open, 10)), q.Money(p.total))}
	}
}

// move moves a deal by the command of the API. The card of one that is refused shows why.
func (pages *Pages) move(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.Answer{}, err
	}
	d, err := web.Call[deals.Deal](ctx, q, "getDeal", web.ByID(id))
	if err != nil {
		return web.Answer{}, err
	}
	no := refused{deal: id, stage: q.Form.Get("stage"), reason: q.Form.Get("lostReason")}
	body := map[string]any{"stageId": no.stage}
	if no.reason != "" {
		body["lostReasonId"] = no.reason
	}
	in := web.ByID(id)
	in.Body, in.Version = body, q.FormVersion()
	_, no.err = web.Call[deals.Deal](ctx, q, "moveDeal", in)
	if no.err == nil {
		return web.Go(web.With(q.Path("/deals"), "type", d.TypeID.String(), "moved", id.String())), nil
	}
	if known, ok := apierr.As(no.err); !ok || known.Status >= 500 {
		return web.Answer{}, no.err
	}
	p, err := pages.fill(ctx, q, d.TypeID.String(), &no)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show("deals/board", q.T("deals.title"), p).Refuse(), nil
}

// header leads to the list, and to a new deal for who may make one.
func header(q *web.Request) web.Header {
	h := web.Header{Title: q.T("deals.title"), Links: []web.Link{{Text: q.T("deals.list"), Href: q.Path("/deals/list")}}}
	if q.MayCall("createDeal") {
		h.Main = &web.Link{Text: q.T("deals.new"), Href: q.Path("/deals/list/new")}
	}
	return h
}
