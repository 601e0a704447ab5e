package records

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// party is the client of a record, which its page reads after itself.
type party struct {
	Name web.Cell
	From string // address of what is known of the client
}

// partyOf is the client that a record is about; nil = it has none, or the person may not see it.
func (pages *Pages) partyOf(q *web.Request, s shown) *party {
	i := slices.IndexFunc(s.res.Columns, func(c resources.Column) bool { return c.To == clients && s.record.Has(c.ID) })
	if i < 0 {
		return nil
	}
	at := pages.recordPath(q, clients, s.record.Text(s.res.Columns[i].ID))
	if at == "" {
		return nil
	}
	return &party{Name: faceOf(s.record.Text(s.res.Columns[i].Name), at), From: at + "/view/card"}
}

const clients = "clients"

func faceOf(name, at string) web.Cell { return web.LinkTo(name, at).Pictured(web.Face(name)) }

type cardPage struct {
	Header      web.Header
	Name        web.Cell
	Call, Phone string // as links take it, and as people write it
	Mail        string
	Facts       []web.Fact
	Last        []web.Fact // orders
}

// cardOrders is how many of the last orders the card of a client has.
const cardOrders = 3

// card says who a client is to the company, beside a document: how to reach it, what it bought, owes and may spend.
func (pages *Pages) card(res resources.Resource) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		s, err := pages.find(ctx, q, res)
		if err != nil {
			return web.Answer{}, err
		}
		phone := s.record.Text("phone")
		p := cardPage{Header: web.Header{Title: titleOf(q, res, s.record)}, Call: web.Dial(phone), Phone: phone, Mail: s.record.Text("email")}
		p.Name = faceOf(p.Header.Title, s.address(q))
		p.Name.Sub = q.T("records.card.since", q.Date(moments(q, s.record.Text("createdAt")).At.At, "Jan 2006"))
		if err := pages.bought(ctx, q, s, &p); err != nil {
			return web.Answer{}, err
		}
		if err := pages.balance(ctx, q, s, &p); err != nil {
			return web.Answer{}, err
		}
		if s.record.Number("points") != 0 {
			p.Facts = append(p.Facts, web.Fact{Label: q.Label("points"), Cell: web.Text(q.Number(s.record.Text("points")))})
		}
		return web.Show("records/card", p.Header.Title, p), nil
	}
}

// bought adds what the client has ordered, if the person may see orders and it can be added up in time.
func (pages *Pages) bought(ctx context.Context, q *web.Request, s shown, p *cardPage) error {
	orders := pages.resource("orders")
	if !pages.seesOrders(q) {
		return nil
	}
	of := url.Values{"customerId": {s.id}, "status": {openOrders + ",completed"}}
	sums, err := sumOrders(ctx, q, of)
	if err != nil {
		return err
	}
	if sums != nil {
		p.Facts = append(p.Facts, web.Fact{Label: q.T("records.card.bought"), Cell: web.Text(q.T("records.card.orders", q.Money(sums.Number("payable")), sums.Number("count")))})
	}
	of.Set("pageSize", strconv.Itoa(cardOrders))
	found, err := pages.read(ctx, q, orders, of)
	if err != nil {
		return err
	}
	for _, o := range found.Items {
		cell := web.LinkTo(q.T("records.card.order", o.Text("number"), q.Money(o.Number("total"))), pages.recordPath(q, orders.Name, o.Text("id")))
		p.Last = append(p.Last, web.Fact{Label: moments(q, o.Text("createdAt")).At.Short(), Cell: cell})
	}
	return nil
}

// openOrders are the statuses of orders that are not completed.
const openOrders = "new,confirmed,in_progress,ready"

func (pages *Pages) seesOrders(q *web.Request) bool {
	orders := pages.resource("orders")
	return q.Sees(orders.Area) && q.Has(orders.Component)
}

// sumOrders adds orders up; nil = it takes too long.
func sumOrders(ctx context.Context, q *web.Request, of url.Values) (sums resources.Record, err error) {
	raw, err := web.Call[web.JSON](ctx, q, "sumOrders", web.Input{Query: of})
	if known, ok := apierr.As(err); ok && known.Code == list.TooExpensive {
		return nil, nil //nolint:nilnil // the sums are left out
	}
	if err != nil {
		return nil, err
	}
	return sums, decode(raw, &sums)
}

// balance says what the client owes, or has paid. The balance has payments of orders that are not completed, which nobody owes back.
func (pages *Pages) balance(ctx context.Context, q *web.Request, s shown, p *cardPage) error {
	balance := s.record.Number("balance")
	add := func(label string, amount int64) {
		if amount > 0 {
			p.Facts = append(p.Facts, web.Fact{Label: label, Cell: web.Text(q.Money(amount))})
		}
	}
	if balance < 0 {
		p.Facts = append(p.Facts, web.Fact{Label: q.T("records.card.owes"), Cell: web.State(web.Warn, q.Money(-balance))})
	}
	if balance <= 0 {
		return nil
	}
	var sums resources.Record
	if pages.seesOrders(q) {
		var err error
		if sums, err = sumOrders(ctx, q, url.Values{"customerId": {s.id}, "status": {openOrders}}); err != nil {
			return err
		}
	}
	if sums == nil {
		add(q.Label("balance"), balance)
		return nil
	}
	ahead := min(sums.Number("paid"), balance)
	add(q.T("records.card.ahead"), ahead)
	add(q.T("records.card.credit"), balance-ahead)
	return nil
}
