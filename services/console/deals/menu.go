package deals

import (
	"context"
	"slices"

	"github.com/tradegrid/tradegrid/services/business/deals"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// menuPage is what can be done with a deal, for the card that asks when its menu is opened.
type menuPage struct {
	Header  web.Header
	Post    string
	Version int64
	Steps   []step
	Lost    []lostStep
	Links   []web.Link
}

// step is a stage that a deal can be moved to.
type step struct{ Stage, Text, Key string }

// lostStep is a stage that needs a reason.
type lostStep struct {
	Stage, Text string
	Reasons     []web.Option
}

func (pages *Pages) menu(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.Answer{}, err
	}
	d, err := web.Call[deals.Deal](ctx, q, "getDeal", web.ByID(id))
	if err != nil {
		return web.Answer{}, err
	}
	at := q.Path("/deals/" + id.String())
	p := menuPage{Post: at + "/move", Version: d.Version, Links: []web.Link{{Text: q.T("deals.open.one"), Href: at}}}
	p.Header = web.Header{Title: titleOf(q, d.Header), Crumbs: []web.Link{{Text: q.T("deals.title"), Href: web.With(q.Path("/deals"), "type", d.TypeID.String())}}}
	if q.MayCall("updateDeal") {
		p.Links = append(p.Links, web.Link{Text: q.T("records.do.edit"), Href: at + "/do/edit"})
	}
	if q.MayCall("moveDeal") {
		if err := p.moves(ctx, q, d); err != nil {
			return web.Answer{}, err
		}
	}
	return web.Show("deals/menu", p.Header.Title, p), nil
}

// moves offers the next and the previous stage, and those that end the deal.
func (p *menuPage) moves(ctx context.Context, q *web.Request, d deals.Deal) error {
	stages, err := stagesOf(ctx, q, d)
	if err != nil {
		return err
	}
	open := slices.DeleteFunc(slices.Clone(stages), func(s deals.Stage) bool { return s.Outcome != nil })
	at := slices.IndexFunc(open, func(s deals.Stage) bool { return s.ID == d.StageID })
	if at >= 0 && at+1 < len(open) {
		p.Steps = append(p.Steps, step{open[at+1].ID.String(), q.T("deals.to", open[at+1].Name), "⇧ →"})
	}
	if at < 0 {
		at = len(open) // it has ended
	}
	if at > 0 {
		p.Steps = append(p.Steps, step{open[at-1].ID.String(), q.T("deals.back", open[at-1].Name), "⇧ ←"})
	}
	for _, s := range stages {
		switch {
		case s.Outcome == nil || s.ID == d.StageID:
		case *s.Outcome == deals.Lost:
			err = p.lost(ctx, q, s)
		default:
			one := step{Stage: s.ID.String(), Text: s.Name}
			if *s.Outcome == deals.Won {
				one.Key = "W"
			}
			p.Steps = append(p.Steps, one)
		}
	}
	return err
}

// lost asks for the reason.
func (p *menuPage) lost(ctx context.Context, q *web.Request, s deals.Stage) error {
	reasons, err := web.Call[[]deals.LostReason](ctx, q, "listDealLostReasons", web.Input{})
	if err != nil {
		return err
	}
	l := lostStep{Stage: s.ID.String(), Text: q.T("deals.lost", s.Name)}
	for _, r := range reasons {
		l.Reasons = append(l.Reasons, web.Option{Value: r.ID.String(), Text: r.Name})
	}
	p.Lost = append(p.Lost, l)
	return nil
}
