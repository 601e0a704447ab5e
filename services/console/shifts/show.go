package shifts

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// rows is how many sales and movements of cash a page shows.
const rows = 20

type shiftPage struct {
	Header  web.Header
	Note    web.Note
	Figures []web.Figure
	Drawer  []web.Fact
	Methods []web.Fact
	Cash    web.Table
	Sales   web.Table
	All     web.Link
	Move    *web.Form // of cash
	Close   *web.Form
	API     web.Shown
}

func (pages *Pages) show(ctx context.Context, q *web.Request) (web.Answer, error) {
	s, err := pages.one(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	p, err := pages.fill(ctx, q, s)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show("shifts/shift", q.T("shifts.number", s.Number), p), nil
}

// one reads the shift that the address names.
func (pages *Pages) one(ctx context.Context, q *web.Request) (sales.Shift, error) {
	id, err := q.PathID("id")
	if err != nil {
		return sales.Shift{}, err
	}
	return web.Call[sales.Shift](ctx, q, "getShift", web.ByID(id))
}

// isOpen reports whether a shift still sells.
func isOpen(s sales.Shift) bool { return s.ClosedAt == nil }

func (pages *Pages) fill(ctx context.Context, q *web.Request, s sales.Shift) (shiftPage, error) {
	p := shiftPage{
		Header: web.Header{
			Crumbs: []web.Link{{Text: q.T("area.sales"), Href: q.Path("/sales")}, {Text: q.T("shifts.title"), Href: q.Path("/shifts")}}, Title: q.T("shifts.number", s.Number),
			Chip: &web.Chip{Kind: web.Info, Text: q.T("shifts.status.open")}, Facts: q.T("shifts.since", q.At(s.OpenedAt.Std()).Short(), cashier(q, s.CashierID, s.CashierName)),
		},
		Note: sentence(q, s), Drawer: drawer(q, s),
		Methods: []web.Fact{
			{Label: q.T("shifts.method.cash"), Cell: web.Number(q.Money(int64(s.TotalsByMethod.Cash)))},
			{Label: q.T("shifts.method.card"), Cell: web.Number(q.Money(int64(s.TotalsByMethod.Card)))},
		},
	}
	if q.Offers("sbp") || s.TotalsByMethod.SBP != 0 {
		p.Methods = append(p.Methods, web.Fact{Label: q.T("shifts.method.sbp"), Cell: web.Number(q.Money(int64(s.TotalsByMethod.SBP)))})
	}
	p.Header.Prints = q.PrintMenu("shifts", []string{"report"}, s.ID.String())
	if !isOpen(s) {
		p.Header.Chip = &web.Chip{Kind: web.Off, Text: q.T("shifts.status.closed")}
		if q.Allows(scope, true) {
			p.Header.Links = []web.Link{{Text: q.T("shifts.open"), Href: q.Path("/shifts/open")}}
		}
	}
	of := func(kind string) string { return web.With(q.Path("/sales"), "shiftId", s.ID.String(), "kind", kind) }
	p.Figures = []web.Figure{
		{Label: q.T("shifts.sales"), Value: q.Count(s.SalesCount), Detail: q.Money(int64(s.SalesTotal)), Href: of("sale")},
		{Label: q.T("shifts.refunds"), Value: q.Count(s.RefundsCount), Detail: q.Money(int64(s.RefundsTotal)), Href: of("refund")},
		{Label: q.T("shifts.expected"), Value: q.Money(int64(s.ExpectedCash)), Href: "#drawer"},
	}
	p.All = web.Link{Text: q.T("shifts.sales.all"), Href: of("")}
	if isOpen(s) && q.Allows(scope, true) {
		p.Move, p.Close = moveForm(q, s, nil), closeForm(q, s, nil)
	}
	p.API = q.Show("getShift", web.ByID(s.ID), s)
	if err := pages.movements(ctx, q, s, &p); err != nil {
		return p, err
	}
	return p, pages.sales(ctx, q, s, &p)
}

// cashier is what a cashier is called: whoever is signed in without a name, by the address.
func cashier(q *web.Request, id *uuid.UUID, name *string) string {
	switch {
	case name != nil && *name != "":
		return *name
	case id != nil && *id == q.Session.User:
		return cmp.Or(q.Person.Name, q.Person.Email)
	}
	return q.T("shifts.token")
}

// sentence is what the drawer must hold, or held.
func sentence(q *web.Request, s sales.Shift) web.Note {
	switch {
	case isOpen(s):
		return web.Note{Kind: web.Info, Text: q.T("shifts.is_open", q.Money(int64(s.ExpectedCash)))}
	case s.CashDifference == nil:
		return web.Note{Kind: web.Warn, Text: q.T("shifts.not_counted", q.At(s.ClosedAt.Std()).Short(), q.Money(int64(s.ExpectedCash)))}
	case *s.CashDifference == 0:
		return web.Note{Kind: web.Good, Text: q.T("shifts.right", q.At(s.ClosedAt.Std()).Short(), q.Money(int64(s.ExpectedCash)))}
	case *s.CashDifference < 0:
		return web.Note{Kind: web.Bad, Text: q.T("shifts.missing", q.At(s.ClosedAt.Std()).Short(), q.Money(-int64(*s.CashDifference)))}
	}
	return web.Note{Kind: web.Warn, Text: q.T("shifts.too_much", q.At(s.ClosedAt.Std()).Short(), q.Money(int64(*s.CashDifference)))}
}

// drawer adds up what the drawer must hold.
func drawer(q *web.Request, s sales.Shift) []web.Fact {
	line := func(key string, amount money.Amount) web.Fact {
		return web.Fact{Label: key, Cell: web.Number(q.Money(int64(amount)))}
	}
	facts := []web.Fact{
		line(q.T("shifts.opening"), s.OpeningCash), line(q.T("shifts.cash_sales"), s.TotalsByMethod.Cash), line(q.T("shifts.cash_in"), s.CashIn), line(q.T("shifts.cash_out"), -s.CashOut),
		line(q.T("shifts.expected"), s.ExpectedCash),
	}
	if s.ClosingCash != nil && s.CashDifference != nil {
		facts = append(facts, line(q.T("shifts.counted"), *s.ClosingCash), line(q.T("shifts.difference"), *s.CashDifference))
	}
	return facts
}

// movements lists the cash that was put into the drawer or taken out of it.
func (pages *Pages) movements(ctx context.Context, q *web.Request, s sales.Shift, p *shiftPage) error {
	in := web.ByID(s.ID)
	in.Query = web.Query(sales.CashFilter{Params: list.Params{PageSize: rows, Cursor: q.Form.Get("cash")}})
	found, err := web.Call[*list.Page[sales.CashMovement]](ctx, q, "listCashMovements", in)
	if err != nil {
		return err
	}
	p.Cash = web.Table{
		Label: q.T("shifts.cash"), Folds: true,
		Columns: []web.Column{{Text: q.T("shifts.when")}, {Text: q.T("shifts.direction")}, {Text: q.T("shifts.reason")}, {Text: q.T("shifts.who")}, {Text: q.T("shifts.amount"), Num: true, Lead: true}},
		Empty:   web.Empty{Title: q.T("shifts.cash.none"), Text: q.T("shifts.cash.none.text")},
	}
	for _, m := range found.Items {
		kind := web.Good
		if m.Type == "out" {
			kind = web.Warn
		}
		p.Cash.Rows = append(p.Cash.Rows, []web.Cell{
			web.When(q.At(m.CreatedAt.Std())), web.State(kind, q.T("shifts.cash."+m.Type)), web.Text(m.Reason), web.Text(cashier(q, &m.CashierID, m.CashierName)), web.Number(q.Money(int64(m.Amount))),
		})
	}
	if found.NextCursor != nil {
		p.Cash.Next = web.With(q.Path("/shifts/"+s.ID.String()), "cash", *found.NextCursor)
	}
	return nil
}

// sales lists the latest sales and refunds of the shift.
func (pages *Pages) sales(ctx context.Context, q *web.Request, s sales.Shift, p *shiftPage) error {
	filter := sales.Filter{Params: list.Params{PageSize: rows}, Kind: "all", ShiftID: &s.ID}
	found, err := web.List[sales.ListItem](ctx, q, "listSales", filter)
	if err != nil {
		return err
	}
	p.Sales = web.Table{
		Label: q.T("shifts.sales"), Folds: true,
		Columns: []web.Column{{Text: q.T("shifts.receipt")}, {Text: q.T("shifts.when")}, {Text: q.T("shifts.kind")}, {Text: q.T("shifts.method")}, {Text: q.T("shifts.total"), Num: true, Lead: true}, {}},
		Empty:   web.Empty{Title: q.T("shifts.sales.none"), Text: q.T("shifts.sales.none.text")},
	}
	for _, v := range found.Items {
		state, next, total := web.State(web.Good, q.T("shifts.kind.sale")), web.Cell{}, int64(v.Total)
		switch {
		case v.Kind == "refund":
			state, total = web.State(web.Warn, q.T("shifts.kind.refund")), -total
		case v.RefundStatus != "none":
			state.Also = q.T("shifts.refunded." + v.RefundStatus)
		}
		if v.Kind == "sale" && v.RefundStatus != "full" && q.Allows(scope, true) {
			next = web.LinkTo(q.T("shifts.refund"), q.Path("/sales/"+v.ID.String()+"/do/refund"))
		}
		p.Sales.Rows = append(p.Sales.Rows, []web.Cell{
			web.LinkTo(q.T("shifts.receipt.number", v.Number), q.Path("/sales/"+v.ID.String())), web.When(q.At(v.CreatedAt.Std())), state, web.Text(q.T("shifts.method." + v.PaymentMethod)), web.Number(q.Money(total)), next,
		})
	}
	return nil
}
