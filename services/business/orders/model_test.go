package orders_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// chaotic is a database whose transactions fail at each point with the probability.
func chaotic(t testing.TB, p float64) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), MaxConns: 8, Inject: db.Chaos(p, 0)})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	return d
}

// modelLine is a line in thousandths and minor units.
type modelLine struct {
	product    string // wood, bolt, kit or "" for custom
	qty, price int64
	shipped    int64
	out        map[string]int64 // of what the line takes, by product: taken by shipments
	need       map[string]int64 // what the line takes, by product, since a part of it was dropped
	returned   int64
	back       map[string]int64 // of what the line takes, by product: come back
}

// modelShipment is a posted shipment: what it has of each line, and what it took for each, by product.
type modelShipment struct {
	id    string
	parts map[int]int64
	taken map[int]map[string]int64
}

// modelPayment is an entry of the ledger: a payment with what was refunded of it, or a refund.
type modelPayment struct {
	id       string // "" if it was recorded by setting prepaidAmount
	amount   int64  // negative for a refund
	refunded int64
}

type modelOrder struct {
	id            string
	number        int64
	status        string
	lines         []modelLine
	bp, delivery  int64
	prepaid       int64
	everPaid, ann bool
	delivered     string // delivery status
	shipments     []modelShipment
	ledger        []modelPayment
	returns       []modelReturn
}

// model is what a company should look like.
type model struct {
	orders    []*modelOrder
	moved     map[string]int64 // physical thousandths that left, by product
	balance   int64
	shipments int // last number
}

func (o *modelOrder) amounts() (subtotal, total int64) {
	for _, l := range o.lines {
		subtotal += (l.qty*l.price + 500) / 1000
	}
	return subtotal, subtotal - (subtotal*o.bp+5000)/10000
}

// gross is what the order costs before returns.
func (o *modelOrder) gross() int64 {
	_, total := o.amounts()
	return total + o.delivery
}

func (o *modelOrder) payable() int64 { return o.gross() - o.credit() }

func (o *modelOrder) paymentStatus() string {
	switch {
	case o.prepaid == 0 && o.everPaid:
		return "refunded"
	case o.prepaid >= o.payable():
		return "paid"
	case o.prepaid == 0:
		return "unpaid"
	}
	return "partial"
}

// takes is what the line takes from the warehouse, in thousandths by product.
func (l modelLine) takes() map[string]int64 {
	if l.need != nil {
		return l.need
	}
	switch l.product {
	case "kit":
		return map[string]int64{"wood": (l.qty*2500 + 500) / 1000, "bolt": l.qty * 4}
	case "wood", "bolt":
		return map[string]int64{l.product: l.qty}
	}
	return nil
}

// left is what has not been shipped of what the lines take.
func (o *modelOrder) left() map[string]int64 {
	left := map[string]int64{}
	for _, l := range o.lines {
		for product, n := range l.takes() {
			left[product] += n - l.out[product]
		}
	}
	return left
}

func (o *modelOrder) shipped() (n int64) {
	for _, l := range o.lines {
		n += l.shipped
	}
	return n
}

func (o *modelOrder) final() bool { return o.status == "completed" || o.status == "cancelled" }

func (m *model) reserved(product string) (n int64) {
	for _, o := range m.orders {
		if !o.final() {
			n += o.left()[product]
		}
	}
	return n
}

func drawLines(rt *rapid.T) []modelLine {
	return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) modelLine {
		l := modelLine{product: rapid.SampledFrom([]string{"wood", "bolt", "kit", ""}).Draw(rt, "product"), price: rapid.Int64Range(0, 100000).Draw(rt, "price")}
		if l.product == "bolt" {
			l.qty = 2000 * rapid.Int64Range(1, 50).Draw(rt, "pairs")
		} else {
			l.qty = rapid.Int64Range(1, 20000).Draw(rt, "qty")
		}
		return l
	}), 1, 4).Draw(rt, "lines")
}

func (s *kit) items(lines []modelLine) []any {
	var items []any
	ids := map[string]uuid.UUID{"wood": s.wood, "bolt": s.bolt, "kit": s.kit}
	for _, l := range lines {
		item := map[string]any{"qty": float64(l.qty) / 1000, "unitPrice": l.price}
		if l.product == "" {
			item["kind"], item["name"] = "custom", "Work"
		} else {
			item["refId"] = ids[l.product]
		}
		items = append(items, item)
	}
	return items
}

