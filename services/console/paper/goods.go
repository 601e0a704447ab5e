package paper

import (
	"maps"
	"slices"
	"strconv"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/purchases"
	"github.com/tradegrid/tradegrid/services/business/stockdoc"
	"github.com/tradegrid/tradegrid/services/business/suppliers"
	"github.com/tradegrid/tradegrid/services/business/transfers"
)

// goods is what stands below the name of a line of goods.
func goods(i stockdoc.Item) (detail []string) {
	if i.VariantSKU != nil {
		detail = append(detail, *i.VariantSKU)
	} else {
		detail = append(detail, i.ProductSKU)
	}
	for _, name := range slices.Sorted(maps.Keys(i.VariantAttributes)) {
		detail = append(detail, name+": "+i.VariantAttributes[name])
	}
	return append(detail, lines(i.Note)...)
}

// PurchaseOrder asks a supplier for goods. supplier is nil if it is not known any more.
func (w Writer) PurchaseOrder(o purchases.Order, supplier *suppliers.Supplier) Sheet {
	s := w.page(w.say("paper.purchase_order.title", o.Number))
	s.To = []string{o.SupplierName}
	if supplier != nil {
		s.To = append(s.To, lines(supplier.ContactName, supplier.Address, supplier.Phone, supplier.Email)...)
	}
	s.Facts = []Fact{{Label: w.say("paper.date_of"), Text: w.date(o.CreatedAt.Std())}, {Label: w.say("paper.deliver_to"), Text: o.WarehouseName}}
	if o.ExpectedAt != nil {
		s.Facts = w.fact(s.Facts, "paper.expected", w.date(o.ExpectedAt.Std()))
	}
	s.Columns = []Column{
		{Text: w.say("paper.line.no"), Width: 8},
		{Text: w.say("paper.line.name")},
		{Text: w.say("paper.line.qty"), Num: true, Width: 26},
		{Text: w.say("paper.line.price"), Num: true, Width: 28},
		{Text: w.say("paper.line.total"), Num: true, Width: 32},
	}
	for i, l := range o.Lines {
		s.Rows = append(s.Rows, Row{
			Cells:  []string{strconv.Itoa(i + 1), l.ProductName, w.measured(l.Qty, l.Unit), w.amount(l.UnitCost), w.amount(l.Amount)},
			Detail: goods(l.Item),
		})
	}
	s.Sums = []Fact{{Label: w.say("paper.total"), Text: w.money(o.TotalAmount), Strong: true}}
	s.Notes = w.fact(nil, "paper.note", record.OrZero(o.Note))
	return s
}

// TransferList goes with goods from one warehouse to another.
func (w Writer) TransferList(t transfers.Transfer) Sheet {
	s := w.page(w.say("paper.transfer.title", t.Number))
	s.Facts = []Fact{
		{Label: w.say("paper.date_of"), Text: w.date(t.CreatedAt.Std())}, {Label: w.say("paper.from"), Text: t.WarehouseName}, {Label: w.say("paper.to"), Text: t.ToWarehouseName},
	}
	s.Columns = []Column{
		{Text: w.say("paper.line.no"), Width: 8}, {Text: w.say("paper.line.name")}, {Text: w.say("paper.line.sent"), Num: true, Width: 30}, {Text: w.say("paper.line.received"), Num: true, Width: 30},
	}
	for i, l := range t.Lines {
		s.Rows = append(s.Rows, Row{Cells: []string{strconv.Itoa(i + 1), l.ProductName, w.measured(l.Qty, l.Unit), w.arrived(l.ReceivedQty, l.Unit)}, Detail: goods(l.Item)})
	}
	s.Sums = []Fact{{Label: w.say("paper.qty.total"), Text: w.qty(t.TotalQty), Strong: true}}
	s.Notes = w.fact(nil, "paper.note", record.OrZero(t.Note))
	s.Sign = []string{w.say("paper.sign.sent"), w.say("paper.sign.received")}
	return s
}

// arrived is what arrived, or room to write it down.
func (w Writer) arrived(q *money.Qty, unit *string) string {
	if q == nil {
		return "________"
	}
	return w.measured(*q, unit)
}
