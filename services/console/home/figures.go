package home

import (
	"math"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// figures are those of the day, each of which leads to what it counts.
func (d *day) figures(q *web.Request) (all []web.Figure) {
	for _, f := range []*web.Figure{d.moneyIn(q), d.orderCount(q), d.bookingCount(q), d.averageSale(q)} {
		if f != nil {
			all = append(all, *f)
		}
	}
	return all
}

// of reports whether a row of a report is of a day.
func of(day *jsontype.Date, date string) bool { return day != nil && day.String() == date }

func (d *day) moneyIn(q *web.Request) *web.Figure {
	if d.payments == nil {
		return nil
	}
	date, _, _ := today(q)
	var now, was int64
	for _, r := range d.payments.Rows {
		switch {
		case of(r.Day, date):
			now += int64(r.NetTotal)
		case of(r.Day, weekAgo(q)):
			was += int64(r.NetTotal)
		}
	}
	f := &web.Figure{Label: q.T("home.money"), Value: q.Money(now), Href: web.With(q.Path("/payments/report"), "from", date, "to", date, "groupBy", "method"), Detail: q.T("home.money.was", weekday(q), q.Amount(was))}
	if d.orders == nil { // of sales alone
		f.Href = web.With(q.Path("/sales/report"), "from", date, "to", date, "groupBy", "method")
	}
	return f
}

func (d *day) orderCount(q *web.Request) *web.Figure {
	if d.orders == nil {
		return nil
	}
	date, from, to := today(q)
	var now, was int64
	for _, r := range d.orders.Rows {
		switch {
		case of(r.Day, date):
			now += r.OrdersCount - r.CancelledCount
		case of(r.Day, weekAgo(q)):
			was += r.OrdersCount - r.CancelledCount
		}
	}
	return &web.Figure{
		Label: q.T("home.orders"), Value: q.Count(now), Detail: q.T("home.count.was", weekday(q), q.Count(was)),
		Href: web.With(q.Path("/orders"), "dateFrom", web.Instant(from), "dateTo", web.Instant(to), "status", "new,confirmed,in_progress,ready,completed"),
	}
}

func (d *day) bookingCount(q *web.Request) *web.Figure {
	if d.today == nil {
		return nil
	}
	_, from, to := today(q)
	f := &web.Figure{
		Label: q.T("home.bookings"), Value: q.Count(total(d.today)), Detail: q.T("home.bookings.over"),
		Href: web.With(q.Path("/bookings/list"), "dateFrom", web.Instant(from), "dateTo", web.Instant(to), "status", "pending,confirmed,completed,no_show"),
	}
	if total(d.today) == 0 {
		f.Detail = q.T("home.bookings.none")
	}
	for _, b := range d.today.Items {
		if isOpen(b) && b.StartAt.Std().After(q.Now) {
			f.Detail = q.T("home.bookings.next", clock(q, b.StartAt))
			break
		}
	}
	return f
}

// averageSale is what a sale comes to; sales are those at the till.
func (d *day) averageSale(q *web.Request) *web.Figure {
	if d.sales == nil {
		return nil
	}
	date, from, to := today(q)
	var n, sum, nWas, sumWas int64
	for _, r := range d.sales.Rows {
		switch {
		case of(r.Day, date):
			n, sum = n+r.SalesCount, sum+int64(r.SalesTotal)
		case of(r.Day, weekAgo(q)):
			nWas, sumWas = nWas+r.SalesCount, sumWas+int64(r.SalesTotal)
		}
	}
	f := &web.Figure{Label: q.T("home.average"), Value: "–", Detail: q.T("home.average.none"), Href: web.With(q.Path("/sales"), "dateFrom", web.Instant(from), "dateTo", web.Instant(to), "kind", "sale")}
	if n == 0 {
		return f
	}
	f.Value, f.Detail = q.Money(sum/n), q.T("home.average.of", q.Count(n))
	if nWas == 0 {
		return f
	}
	switch change, ok := percent(sum/n, sumWas/nWas); {
	case ok && change > 0:
		f.Kind, f.Detail = web.Good, q.T("home.up", change, weekday(q))
	case ok && change < 0:
		f.Kind, f.Detail = web.Bad, q.T("home.down", -change, weekday(q))
	}
	return f
}

// methods is the money that came in today, by how it was paid.
type methods struct {
	Rows  []method
	Sum   string
	Shift *web.Link // the open one
	Cash  string    // what has to be in its drawer
}

type method struct {
	Name, Sum string
	Percent   int64
}

// share is a part of all, in percent.
func share(part, all int64) int64 {
	return int64(math.Round(float64(max(part, 0)) * 100 / float64(max(all, 1))))
}

// methods are nil if no money came in.
func (d *day) methods(q *web.Request) *methods {
	if d.payments == nil {
		return nil
	}
	date, _, _ := today(q)
	var in, net int64
	for _, r := range d.payments.Rows {
		if of(r.Day, date) {
			net, in = net+int64(r.NetTotal), in+max(int64(r.NetTotal), 0)
		}
	}
	m := &methods{Sum: q.Money(net)}
	for _, r := range d.payments.Rows {
		if of(r.Day, date) && r.Method != nil {
			m.Rows = append(m.Rows, method{q.Word(*r.Method), q.Amount(int64(r.NetTotal)), share(int64(r.NetTotal), in)})
		}
	}
	if len(m.Rows) == 0 {
		return nil
	}
	if d.shifts != nil && len(d.shifts.Items) == 1 {
		s := d.shifts.Items[0]
		m.Shift, m.Cash = &web.Link{Text: q.T("shifts.number", s.Number), Href: q.Path("/shifts/" + s.ID.String())}, q.Money(int64(s.ExpectedCash))
	}
	return m
}