// same requires that an answer shows the order of the model.
func (o *modelOrder) same(t require.TestingT, got map[string]any) {
	subtotal, total := o.amounts()
	want := map[string]any{
		"number": float64(o.number), "status": o.status, "paymentStatus": o.paymentStatus(), "subtotal": float64(subtotal),
		"discountAmount": float64(subtotal - total), "total": float64(total), "prepaidAmount": float64(o.prepaid), "amountDue": float64(o.payable() - o.prepaid),
		"payable": float64(o.payable()), "returnedAmount": float64(o.credit()),
	}
	for field, v := range want {
		require.Equal(t, v, got[field], field)
	}
	if o.delivered == "" {
		require.Nil(t, got["deliveryStatus"])
	} else {
		require.Equal(t, o.delivered, got["deliveryStatus"])
	}
	var sum float64
	for i, l := range got["lines"].([]any) {
		l := l.(map[string]any)
		sum += l["total"].(float64)
		require.GreaterOrEqual(t, l["total"], 0.0)
		reserved := 0.0
		if o.lines[i].product != "" && !o.final() {
			reserved = float64(o.lines[i].qty-o.lines[i].shipped) / 1000
		}
		require.Equal(t, reserved, l["reservedQty"])
		require.Equal(t, float64(o.lines[i].shipped)/1000, l["shippedQty"])
		require.Equal(t, float64(o.lines[i].returned)/1000, l["returnedQty"])
	}
	require.Equal(t, float64(total), sum, "the totals of the lines make the total")
}

// TestOrdersFollowTheModel runs random operations against a model, while transactions fail at every point.
func TestOrdersFollowTheModel(t *testing.T) {
	t.Parallel()
	followTheModel(t, 3, "move", "patch", "ship", "ship", "unship", "deliver", "pay", "refund")
}

// Few orders, of whose payments much happens.
func TestPaymentsFollowTheModel(t *testing.T) {
	t.Parallel()
	followTheModel(t, 15, "move", "patch", "pay", "pay", "refund", "refund", "refund")
}

// Whatever the order of shipments, payments, returns and refunds, sums agree to the minor unit and nothing comes back twice.
func TestReturnsFollowTheModel(t *testing.T) {
	t.Parallel()
	followTheModel(t, 8, "move", "move", "patch", "ship", "ship", "unship", "deliver", "pay", "refund", "return", "return", "return", "unreturn", "drop")
}

// followTheModel takes random steps, of which one in more is a new order and the others are some of what can happen to one.
func followTheModel(t *testing.T, more int, what ...string) {
	t.Helper()
	open(t, nil) // the tables of the test are there
	d := chaotic(t, 0.1)
	rapid.Check(t, func(rt *rapid.T) {
		s := open(t, d)
		delete(s.n.clients, s.gone)
		ann := s.n.clients[s.ann]
		ann.CreditLimit = 0
		s.n.clients[s.ann] = ann
		m := &model{moved: map[string]int64{}}
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			s.step(rt, m, more, what)
		}
		s.check(rt, m)
	})
}

func (s *kit) step(rt *rapid.T, m *model, more int, what []string) {
	if len(m.orders) == 0 || rapid.IntRange(0, more).Draw(rt, "new") == 0 {
		s.createStep(rt, m)
		return
	}
	o := m.orders[rapid.IntRange(0, len(m.orders)-1).Draw(rt, "order")]
	switch rapid.SampledFrom(what).Draw(rt, "what") {
	case "pay":
		s.payStep(rt, m, o)
	case "refund":
		s.refundStep(rt, m, o)
	case "move":
		s.moveStep(rt, m, o)
	case "patch":
		s.patchStep(rt, m, o)
	case "ship":
		s.shipStep(rt, m, o)
	case "unship":
		s.unshipStep(rt, m, o)
	case "deliver":
		s.deliverStep(rt, m, o)
	case "return":
		s.returnStep(rt, m, o)
	case "unreturn":
		s.unreturnStep(rt, m, o)
	case "drop":
		s.dropStep(rt, m, o)
	}
}

