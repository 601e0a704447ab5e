// Package home is the first page of a company: its day in figures, and what needs attention.
package home

import (
	"context"
	"embed"
	"io/fs"
	"strconv"
	"time"

	"github.com/tradegrid/tradegrid/cmd/tradegrid/web"
	webhookpages "github.com/tradegrid/tradegrid/cmd/tradegrid/web/webhooks"
	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/services/company"
	"github.com/tradegrid/tradegrid/services/orders"
	"github.com/tradegrid/tradegrid/services/sales"
	"github.com/tradegrid/tradegrid/services/webhooks"
)

//go:embed *.html
var files embed.FS

// Orders counts orders.
type Orders interface {
	List(ctx context.Context, by access.Caller, f orders.Filter) (*list.Page[orders.ListItem], error)
}

// Sales counts sales.
type Sales interface {
	List(ctx context.Context, by access.Caller, f sales.Filter) (*list.Page[sales.ListItem], error)
}

// Webhooks knows the receivers.
type Webhooks interface {
	Subscriptions(ctx context.Context, by access.Caller, f webhooks.SubscriptionFilter) (*list.Page[webhooks.Subscription], error)
}

// Tokens knows which expire.
type Tokens interface {
	Tokens(ctx context.Context, by access.Caller, withRevoked bool) ([]company.Token, error)
}

// Room has the page.
type Room struct {
	Orders   Orders
	Sales    Sales
	Webhooks Webhooks
	Tokens   Tokens
}

// Name implements [web.Room].
func (*Room) Name() string { return "home" }

// Templates implements [web.Room].
func (*Room) Templates() fs.FS { return files }

// Pages implements [web.Room].
func (r *Room) Pages() []web.Page { return []web.Page{web.Get(web.Home, "", "", r.show)} }

type page struct {
	Header  web.Header
	Figures []web.Figure
	Trouble web.Table
	Note    web.Note
}

// expireSoon is how long before its end a token needs attention.
const expireSoon = 30 * 24 * time.Hour

func (r *Room) show(ctx context.Context, q *web.Request) (web.Answer, error) {
	now := q.Now.In(q.Zone)
	p := page{Header: web.Header{Title: q.T("home.title", q.Company.Name), Facts: now.Format("Monday, 2 January 2006")}}
	if err := r.business(ctx, q, &p, time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, q.Zone)); err != nil {
		return web.Answer{}, err
	}
	p.Trouble = web.Table{Label: q.T("home.trouble"), Columns: []web.Column{{Text: q.T("home.what")}, {Text: q.T("people.status")}, {Text: q.T("home.next")}}}
	if err := r.receivers(ctx, q, &p); err != nil {
		return web.Answer{}, err
	}
	if err := r.tokens(ctx, q, &p); err != nil {
		return web.Answer{}, err
	}
	if n := len(p.Trouble.Rows); n > 0 {
		p.Note = web.Note{Kind: web.Warn, Text: q.T("home.some", n)}
	} else {
		p.Note = web.Note{Kind: web.Good, Text: q.T("home.nothing")}
	}
	return web.Show("home/home", q.T("area.home"), p), nil
}

// business counts the day, of those parts of the platform that the company has.
func (r *Room) business(ctx context.Context, q *web.Request, p *page, midnight time.Time) error {
	from, one := list.From(midnight), list.Params{PageSize: 1}
	if q.Has("orders") && q.Allows("orders", false) {
		today, err := r.Orders.List(ctx, q.Caller, orders.Filter{Params: one, DateFrom: &from})
		if err != nil {
			return err
		}
		p.Figures = append(p.Figures,
			web.Figure{Label: q.T("home.orders"), Value: total(today.Total), Href: web.With(q.Path("/events"), "event", "order.created")})
	}
	if q.Has("cashier") && q.Allows("sales", false) {
		today, err := r.Sales.List(ctx, q.Caller, sales.Filter{Params: one, DateFrom: &from})
		if err != nil {
			return err
		}
		p.Figures = append(p.Figures, web.Figure{Label: q.T("home.sales"), Value: total(today.Total), Href: web.With(q.Path("/events"), "event", "sale.completed")})
	}
	return nil
}

func total(n *int64) string {
	if n == nil {
		return "–"
	}
	return strconv.FormatInt(*n, 10)
}

// receivers counts them, and lists those that somebody has to look at.
func (r *Room) receivers(ctx context.Context, q *web.Request, p *page) error {
	found, err := r.Webhooks.Subscriptions(ctx, q.Caller, webhooks.SubscriptionFilter{Params: list.Params{PageSize: webhooks.MaxSubscriptions}, Sort: "createdAt"})
	if err != nil {
		return err
	}
	bad := 0
	for _, s := range found.Items {
		if !webhookpages.InTrouble(s) {
			continue
		}
		bad++
		n := webhookpages.Sentence(q, s)
		p.Trouble.Rows = append(p.Trouble.Rows, []web.Cell{
			web.LinkTo(webhookpages.Name(s), q.Path("/webhooks/"+s.ID.String())), web.State(n.Kind, n.Title), web.Text(n.Text),
		})
	}
	f := web.Figure{Label: q.T("home.receivers"), Value: strconv.Itoa(len(found.Items)), Href: q.Path("/webhooks"), Kind: web.Good, Detail: q.T("home.receivers.well")}
	if bad > 0 {
		f.Kind, f.Detail = web.Bad, q.T("home.receivers.bad", bad)
	}
	if len(found.Items) == 0 {
		f.Detail = ""
	}
	p.Figures = append(p.Figures, f)
	return nil
}

// tokens lists those that expire soon.
func (r *Room) tokens(ctx context.Context, q *web.Request, p *page) error {
	all, err := r.Tokens.Tokens(ctx, q.Caller, false)
	if err != nil {
		return err
	}
	for _, t := range all {
		if t.ExpiresAt == nil || t.RevokedAt != nil || t.ExpiresAt.Std().Before(q.Now) || t.ExpiresAt.Std().Sub(q.Now) > expireSoon {
			continue
		}
		p.Trouble.Rows = append(p.Trouble.Rows, []web.Cell{
			web.Text(q.T("home.token", t.Name)), web.State(web.Warn, q.T("home.token.expires", q.At(t.ExpiresAt.Std()).Short())), web.Text(q.T("home.token.next")),
		})
	}
	return nil
}
