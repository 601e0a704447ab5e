package home

import (
	"context"
	"net/url"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/orders"
	"github.com/tradegrid/tradegrid/services/business/reports"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// day is what the page is made of. What the person may not see, and what is not yet added up, is nil.
type day struct {
	sales    *reports.SalesReport    // by day and hour, of today and of a week ago
	orders   *reports.OrdersReport   // the same
	payments *reports.PaymentsReport // by day and method

	latest    *list.Page[orders.ListItem]
	due       *list.Page[orders.ListItem] // promised for today or before, and not done
	today     *list.Page[scheduling.Booking]
	pending   *list.Page[scheduling.Booking]  // to be confirmed
	stock     *list.Page[warehouse.StockItem] // to be ordered again
	shifts    *list.Page[sales.Shift]         // open, the oldest first
	receivers *list.Page[webhooks.Subscription]
	tokens    *[]company.Token
	told      []web.Told // what people have changed last

	late atomic.Bool // some of it is still being added up
}

// Bounds of the page.
const (
	atOnce   = 4   // reads
	rows     = 5   // of a list
	latest   = 6   // changes
	tasks    = 3   // of a kind
	maxToday = 100 // bookings of a day
	maxDue   = 20  // orders that are looked at to find those to be shipped
)

// unfinished are the statuses of orders that are not done, bookingKept those of bookings that were not cancelled.
var (
	unfinished  = []string{"new", "confirmed", "in_progress", "ready"}
	bookingKept = []string{"pending", "confirmed", "completed", "no_show"}
)

// reader reads what does not depend on each other at once.
type reader struct {
	group *errgroup.Group
	ctx   context.Context //nolint:containedctx // that of the group, for the time of one page
	q     *web.Request
	late  *atomic.Bool
}

// want reads what the person sees and may call.
func want[T any](r reader, area web.Area, operation string, query url.Values, put func(T)) {
	if !r.q.Sees(area) || !r.q.MayCall(operation) {
		return
	}
	r.group.Go(func() error {
		got, err := web.Call[T](r.ctx, r.q, operation, web.Input{Query: query})
		if apierr.Is(err, list.TooExpensive) {
			r.late.Store(true)
			return nil
		}
		if err == nil {
			put(got)
		}
		return err
	})
}

// wantList is [want] for a list.
func wantList[T any](r reader, area web.Area, operation string, filter any, into **list.Page[T]) {
	want(r, area, operation, web.Query(filter), func(found *list.Page[T]) { *into = found })
}

func (pages *Pages) read(ctx context.Context, q *web.Request) (*day, error) {
	d := &day{}
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	r := reader{group, within, q, &d.late}
	date, from, to := today(q)
	until := func(by string) url.Values {
		return url.Values{"from": {weekAgo(q)}, "to": {date}, "groupBy": {"day," + by}}
	}
	want(r, web.Sales, "reportSales", until("hour"), func(found reports.SalesReport) { d.sales = &found })
	want(r, web.Orders, "reportOrders", until("hour"), func(found reports.OrdersReport) { d.orders = &found })
	d.readPayments(r, until("method"))
	last := list.To(to)
	wantList(r, web.Orders, "listOrders", orders.Filter{Params: list.Params{PageSize: rows, Order: "desc"}, Sort: "createdAt"}, &d.latest)
	wantList(r, web.Orders, "listOrders", orders.Filter{Params: list.Params{PageSize: maxDue, Order: "asc"}, Sort: "dueAt", Status: unfinished, DueTo: &last}, &d.due)
	begins, now := list.From(from), list.From(q.Now)
	wantList(r, web.Bookings, "listBookings", scheduling.BookingFilter{Params: list.Params{PageSize: maxToday, Order: "asc"}, Sort: "startAt", Status: bookingKept, DateFrom: &begins, DateTo: &last}, &d.today)
	wantList(r, web.Bookings, "listBookings", scheduling.BookingFilter{Params: list.Params{PageSize: tasks, Order: "asc"}, Sort: "startAt", Status: []string{"pending"}, DateFrom: &now}, &d.pending)
	wantList(r, web.Warehouse, "listStocks", warehouse.StockFilter{Params: list.Params{PageSize: rows}, GroupBy: "product", Level: []string{"reorder"}}, &d.stock)
	wantList(r, web.Sales, "listShifts", sales.ShiftFilter{Params: list.Params{PageSize: tasks, Order: "asc"}, Sort: "createdAt", Status: []string{"open"}}, &d.shifts)
	wantList(r, web.Webhooks, "listWebhookSubscriptions", webhooks.SubscriptionFilter{Params: list.Params{PageSize: access.MaxSubscriptions}, Sort: "createdAt"}, &d.receivers)
	if q.Sees(web.Tokens) {
		group.Go(func() error {
			got, err := web.CallAdmin[[]company.Token](within, q, "listTokens", web.Input{})
			d.tokens = &got
			return err
		})
	}
	if q.Sees(web.Audit) {
		group.Go(func() (err error) {
			d.told, err = pages.Activity.Latest(within, q, latest)
			return err
		})
	}
	return d, group.Wait()
}

// readPayments reads the payments of orders, of sales, or of both, as far as the person sees them.
func (d *day) readPayments(r reader, query url.Values) {
	ofOrders, ofSales := r.q.Sees(web.Orders) && r.q.MayCall("reportOrders"), r.q.Sees(web.Sales) && r.q.MayCall("reportSales")
	area := web.Orders
	switch {
	case ofOrders && ofSales:
	case ofOrders:
		query.Set("origin", "order")
	case ofSales:
		area = web.Sales
		query.Set("origin", "sale")
	default:
		return
	}
	want(r, area, "reportPayments", query, func(found reports.PaymentsReport) { d.payments = &found })
}

// total is how many records a list has.
func total[T any](l *list.Page[T]) int64 {
	if l == nil {
		return 0
	}
	return orZero(l.Total)
}
