package sales_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
)

// percentOf is amount × basis points / 10000, rounded half up or down.
func percentOf(amount, bp int64, halfUp bool) int64 {
	n := new(big.Int).Mul(big.NewInt(amount), big.NewInt(bp))
	if halfUp {
		n.Add(n, big.NewInt(5000))
	}
	return n.Div(n, big.NewInt(10000)).Int64()
}

// drawn is a sale that a property test makes.
type drawn struct {
	prices   []int64
	bp       int64 // discount
	redeem   int64
	payments []any
	byMethod map[string]int64
	method   string
}

func draw(rt *rapid.T, points int64) drawn {
	d := drawn{
		prices: rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, 20), rapid.Int64Range(0, 1_000_000)), 1, 6).Draw(rt, "prices"),
		bp:     rapid.SampledFrom([]int64{0, 0, 1, 333, 1250, 5000, 9999, 10000}).Draw(rt, "discount"), byMethod: map[string]int64{},
	}
	before := d.subtotal() - d.discount()
	if limit := min(before, max(points, 0)); limit > 0 && rapid.Bool().Draw(rt, "redeems") {
		d.redeem = rapid.Int64Range(1, limit).Draw(rt, "redeem")
	}
	methods := []string{"cash", "card", "sbp"}
	total := d.total()
	d.method = rapid.SampledFrom(append(methods, "mixed")).Draw(rt, "method")
	if d.method != "mixed" || total < 2 {
		if d.method == "mixed" {
			d.method = "cash"
		}
		if total > 0 {
			d.byMethod[d.method] = total
		}
		return d
	}
	for left := total; left > 0; {
		amount := left
		if len(d.payments) < 4 {
			top := left
			if len(d.payments) == 0 {
				top = left - 1
			}
			amount = rapid.Int64Range(1, top).Draw(rt, "amount")
		}
		method := rapid.SampledFrom(methods).Draw(rt, "of")
		d.payments, d.byMethod[method], left = append(d.payments, pay(method, amount)), d.byMethod[method]+amount, left-amount
	}
	return d
}

func (d drawn) subtotal() (sum int64) {
	for _, p := range d.prices {
		sum += p
	}
	return sum
}

func (d drawn) discount() int64 { return percentOf(d.subtotal(), d.bp, true) }
func (d drawn) total() int64    { return d.subtotal() - d.discount() - d.redeem }

func (d drawn) body(client string) []any {
	items := make([]any, len(d.prices))
	for i, p := range d.prices {
		items[i] = custom(p)
	}
	b := []any{"items", items, "discountPercent", float64(d.bp) / 100, "redeemPoints", d.redeem, "paymentMethod", d.method, "customerId", client}
	if d.payments != nil {
		b = append(b, "payments", d.payments)
	}
	return b
}

func number(v any) int64 { return int64(v.(float64)) }

// check holds the amounts of a sale or refund against the model.
func (d drawn) check(rt *rapid.T, v map[string]any) {
	require.Equal(rt, d.subtotal(), number(v["subtotal"]))
	require.Equal(rt, d.discount(), number(v["discountAmount"]))
	require.Equal(rt, d.redeem, number(v["redeemedPoints"]))
	require.Equal(rt, d.total(), number(v["total"]))
	var shares, totals, paid int64
	for i, item := range v["lines"].([]any) {
		l := item.(map[string]any)
		share, amount := number(l["discountAmount"]), number(l["amount"])
		require.Equal(rt, d.prices[i], amount)
		require.Equal(rt, amount-share, number(l["total"]))
		require.GreaterOrEqual(rt, number(l["total"]), int64(0))
		// By largest remainder a share is the exact one, rounded down or up.
		if sum := d.subtotal(); sum > 0 {
			exact := new(big.Int).Mul(big.NewInt(d.discount()+d.redeem), big.NewInt(amount))
			floor := exact.Div(exact, big.NewInt(sum)).Int64()
			require.Contains(rt, []int64{floor, floor + 1}, share)
		}
		shares, totals = shares+share, totals+number(l["total"])
	}
	require.Equal(rt, d.discount()+d.redeem, shares)
	require.Equal(rt, d.total(), totals)
	for _, p := range v["payments"].([]any) {
		paid += number(p.(map[string]any)["amount"])
	}
	require.Equal(rt, d.total(), paid)
}

// made is a sale in the model of a company.
type made struct {
	drawn
	id       string
	earned   int64
	refunded bool
}

// model is what a company should look like.
type model struct {
	points, number           int64
	sales, refunds           int64
	salesTotal, refundsTotal int64
	cash, card, sbp          int64
	made                     []*made
}

func (m *model) count(d drawn, sign int64) {
	m.cash += sign * d.byMethod["cash"]
	m.card += sign * d.byMethod["card"]
	m.sbp += sign * d.byMethod["sbp"]
	m.number++
	if sign < 0 {
		m.refunds, m.refundsTotal = m.refunds+1, m.refundsTotal+d.total()
		return
	}
	m.sales, m.salesTotal = m.sales+1, m.salesTotal+d.total()
}

// Sales and refunds in any order: amounts, shares, payments, points, numbers and the totals of the shift are those of the model.
func TestCompanyAgainstModel(t *testing.T) {
	t.Parallel()
	const accrual = 333
	f := open(t, func(p *access.Principal) { p.Settings.AccrualPercentBP = accrual })
	rapid.Check(t, func(rt *rapid.T) {
		c := &kit{Client: f.server.Company(func(p *access.Principal) { p.Settings.AccrualPercentBP = accrual }), t: t, d: f.d, server: f.server, n: f.n, clients: f.clients, store: f.store, s: f.s}
		shift := c.shift()
		m := model{points: rapid.Int64Range(0, 50_000).Draw(rt, "points")}
		ann := c.client(m.points)
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			if len(m.made) > 0 && rapid.IntRange(0, 2).Draw(rt, "step") == 0 {
				m.refund(rt, c, rapid.SampledFrom(m.made).Draw(rt, "sale"))
				continue
			}
			d := draw(rt, m.points)
			v := c.post(shift, d.body(ann)...).OK(201)
			d.check(rt, v)
			earned := percentOf(d.total(), accrual, false)
			require.Equal(rt, earned, number(v["earnedPoints"]))
			m.count(d, 1)
			m.points += earned - d.redeem
			require.Equal(rt, m.number, number(v["number"]))
			m.made = append(m.made, &made{drawn: d, id: v["id"].(string), earned: earned})
		}
		require.Equal(rt, m.points, c.points(ann))
		v := c.Do(t, "POST", "/shifts/"+shift+"/close", nil).OK(200)
		require.Equal(rt, fmt.Sprint(m.sales, m.refunds, m.salesTotal, m.refundsTotal, 1000+m.cash),
			fmt.Sprint(number(v["salesCount"]), number(v["refundsCount"]), number(v["salesTotal"]), number(v["refundsTotal"]), number(v["expectedCash"])))
		by := v["totalsByMethod"].(map[string]any)
		require.Equal(rt, []int64{m.cash, m.card, m.sbp}, []int64{number(by["cash"]), number(by["card"]), number(by["sbp"])})
	})
}

func (m *model) refund(rt *rapid.T, c *kit, s *made) {
	got := c.refund(s.id)
	if s.refunded {
		got.Fault(409, "SALE_ALREADY_REFUNDED")
		return
	}
	v := got.OK(200)
	s.check(rt, v)
	m.count(s.drawn, -1)
	m.points += s.redeem - s.earned
	s.refunded = true
	require.Equal(rt, m.number, number(v["number"]))
}
