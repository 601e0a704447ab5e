package demodata

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/codes"
	"github.com/tradegrid/tradegrid/services/business/invoices"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/orders"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// basket is what one customer buys: goods that are there, perhaps with a service.
func (s *shop) basket(most int, withJob bool) []lineitem.Input {
	var items []lineitem.Input
	taken := map[*good]bool{}
	for range 1 + s.rng.IntN(most) {
		g := pick(s, s.stocked)
		if g.price > 400_00 && s.chance(70) {
			g = pick(s, s.stocked) // bicycles sell less often than tyres
		}
		qty := int64(1)
		if g.price < 5000 {
			qty += s.rng.Int64N(3)
		}
		if taken[g] || g.left < qty {
			continue
		}
		taken[g] = true
		g.left -= qty
		items = append(items, lineitem.Input{Kind: trade.KindProduct, RefID: &g.product, VariantID: g.variant, Qty: new(money.Units(qty))})
	}
	if withJob || len(items) == 0 {
		j := pick(s, s.jobs)
		items = append(items, lineitem.Input{Kind: trade.KindService, RefID: &j.id, Qty: new(money.Units(1))})
	}
	return items
}

// planOrders plans the orders of all days but Sundays, and how far each has come.
func (s *shop) planOrders() {
	for _, day := range s.openDays() {
		for range s.scale.orders {
			s.planOrder(s.between(day, 8, 19))
		}
	}
}

// order is one order while it is handled.
type order struct {
	*shop
	customer uuid.UUID
	id       uuid.UUID
	made     orders.Order
	n        int       // counts the orders
	payment  uuid.UUID // of what was due; set once it is paid
}

func (s *shop) planOrder(at time.Time) {
	s.placed++
	o := &order{shop: s, n: s.placed}
	in := orders.Input{}
	c := pick(s, s.clients)
	in.CustomerID, o.customer = &c.id, c.id
	in.AssignedToID = &s.cfg.Staff[s.rng.IntN(len(s.cfg.Staff))]
	in.Channel, in.Source = new(pick(s, []string{"manual", "public_link", "phone", codes.DemoChannel})), new(pick(s, []string{"shop", "website", "phone"}))
	in.DueAt = new(jsontype.At(at.Add(time.Duration(48+s.rng.IntN(72)) * time.Hour)))
	for _, item := range s.basket(3, s.chance(25)) {
		in.Items = append(in.Items, orders.LineInput{Input: item})
	}
	if s.chance(25) {
		in.PrepaidAmount = 2_00 // a deposit
	}
	if s.chance(15) {
		in.DiscountPercent = money.Percent(pick(s, []int{300, 500, 1000}))
		in.CouponCode = new("RIDE")
	}
	delivered := c.address != nil && in.Items[0].Kind == trade.KindProduct && s.chance(45)
	if delivered {
		in.DeliveryMethod, in.AddressID, in.DeliveryCost = new(pick(s, []string{"courier", "courier", "courier", codes.DemoMethod})), c.address, 490
	} else if s.chance(50) {
		in.DeliveryMethod = new("pickup")
	}
	if c.bike != nil && s.chance(30) {
		in.AssetID, in.CustomerNote = c.bike, new("Please call before you change any part that is not on the list.")
	}
	s.agenda.add(at, laneOrders, func(ctx context.Context, l *lane) (err error) {
		o.made, err = l.Orders.Create(ctx, s.cfg.Office, in, nil)
		o.id = o.made.ID
		return err
	})
	o.planRest(at, delivered)
}

// planRest plans what happens after an order was placed. Steps after the end of the history do not happen, so the latest orders
// are in all states.
func (o *order) planRest(at time.Time, delivered bool) {
	later := func(hours, spread int) {
		at = o.whenOpen(at.Add(time.Duration(hours*60+o.rng.IntN(spread*60)) * time.Minute))
	}
	later(1, 8)
	if o.chance(9) {
		o.move(at, "cancelled")
		o.returnDeposit(at.Add(time.Hour))
		return
	}
	early := o.chance(20)
	o.pay(at, "confirmed", func() bool { return early || o.isLarge() })
	later(2, 20)
	if !o.chance(40) { // the others are ready at once
		o.move(at, "in_progress")
		later(4, 30)
	}
	o.move(at, "ready")
	later(1, 10)
	if delivered {
		o.ship(at)
		later(20, 20)
		o.do(at, "delivery", func(ctx context.Context, l *lane, tx *db.Tx) error {
			_, err := l.Orders.MoveDelivery(ctx, tx, o.cfg.Office, o.id, "delivered")
			return err
		})
	}
	if o.n%3 == 0 {
		o.invoice(at)
	}
	later(1, 20)
	o.pay(at, "completed", func() bool { return !early && !o.isLarge() })
	switch { // the shop is open then, too
	case o.n%7 == 0:
		o.refund(at.AddDate(0, 0, 7))
	case o.n%5 == 3:
		o.giveBack(at.AddDate(0, 0, 7))
	}
}

// do plans a step of the order. The orders of a client are in the same lane.
func (o *order) do(at time.Time, what string, fn change) {
	o.agenda.later(at, o.customer, o, func(ctx context.Context, l *lane, tx *db.Tx) error {
		if err := fn(ctx, l, tx); err != nil {
			return fmt.Errorf("order %s: %w", what, err)
		}
		return nil
	})
}

