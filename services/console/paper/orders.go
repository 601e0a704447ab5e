package paper

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/clients"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/orders"
)

// numbered is how people write the number of a record.
func numbered(n int64) string { return strconv.FormatInt(n, 10) }

// customer is whom an order is for: the client as it is registered, or else what the order says.
func (w Writer) customer(o orders.Order, c *clients.Client) (to []string) {
	to = addressed(c)
	if name := record.OrZero(o.CustomerName); name != "" && !slices.Contains(to, name) {
		to = append(to, name)
	}
	if c != nil && c.INN != nil {
		to = append(to, w.say("paper.tax_id", *c.INN))
	}
	return append(to, lines(o.CustomerPhone, o.CustomerEmail)...)
}

// orderFacts are what all documents of an order say of it.
func (w Writer) orderFacts(o orders.Order) []Fact {
	facts := []Fact{{Label: w.say("paper.order"), Text: numbered(o.Number)}, {Label: w.say("paper.order.date"), Text: w.date(o.CreatedAt.Std())}}
	if o.DueAt != nil {
		facts = w.fact(facts, "paper.order.due", w.moment(o.DueAt.Std()))
	}
	return w.fact(facts, "paper.order.address", record.OrZero(o.DeliveryAddressText))
}

func (w Writer) pricedColumns() []Column {
	return []Column{
		{Text: w.say("paper.line.no"), Width: 8},
		{Text: w.say("paper.line.name")},
		{Text: w.say("paper.line.qty"), Num: true, Width: 22},
		{Text: w.say("paper.line.price"), Num: true, Width: 26},
		{Text: w.say("paper.line.tax"), Num: true, Width: 17},
		{Text: w.say("paper.line.total"), Num: true, Width: 30},
	}
}

// pricedRow adds a line with its price to a sheet with these columns.
func (w Writer) pricedRow(s *Sheet, l lineitem.Line, more ...*string) {
	tax := ""
	if l.TaxRate != nil {
		tax = w.percent(*l.TaxRate)
	}
	s.Rows = append(s.Rows, Row{
		Cells:  []string{strconv.Itoa(len(s.Rows) + 1), l.Name, w.measured(l.Qty, l.Unit), w.amount(l.UnitPrice), tax, w.amount(l.Total)},
		Detail: w.described(l, more...),
	})
}

// priced are the lines of an order with their prices.
func (w Writer) priced(s *Sheet, o orders.Order) {
	s.Columns = w.pricedColumns()
	for _, l := range o.Lines {
		w.pricedRow(s, l.Line, l.Note)
	}
	s.Sums = w.totals(o.Totals)
	if o.DeliveryCost != 0 || o.ReturnedAmount != 0 {
		s.Sums = w.sum(s.Sums, w.say("paper.delivery"), o.DeliveryCost)
		s.Sums = w.sum(s.Sums, w.say("paper.returned"), -o.ReturnedAmount)
		s.Sums = append(s.Sums, Fact{Label: w.say("paper.payable"), Text: w.money(o.Payable), Strong: true})
	}
	if o.PrepaidAmount != 0 {
		s.Sums = w.sum(s.Sums, w.say("paper.paid"), o.PrepaidAmount)
		s.Sums = append(s.Sums, Fact{Label: w.say("paper.due"), Text: w.money(o.AmountDue), Strong: true})
	}
}

// Confirmation confirms an order to the client.
func (w Writer) Confirmation(o orders.Order, c *clients.Client) Sheet {
	s := w.page(w.say("paper.confirmation.title", o.Number))
	s.To, s.Facts = w.customer(o, c), w.orderFacts(o)
	if o.PayDueAt != nil {
		s.Facts = w.fact(s.Facts, "paper.order.pay_due", w.date(o.PayDueAt.Std()))
	}
	w.priced(&s, o)
	s.Notes = w.fact(nil, "paper.note", record.OrZero(o.CustomerNote))
	return s
}

