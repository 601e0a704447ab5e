package home

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/reports"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// day is what a report says of a day.
type day struct {
	day        *jsontype.Date
	count, sum int64
}

// figure describes a figure of the day.
type figure struct {
	area   web.Area
	report string // operation
	name   string // of its texts
	list   string // address of the list, with filters that give the figure
	filter []string
}

func (pages *Pages) sales(ctx context.Context, q *web.Request) (finding, error) {
	return counted(ctx, q, figure{web.Sales, "reportSales", "sales", "/sales", []string{"kind", "sale"}}, func(all reports.SalesReport) (days []day) {
		for _, d := range all.Rows {
			days = append(days, day{d.Day, d.SalesCount, int64(d.SalesTotal)})
		}
		return days
	})
}

func (pages *Pages) orders(ctx context.Context, q *web.Request) (finding, error) {
	f := figure{web.Orders, "reportOrders", "orders", "/orders", []string{"status", "new,confirmed,in_progress,ready,completed"}}
	return counted(ctx, q, f, func(all reports.OrdersReport) (days []day) {
		for _, d := range all.Rows {
			days = append(days, day{d.Day, d.OrdersCount - d.CancelledCount, int64(d.Total)})
		}
		return days
	})
}

func (pages *Pages) bookings(ctx context.Context, q *web.Request) (finding, error) {
	f := figure{web.Bookings, "reportBookings", "bookings", "/bookings/list", []string{"status", "pending,confirmed,completed,no_show"}}
	return counted(ctx, q, f, func(all reports.BookingsReport) (days []day) {
		for _, d := range all.Rows {
			days = append(days, day{d.Day, d.BookingsCount - d.CancelledCount, int64(d.Total)})
		}
		return days
	})
}

// counted is a figure of today, beside that of the same day of last week. R is what the report returns.
func counted[R any](ctx context.Context, q *web.Request, f figure, days func(R) []day) (finding, error) {
	if !q.Sees(f.area) || !q.MayCall(f.report) {
		return finding{}, nil
	}
	date, from, to := today(q)
	before := q.Now.In(q.Zone).AddDate(0, 0, -7).Format(time.DateOnly)
	out := web.Figure{Label: q.T("home." + f.name), Href: web.With(q.Path(f.list), append([]string{"dateFrom", web.Instant(from), "dateTo", web.Instant(to)}, f.filter...)...)}
	report, err := web.Call[R](ctx, q, f.report, web.Input{Query: url.Values{"from": {before}, "to": {date}, "groupBy": {"day"}}})
	if late(err) {
		return unknown(q, out), nil
	}
	if err != nil {
		return finding{}, err
	}
	var count, sum, countBefore int64
	for _, d := range days(report) {
		switch d.day.String() {
		case date:
			count, sum = d.count, d.sum
		case before:
			countBefore = d.count
		}
	}
	weekday := q.Date(q.Now.In(q.Zone), "Monday")
	out.Value, out.Detail = web.Decimal(strconv.FormatInt(count, 10)), q.Money(sum)+" · "+q.T("home.before", change(count-countBefore), weekday)
	if count >= countBefore && count > 0 {
		out.Kind = web.Good
	}
	return finding{figures: []web.Figure{out}, said: q.T("home."+f.name+".said", count)}, nil
}

// late reports whether a figure cannot be had now, because the records that it counts are too many.
func late(err error) bool { return apierr.Is(err, list.TooExpensive) }

// unknown is a figure that cannot be had now.
func unknown(q *web.Request, f web.Figure) finding {
	f.Value, f.Detail = "–", q.T("home.adding")
	return finding{figures: []web.Figure{f}}
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