func (s *kit) shipStep(rt *rapid.T, m *model, o *modelOrder) {
	parts := map[int]int64{}
	for i, l := range o.lines {
		if left := l.qty - l.shipped; left > 0 && o.status != "completed" {
			parts[i] = left
		}
	}
	var body any
	if len(parts) > 0 && rapid.Bool().Draw(rt, "part") {
		i := rapid.SampledFrom(slices.Sorted(maps.Keys(parts))).Draw(rt, "line")
		parts = map[int]int64{i: rapid.Int64Range(1, parts[i]).Draw(rt, "shipped")}
		stored := s.Do(s.t, "GET", "/orders/"+o.id, nil).OK(200)
		body = map[string]any{"items": []any{item(stored, i, float64(parts[i])/1000)}}
	}
	res := s.ship(o.id, body)
	switch {
	case res.Status == 503:
		return
	case o.status == "cancelled":
		res.Fault(409, "ORDER_CANCELLED")
		return
	case o.delivered == "delivered" || o.delivered == "returned":
		res.Fault(409, "ORDER_DELIVERY_TRANSITION_INVALID")
		return
	case len(parts) == 0:
		res.Fault(409, "SHIPMENT_NOTHING_TO_SHIP")
		return
	}
	got := res.OK(201)
	m.shipments++
	require.EqualValues(rt, m.shipments, got["number"])
	sh := modelShipment{id: got["id"].(string), parts: parts, taken: map[int]map[string]int64{}}
	for i, n := range parts {
		l := &o.lines[i]
		l.shipped += n
		sh.taken[i] = map[string]int64{}
		for product, q := range l.takes() {
			if l.out == nil {
				l.out = map[string]int64{}
			}
			taken := max(0, (q*l.shipped*2+l.qty)/(2*l.qty)-l.out[product])
			l.out[product] += taken
			sh.taken[i][product] = taken
			m.moved[product] += taken
		}
	}
	o.shipments = append(o.shipments, sh)
	o.delivered = "shipped"
}

func (s *kit) unshipStep(rt *rapid.T, m *model, o *modelOrder) {
	if len(o.shipments) == 0 {
		return
	}
	at := rapid.IntRange(0, len(o.shipments)-1).Draw(rt, "shipment")
	sh := o.shipments[at]
	res := s.cancel(o.id, sh.id)
	switch {
	case res.Status == 503:
		return
	case o.hasReturns():
		res.Fault(409, "ORDER_HAS_RETURNS")
		return
	case o.delivered == "returned":
		res.Fault(409, "ORDER_DELIVERY_TRANSITION_INVALID")
		return
	}
	res.OK(200)
	o.shipments = slices.Delete(o.shipments, at, at+1)
	for i, n := range sh.parts {
		o.lines[i].shipped -= n
		for product, taken := range sh.taken[i] {
			o.lines[i].out[product] -= taken
			m.moved[product] -= taken
		}
	}
	if o.shipped() == 0 {
		o.delivered = ""
	}
}

func (s *kit) deliverStep(rt *rapid.T, m *model, o *modelOrder) {
	to := rapid.SampledFrom([]string{"pending", "packing", "shipped", "delivered", "returned"}).Draw(rt, "to")
	allowed := map[string][]string{
		"": {"pending"}, "pending": {"packing", "shipped"}, "packing": {"pending", "shipped"}, "shipped": {"delivered", "returned"}, "delivered": {"returned"},
	}
	res := s.deliver(o.id, to)
	switch {
	case res.Status == 503:
		return
	case o.status == "cancelled":
		res.Fault(409, "ORDER_CANCELLED")
		return
	case !slices.Contains(allowed[o.delivered], to):
		res.Fault(409, "ORDER_DELIVERY_TRANSITION_INVALID")
		return
	}
	o.delivered = to
	o.same(rt, res.OK(200))
	if to == "returned" {
		for i := range o.lines {
			l := &o.lines[i]
			for product, n := range l.out {
				m.moved[product] -= max(0, n-l.back[product])
				l.giveBack(product, max(0, n-l.back[product]))
			}
		}
	}
}

