package orders_test

import (
	"maps"
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// modelReturn is a posted return: what it has of each line, its credit, the share of each line, and what it took back for each, by product.
type modelReturn struct {
	id       string
	parts    map[int]int64
	shares   map[int]int64
	total    int64
	delivery int64
	taken    map[int]map[string]int64
	restock  bool
}

// credit is what the order costs less by its returns.
func (o *modelOrder) credit() (n int64) {
	for _, r := range o.returns {
		n += r.total
	}
	return n
}

func (o *modelOrder) hasReturns() bool { return len(o.returns) > 0 }

// isOut reports whether something that was shipped is neither returned nor on its way back.
func (o *modelOrder) isOut() bool {
	return o.delivered != "returned" && slices.ContainsFunc(o.lines, func(l modelLine) bool { return l.shipped > l.returned })
}

// giveBack notes that a quantity of what the line takes has come back.
func (l *modelLine) giveBack(product string, n int64) {
	if l.back == nil {
		l.back = map[string]int64{}
	}
	l.back[product] += n
}

// has is the quantity of a line that the client has.
func (o *modelOrder) has(i int) int64 {
	l := o.lines[i]
	if o.status == "completed" {
		return l.qty - l.returned
	}
	return l.shipped - l.returned
}

func (s *kit) returnStep(rt *rapid.T, m *model, o *modelOrder) {
	stored := s.read(o.id)
	r := modelReturn{parts: map[int]int64{}, shares: map[int]int64{}, taken: map[int]map[string]int64{}, restock: rapid.Bool().Draw(rt, "restock")}
	for i := range o.lines {
		if n := o.has(i); n > 0 {
			r.parts[i] = n
		}
	}
	body := map[string]any{"restock": r.restock}
	if len(r.parts) > 0 && rapid.Bool().Draw(rt, "part") {
		i := rapid.SampledFrom(slices.Sorted(maps.Keys(r.parts))).Draw(rt, "line")
		r.parts = map[int]int64{i: rapid.Int64Range(1, r.parts[i]).Draw(rt, "returned")}
		body["items"] = []any{item(stored, i, float64(r.parts[i])/1000)}
	}
	left := o.delivery
	for _, other := range o.returns {
		left -= other.delivery
	}
	if rapid.IntRange(0, 3).Draw(rt, "delivery?") == 0 {
		r.delivery = rapid.Int64Range(0, left).Draw(rt, "delivery")
		body["deliveryAmount"] = r.delivery
	}
	r.total = r.delivery
	for i, n := range r.parts {
		l := o.lines[i]
		r.shares[i] = (int64(line(stored, i)["total"].(float64))*(l.returned+n)*2 + l.qty) / (2 * l.qty)
		for _, other := range o.returns {
			r.shares[i] -= other.shares[i]
		}
		r.total += r.shares[i]
	}
	var refund *modelPayment
	if i := slices.IndexFunc(o.ledger, func(p modelPayment) bool { return p.id != "" && p.amount > p.refunded }); i >= 0 && o.prepaid > 0 && rapid.Bool().Draw(rt, "refund") {
		refund = &o.ledger[i]
		body["refunds"] = []any{map[string]any{"paymentId": refund.id}}
	}
	res := s.Do(s.t, "POST", "/orders/"+o.id+"/returns", body)
	switch {
	case res.Status == 503:
		return
	case o.status == "cancelled":
		res.Fault(409, "ORDER_CANCELLED")
		return
	case len(r.parts) == 0:
		res.Fault(409, "RETURN_NOTHING_TO_RETURN")
		return
	}
	got := res.OK(201)
	require.EqualValues(rt, r.total, got["total"])
	r.id = got["id"].(string)
	for i, n := range r.parts {
		l := &o.lines[i]
		l.returned += n
		r.taken[i] = map[string]int64{}
		for product, q := range l.takes() {
			taken := max(0, (q*l.returned*2+l.qty)/(2*l.qty)-l.back[product])
			l.giveBack(product, taken)
			r.taken[i][product] = taken
			if r.restock {
				m.moved[product] -= taken
			}
		}
	}
	o.returns = append(o.returns, r)
	if o.status == "completed" && o.ann {
		m.balance += r.total
	}
	if refund != nil {
		amount := min(refund.amount-refund.refunded, o.prepaid, max(0, o.prepaid-o.payable()))
		require.EqualValues(rt, amount, got["refundedAmount"])
		if amount == 0 {
			return
		}
		refund.refunded += amount
		o.prepaid -= amount
		list := s.paymentItems("/payments?returnId=" + r.id)
		require.Len(rt, list, 1)
		m.pay(o, list[0]["id"].(string), -amount)
	}
}

func (s *kit) unreturnStep(rt *rapid.T, m *model, o *modelOrder) {
	if len(o.returns) == 0 {
		return
	}
	at := rapid.IntRange(0, len(o.returns)-1).Draw(rt, "return")
	r := o.returns[at]
	res := s.Do(s.t, "POST", "/orders/"+o.id+"/returns/"+r.id+"/cancel", nil)
	switch {
	case res.Status == 503:
		return
	case o.status == "cancelled":
		res.Fault(409, "ORDER_CANCELLED")
		return
	}
	res.OK(200)
	o.returns = slices.Delete(slices.Clone(o.returns), at, at+1)
	for i, n := range r.parts {
		l := &o.lines[i]
		l.returned -= n
		for product, taken := range r.taken[i] {
			if o.delivered == "returned" {
				taken = max(0, min(taken, l.back[product]-l.out[product]))
			}
			l.giveBack(product, -taken)
			if r.restock {
				m.moved[product] += taken
			}
		}
	}
	if o.status == "completed" && o.ann {
		m.balance -= r.total
	}
}

func (s *kit) dropStep(_ *rapid.T, _ *model, o *modelOrder) {
	next := *o
	next.lines = nil
	for _, l := range o.lines {
		if l.shipped == 0 {
			continue
		}
		if l.shipped < l.qty {
			need := map[string]int64{}
			for product, q := range l.takes() {
				need[product] = max(l.out[product], (q*l.shipped*2+l.qty)/(2*l.qty))
			}
			l.need, l.qty = need, l.shipped
		}
		next.lines = append(next.lines, l)
	}
	res := s.Do(s.t, "POST", "/orders/"+o.id+"/cancel-unshipped", nil)
	switch {
	case res.Status == 503:
	case o.status == "cancelled":
		res.Fault(409, "ORDER_CANCELLED")
	case o.hasReturns():
		res.Fault(409, "ORDER_HAS_RETURNS")
	case o.status == "completed" || o.shipped() == o.quantity():
		res.Fault(409, "SHIPMENT_NOTHING_TO_SHIP")
	case o.shipped() == 0:
		res.Fault(409, "ORDER_WOULD_BE_EMPTY")
	case o.prepaid > next.gross():
		res.Fault(409, "ORDER_OVERPAID")
	default:
		got := res.OK(200)
		at := map[int]int{} // indexes of the lines change
		for i, n := 0, 0; i < len(o.lines); i++ {
			if o.lines[i].shipped > 0 {
				at[i] = n
				n++
			}
		}
		for i, sh := range next.shipments {
			parts, taken := map[int]int64{}, map[int]map[string]int64{}
			for j := range sh.parts {
				parts[at[j]], taken[at[j]] = sh.parts[j], sh.taken[j]
			}
			next.shipments[i].parts, next.shipments[i].taken = parts, taken
		}
		*o = next
		o.same(s.t, got)
	}
}

func (o *modelOrder) quantity() (n int64) {
	for _, l := range o.lines {
		n += l.qty
	}
	return n
}
