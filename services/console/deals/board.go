package deals

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

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
	Board   string // address of the board
	List    string // address of the same deals as a list
	Tabs    []web.Tab
	Toast   *web.Toast // what came of a move
	Fault   string     // why a move was refused; "" = it was not
	Columns []column
	Ended   []ended
	Ranges  web.Ranges // of the days on which deals ended
	Empty   web.Empty
	Moves   bool // the person may move deals
	Part    bool // the page has only the columns that a move has changed, which take the place of those that a browser shows
}

// column is a stage in which deals are open.
type column struct {
	ID, Name, Href string
	Count, Sum     string
	Cards          []card
	More           *web.Link
	New            string // address of a new deal, which begins in this stage; "" = it does not, or the person may make none
	Moves, Part    bool   // those of the page
}

// ended are the deals of a stage that ends them.
type ended struct {
	ID, Name, Href string
	Outcome        string
	Kind           string // of its chip
	Count, Sum     string
}

// shown is what an answer shows of a board.
type shown struct {
	only  []uuid.UUID // the stages of a move; nil = the whole board
	focus uuid.UUID   // the deal that was moved
	toast *web.Toast  // what came of the move
	fault string      // why it was refused
}

func (v shown) has(stage uuid.UUID) bool { return v.only == nil || slices.Contains(v.only, stage) }

func (pages *Pages) board(ctx context.Context, q *web.Request) (web.Answer, error) {
	v, err := pages.moved(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	p, err := pages.fill(ctx, q, q.Form.Get("type"), v)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show("deals/board", q.T("deals.title"), p), nil
}

// fill reads the board of a type; "" = the default one.
func (pages *Pages) fill(ctx context.Context, q *web.Request, of string, v shown) (boardPage, error) {
	p := boardPage{Header: header(q), Board: q.Path("/deals"), List: q.Path("/deals/list"), Moves: q.Allows(scope, true), Toast: v.toast, Fault: v.fault, Part: v.only != nil}
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
			p.Tabs = append(p.Tabs, web.Tab{Text: other.Name, Href: web.With(p.Board, "type", other.ID.String()), Current: other.ID == t.ID})
		}
	}
	return p, pages.columns(ctx, q, &p, t.Stages[:min(len(t.Stages), maxColumns)], v)
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

// columns reads the sums of all stages, and the cards of those that are shown.
func (pages *Pages) columns(ctx context.Context, q *web.Request, p *boardPage, stages []deals.Stage, v shown) error {
	ids, period := make([]deals.StagePeriod, len(stages)), periodOf(q)
	cards := make([]*list.Page[deals.ListItem], len(stages))
	var sums []deals.StageSum
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, s := range stages {
		if ids[i].ID = s.ID; s.Outcome != nil {
			ids[i].From, ids[i].To = period.From, period.To
		}
		if s.Outcome != nil || !v.has(s.ID) {
			continue
		}
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
	late := 0
	for i, s := range stages {
		switch {
		case s.Outcome != nil:
			p.Ended = append(p.Ended, endedIn(q, s, sums[i]))
			p.Ranges = endedRanges(q, p.Board, period)
		case cards[i] != nil:
			c := columnOf(q, s, sums[i], cards[i], v.focus)
			c.Moves, c.Part = p.Moves, p.Part
			for _, one := range c.Cards {
				if one.Late {
					late++
				}
			}
			p.Columns = append(p.Columns, c)
		}
	}
	p.Header.Lead = lead(q, stages, sums, late)
	return nil
}

func columnOf(q *web.Request, s deals.Stage, sum deals.StageSum, found *list.Page[deals.ListItem], focus uuid.UUID) column {
	c := column{ID: s.ID.String(), Name: s.Name, Href: web.With(q.Path("/deals/list"), "stageId", s.ID.String())}
	c.Count, c.Sum = figures(q, sum)
	for _, d := range found.Items {
		c.Cards = append(c.Cards, cardOf(q, d, s, focus))
	}
	if found.HasMore {
		c.More = &web.Link{Text: q.T("deals.more"), Href: web.With(c.Href, "sort", "boardOrder", "order", "desc")}
	}
	if s.IsInitial && q.MayCall("createDeal") {
		c.New = newDeal(q)
	}
	return c
}

// outcomes are the colours of stages that end deals.
var outcomes = map[string]string{deals.Won: web.Good, deals.Done: web.Good, deals.Lost: web.Bad, deals.Cancelled: web.Off}

func endedIn(q *web.Request, s deals.Stage, sum deals.StageSum) ended {
	e := ended{ID: s.ID.String(), Name: s.Name, Href: web.With(q.Path("/deals/list"), "stageId", s.ID.String()), Outcome: *s.Outcome, Kind: outcomes[*s.Outcome]}
	e.Count, e.Sum = figures(q, sum)
	return e
}

// figures are how many deals a stage has, and what they add up to.
func figures(q *web.Request, s deals.StageSum) (count, sum string) {
	if s.Many {
		return q.T("deals.many", q.Count(int64(deals.MaxSummed))), ""
	}
	return q.Count(s.Count), q.Money(int64(s.Total))
}

// lead says in a sentence what is open, and how much of it has been in its stage for too long.
func lead(q *web.Request, stages []deals.Stage, sums []deals.StageSum, late int) *web.Note {
	open, total, many := int64(0), int64(0), false
	for i, s := range stages {
		if s.Outcome == nil {
			open, total, many = open+sums[i].Count, total+int64(sums[i].Total), many || sums[i].Many
		}
	}
	n := &web.Note{Title: q.T("deals.open", q.Count(open), q.Money(total))}
	if many {
		n.Title = q.T("deals.open.many", q.Count(open))
	}
	if late > 0 {
		n.Text = q.T("deals.late", late)
	}
	return n
}

// header has a new deal for who may make one.
func header(q *web.Request) web.Header {
	h := web.Header{Title: q.T("deals.title")}
	if q.MayCall("createDeal") {
		h.Main = &web.Link{Text: q.T("deals.new"), Href: newDeal(q)}
	}
	return h
}

func newDeal(q *web.Request) string { return q.Path("/deals/list/new") }
