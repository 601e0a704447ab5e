package home

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// day is what a report says of a day.
type day struct {
	Day string

	SalesCount, SalesTotal     int64 // of sales
	OrdersCount, BookingsCount int64
	CancelledCount, Total      int64 // of orders and bookings; Total is without cancelled ones
}

// figure describes a figure of the day.
type figure struct {
	area   web.Area
	report string // operation
	name   string // of its texts
	list   string // address of the list, with filters that give the figure
	filter []string
	value  func(d day) (count, sum int64)
}

func (r *Room) sales(ctx context.Context, q *web.Request) (part, error) {
	return counted(ctx, q, figure{web.Sales, "reportSales", "sales", "/sales", []string{"kind", "sale"}, func(d day) (int64, int64) { return d.SalesCount, d.SalesTotal }})
}

func (r *Room) orders(ctx context.Context, q *web.Request) (part, error) {
	return counted(ctx, q, figure{web.Orders, "reportOrders", "orders", "/orders", []string{"status", "new,confirmed,in_progress,ready,completed"}, func(d day) (int64, int64) {
		return d.OrdersCount - d.CancelledCount, d.Total
	}})
}

func (r *Room) bookings(ctx context.Context, q *web.Request) (part, error) {
	return counted(ctx, q, figure{web.Bookings, "reportBookings", "bookings", "/bookings/list", []string{"status", "pending,confirmed,completed,no_show"}, func(d day) (int64, int64) {
		return d.BookingsCount - d.CancelledCount, d.Total
	}})
}

// counted is a figure of today, beside that of the same day of last week.
func counted(ctx context.Context, q *web.Request, f figure) (part, error) {
	if !q.Sees(f.area) || !q.Offers(f.report) {
		return part{}, nil
	}
	date, from, to := today(q)
	before := q.Now.In(q.Zone).AddDate(0, 0, -7).Format(time.DateOnly)
	out := web.Figure{Label: q.T("home." + f.name), Value: "–", Href: web.With(q.Path(f.list), append([]string{"dateFrom", web.Instant(from), "dateTo", web.Instant(to)}, f.filter...)...)}
	reply, err := q.Call(ctx, f.report, web.Input{Query: url.Values{"from": {before}, "to": {date}, "groupBy": {"day"}}})
	if known, ok := apierr.As(err); ok && known.Code == "QUERY_TOO_EXPENSIVE" {
		out.Detail = q.T("home.adding")
		return part{figures: []web.Figure{out}}, nil
	}
	if err != nil {
		return part{}, err
	}
	var report struct{ Rows []day }
	if err := reply.Into(&report); err != nil {
		return part{}, err
	}
	var count, sum, countBefore int64
	for _, d := range report.Rows {
		switch d.Day {
		case date:
			count, sum = f.value(d)
		case before:
			countBefore, _ = f.value(d)
		}
	}
	weekday := q.Date(q.Now.In(q.Zone), "Monday")
	out.Value, out.Detail = web.Decimal(strconv.FormatInt(count, 10)), q.Money(sum)+" · "+q.T("home.before", change(count-countBefore), weekday)
	if count >= countBefore && count > 0 {
		out.Kind = web.Good
	}
	return part{figures: []web.Figure{out}, said: q.T("home."+f.name+".said", count)}, nil
}

// change is a difference with its sign.
func change(n int64) string {
	text := web.Decimal(strconv.FormatInt(n, 10))
	if n > 0 {
		text = "+" + text
	}
	if strings.Trim(text, "0") == "" {
		return "±0"
	}
	return text
}
