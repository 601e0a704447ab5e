package orders

import (
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Statuses of a return; see docs/reference/states.md#order-return.
const (
	returnPosted    = "posted"
	returnCancelled = "cancelled"
)

// Return is a note of goods of an order that came back, and of what the client is credited for them; see
// docs/reference/rules.md#order-returns.
type Return struct {
	ReturnHeader
	Lines []ReturnLine `json:"lines" db:",insert"`
	Taken []taken      `json:"-" db:",insert"` // what it has put back on stock, or written off
}

// SchemaName implements [jsontype.Named].
func (Return) SchemaName() string { return "OrderReturn" }

// ReturnHeader is a return without its lines.
type ReturnHeader struct {
	record.Key
	OrderID     uuid.UUID      `json:"orderId" format:"uuid" db:",insert"`
	Number      int64          `json:"number" db:",insert" doc:"sequential number per company, from 1, without gaps"`
	Status      string         `json:"status" enum:"posted,cancelled"`
	WarehouseID *uuid.UUID     `json:"warehouseId" format:"uuid" db:",insert" doc:"where goods went back on stock; null if none did"`
	Reason      *string        `json:"reason" db:",insert" search:"text"`
	Note        *string        `json:"note" db:",insert" search:"text"`
	ReturnedAt  jsontype.Time  `json:"returnedAt" db:",insert" doc:"time at which the goods came back"`
	TotalQty    money.Qty      `json:"totalQty" db:",insert" doc:"sum of the quantities"`
	Amount      money.Amount   `json:"amount" db:",insert" doc:"sum of the amounts of the lines"`
	TaxAmount   money.Amount   `json:"taxAmount" db:",insert" doc:"tax in amount"`
	Taxes       []lineitem.Tax `json:"taxes" db:",insert" doc:"tax in amount, by rate"`
	DeliveryAmt money.Amount   `json:"deliveryAmount" db:"delivery_amount,insert" doc:"part of the cost of delivery that is credited"`
	Fee         money.Amount   `json:"fee" db:",insert" doc:"kept of what is credited"`
	Total       money.Amount   `json:"total" db:",insert" doc:"what the order costs less: amount + deliveryAmount - fee"`
	Refunded    money.Amount   `json:"refundedAmount" db:"refunded_amount,insert" doc:"sum of the refunds that the request of the return has recorded; the filter returnId of payments lists them"`
	CancelledAt *jsontype.Time `json:"cancelledAt"`
	CreatedByID *uuid.UUID     `json:"createdById" format:"uuid" db:",insert"`
	record.External
	record.Meta
}

// ReturnLine is the part of an order line that came back.
type ReturnLine struct {
	ID          uuid.UUID      `json:"id" format:"uuid"`
	OrderLineID uuid.UUID      `json:"orderLineId" format:"uuid"`
	ProductID   *uuid.UUID     `json:"productId" format:"uuid"`
	VariantID   *uuid.UUID     `json:"variantId" format:"uuid"`
	SKU         *string        `json:"sku"`
	Name        string         `json:"name"`
	Qty         money.Qty      `json:"qty"`
	Restock     bool           `json:"restock" doc:"it went back on stock"`
	Amount      money.Amount   `json:"amount" doc:"what is credited for it"`
	TaxRateID   *uuid.UUID     `json:"taxRateId" format:"uuid" nullable:"true"`
	TaxRate     *money.Percent `json:"taxRate" nullable:"true" doc:"percent that the order line has"`
	TaxAmount   money.Amount   `json:"taxAmount" doc:"tax in amount: its share of that of the order line"`
	Share       money.Amount   `json:"share" doc:"its part of the total of the order line, which amount is by default"`
}

// ReturnInput is the body of a new return.
type ReturnInput struct {
	Items       []ReturnItem   `json:"items" minItems:"1" maxItems:"500" doc:"default: everything that the client has"`
	Reason      *string        `json:"reason" maxLength:"1000"`
	Note        *string        `json:"note" maxLength:"4000"`
	Restock     *bool          `json:"restock" doc:"whether goods go back on stock, unless a line says otherwise; default true"`
	WarehouseID *uuid.UUID     `json:"warehouseId" format:"uuid" doc:"where they go; default: the warehouse of the order"`
	ReturnedAt  *jsontype.Time `json:"returnedAt" doc:"when the goods came back, if that is told later; default: now"`
	DeliveryAmt money.Amount   `json:"deliveryAmount" minimum:"0" doc:"part of the cost of delivery that is credited as well; default 0"`
	Fee         money.Amount   `json:"fee" minimum:"0" doc:"kept of what is credited, such as for the way back; default 0"`
	Refunds     []ReturnRefund `json:"refunds" maxItems:"50" doc:"payments of the order of which money goes back in the same transaction"`
	record.External
}

// SchemaName implements [jsontype.Named].
func (ReturnInput) SchemaName() string { return "OrderReturnInput" }

// ReturnItem is a quantity of an order line in a new return.
type ReturnItem struct {
	OrderLineID uuid.UUID     `json:"orderLineId" required:"true" format:"uuid"`
	Qty         money.Qty     `json:"qty" required:"true" exclusiveMinimum:"0" maximum:"1000000"`
	Restock     *bool         `json:"restock,omitempty" nullable:"true" doc:"default: that of the return"`
	Amount      *money.Amount `json:"amount,omitempty" nullable:"true" minimum:"0" doc:"what is credited; default, and most: its share of the total of the line"`
}

// ReturnRefund is a refund of a payment in a new return.
type ReturnRefund struct {
	PaymentID uuid.UUID     `json:"paymentId" required:"true" format:"uuid"`
	Amount    *money.Amount `json:"amount,omitempty" nullable:"true" exclusiveMinimum:"0" doc:"default: what was paid above what is payable after the return, at most what is left of the payment"`
	Method    *string       `json:"method,omitempty" nullable:"true" enum:"cash,card,sbp,transfer,other" doc:"default: that of the payment"`
	Reference *string       `json:"reference,omitempty" nullable:"true" maxLength:"255"`
}

var returns = resource.Of[Return]("order_returns", "RETURN")

var returnPlan = record.PlanOf[Return]()

// TransformSchema implements [huma.SchemaTransformer].
func (h ReturnHeader) TransformSchema(reg huma.Registry, s *huma.Schema) *huma.Schema {
	return h.Key.TransformSchema(reg, s)
}

// handedOver is the quantity of a line that the client has got: what was shipped, and once the order is completed, all.
func (o *Order) handedOver(l *Line) money.Qty {
	if o.Status == statusCompleted {
		return l.Qty
	}
	return l.ShippedQty
}

// hasReturns reports whether a return of the order is posted.
func (o *Order) hasReturns() bool {
	return slices.ContainsFunc(o.Lines, func(l Line) bool { return l.ReturnedQty > 0 })
}

var (
	errReturned      = apierr.StateConflict("ORDER_HAS_RETURNS", "the order has returns, whose amounts follow from its prices and shipments; cancel its returns first")
	errReturnUndone  = apierr.StateConflict("RETURN_ALREADY_CANCELLED", "the return is cancelled already")
	errNothingToGive = apierr.StateConflict("RETURN_NOTHING_TO_RETURN", "the client has nothing of the order: ship or complete it first, or all of it was returned")
)

// returning returns what a return of the items contains, with the indexes of the lines: without items everything that the client has.
func (o *Order) returning(items []ReturnItem) ([]ReturnItem, []int, error) {
	at, err := o.linesOf(len(items), func(i int) uuid.UUID { return items[i].OrderLineID })
	if err != nil {
		return nil, nil, err
	}
	if o.Status == statusCancelled {
		return nil, nil, errOrderCancelled
	}
	var all []ReturnItem
	var atAll []int
	for i := range o.Lines {
		if l := &o.Lines[i]; o.handedOver(l) > l.ReturnedQty {
			all, atAll = append(all, ReturnItem{OrderLineID: l.ID, Qty: o.handedOver(l) - l.ReturnedQty}), append(atAll, i)
		}
	}
	switch {
	case len(all) == 0:
		return nil, nil, errNothingToGive
	case len(items) == 0:
		return all, atAll, nil
	}
	return items, at, o.checkReturned(items, at)
}

// checkReturned returns a 409 that lists the items that exceed what the client has of their lines.
func (o *Order) checkReturned(items []ReturnItem, at []int) error {
	var lines []map[string]any
	for i, it := range items {
		l := &o.Lines[at[i]]
		if left := o.handedOver(l) - l.ReturnedQty; it.Qty > left {
			lines = append(lines, map[string]any{"orderLineId": l.ID, "name": l.Name, "qty": it.Qty, "left": left})
		}
	}
	if lines == nil {
		return nil
	}
	return apierr.StateConflict("RETURN_QTY_EXCEEDED", "more is to be returned than the client has of the lines in meta.lines; reduce the quantities").With("lines", lines)
}

// takeBack adds the items, of the lines at the indexes, to the returned quantities of the order's lines, and makes the lines of the return
// and what it puts back.
func (o *Order) takeBack(r *Return, items []ReturnItem, at []int, restock bool) error {
	var over []map[string]any
	for i, it := range items {
		l := &o.Lines[at[i]]
		l.ReturnedQty += it.Qty
		line := ReturnLine{
			ID: record.NewID(), OrderLineID: l.ID, ProductID: l.RefID, VariantID: l.VariantID, SKU: l.SKU, Name: l.Name, Qty: it.Qty, Restock: restock,
		}
		// Of the total of a line, all returns together have the share of what was returned.
		line.Share = max(0, money.Share(l.Total, int64(l.ReturnedQty), int64(l.Qty))-l.ReturnedShare)
		l.ReturnedShare += line.Share
		if it.Restock != nil {
			line.Restock = *it.Restock
		}
		if line.Amount = line.Share; it.Amount != nil {
			line.Amount = *it.Amount
		}
		if line.Amount > line.Share {
			over = append(over, map[string]any{"orderLineId": l.ID, "name": l.Name, "amount": line.Amount, "left": line.Share})
			continue
		}
		if len(l.Stock) == 0 {
			line.Restock = false
		}
		l.creditTax(&line)
		r.Lines = append(r.Lines, line)
		r.TotalQty, r.Amount = r.TotalQty+it.Qty, r.Amount+line.Amount
		r.Taken = append(r.Taken, l.takeBack()...)
	}
	if over != nil {
		return apierr.StateConflict("RETURN_AMOUNT_EXCEEDED", "more is to be credited than is left of the lines in meta.lines; reduce the amounts").With("lines", over)
	}
	return o.credit(r)
}

// creditTax sets the tax of a line of a return, and adds what that credits to the order line. It is the share of the tax that is left of what
// is left of the total, so no tax exceeds its amount and all returns of a line together have its tax, also after some of them were cancelled.
func (l *Line) creditTax(r *ReturnLine) {
	r.TaxRateID, r.TaxRate = l.TaxRateID, l.TaxRate
	r.TaxAmount = money.Share(l.TaxAmount-l.ReturnedTax, int64(r.Amount), int64(l.Total-l.ReturnedAmount))
	l.ReturnedAmount, l.ReturnedTax = l.ReturnedAmount+r.Amount, l.ReturnedTax+r.TaxAmount
}

// sumTaxes sets the taxes of the return to those of its lines.
func (r *Return) sumTaxes() {
	lines := make([]lineitem.Line, len(r.Lines))
	for i, l := range r.Lines {
		lines[i] = lineitem.Line{TaxRateID: l.TaxRateID, TaxRate: l.TaxRate, TaxAmount: l.TaxAmount, Total: l.Amount}
	}
	t := lineitem.WithTaxes(lineitem.Totals{}, lines)
	r.TaxAmount, r.Taxes = t.TaxAmount, t.Taxes
}

// credit sets the total of a return, which is what the order costs less.
func (o *Order) credit(r *Return) error {
	left := o.DeliveryCost - o.ReturnedDelivery
	switch {
	case r.DeliveryAmt > left:
		return apierr.StateConflict("RETURN_AMOUNT_EXCEEDED", "deliveryAmount: %s is left of the cost of delivery; credit at most that", left).With("deliveryAmount", r.DeliveryAmt).With("left", left)
	case r.Fee > r.Amount+r.DeliveryAmt:
		return apierr.StateConflict("RETURN_AMOUNT_EXCEEDED", "fee: the return credits %s; keep at most that", r.Amount+r.DeliveryAmt).With("fee", r.Fee).With("left", r.Amount+r.DeliveryAmt)
	}
	r.Total = r.Amount + r.DeliveryAmt - r.Fee
	r.sumTaxes()
	o.ReturnedAmount, o.ReturnedTax, o.ReturnedDelivery = o.ReturnedAmount+r.Total, o.ReturnedTax+r.TaxAmount, o.ReturnedDelivery+r.DeliveryAmt
	return o.price()
}

// takeBack returns what comes back by the quantity of the line that is returned now: of a bundle, as of shipments, what its components
// need for all that was returned, less what is back already, also by a returned delivery.
func (l *Line) takeBack() (back []taken) {
	l.Stock = slices.Clone(l.Stock)
	for i := range l.Stock {
		it := &l.Stock[i]
		if n := share(it.Qty, l.ReturnedQty, l.Qty) - it.Back; n > 0 {
			it.Back += n
			back = append(back, taken{Line: l.ID, Item: i, Product: it.Product, Variant: it.Variant, Qty: n})
		}
	}
	return back
}

// takeAway takes the lines of a cancelled return out of the order again, and returns what leaves the stock: not what a returned delivery
// has put back as well.
func (o *Order) takeAway(r *Return) []trade.StockDelta {
	var gone []taken
	for _, p := range r.Lines {
		l := &o.Lines[slices.IndexFunc(o.Lines, func(l Line) bool { return l.ID == p.OrderLineID })]
		l.ReturnedQty, l.ReturnedShare = l.ReturnedQty-p.Qty, l.ReturnedShare-p.Share
		l.ReturnedAmount, l.ReturnedTax = l.ReturnedAmount-p.Amount, l.ReturnedTax-p.TaxAmount
		l.Stock = slices.Clone(l.Stock)
		for _, t := range r.Taken {
			if t.Line != l.ID {
				continue
			}
			it, kept := &l.Stock[t.Item], money.Qty(0)
			if record.OrZero(o.DeliveryStatus) == deliveryReturned {
				kept = it.Out
			}
			t.Qty = max(0, min(t.Qty, it.Back-kept))
			it.Back -= t.Qty
			gone = append(gone, t)
		}
	}
	o.ReturnedAmount, o.ReturnedTax, o.ReturnedDelivery = o.ReturnedAmount-r.Total, o.ReturnedTax-r.TaxAmount, o.ReturnedDelivery-r.DeliveryAmt
	return r.deltas(gone, -1)
}

// deltas returns the change of stock by what the return has taken back to its warehouse, multiplied by sign; what is not restocked
// moves nothing.
func (r *Return) deltas(back []taken, sign money.Qty) (all []trade.StockDelta) {
	for _, t := range back {
		restocked := slices.ContainsFunc(r.Lines, func(l ReturnLine) bool { return l.OrderLineID == t.Line && l.Restock })
		if restocked && t.Qty > 0 {
			all = append(all, trade.StockDelta{Warehouse: *r.WarehouseID, StockKey: trade.StockKey{Product: t.Product, Variant: t.Variant}, Qty: sign * t.Qty})
		}
	}
	return all
}

// restocks reports whether a line of the return goes back on stock.
func (r *Return) restocks() bool {
	return slices.ContainsFunc(r.Lines, func(l ReturnLine) bool { return l.Restock })
}

// linesOf finds the lines of the order that n items name.
func (o *Order) linesOf(n int, id func(i int) uuid.UUID) ([]int, error) {
	var faults apierr.Fields
	at := make([]int, n)
	for i := range at {
		at[i] = slices.IndexFunc(o.Lines, func(l Line) bool { return l.ID == id(i) })
		switch {
		case at[i] < 0:
			return nil, apierr.ReferenceNotFound("ORDER_LINE", lineitem.At(i, "orderLineId"), id(i).String())
		case slices.Contains(at[:i], at[i]):
			faults.Add(lineitem.At(i, "orderLineId"), apierr.Conflict, "is a duplicate; send the line once, with the whole qty")
		}
	}
	return at, faults.Err()
}
