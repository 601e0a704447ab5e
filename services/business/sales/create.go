package sales

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

const saleCounter = "sale"

// StoreAnswer adds writes to the transaction of a sale; raw is the encoded sale. It may run several times.
type StoreAnswer = func(tx *db.Tx, v Sale, raw json.RawMessage) error

// errClosed fails a transaction whose shift was closed since it was read.
var errClosed = errors.New("the shift was closed")

// Create stores a new sale with the next number. It runs its own transaction, shared with other sales of the company;
// storeAnswer may be nil. Its times are taken with its number, so that both have the same order.
func (s *Service) Create(ctx context.Context, by access.Caller, in Input, storeAnswer StoreAnswer, opts ...db.Option) (Sale, error) {
	for {
		v, at, err := s.draft(ctx, by, in)
		if err != nil {
			return Sale{}, err
		}
		v, err = s.store(ctx, by, v, nil, at, completed, storeAnswer, opts)
		switch {
		case !errors.Is(err, errClosed):
			return v, err
		case at == nil:
			return Sale{}, closed(v.ShiftID)
		}
		// The next draft finds the shift closed, and the sale late for it, or behind its end.
	}
}

// draft computes a new sale without its number, and when it happened; nil = now.
func (s *Service) draft(ctx context.Context, by access.Caller, in Input) (v Sale, at *jsontype.Time, err error) {
	if err := in.check(); err != nil {
		return v, nil, err
	}
	if in.Items, err = lineitem.Identify(ctx, s.cfg.DB, s.cfg.Catalog, by.Company, in.Items); err != nil {
		return v, nil, err
	}
	if in.CustomerID, err = document.Match(ctx, s.cfg.DB, s.cfg.Clients, by, in.MatchCustomer, in.CustomerID, in.CustomerPhone, nil); err != nil {
		return v, nil, err
	}
	if in.RedeemPoints > 0 && in.CustomerID == nil {
		return v, nil, apierr.InvalidField("customerId", apierr.Required, "is required to redeem points: no client has customerPhone")
	}
	if at, err = trade.Happened(by, "soldAt", in.SoldAt, s.cfg.DB.Now()); err != nil {
		return v, nil, err
	}
	v = s.newSale(by, in)
	found, err := s.resolve(ctx, by, &v, &in)
	if err != nil {
		return v, nil, err
	}
	v.CashierID, v.CashierName = found.cashier.id, found.cashier.name()
	// What was handed over was sold, even if it is hidden or the quantity could not be ordered.
	builder := lineitem.Builder{Items: found.Items, Prices: found.Prices, Taxes: found.Taxes, AnyQty: true, AllowHidden: true}
	v.Lines, err = lineitem.Build(builder, in.Items, func(in LineInput, l lineitem.Line, _ int) Line {
		r, _ := in.Ref()
		return Line{Line: l, Costing: lineitem.NewCosting(found.Items[r], l.Qty)}
	})
	if err != nil {
		return v, nil, err
	}
	if err := v.price(in.RedeemPoints); err != nil {
		return v, nil, err
	}
	if err := v.pay(in.Payments); err != nil {
		return v, nil, err
	}
	if v.Late, err = found.shift.takes("soldAt", at); err != nil {
		return v, nil, err
	}
	if err := found.check(in.RedeemPoints); err != nil {
		return v, nil, err
	}
	found.CopyContact(document.Unless(v.CustomerName != nil, &v.CustomerName), document.Unless(v.CustomerPhone != nil, &v.CustomerPhone), nil)
	if v.CustomerID != nil {
		v.EarnedPoints = accrual(v.Total, by.Settings.AccrualPercentBP)
	}
	if !v.takesStock() {
		return v, at, nil
	}
	if v.WarehouseID = found.warehouse; v.WarehouseID == nil {
		return v, nil, errNoWarehouse
	}
	return v, at, nil
}

// check checks the rules of a body that depend on no other record, and reports all faults at once.
func (in *Input) check() error {
	var faults apierr.Fields
	if e, ok := apierr.As(lineitem.Check(in.Items)); ok {
		faults = append(faults, e.Fields...)
	}
	if in.RedeemPoints > 0 && in.CustomerID == nil && !in.MatchCustomer {
		faults.Add("customerId", apierr.Required, "is required to redeem points")
	}
	in.checkPayments(&faults)
	return faults.Err()
}

// newSale returns a sale with the fields copied from the body.
func (s *Service) newSale(by access.Caller, in Input) Sale {
	v := Sale{Header: Header{
		Key: record.Key{ID: record.NewID(), CompanyID: by.Company}, ShiftID: in.ShiftID, Kind: kindSale, Fields: in.Fields, Totals: lineitem.Totals{Taxation: lineitem.TaxationOf(by.Settings)}, CreatedByID: by.Actor,
		Meta: record.New(s.cfg.DB.Now()),
	}}
	plan.Normalise(&v)
	if v.Channel == nil {
		v.Channel = new(defaultChannel)
	}
	return v
}

// price computes the amounts of the sale: the discounts, after them the points, the share of each line in both, and the taxes.
func (s *Sale) price(redeem int64) error {
	totals, err := lineitem.Sum(s.Lines, s.Discounts, s.Taxation)
	if err != nil {
		return err
	}
	points := money.Amount(redeem)
	if points > totals.Total {
		return apierr.StateConflict("LOYALTY_POINTS_EXCEED_TOTAL", "redeemPoints: %d points exceed the total of %s; redeem fewer", redeem, totals.Total).
			With("redeemPoints", redeem).With("total", totals.Total)
	}
	s.RedeemedPoints = redeem
	s.Totals, err = lineitem.Settle(s.Lines, totals, points)
	return err
}

