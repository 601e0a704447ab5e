package paper

import (
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// receiptColumns are those of a roll: what was sold, and its amount.
var receiptColumns = []Column{{}, {Num: true, Width: 24}} //nolint:gochecknoglobals // a constant

// receiptRow is a line on a roll.
func (w Writer) receiptRow(l lineitem.Line) Row {
	r := Row{Cells: []string{l.Name, w.amount(l.Total)}}
	r.Detail = append(r.Detail, w.say("paper.line.each", w.measured(l.Qty, l.Unit), w.amount(l.UnitPrice)))
	r.Detail = append(r.Detail, modifiers(l)...)
	if l.DiscountAmount != 0 {
		r.Detail = append(r.Detail, w.say("paper.line.discount", w.amount(-l.DiscountAmount)))
	}
	return r
}

// Receipt is the receipt of a sale, or of the refund of one.
func (w Writer) Receipt(v sales.Sale) Sheet {
	s := w.sheet(kindReceipt, w.say("paper.receipt."+v.Kind, v.Number))
	s.Facts = []Fact{{Label: w.say("paper.receipt.at"), Text: w.moment(v.SoldAt.Std())}}
	s.Facts = w.fact(s.Facts, "paper.cashier", record.OrZero(v.CashierName))
	s.Facts = w.fact(s.Facts, "paper.customer", record.OrZero(v.CustomerName))
	s.Facts = w.fact(s.Facts, "paper.reason", record.OrZero(v.Reason))
	s.Columns = receiptColumns
	for _, l := range v.Lines {
		s.Rows = append(s.Rows, w.receiptRow(l.Line))
	}
	s.Sums = w.totals(v.Totals)
	for _, p := range v.Payments {
		method := w.method(p.Method)
		if p.MethodExt != nil {
			method = *p.MethodExt
		}
		s.Sums = append(s.Sums, Fact{Label: method, Text: w.money(p.Amount)})
	}
	if v.ReceivedAmount != nil && v.ChangeAmount != nil && *v.ChangeAmount != 0 {
		s.Sums = append(s.Sums, Fact{Label: w.say("paper.received"), Text: w.money(*v.ReceivedAmount)}, Fact{Label: w.say("paper.change"), Text: w.money(*v.ChangeAmount)})
	}
	if v.RedeemedPoints != 0 {
		s.Sums = append(s.Sums, Fact{Label: w.say("paper.points.used"), Text: w.number(numbered(v.RedeemedPoints))})
	}
	if v.EarnedPoints != 0 {
		s.Sums = append(s.Sums, Fact{Label: w.say("paper.points.earned"), Text: w.number(numbered(v.EarnedPoints))})
	}
	if code, err := newCode(codeBars, numbered(v.Number)); err == nil {
		s.Code = &code
	}
	return s
}

// ShiftReport is what a shift has taken: an interim report while it is open, and the final one when it is closed.
func (w Writer) ShiftReport(v sales.Shift) Sheet {
	kind := "paper.shift.x"
	if v.ClosedAt != nil {
		kind = "paper.shift.z"
	}
	s := w.sheet(kindReceipt, w.say(kind, v.Number))
	s.Facts = []Fact{{Label: w.say("paper.shift.opened"), Text: w.moment(v.OpenedAt.Std())}}
	if v.ClosedAt != nil {
		s.Facts = w.fact(s.Facts, "paper.shift.closed", w.moment(v.ClosedAt.Std()))
	}
	s.Facts = w.fact(s.Facts, "paper.shift.cashier", record.OrZero(v.CashierName))
	s.Columns = receiptColumns
	s.Rows = []Row{
		{Cells: []string{w.say("paper.shift.sales", v.SalesCount), w.amount(v.SalesTotal)}},
		{Cells: []string{w.say("paper.shift.refunds", v.RefundsCount), w.amount(-v.RefundsTotal)}},
		{Cells: []string{w.say("paper.shift.methods")}},
		{Cells: []string{w.method("cash"), w.amount(v.TotalsByMethod.Cash)}},
		{Cells: []string{w.method("card"), w.amount(v.TotalsByMethod.Card)}},
	}
	if web.PaidBy("sbp", w.settings.Currency) || v.TotalsByMethod.SBP != 0 {
		s.Rows = append(s.Rows, Row{Cells: []string{w.method("sbp"), w.amount(v.TotalsByMethod.SBP)}})
	}
	s.Rows = append(s.Rows,
		Row{Cells: []string{w.say("paper.shift.drawer")}},
		Row{Cells: []string{w.say("paper.shift.opening"), w.amount(v.OpeningCash)}},
		Row{Cells: []string{w.say("paper.shift.in"), w.amount(v.CashIn)}},
		Row{Cells: []string{w.say("paper.shift.out"), w.amount(-v.CashOut)}},
	)
	s.Sums = []Fact{{Label: w.say("paper.shift.expected"), Text: w.money(v.ExpectedCash), Strong: true}}
	if v.ClosingCash != nil && v.CashDifference != nil {
		s.Sums = append(s.Sums, Fact{Label: w.say("paper.shift.counted"), Text: w.money(*v.ClosingCash)}, Fact{Label: w.say("paper.shift.difference"), Text: w.money(*v.CashDifference)})
	}
	s.Sign = []string{w.say("paper.sign.cashier")}
	return s
}