// DeliveryNote goes with the goods of an order: it has no prices.
func (w Writer) DeliveryNote(o orders.Order, c *clients.Client) Sheet {
	s := w.page(w.say("paper.delivery_note.title", o.Number))
	s.To, s.Facts = w.customer(o, c), w.orderFacts(o)
	s.Columns = []Column{
		{Text: w.say("paper.line.no"), Width: 8}, {Text: w.say("paper.line.name")}, {Text: w.say("paper.line.ordered"), Num: true, Width: 30}, {Text: w.say("paper.line.shipped"), Num: true, Width: 30},
	}
	for _, l := range o.Lines {
		if l.Kind == "service" {
			continue
		}
		s.Rows = append(s.Rows, Row{
			Cells:  []string{strconv.Itoa(len(s.Rows) + 1), l.Name, w.measured(l.Qty, l.Unit), w.measured(l.ShippedQty, l.Unit)},
			Detail: lines(l.SKU, l.Note),
		})
	}
	s.Notes = w.fact(nil, "paper.note", record.OrZero(o.CustomerNote))
	s.Sign = []string{w.say("paper.sign.date"), w.say("paper.sign.received")}
	return s
}

// picked is a line of an order on its way to a list for those who fetch the goods.
type picked struct {
	order orders.Order
	line  orders.Line
}

// PickList lists the goods of several orders by product, so that whoever fetches them goes to each place once.
func (w Writer) PickList(all []orders.Order) Sheet {
	title := w.say("paper.pick_list.title", len(all))
	if len(all) == 1 {
		title = w.say("paper.pick_list.one", all[0].Number)
	}
	s := w.page(title)
	s.Facts = []Fact{{Label: w.say("paper.orders")}}
	var goods []picked
	for i, o := range all {
		if i > 0 {
			s.Facts[0].Text += ", "
		}
		s.Facts[0].Text += numbered(o.Number)
		for _, l := range o.Lines {
			if l.Kind != "service" {
				goods = append(goods, picked{o, l})
			}
		}
	}
	slices.SortStableFunc(goods, func(a, b picked) int {
		return cmp.Or(cmp.Compare(a.line.Name, b.line.Name), cmp.Compare(record.OrZero(a.line.SKU), record.OrZero(b.line.SKU)), cmp.Compare(a.order.Number, b.order.Number))
	})
	s.Columns = []Column{
		{Text: w.say("paper.line.done"), Width: 14},
		{Text: w.say("paper.line.name")},
		{Text: w.say("paper.line.sku"), Width: 34},
		{Text: w.say("paper.line.qty"), Num: true, Width: 24},
		{Text: w.say("paper.order"), Num: true, Width: 24},
	}
	for _, p := range goods {
		s.Rows = append(s.Rows, Row{
			Cells:  []string{"[   ]", p.line.Name, record.OrZero(p.line.SKU), w.measured(p.line.Qty, p.line.Unit), numbered(p.order.Number)},
			Detail: append(modifiers(p.line.Line), lines(p.line.Note)...),
		})
	}
	return s
}

// OrderReceipt is an order with its payments on a roll.
func (w Writer) OrderReceipt(o orders.Order, payments []orders.Payment) Sheet {
	s := w.sheet(kindReceipt, w.say("paper.order_receipt.title", o.Number))
	s.Facts = []Fact{{Label: w.say("paper.order.date"), Text: w.moment(o.CreatedAt.Std())}}
	s.Facts = w.fact(s.Facts, "paper.customer", record.OrZero(o.CustomerName))
	s.Columns = receiptColumns
	for _, l := range o.Lines {
		s.Rows = append(s.Rows, w.receiptRow(l.Line))
	}
	s.Sums = w.totals(o.Totals)
	s.Sums = w.sum(s.Sums, w.say("paper.delivery"), o.DeliveryCost)
	s.Sums = w.sum(s.Sums, w.say("paper.returned"), -o.ReturnedAmount)
	for _, p := range payments {
		amount := p.Amount
		if p.Kind == "refund" {
			amount = -amount
		}
		s.Sums = append(s.Sums, Fact{Label: w.say("paper.payment", w.method(p.Method), w.date(p.PaidAt.Std())), Text: w.money(amount)})
	}
	s.Sums = append(s.Sums, Fact{Label: w.say("paper.due"), Text: w.money(o.AmountDue), Strong: true})
	return s
}