// accrual returns the points that a total earns, rounded down: percent is in basis points.
func accrual(total money.Amount, percent int32) int64 {
	const whole = 10_000
	return int64(total)/whole*int64(percent) + int64(total)%whole*int64(percent)/whole
}

// store stores a sale, or a refund of the sale of, that happened at a time, with the next number and raises the event.
func (s *Service) store(ctx context.Context, by access.Caller, v Sale, of *Sale, at *jsontype.Time, e event.Event[Sale], storeAnswer StoreAnswer, opts []db.Option) (Sale, error) {
	opts = append([]db.Option{db.WithCommitCheck(table.Stored(by.Company, v.ID))}, opts...)
	err := s.cfg.Numbers.DoReading(ctx, by.Company, saleCounter, func(ctx context.Context, tx *db.Tx, number int64) error {
		v.Number = number
		v.date(tx.Now(), at)
		raw, err := s.insert(ctx, tx, by, &v, of, e)
		if err != nil || storeAnswer == nil {
			return err
		}
		return storeAnswer(tx, v, raw)
	}, opts)
	return v, err
}

// date sets the times of a new document that happened at a time; nil = now.
func (s *Sale) date(now time.Time, at *jsontype.Time) {
	s.Meta = record.New(now)
	if s.SoldAt = s.CreatedAt; at != nil {
		s.SoldAt = *at
	}
	for i := range s.Payments {
		s.Payments[i].CreatedAt = s.CreatedAt
	}
}

// insert makes all writes of a sale, or of a refund of the sale of. It may run several times, with a new number each time.
func (s *Service) insert(ctx context.Context, tx *db.Tx, by access.Caller, v, of *Sale, e event.Event[Sale]) (json.RawMessage, error) {
	if of != nil {
		markRefunded(tx, v, of)
	}
	addTotals(tx, by.Company, v)
	s.addPoints(tx, v)
	s.enter(tx, v)
	doc := trade.StockDocument{Movement: v.Kind, Type: trade.DocumentSale, ID: v.ID, Number: v.Number}
	if err := s.cfg.Stock.Move(ctx, tx, by, doc, v.stock()); err != nil {
		return nil, err
	}
	return table.CreateDraft(ctx, tx, by, *v, e)
}

// addPoints queues the changes of the customer's points: a sale uses and earns points, a refund reverses both.
func (s *Service) addPoints(tx *db.Tx, v *Sale) {
	if v.CustomerID == nil {
		return
	}
	add := func(delta int64, reason string) {
		s.cfg.Clients.AddPoints(tx, v.CompanyID, *v.CustomerID, delta, reason, &v.ID)
	}
	if v.Kind == kindRefund {
		add(v.RedeemedPoints, trade.PointsReturned)
		add(-v.EarnedPoints, trade.PointsTakenBack)
		return
	}
	add(-v.RedeemedPoints, trade.PointsRedeemed)
	add(v.EarnedPoints, trade.PointsEarned)
}

// enter queues the entry of the sale, or of the refund, in the ledger of the customer.
func (s *Service) enter(tx *db.Tx, v *Sale) {
	if v.CustomerID == nil {
		return
	}
	e := trade.LedgerEntry{Kind: trade.LedgerSale, At: v.SoldAt, Charged: v.Total, Paid: v.Total, SaleID: &v.ID, Number: v.Number}
	if v.Kind == kindRefund {
		e.Kind, e.Charged, e.Paid = trade.LedgerSaleRefund, -v.Total, -v.Total
	}
	s.cfg.Clients.Enter(tx, v.CompanyID, *v.CustomerID, e)
}

// Preview holds what a sale would be that is not stored.
type Preview struct {
	lineitem.Totals
	lineitem.Discounts
	RedeemedPoints int64         `json:"redeemedPoints" doc:"loyalty points used as a discount, after discountAmount"`
	EarnedPoints   int64         `json:"earnedPoints" doc:"loyalty points that the customer would earn"`
	ReceivedAmount *money.Amount `json:"receivedAmount"`
	ChangeAmount   *money.Amount `json:"changeAmount" doc:"receivedAmount minus what is paid in cash"`
	CustomerName   *string       `json:"customerName"`
	CustomerPhone  *string       `json:"customerPhone"`
	CashierID      uuid.UUID     `json:"cashierId" format:"uuid"`
	CashierName    *string       `json:"cashierName"`
	WarehouseID    *uuid.UUID    `json:"warehouseId" format:"uuid" doc:"where the stock would be taken from; null if none is"`
	Lines          []Line        `json:"lines" doc:"with ids that no sale will have"`
	Payments       []Payment     `json:"payments" doc:"with ids that no sale will have"`
}

// Preview computes a sale without storing it, with the checks of a sale. Only the sale itself finds out that its external id is
// taken or that the totals of the shift would become too large.
func (s *Service) Preview(ctx context.Context, by access.Caller, in Input) (Preview, error) {
	v, _, err := s.draft(ctx, by, in)
	if err != nil {
		return Preview{}, err
	}
	if err := s.cfg.Stock.CheckMove(ctx, s.cfg.DB, by, v.stock()); err != nil {
		return Preview{}, err
	}
	return Preview{
		Totals: v.Totals, Discounts: v.Discounts, RedeemedPoints: v.RedeemedPoints, EarnedPoints: v.EarnedPoints,
		ReceivedAmount: v.ReceivedAmount, ChangeAmount: v.ChangeAmount, CustomerName: v.CustomerName, CustomerPhone: v.CustomerPhone,
		CashierID: v.CashierID, CashierName: v.CashierName, WarehouseID: v.WarehouseID, Lines: v.Lines, Payments: v.Payments,
	}, nil
}
