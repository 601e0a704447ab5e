package till

import (
	"context"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/console/lines"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// returnsPage takes goods of a receipt back.
type returnsPage struct {
	Post   string
	Till   string
	Number string // of the receipt that is looked for
	None   string // what to say if it is not found
	Sale   string // id
	Key    string
	Title  string
	Facts  string
	Fault  string
	Lines  []returnLine
	Reason web.Field
}

// returnLine is a line of which something can be taken back.
type returnLine struct {
	ID, Name, Detail, Qty, Fault string
}

// last leads to the receipt of the latest sale of the shift.
func (pages *Pages) last(ctx context.Context, q *web.Request) (web.Answer, error) {
	c, err := begin(ctx, q)
	if err != nil || c.shift == nil {
		return web.Go(q.Path("/sell")), err
	}
	found, err := web.List[sales.ListItem](ctx, q, "listSales", sales.Filter{Params: list.Params{PageSize: 1}, Kind: "all", ShiftID: &c.shift.ID})
	if err != nil || len(found.Items) == 0 {
		return web.Go(q.Path("/sell")), err
	}
	return web.Go(q.Path("/sell") + "?" + saleField + "=" + found.Items[0].ID.String()), nil
}

// returns looks for a receipt by its number.
func (pages *Pages) returns(ctx context.Context, q *web.Request) (web.Answer, error) {
	p := returnsPage{Post: q.Path("/sell/returns"), Till: q.Path("/sell"), Number: strings.TrimSpace(q.Form.Get("number"))}
	if p.Number == "" {
		return web.Show("till/returns", q.T("till.returns"), p), nil
	}
	n, ok := receiptNumber(p.Number)
	if !ok {
		p.None = q.T("till.returns.none", p.Number)
		return web.Show("till/returns", q.T("till.returns"), p), nil
	}
	found, err := web.List[sales.ListItem](ctx, q, "listSales", sales.Filter{Params: list.Params{PageSize: 1}, Kind: "all", Number: &n})
	if err != nil {
		return web.Answer{}, err
	}
	if len(found.Items) == 0 {
		p.None = q.T("till.returns.none", p.Number)
		return web.Show("till/returns", q.T("till.returns"), p), nil
	}
	s, err := web.Call[sales.Sale](ctx, q, "getSale", web.ByID(found.Items[0].ID))
	if err != nil {
		return web.Answer{}, err
	}
	p.fill(q, s, nil)
	return web.Show("till/returns", q.T("till.returns"), p), nil
}

// fill shows what is left of a sale. What a refusal says of a line stands beside it.
func (p *returnsPage) fill(q *web.Request, s sales.Sale, refusal error) {
	p.Sale, p.Key, p.Number = s.ID.String(), uuid.NewString(), strconv.FormatInt(s.Number, 10)
	p.Title = q.T("till.receipt.done", s.Number)
	p.Facts = q.Date(s.SoldAt.Std().In(q.Zone), "2 Jan 2006 15:04") + " · " + q.Money(int64(s.Total))
	if s.CustomerName != nil {
		p.Facts += " · " + *s.CustomerName
	}
	p.Reason = web.Field{Name: "reason", Label: q.T("till.returns.reason"), Value: q.Form.Get("reason"), Fault: q.FaultOf(refusal, "reason")}
	if s.Kind != "sale" {
		p.Fault = q.T("till.returns.refund")
		return
	}
	sent := 0
	for _, l := range s.Lines {
		left := l.Qty - l.RefundedQty
		if left <= 0 {
			continue
		}
		v := returnLine{
			ID: l.ID.String(), Name: l.Name, Detail: q.T("till.returns.left", q.Number(left.String()), q.Amount(int64(l.UnitPrice))), Qty: q.Form.Get("qty." + l.ID.String()),
		}
		if isNone(v.Qty) {
			p.Lines = append(p.Lines, v)
			continue
		}
		v.Fault = q.FaultOf(refusal, "items["+strconv.Itoa(sent)+"].qty")
		sent++
		p.Lines = append(p.Lines, v)
	}
	if len(p.Lines) == 0 {
		p.Fault = q.T("till.returns.all")
		return
	}
	if refusal != nil {
		p.Fault = q.FormFault(refusal, []web.Field{p.Reason})
		for _, l := range p.Lines {
			if l.Fault != "" {
				p.Fault = ""
			}
		}
	}
}

// receiptNumber is the number of a receipt that somebody typed.
func receiptNumber(typed string) (n int64, ok bool) {
	n, err := strconv.ParseInt(typed, 10, 64)
	return n, err == nil && n > 0
}

// isID reports whether a text is an id.
func isID(text string) bool { return uuid.Validate(text) == nil }

// isNone reports whether a typed quantity is none.
func isNone(typed string) bool { return strings.Trim(typed, " 0.,") == "" }

// giveBack refunds the lines whose quantities were typed, and shows the receipt of the refund.
func (pages *Pages) giveBack(ctx context.Context, q *web.Request) (web.Answer, error) {
	if !isID(q.Form.Get(saleField)) {
		return web.Go(q.Path("/sell/returns")), nil
	}
	s, err := web.Call[sales.Sale](ctx, q, "getSale", web.ByID(uuid.MustParse(q.Form.Get(saleField))))
	if err != nil {
		return web.Answer{}, err
	}
	in := web.ByID(s.ID)
	items := []any{}
	for _, l := range s.Lines {
		if typed := q.Form.Get("qty." + l.ID.String()); !isNone(typed) {
			items = append(items, map[string]any{"saleLineId": l.ID, "qty": lines.Number(typed)})
		}
	}
	body := map[string]any{"items": items}
	if reason := strings.TrimSpace(q.Form.Get("reason")); reason != "" {
		body["reason"] = reason
	}
	in.Key, in.Body = q.Form.Get("key"), body
	p := returnsPage{Post: q.Path("/sell/returns"), Till: q.Path("/sell")}
	if len(items) == 0 {
		p.fill(q, s, nil)
		p.Fault = q.T("till.returns.nothing")
		return web.Show("till/returns", q.T("till.returns"), p).Refuse(), nil
	}
	made, err := web.Call[web.JSON](ctx, q, "refundSale", in)
	if web.Refused(err) {
		p.fill(q, s, err)
		return web.Show("till/returns", q.T("till.returns"), p).Refuse(), nil
	}
	if err != nil {
		return web.Answer{}, err
	}
	var v struct{ ID string }
	if err := web.Decode(made, &v); err != nil {
		return web.Answer{}, err
	}
	return web.Go(q.Path("/sell") + "?" + saleField + "=" + v.ID), nil
}