func (s *kit) createStep(rt *rapid.T, m *model) {
	o := &modelOrder{status: "new", lines: drawLines(rt), bp: rapid.Int64Range(0, 10000).Draw(rt, "bp"), delivery: rapid.Int64Range(0, 500).Draw(rt, "delivery"), ann: rapid.Bool().Draw(rt, "ann")}
	o.prepaid = rapid.Int64Range(0, o.payable()+1).Draw(rt, "prepaid")
	o.everPaid = o.prepaid > 0
	body := map[string]any{"items": s.items(o.lines), "discountPercent": float64(o.bp) / 100, "deliveryCost": o.delivery, "prepaidAmount": o.prepaid}
	if o.ann {
		body["customerId"] = s.ann
	}
	res := s.Do(s.t, "POST", "/orders", body)
	if res.Status == 503 {
		return
	}
	if o.prepaid > o.payable() {
		res.Fault(409, "ORDER_OVERPAID")
		return
	}
	got := res.OK(201)
	o.id, o.number = got["id"].(string), int64(len(m.orders)+1)
	m.orders = append(m.orders, o)
	m.pay(o, "", o.prepaid)
	o.same(rt, got)
}

// pay books an entry of the ledger of the order, whose prepaid is that after it.
func (m *model) pay(o *modelOrder, id string, delta int64) {
	if delta == 0 {
		return
	}
	o.ledger = append(o.ledger, modelPayment{id: id, amount: delta})
	if o.ann {
		m.balance += delta
	}
}

func (s *kit) payStep(rt *rapid.T, m *model, o *modelOrder) {
	amount := rapid.Int64Range(1, max(1, o.payable()/2)).Draw(rt, "amount")
	res := s.pay(o.id, map[string]any{"amount": amount, "method": "card"})
	switch {
	case res.Status == 503:
	case o.prepaid+amount > o.payable():
		res.Fault(409, "ORDER_OVERPAID")
	default:
		o.prepaid += amount
		o.everPaid = true
		m.pay(o, res.OK(201)["id"].(string), amount)
	}
}

func (s *kit) refundStep(rt *rapid.T, m *model, o *modelOrder) {
	named := []int{}
	for i, p := range o.ledger {
		if p.id != "" {
			named = append(named, i)
		}
	}
	if len(named) == 0 {
		return
	}
	at := rapid.SampledFrom(named).Draw(rt, "payment")
	p := o.ledger[at]
	left := min(p.amount-p.refunded, o.prepaid)
	var body any
	amount := left
	if rapid.Bool().Draw(rt, "part") {
		amount = rapid.Int64Range(1, max(1, p.amount)).Draw(rt, "refunded")
		body = map[string]any{"amount": amount}
	}
	res := s.refund(o.id, p.id, body)
	switch {
	case res.Status == 503:
	case p.amount < 0:
		res.Fault(409, "PAYMENT_IS_REFUND")
	case left == 0:
		res.Fault(409, "PAYMENT_ALREADY_REFUNDED")
	case amount > left:
		res.Fault(409, "PAYMENT_REFUND_EXCEEDED")
	default:
		o.prepaid -= amount
		o.ledger[at].refunded += amount
		m.pay(o, res.OK(201)["id"].(string), -amount)
	}
}

func (s *kit) patchStep(rt *rapid.T, m *model, o *modelOrder) {
	next := *o
	body := map[string]any{}
	locked, changes := "", false // a locked field may be sent as it is
	if rapid.Bool().Draw(rt, "items?") {
		lines := drawLines(rt)
		body["items"] = s.items(lines)
		changes = !slices.EqualFunc(lines, o.lines, func(a, b modelLine) bool { return a.product == b.product && a.qty == b.qty && a.price == b.price })
		switch {
		case !changes:
		case o.status != "new" && o.status != "confirmed":
			locked = "ORDER_ITEMS_LOCKED"
		case o.shipped() > 0:
			locked = "ORDER_HAS_SHIPMENTS"
		default:
			next.lines = lines
		}
	}
	if rapid.Bool().Draw(rt, "discount?") {
		next.bp = rapid.Int64Range(0, 10000).Draw(rt, "bp")
		body["discountPercent"] = float64(next.bp) / 100
		changes = changes || next.bp != o.bp
	}
	if changes && o.final() {
		locked = "ORDER_FINALIZED"
	}
	if rapid.Bool().Draw(rt, "prepaid?") {
		next.prepaid = rapid.Int64Range(0, max(0, next.payable())+1).Draw(rt, "prepaid")
		body["prepaidAmount"] = next.prepaid
		next.everPaid = o.everPaid || next.prepaid > 0
	}
	res := s.patch(o.id, body)
	switch {
	case res.Status == 503:
	case locked != "":
		res.Fault(409, locked)
	case next.prepaid > next.gross():
		res.Fault(409, "ORDER_OVERPAID")
	case o.hasReturns() && next.bp != o.bp:
		res.Fault(409, "ORDER_HAS_RETURNS")
	case next.prepaid > o.prepaid && next.prepaid > next.payable():
		res.Fault(409, "ORDER_OVERPAID")
	default:
		got := res.OK(200)
		delta := next.prepaid - o.prepaid
		*o = next
		m.pay(o, "", delta)
		o.same(rt, got)
	}
}

