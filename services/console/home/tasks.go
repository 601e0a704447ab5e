package home

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/console/web"
	webhookpages "github.com/tradegrid/tradegrid/services/console/webhooks"
)

const (
	expireSoon  = 30 * 24 * time.Hour // before its end, a token needs attention
	openTooLong = 24 * time.Hour      // after that, a shift was probably forgotten
)

// task is something that somebody has to do, with what does it.
type task struct {
	Kind, Icon  string
	Title, Text string
	Call, Whom  string // number to dial, "" = there is none; and who answers
	Link        *web.Link
	Act         *web.Action
}

// tasks are what has to be done, some of each kind: what stops others first.
func (d *day) tasks(q *web.Request) (all []task) {
	for _, some := range [][]task{d.failing(q), d.toShip(q), d.toConfirm(q), d.reorder(q), d.forgotten(q), d.expiring(q)} {
		all = append(all, some...)
	}
	return all
}

// delivered are the states of delivery of orders that nobody waits for.
var delivered = []string{"shipped", "delivered", "returned"}

// toShip are the orders that were promised for today or before.
func (d *day) toShip(q *web.Request) (all []task) {
	if d.due == nil {
		return nil
	}
	_, from, _ := today(q)
	more := total(d.due) > int64(len(d.due.Items))
	for _, o := range d.due.Items {
		if o.DueAt == nil || slices.Contains(delivered, record.OrZero(o.DeliveryStatus)) {
			continue
		}
		if more = more || len(all) == tasks; len(all) == tasks {
			break
		}
		t := task{Kind: web.Warn, Icon: "truck", Title: q.T("home.due", o.Number), Link: &web.Link{Text: q.T("home.due.open"), Href: q.Path("/orders/" + o.ID.String())}}
		if o.DueAt.Std().Before(from) {
			t.Kind, t.Title = web.Bad, q.T("home.due.late", o.Number, q.Date(o.DueAt.Std().In(q.Zone), "2 January"))
		}
		t.Call, t.Whom = web.Dial(record.OrZero(o.CustomerPhone)), cmp.Or(record.OrZero(o.CustomerName), record.OrZero(o.CustomerPhone))
		t.Text = q.T("home.due.text", cmp.Or(record.OrZero(o.CustomerName), q.T("home.nobody")), q.InlineWord(o.Status), q.Money(int64(o.Payable)))
		all = append(all, t)
	}
	if more && len(all) > 0 {
		href := web.With(q.Path("/orders"), "status", strings.Join(unfinished, ","), "dueTo", "today")
		all = append(all, task{Kind: web.Warn, Icon: "truck", Title: q.T("home.due.others"), Link: &web.Link{Text: q.T("home.due.all"), Href: href}})
	}
	return all
}

// toConfirm are the next bookings that wait for an answer.
func (d *day) toConfirm(q *web.Request) (all []task) {
	if d.pending == nil {
		return nil
	}
	for _, b := range d.pending.Items {
		t := task{Kind: web.Warn, Icon: "bookings", Title: q.T("home.confirm", what(b), q.At(b.StartAt.Std()).Short()), Text: b.CustomerName + ", " + b.CustomerPhone, Call: web.Dial(b.CustomerPhone), Whom: b.CustomerName}
		if q.MayCall("confirmBooking") {
			t.Act = confirm(q, b)
		} else {
			t.Link = &web.Link{Text: q.T("home.open"), Href: q.Path("/bookings/" + b.ID.String())}
		}
		all = append(all, t)
	}
	return all
}

// reorder drafts orders to the suppliers of what has to be ordered again.
func (d *day) reorder(q *web.Request) []task {
	n := total(d.stock)
	if n == 0 {
		return nil
	}
	var names []string
	for _, i := range d.stock.Items {
		if len(names) < tasks && !slices.Contains(names, i.ProductName) { // variants of a product have its name
			names = append(names, i.ProductName)
		}
	}
	t := task{Kind: web.Warn, Icon: "warehouse", Title: q.T("home.reorder.products", n), Text: strings.Join(names, ", ")}
	if n > int64(len(names)) {
		t.Text += " …"
	}
	if q.MayCall("reorderGoods") {
		t.Act = &web.Action{Text: q.T("stock.reorder"), Post: q.Path("/stock/reorder"), Small: true, Values: map[string]string{"level": "reorder", "key": uuid.NewString()}}
	} else {
		t.Link = &web.Link{Text: q.T("home.open"), Href: web.With(q.Path("/stock"), "level", "reorder")}
	}
	return []task{t}
}

// forgotten are the shifts that somebody has probably forgotten to close.
func (d *day) forgotten(q *web.Request) (all []task) {
	if d.shifts == nil {
		return nil
	}
	for _, s := range d.shifts.Items {
		if q.Now.Sub(s.OpenedAt.Std()) > openTooLong {
			title := q.T("home.shift.since", strconv.FormatInt(s.Number, 10), q.At(s.OpenedAt.Std()).Short())
			all = append(all, task{Kind: web.Warn, Icon: "till", Title: title, Text: q.T("home.shift.next"), Link: &web.Link{Text: q.T("home.shift.open"), Href: q.Path("/shifts/" + s.ID.String())}})
		}
	}
	return all
}

// failing are the receivers of webhooks that somebody has to look at.
func (d *day) failing(q *web.Request) (all []task) {
	if d.receivers == nil {
		return nil
	}
	for _, s := range d.receivers.Items {
		if !webhookpages.InTrouble(s) {
			continue
		}
		if len(all) == tasks {
			return append(all, task{Kind: web.Bad, Icon: "warn", Title: q.T("home.receivers.others"), Link: &web.Link{Text: q.T("home.open"), Href: q.Path("/webhooks")}})
		}
		n := webhookpages.Sentence(q, s)
		all = append(all, task{Kind: web.Bad, Icon: "warn", Title: webhookpages.Name(s) + ": " + n.Title, Text: n.Text, Link: &web.Link{Text: q.T("home.receivers.why"), Href: q.Path("/webhooks/" + s.ID.String())}})
	}
	return all
}

// expiring are the tokens that expire soon.
func (d *day) expiring(q *web.Request) (all []task) {
	if d.tokens == nil {
		return nil
	}
	for _, t := range *d.tokens {
		if t.ExpiresAt == nil || t.ExpiresAt.Std().Sub(t.CreatedAt.Std()) < expireSoon { // one that was made for a short time is meant to end
			continue
		}
		if t.RevokedAt != nil || t.ExpiresAt.Std().Before(q.Now) || t.ExpiresAt.Std().Sub(q.Now) > expireSoon {
			continue
		}
		if len(all) == tasks {
			return append(all, task{Kind: web.Warn, Icon: "warn", Title: q.T("home.tokens.others"), Link: &web.Link{Text: q.T("home.open"), Href: q.Path("/tokens")}})
		}
		all = append(all, task{Kind: web.Warn, Icon: "warn", Title: q.T("home.token.expires", t.Name, q.At(t.ExpiresAt.Std()).Short()), Text: q.T("home.token.next"), Link: &web.Link{Text: q.T("home.open"), Href: q.Path("/tokens/" + t.ID.String())}})
	}
	return all
}
