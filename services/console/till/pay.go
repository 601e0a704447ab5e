package till

import (
	"context"
	"slices"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// payPart is how the sum is paid.
type payPart struct {
	Due     string
	Methods []web.Option
	ByCard  *web.Field // part that is paid by card
	Given   *web.Field // cash
	Quick   []web.Option
	Rest    string // what is left to pay in cash beside the card
	Change  string // "" = nothing is given back
	Fault   string
	Button  string
	Keys    []string // of the pad
}

// payPart adds up what is given back. sum is what the cart comes to.
func (c *counter) payPart(ctx context.Context, sum *sales.Preview, refusal error) (*payPart, error) {
	method, total := c.method(), int64(sum.Total)
	p := &payPart{Due: c.q.Money(total), Button: c.q.T("till.take", c.q.Money(total)), Keys: []string{"7", "8", "9", "4", "5", "6", "1", "2", "3", "00", "0", c.q.T("number.point")}}
	for _, m := range methods(c.q) {
		p.Methods = append(p.Methods, web.Option{Value: m, Text: c.q.T("shifts.method." + m), Selected: m == method})
	}
	paid, fault, err := c.change(ctx)
	if err != nil {
		return nil, err
	}
	if refusal == nil {
		refusal = fault
	}
	if method == mixed {
		p.ByCard = &web.Field{
			Name: cardField, Label: c.q.T("till.pay.card", c.q.Symbol()), Type: "number", Value: c.form.Get(cardField), Focus: c.form.Get(cardField) == "",
			Fault: c.q.FaultOf(refusal, "payments[0].amount"),
		}
		if n, ok := c.rest(c.q.ParseAmount(c.form.Get(cardField))).(int64); ok && n > 0 {
			total = n
			p.Rest = c.q.T("till.pay.rest", c.q.Money(n))
		} else {
			total = 0
		}
		if c.form.Get(cardField) == "" {
			refusal, p.ByCard.Fault = nil, ""
		}
	}
	if method == cash || method == mixed {
		p.Given = &web.Field{
			Name: givenField, Label: c.q.T("till.pay.given", c.q.Symbol()), Type: "number", Value: c.form.Get(givenField), Focus: method == cash,
			Fault: c.q.FaultOf(refusal, "receivedAmount"),
		}
		for i, n := range quick(total, money.Digits(c.q.Company.Currency)) {
			text := c.q.Amount(n)
			if i == 0 {
				text = c.q.T("till.pay.exact", text)
			}
			p.Quick = append(p.Quick, web.Option{Value: c.q.Decimal(n), Text: text})
		}
	}
	if paid != nil && paid.ChangeAmount != nil && *paid.ChangeAmount > 0 {
		p.Change = c.q.Money(int64(*paid.ChangeAmount))
	}
	if p.Fault = c.q.FormFault(refusal, p.fields()); p.Given != nil && p.Given.Fault != "" {
		p.Fault = ""
	}
	return p, nil
}

func (p *payPart) fields() (all []web.Field) {
	for _, f := range []*web.Field{p.ByCard, p.Given} {
		if f != nil {
			all = append(all, *f)
		}
	}
	return all
}

// quick are amounts that people are likely to hand over: the sum itself, and the next round ones.
func quick(total int64, digits int) []int64 {
	if total <= 0 {
		return nil
	}
	all := []int64{total}
	unit := int64(1)
	for range digits {
		unit *= 10
	}
	for _, round := range []int64{1, 5, 10, 20, 50, 100, 200, 500} {
		step := round * unit
		next := (total + step - 1) / step * step
		if !slices.Contains(all, next) && len(all) < 4 {
			all = append(all, next)
		}
	}
	return all
}