func (s *kit) moveStep(rt *rapid.T, m *model, o *modelOrder) {
	to := rapid.SampledFrom([]string{"new", "confirmed", "in_progress", "ready", "completed", "cancelled"}).Draw(rt, "to")
	allowed := map[string][]string{
		"new": {"confirmed", "in_progress", "cancelled"}, "confirmed": {"in_progress", "ready", "cancelled"},
		"in_progress": {"ready", "completed", "cancelled"}, "ready": {"in_progress", "completed", "cancelled"},
	}
	res := s.move(o.id, to)
	if res.Status == 503 {
		return
	}
	if !slices.Contains(allowed[o.status], to) {
		res.Fault(409, "ORDER_STATUS_TRANSITION_INVALID")
		return
	}
	if to == "cancelled" && o.isOut() {
		res.Fault(409, "ORDER_HAS_SHIPMENTS")
		return
	}
	o.status = to
	if to == "completed" {
		for product, n := range o.left() {
			m.moved[product] += n
		}
		if o.ann {
			m.balance -= o.payable()
		}
	}
	o.same(rt, res.OK(200))
}

const sqlSelectMovements = `SELECT COALESCE(sum(delta), 0)::TEXT FROM stock_movements WHERE company_id = $1 AND product_id = $2`

// check compares everything that is stored with the model.
func (s *kit) check(t require.TestingT, m *model) {
	for _, o := range m.orders {
		o.same(t, s.Do(s.t, "GET", "/orders/"+o.id, nil).OK(200))
		s.sameLedger(t, o)
	}
	require.Equal(t, [2]int64{int64(len(m.orders)), int64(len(m.orders))}, s.counts())
	require.Equal(t, m.balance, s.balance(s.ann))
	for name, id := range map[string]uuid.UUID{"wood": s.wood, "bolt": s.bolt} {
		want := fmt.Sprintf("%s/%s", thousandths(-m.moved[name]), thousandths(m.reserved(name)))
		require.Equal(t, want, s.stock(id), name)
		var moved string
		require.NoError(t, s.d.QueryRow(context.Background(), sqlSelectMovements, s.Principal.Company, id).Scan(&moved))
		require.InDelta(t, -m.moved[name], asThousandths(moved), 0, "the movements make the quantity")
	}
}

// sameLedger requires that the ledger of an order is that of the model, and adds up to what was paid.
func (s *kit) sameLedger(t require.TestingT, o *modelOrder) {
	var want, got []string
	var sum int64
	for _, p := range o.ledger {
		sum += p.amount
		want = append(want, fmt.Sprint(p.amount, " ", p.refunded, " ", p.id != ""))
	}
	require.Equal(t, o.prepaid, sum)
	for _, p := range s.paymentItems("/orders/" + o.id + "/payments?sort=paidAt&pageSize=200") {
		amount, refunded := int64(p["amount"].(float64)), int64(p["refundedAmount"].(float64))
		require.GreaterOrEqual(t, amount, refunded)
		if p["kind"] == "refund" {
			amount = -amount
		}
		got = append(got, fmt.Sprint(amount, " ", refunded, " ", p["method"] == "card"))
	}
	require.Equal(t, want, got)
}

func thousandths(n int64) string { return qty(n).String() }
