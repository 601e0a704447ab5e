package sales

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
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
// storeAnswer may be nil. Timestamps are those of the draft, not of the transaction, so that retries and sharing do not change them.
func (s *Service) Create(ctx context.Context, by access.Caller, in Input, storeAnswer StoreAnswer, opts ...db.Option) (Sale, error) {
	v, err := s.draft(ctx, by, in)
	if err != nil {
		return Sale{}, err
	}
	v, err = s.store(ctx, by, v, nil, completed, storeAnswer, opts)
	if errors.Is(err, errClosed) {
		return Sale{}, closed(v.ShiftID)
	}
	return v, err
}

// draft computes a new sale without its number.
func (s *Service) draft(ctx context.Context, by access.Caller, in Input) (Sale, error) {
	if err := in.check(); err != nil {
		return Sale{}, err
	}
	v := s.newSale(by, in)
	found, err := s.resolve(ctx, by, &in)
	if err != nil {
		return Sale{}, err
	}
	v.CashierID, v.CashierName = found.cashier.id, found.cashier.name()
	// What was handed over was sold, even if it is hidden or the quantity could not be ordered.
	builder := lineitem.Builder{Items: found.Items, Prices: found.Prices, AnyQty: true, AllowHidden: true}
	v.Lines, err = lineitem.Build(builder, in.Items, func(_ LineInput, l lineitem.Line) Line { return Line{Line: l} })
	if err != nil {
		return Sale{}, err
	}
	if err := v.price(in.RedeemPoints); err != nil {
		return Sale{}, err
	}
	if err := v.pay(in.Payments); err != nil {
		return Sale{}, err
	}
	if err := found.check(in.RedeemPoints); err != nil {
		return Sale{}, err
	}
	found.CopyContact(document.Unless(v.CustomerName != nil, &v.CustomerName), document.Unless(v.CustomerPhone != nil, &v.CustomerPhone), nil)
	if v.CustomerID != nil {
		v.EarnedPoints = accrual(v.Total, by.Settings.AccrualPercentBP)
	}
	if !v.takesStock() {
		return v, nil
	}
	if v.WarehouseID = found.warehouse; v.WarehouseID == nil {
		return Sale{}, errNoWarehouse
	}
	return v, nil
}

// check checks the rules of a body that depend on no other record, and reports all faults at once.
func (in *Input) check() error {
	var faults apierr.Fields
	if e, ok := apierr.As(lineitem.Check(in.Items)); ok {
		faults = append(faults, e.Fields...)
	}
	if in.RedeemPoints > 0 && in.CustomerID == nil {
		faults.Add("customerId", apierr.Required, "is required to redeem points")
	}
	in.checkPayments(&faults)
	return faults.Err()
}

// newSale returns a sale with the fields copied from the body.
func (s *Service) newSale(by access.Caller, in Input) Sale {
	v := Sale{Header: Header{
		Key: record.Key{ID: record.NewID(), CompanyID: by.Company}, ShiftID: in.ShiftID, Kind: kindSale, Fields: in.Fields, CreatedByID: by.Actor,
		Meta: record.New(s.cfg.DB.Now()),
	}}
	plan.Normalise(&v)
	if v.Channel == nil {
		v.Channel = new(defaultChannel)
	}
	return v
}

// price computes the amounts of the sale: the discount in percent, after it the points, and the share of each line in both.
func (s *Sale) price(redeem int64) (err error) {
	if s.Totals, err = lineitem.Sum(s.Lines, s.DiscountPercent); err != nil {
		return err
	}
	points := money.Amount(redeem)
	if points > s.Total {
		return apierr.StateConflict("LOYALTY_POINTS_EXCEED_TOTAL", "redeemPoints: %d points exceed the total of %s; redeem fewer", redeem, s.Total).
			With("redeemPoints", redeem).With("total", s.Total)
	}
	s.RedeemedPoints = redeem
	s.Total -= points
	lineitem.Spread(s.Lines, s.DiscountAmount+points)
	return nil
}

// accrual returns the points that a total earns, rounded down: percent is in basis points.
func accrual(total money.Amount, percent int32) int64 {
	const whole = 10_000
	return int64(total)/whole*int64(percent) + int64(total)%whole*int64(percent)/whole
}

// store stores a sale, or a refund of the sale of, with the next number and raises the event.
func (s *Service) store(ctx context.Context, by access.Caller, v Sale, of *Sale, e event.Event[Sale], storeAnswer StoreAnswer, opts []db.Option) (Sale, error) {
	opts = append([]db.Option{db.WithCommitCheck(table.Stored(by.Company, v.ID))}, opts...)
	err := s.cfg.Numbers.DoReading(ctx, by.Company, saleCounter, func(ctx context.Context, tx *db.Tx, number int64) error {
		v.Number = number
		raw, err := s.insert(ctx, tx, by, &v, of, e)
		if err != nil || storeAnswer == nil {
			return err
		}
		return storeAnswer(tx, v, raw)
	}, opts)
	return v, err
}

// insert makes all writes of a sale, or of a refund of the sale of. It may run several times, with a new number each time.
func (s *Service) insert(ctx context.Context, tx *db.Tx, by access.Caller, v, of *Sale, e event.Event[Sale]) (json.RawMessage, error) {
	if of != nil {
		markRefunded(tx, v, of)
	}
	addTotals(tx, by.Company, v)
	s.addPoints(tx, v)
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

// Preview holds what a sale would be that is not stored.
type Preview struct {
	lineitem.Totals
	DiscountPercent money.Percent `json:"discountPercent"`
	RedeemedPoints  int64         `json:"redeemedPoints" doc:"loyalty points used as a discount, after discountAmount"`
	EarnedPoints    int64         `json:"earnedPoints" doc:"loyalty points that the customer would earn"`
	ReceivedAmount  *money.Amount `json:"receivedAmount"`
	ChangeAmount    *money.Amount `json:"changeAmount" doc:"receivedAmount minus what is paid in cash"`
	CustomerName    *string       `json:"customerName"`
	CustomerPhone   *string       `json:"customerPhone"`
	CashierID       uuid.UUID     `json:"cashierId" format:"uuid"`
	CashierName     *string       `json:"cashierName"`
	WarehouseID     *uuid.UUID    `json:"warehouseId" format:"uuid" doc:"where the stock would be taken from; null if none is"`
	Lines           []Line        `json:"lines" doc:"with ids that no sale will have"`
	Payments        []Payment     `json:"payments" doc:"with ids that no sale will have"`
}

// Preview computes a sale without storing it, with the checks of a sale. Only the sale itself finds out that its external id is
// taken or that the totals of the shift would become too large.
func (s *Service) Preview(ctx context.Context, by access.Caller, in Input) (Preview, error) {
	v, err := s.draft(ctx, by, in)
	if err != nil {
		return Preview{}, err
	}
	if err := s.cfg.Stock.CheckMove(ctx, s.cfg.DB, by, v.stock()); err != nil {
		return Preview{}, err
	}
	return Preview{
		Totals: v.Totals, DiscountPercent: v.DiscountPercent, RedeemedPoints: v.RedeemedPoints, EarnedPoints: v.EarnedPoints,
		ReceivedAmount: v.ReceivedAmount, ChangeAmount: v.ChangeAmount, CustomerName: v.CustomerName, CustomerPhone: v.CustomerPhone,
		CashierID: v.CashierID, CashierName: v.CashierName, WarehouseID: v.WarehouseID, Lines: v.Lines, Payments: v.Payments,
	}, nil
}