func (o *order) move(at time.Time, to string) {
	o.do(at, to, func(ctx context.Context, l *lane, tx *db.Tx) error {
		_, err := l.Orders.Move(ctx, tx, o.cfg.Office, o.id, to, orders.MoveInput{})
		return err
	})
}

// isLarge reports whether the order is paid in advance in any case, so that no client reaches the credit limit.
func (o *order) isLarge() bool { return o.made.Total >= 3_000_00 }

// orderPayments are the methods by which orders are paid, in turns.
//
//nolint:gochecknoglobals // constants
var orderPayments = []string{"card", "transfer", "card", "cash", "transfer", "sbp", "card", "cash", "other"}

// pay plans that what is due of an order is paid, if it is then, and that the order moves.
func (o *order) pay(at time.Time, to string, then func() bool) {
	o.do(at, to, func(ctx context.Context, l *lane, tx *db.Tx) error {
		if o.made.AmountDue > 0 && then() {
			p, err := l.Orders.Pay(ctx, tx, o.cfg.Office, o.id, o.paymentInput())
			if err != nil {
				return err
			}
			o.payment = p.ID
		}
		_, err := l.Orders.Move(ctx, tx, o.cfg.Office, o.id, to, orders.MoveInput{})
		return err
	})
}

func (o *order) paymentInput() orders.PaymentInput {
	in := orders.PaymentInput{Amount: o.made.AmountDue, Method: orderPayments[o.n%len(orderPayments)]}
	switch in.Method {
	case "transfer":
		in.Reference = new(fmt.Sprintf("Invoice %d", o.made.Number))
	case "card":
		in.Source, in.ExternalID = new("payments.example"), new(fmt.Sprintf("pay_%06d", o.made.Number))
	case "other":
		in.MethodExt = new("voucher")
	}
	return in
}

// invoice plans that the order is invoiced. One of a few invoices is wrong, and another follows its credit note. Each takes a number, for
// which all others would wait until the end of a longer transaction.
func (o *order) invoice(at time.Time) {
	o.agenda.add(at, laneOf(o.customer), func(ctx context.Context, l *lane) error {
		i, err := o.issue(ctx, l, invoices.Input{})
		if err != nil || o.n%12 != 0 {
			return err
		}
		err = l.tx(ctx, "invoice cancelled", func(ctx context.Context, tx *db.Tx) error {
			_, err := l.Invoices.Cancel(ctx, tx, o.cfg.Office, i.ID, invoices.CancelInput{Reason: "The address was wrong"})
			return err
		})
		if err != nil {
			return err
		}
		_, err = o.issue(ctx, l, invoices.Input{Note: new("Replaces an invoice with a wrong address.")})
		return err
	})
}

func (o *order) issue(ctx context.Context, l *lane, in invoices.Input) (i invoices.Invoice, err error) {
	err = l.tx(ctx, "invoice", func(ctx context.Context, tx *db.Tx) error {
		i, err = l.Invoices.Issue(ctx, tx, o.cfg.Office, o.id, in)
		return err
	})
	return i, err
}

// refund plans that a fifth of what was paid goes back, if it was.
func (o *order) refund(at time.Time) {
	o.do(at, "refund", func(ctx context.Context, l *lane, tx *db.Tx) error {
		amount := o.made.AmountDue / 5
		if o.payment == uuid.Nil || amount == 0 {
			return nil
		}
		_, err := l.Orders.Refund(ctx, tx, o.cfg.Office, o.id, o.payment, orders.RefundInput{Amount: &amount, Reason: new("The bell was missing")})
		return err
	})
}

// giveBack plans that the first line of the order comes back, if it was paid, and its money goes back.
func (o *order) giveBack(at time.Time) {
	o.agenda.add(at, laneOf(o.customer), func(ctx context.Context, l *lane) error {
		line := o.made.Lines[0]
		amount := min(line.Total, o.made.AmountDue)
		if o.payment == uuid.Nil || amount == 0 {
			return nil
		}
		return l.tx(ctx, "order return", func(ctx context.Context, tx *db.Tx) error {
			_, err := l.Orders.Return(ctx, tx, o.cfg.Office, o.id, orders.ReturnInput{
				Items: []orders.ReturnItem{{OrderLineID: line.ID, Qty: line.Qty}}, Reason: new("It does not fit"),
				Refunds: []orders.ReturnRefund{{PaymentID: o.payment, Amount: &amount}},
			})
			return err
		})
	})
}

// returnDeposit plans that the deposit of a cancelled order goes back, if there was one.
func (o *order) returnDeposit(at time.Time) {
	o.do(at, "deposit", func(ctx context.Context, l *lane, tx *db.Tx) error {
		if o.made.PrepaidAmount == 0 {
			return nil
		}
		_, err := l.Orders.Update(ctx, tx, o.cfg.Office, o.id, record.PatchOf(orders.Fields{}, "prepaidAmount"))
		return err
	})
}

func (o *order) ship(at time.Time) {
	tracking := o.rng.IntN(1_000_000_000)
	// It takes a number, for which all others would wait until the end of a longer transaction.
	o.agenda.add(at, laneOf(o.customer), func(ctx context.Context, l *lane) error {
		return l.tx(ctx, "order shipment", func(ctx context.Context, tx *db.Tx) error {
			in := orders.ShipmentFields{Carrier: new("Parcel Pigeon"), TrackingNumber: new(trackingNumber(tracking)), ShippedAt: new(jsontype.At(tx.Now()))}
			_, err := l.Orders.Ship(ctx, tx, o.cfg.Office, o.id, in)
			return err
		})
	})
}
