package till

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// receipt is what is handed over, as it will be printed.
type receipt struct {
	Title    string // what was done
	Company  string
	Facts    string
	Lines    []receiptLine
	Sums     []web.Fact
	Total    string
	Payments []web.Fact
	Taxes    []web.Fact
	Customer string
	Change   string // to give back; "" = none
	Href     string // page of the sale
	Paper    string // the receipt on paper
	Mail     string // form that mails it; "" = the person may not
}

type receiptLine struct{ Name, Detail, Total string }

// receipt is that of a sale or refund; nil = there is none.
func (c *counter) receipt(ctx context.Context, id string) (*receipt, error) {
	if !isID(id) {
		return nil, nil //nolint:nilnil // there is none
	}
	s, err := web.Call[sales.Sale](ctx, c.q, "getSale", web.ByID(uuid.MustParse(id)))
	if known, ok := apierr.As(err); ok && known.Status == http.StatusNotFound {
		return nil, nil //nolint:nilnil // there is none
	}
	if err != nil {
		return nil, err
	}
	return receiptOf(c.q, s), nil
}

func receiptOf(q *web.Request, s sales.Sale) *receipt {
	r := &receipt{
		Title: q.T("till.receipt.done", s.Number), Company: q.Company.Name, Total: q.Money(int64(s.Total)), Href: q.Path("/sales/" + s.ID.String()),
		Facts: q.T("till.receipt.facts", q.Date(s.SoldAt.Std().In(q.Zone), "2 Jan 2006 15:04"), s.Number),
	}
	r.Paper = q.PrintMenu("sales", []string{"receipt"}, s.ID.String()).Links[0].Href
	if q.MayCall("mailSale") {
		r.Mail = r.Href + "/do/mail"
	}
	if s.Kind == "refund" {
		r.Title = q.T("till.receipt.refunded", s.Number)
	}
	if s.CashierName != nil {
		r.Facts += " · " + *s.CashierName
	}
	for _, l := range s.Lines {
		r.Lines = append(r.Lines, receiptLine{
			Name: l.Name, Detail: q.Number(l.Qty.String()) + " × " + q.Amount(int64(l.UnitPrice)), Total: q.Amount(int64(l.Amount)),
		})
	}
	fact := func(label string, amount int64) web.Fact {
		return web.Fact{Label: label, Cell: web.Number(q.Amount(amount))}
	}
	if s.DiscountAmount != 0 {
		r.Sums = append(r.Sums, fact(q.T("till.sum.discount"), -int64(s.DiscountAmount)))
	}
	if s.RedeemedPoints != 0 {
		r.Sums = append(r.Sums, fact(q.T("till.sum.points"), -s.RedeemedPoints))
	}
	for _, p := range s.Payments {
		r.Payments = append(r.Payments, fact(q.T("shifts.method."+p.Method), int64(p.Amount)))
	}
	if s.ReceivedAmount != nil && s.ChangeAmount != nil {
		r.Payments = append(r.Payments, fact(q.T("till.receipt.given"), int64(*s.ReceivedAmount)), fact(q.T("till.receipt.change"), int64(*s.ChangeAmount)))
		if *s.ChangeAmount > 0 {
			r.Change = q.Money(int64(*s.ChangeAmount))
		}
	}
	for _, t := range s.Taxes {
		r.Taxes = append(r.Taxes, fact(q.T("till.receipt.tax."+s.TaxMode, q.Number(t.Rate.String())), int64(t.Amount)))
	}
	if s.CustomerName != nil {
		r.Customer = *s.CustomerName
		if s.EarnedPoints > 0 && s.Kind == "sale" {
			r.Customer = q.T("till.receipt.points", *s.CustomerName, s.EarnedPoints)
		}
	}
	return r
}
