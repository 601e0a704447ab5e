package home

import (
	"context"
	"strconv"
	"time"

	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
	"github.com/tradegrid/tradegrid/services/console/web"
	webhookpages "github.com/tradegrid/tradegrid/services/console/webhooks"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

const (
	expireSoon  = 30 * 24 * time.Hour // before its end, a token needs attention
	openTooLong = 24 * time.Hour      // after that, a shift was probably forgotten
)

// stock counts what has to be ordered again.
func (pages *Pages) stock(ctx context.Context, q *web.Request) (finding, error) {
	if !q.Sees(web.Warehouse) || !q.MayCall("listStocks") {
		return finding{}, nil
	}
	found, err := web.List[warehouse.StockItem](ctx, q, "listStocks", warehouse.StockFilter{Params: list.Params{PageSize: 1}, GroupBy: "product", Level: []string{"reorder"}})
	f := web.Figure{Label: q.T("home.reorder"), Href: web.With(q.Path("/stock"), "level", "reorder")}
	if late(err) {
		return unknown(q, f), nil
	}
	if err != nil {
		return finding{}, err
	}
	n := record.OrZero(found.Total)
	f.Value, f.Kind, f.Detail = web.Decimal(strconv.FormatInt(n, 10)), web.Good, q.T("home.reorder.none")
	if n > 0 {
		f.Kind, f.Detail = web.Warn, q.T("home.reorder.some")
	}
	return finding{figures: []web.Figure{f}}, nil
}

// shifts counts the open ones, and lists those that somebody has probably forgotten.
func (pages *Pages) shifts(ctx context.Context, q *web.Request) (out finding, err error) {
	if !q.Sees(web.Sales) || !q.MayCall("listShifts") {
		return finding{}, nil
	}
	found, err := web.List[sales.Shift](ctx, q, "listShifts", sales.ShiftFilter{Params: list.Params{PageSize: 20, Order: "asc"}, Sort: "createdAt", Status: []string{"open"}})
	f := web.Figure{Label: q.T("home.shifts"), Href: web.With(q.Path("/shifts"), "status", "open")}
	if late(err) {
		return unknown(q, f), nil
	}
	if err != nil {
		return finding{}, err
	}
	n := record.OrZero(found.Total)
	if f.Value = web.Decimal(strconv.FormatInt(n, 10)); n == 0 {
		f.Detail = q.T("home.shifts.none")
	}
	out.figures = []web.Figure{f}
	for _, s := range found.Items {
		if q.Now.Sub(s.OpenedAt.Std()) > openTooLong {
			out.trouble = append(out.trouble, []web.Cell{
				web.LinkTo(q.T("shifts.number", s.Number), q.Path("/shifts/"+s.ID.String())), web.State(web.Warn, q.T("home.shift.since", q.At(s.OpenedAt.Std()).Short())), web.Text(q.T("home.shift.next")),
			})
		}
	}
	return out, nil
}

// receivers counts them, and lists those that somebody has to look at.
func (pages *Pages) receivers(ctx context.Context, q *web.Request) (out finding, err error) {
	found, err := web.List[webhooks.Subscription](ctx, q, "listWebhookSubscriptions", webhooks.SubscriptionFilter{Params: list.Params{PageSize: webhooks.MaxSubscriptions}, Sort: "createdAt"})
	if err != nil {
		return out, err
	}
	for _, s := range found.Items {
		if !webhookpages.InTrouble(s) {
			continue
		}
		n := webhookpages.Sentence(q, s)
		out.trouble = append(out.trouble, []web.Cell{web.LinkTo(webhookpages.Name(s), q.Path("/webhooks/"+s.ID.String())), web.State(n.Kind, n.Title), web.Text(n.Text)})
	}
	f := web.Figure{Label: q.T("home.receivers"), Value: strconv.Itoa(len(found.Items)), Href: q.Path("/webhooks"), Kind: web.Good, Detail: q.T("home.receivers.well")}
	if bad := len(out.trouble); bad > 0 {
		f.Kind, f.Detail = web.Bad, q.T("home.receivers.bad", bad)
	}
	if len(found.Items) == 0 {
		f.Detail = ""
	}
	out.figures = []web.Figure{f}
	return out, nil
}

// tokens counts and lists those that expire soon.
func (pages *Pages) tokens(ctx context.Context, q *web.Request) (out finding, err error) {
	all, err := web.CallAdmin[[]company.Token](ctx, q, "listTokens", web.Input{})
	if err != nil {
		return out, err
	}
	for _, t := range all {
		if t.ExpiresAt == nil || t.RevokedAt != nil || t.ExpiresAt.Std().Before(q.Now) || t.ExpiresAt.Std().Sub(q.Now) > expireSoon {
			continue
		}
		name := web.Text(q.T("home.token", t.Name))
		if q.Sees(web.Tokens) {
			name.Href = q.Path("/tokens/" + t.ID.String())
		}
		out.trouble = append(out.trouble, []web.Cell{name, web.State(web.Warn, q.T("home.token.expires", q.At(t.ExpiresAt.Std()).Short())), web.Text(q.T("home.token.next"))})
	}
	if q.Sees(web.Tokens) {
		f := web.Figure{Label: q.T("home.tokens"), Value: strconv.Itoa(len(out.trouble)), Href: q.Path("/tokens")}
		if len(out.trouble) > 0 {
			f.Kind, f.Detail = web.Warn, q.T("home.tokens.some")
		}
		out.figures = []web.Figure{f}
	}
	return out, nil
}
