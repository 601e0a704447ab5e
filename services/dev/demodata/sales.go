package demodata

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/sales"
)

func trackingNumber(n int) string { return fmt.Sprintf("PP%09dDE", n) }

// planSales plans a shift of the cash register for each day. That of today stays open.
func (s *shop) planSales() {
	days := s.openDays()
	for i, day := range days {
		opens, closes := day.Add(8*time.Hour+50*time.Minute), day.Add(18*time.Hour+40*time.Minute)
		today := i == len(days)-1
		if today { // whatever the time is now
			closes = s.cfg.Now
			opens = closes.Add(-2 * time.Hour)
		}
		s.planShift(opens, closes, today)
	}
}

// shift is a shift of the cash register.
type shift struct {
	*shop
	id      uuid.UUID
	cashier *uuid.UUID // who is at the register
}

func (s *shop) planShift(opens, closes time.Time, today bool) {
	sh := &shift{shop: s}
	if n := len(s.cfg.Staff); n > 0 {
		sh.cashier = &s.cfg.Staff[opens.YearDay()%n]
	}
	sh.do(opens, "open", func(ctx context.Context, l *lane, tx *db.Tx) error {
		made, err := l.Sales.OpenShift(ctx, tx, s.cfg.Till, sales.OpenInput{ShiftFields: sales.ShiftFields{OpeningCash: 150_00, CashierID: sh.cashier}})
		sh.id = made.ID
		return err
	})
	n := s.scale.sales
	for i := range n {
		// One after the other, with some minutes between them.
		part := closes.Sub(opens) * 9 / 10 / time.Duration(n)
		sh.sell(opens.Add(part*time.Duration(i) + time.Minute + time.Duration(s.rng.Int64N(int64(part*3/4)))))
	}
	sh.moveCash(opens.Add(30*time.Minute), sales.CashFields{Type: "in", Amount: 50_00, Reason: "change from the bank"})
	if today {
		sh.putAside(closes.Add(-20 * time.Minute))
		return
	}
	sh.moveCash(closes.Add(-30*time.Minute), sales.CashFields{Type: "out", Amount: 100_00, Reason: "bank deposit"})
	missing := money.Amount(0)
	if s.chance(12) {
		missing = money.Amount(s.rng.IntN(6) * 50)
	}
	sh.do(closes, "close", func(ctx context.Context, l *lane, tx *db.Tx) error {
		now, err := l.Sales.Shift(ctx, s.cfg.Till, sh.id)
		if err != nil {
			return err
		}
		_, err = l.Sales.CloseShift(ctx, tx, s.cfg.Till, sh.id, sales.CloseInput{ClosingCash: new(now.ExpectedCash - missing)})
		return err
	})
}

func (sh *shift) do(at time.Time, what string, fn func(ctx context.Context, l *lane, tx *db.Tx) error) {
	sh.agenda.add(at, laneSales, func(ctx context.Context, l *lane) error {
		return l.tx(ctx, "shift "+what, func(ctx context.Context, tx *db.Tx) error { return fn(ctx, l, tx) })
	})
}

// moveCash plans a cash movement.
func (sh *shift) moveCash(at time.Time, fields sales.CashFields) {
	sh.do(at, "cash", func(ctx context.Context, l *lane, tx *db.Tx) error {
		_, err := l.Sales.MoveCash(ctx, tx, sh.cfg.Till, sh.id, sales.CashInput{CashFields: fields, CashierID: sh.cashier})
		return err
	})
}

// sell plans a sale, and sometimes its refund a little later, as a whole or in part.
func (sh *shift) sell(at time.Time) {
	items := sh.basket(3, sh.chance(20))
	in := sales.Input{CashierID: sh.cashier}
	for _, item := range items {
		in.Items = append(in.Items, sales.LineInput{Input: item})
	}
	total := sh.total(items)
	switch n := sh.rng.IntN(20); {
	case n < 9:
		in.PaymentMethod = "card"
	case n < 11:
		in.PaymentMethod = "mixed"
		cash := total / 3 / 500 * 500
		in.Payments = []sales.PaymentInput{{PaymentMethod: new("cash"), Amount: max(cash, 100)}, {PaymentMethod: new("card"), Amount: total - max(cash, 100)}}
	case n < 12:
		in.PaymentMethod, in.PaymentMethodExt = "sbp", new("instant transfer")
	default:
		in.PaymentMethod, in.ReceivedAmount = "cash", new((total+999)/1000*1000)
	}
	if in.PaymentMethod == "card" && sh.chance(50) {
		in.CustomerID = new(pick(sh.shop, sh.clients).id)
	}
	sh.sold++
	inPart := sh.sold%10 == 4 && len(items) > 1
	refunded := inPart || sh.sold%25 == 7
	sh.agenda.add(at, laneSales, func(ctx context.Context, l *lane) error {
		in.ShiftID = sh.id
		made, err := l.Sales.Create(ctx, sh.cfg.Till, in, nil)
		if err != nil || !refunded {
			return err
		}
		l.tick()
		l.tick()
		back := sales.RefundInput{CashierID: sh.cashier, Reason: new("wrong size")}
		if first := made.Lines[0]; inPart {
			back.Items, back.Reason = []sales.RefundItem{{LineID: first.ID, Qty: min(first.Qty, money.Units(1))}}, new("damaged")
		}
		_, err = l.Sales.Refund(ctx, sh.cfg.Till, made.ID, back, nil)
		return err
	})
}

// total is what somebody pays who has no prices of their own.
func (s *shop) total(items []lineitem.Input) money.Amount {
	var sum money.Amount
	for _, item := range items {
		unit := s.priceOf(*item.RefID)
		amount, err := money.LineAmount(*item.Qty, unit)
		if err != nil {
			panic(err) // prices and quantities of the tables
		}
		sum += amount
	}
	return sum
}

// priceOf is the price in the catalog. Variants cost what their product costs.
func (s *shop) priceOf(ref uuid.UUID) money.Amount {
	if s.priced == nil {
		s.priced = map[uuid.UUID]money.Amount{}
		for _, g := range s.goods {
			s.priced[g.product] = g.price
		}
		for _, j := range s.jobs {
			s.priced[j.id] = j.price
		}
	}
	return s.priced[ref]
}

// putAside parks the cart of somebody who comes back.
func (sh *shift) putAside(at time.Time) {
	sh.do(at, "put aside", func(ctx context.Context, l *lane, tx *db.Tx) error {
		_, err := l.Sales.CreateDraft(ctx, tx, sh.cfg.Till, sales.DraftFields{Name: "Blue jacket, comes back at noon", Sale: sales.DraftSale{Items: []sales.LineInput{
			{Input: lineitem.Input{Kind: "custom", Name: new("Bottle cage, fitted"), UnitPrice: new(money.Amount(18_90))}},
		}}})
		return err
	})
}
