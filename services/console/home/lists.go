package home

import (
	"cmp"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

func (d *day) latestOrders(q *web.Request) *listing {
	if d.latest == nil || len(d.latest.Items) == 0 {
		return nil
	}
	l := &listing{All: web.Link{Text: q.T("home.latest.all"), Href: q.Path("/orders")}, Table: web.Table{Label: q.T("home.latest"), Columns: []web.Column{
		{Text: q.Label("number")}, {Text: q.T("home.client")}, {Text: q.Label("status")}, {Text: q.Label("paymentStatus")}, {Text: q.T("home.sum", q.Symbol()), Num: true},
	}}}
	for _, o := range d.latest.Items {
		client := web.Text(cmp.Or(record.OrZero(o.CustomerName), record.OrZero(o.CustomerPhone), q.T("home.nobody")))
		client = client.Pictured(web.Face(client.Text))
		client.Sub = q.At(o.CreatedAt.Std()).Short()
		l.Table.Rows = append(l.Table.Rows, []web.Cell{
			web.LinkTo(q.Count(o.Number), q.Path("/orders/"+o.ID.String())), client, state(q, o.Status), state(q, o.PaymentStatus), web.Number(q.Amount(int64(o.Payable))),
		})
	}
	return l
}

func state(q *web.Request, s string) web.Cell { return web.State(resources.Colour(s), q.Word(s)) }

// toReorder are the goods that have to be ordered again.
func (d *day) toReorder(q *web.Request) *listing {
	if d.stock == nil || len(d.stock.Items) == 0 {
		return nil
	}
	l := &listing{All: web.Link{Text: q.T("home.reorder.all", total(d.stock)), Href: web.With(q.Path("/stock"), "level", "reorder")}, Table: web.Table{Label: q.T("home.reorder"), Columns: []web.Column{
		{Text: q.T("stock.product")}, {Text: q.T("stock.available"), Num: true}, {Text: q.T("stock.reorder_point"), Num: true},
	}}}
	for _, i := range d.stock.Items {
		name := web.LinkTo(i.ProductName, q.Path("/stock/"+i.ProductID.String())).Pictured(q.Picture("", "", "", i.ProductName))
		name.Sub = cmp.Or(record.OrZero(i.VariantSKU), i.ProductSKU)
		l.Table.Rows = append(l.Table.Rows, []web.Cell{name, web.Number(q.Number(i.Available.String())), web.Number(q.Number(i.ReorderPoint.String()))})
	}
	return l
}

// agenda is the bookings of the day that are not over.
type agenda struct {
	Items []booked
	Empty string
	All   web.Link
}

type booked struct {
	At, Name, Text, Href string
	Chip                 *web.Chip
	Act                  *web.Action
}

func (d *day) agenda(q *web.Request) *agenda {
	if d.today == nil {
		return nil
	}
	a := &agenda{All: web.Link{Text: q.T("home.calendar"), Href: q.Path("/bookings")}, Empty: q.T("home.bookings.none.text")}
	if total(d.today) > 0 {
		a.Empty = q.T("home.bookings.over.text")
	}
	for _, b := range d.today.Items {
		if len(a.Items) == rows {
			break
		}
		if !isOpen(b) || b.EndAt.Std().Before(q.Now) {
			continue
		}
		one := booked{
			At: clock(q, b.StartAt), Name: what(b), Href: q.Path("/bookings/" + b.ID.String()),
			Text: strings.Join([]string{b.CustomerName, q.T("home.until", b.ResourceName, clock(q, b.EndAt))}, " · "),
		}
		switch {
		case b.Status == "pending" && q.MayCall("confirmBooking"):
			one.Act = confirm(q, b)
		case b.Status == "pending":
			one.Chip = &web.Chip{Kind: web.Warn, Text: q.T("bookings.status.pending")}
		case !b.StartAt.Std().After(q.Now):
			one.Chip = &web.Chip{Kind: web.Info, Text: q.T("home.here")}
		}
		a.Items = append(a.Items, one)
	}
	return a
}

func isOpen(b scheduling.Booking) bool { return b.Status == "pending" || b.Status == "confirmed" }

// what is booked: the service, or the resource.
func what(b scheduling.Booking) string { return cmp.Or(record.OrZero(b.ServiceName), b.ResourceName) }

func clock(q *web.Request, at jsontype.Time) string { return at.Std().In(q.Zone).Format("15:04") }

// confirm confirms a booking, and comes back here.
func confirm(q *web.Request, b scheduling.Booking) *web.Action {
	values := q.Versioned(b.Version)
	values["do"], values["from"] = "confirm", "home"
	return &web.Action{Text: q.T("bookings.do.confirm"), Post: q.Path("/bookings/" + b.ID.String() + "/status"), Small: true, Values: values}
}
