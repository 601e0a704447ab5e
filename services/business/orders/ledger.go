package orders

import (
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// enter queues an entry in the ledger of the order's client, if there is one.
func (s *Service) enter(tx *db.Tx, o *Order, e trade.LedgerEntry) {
	if o.CustomerID != nil {
		e.OrderID, e.Number = &o.ID, o.Number
		s.cfg.Clients.Enter(tx, o.CompanyID, *o.CustomerID, e)
	}
}

// enterPayment queues a payment or refund of the order.
func (s *Service) enterPayment(tx *db.Tx, o *Order, p Payment) {
	kind := trade.LedgerPayment
	if p.Delta < 0 {
		kind = trade.LedgerRefund
	}
	s.enter(tx, o, trade.LedgerEntry{Kind: kind, At: p.PaidAt, Paid: p.Delta, PaymentID: &p.ID, ReturnID: p.ReturnID})
}

// enterReturn queues what a return credits, or no longer credits, if the order has charged it.
func (s *Service) enterReturn(tx *db.Tx, o *Order, r *Return) {
	e := trade.LedgerEntry{Kind: trade.LedgerReturn, At: r.ReturnedAt, Charged: -r.Total, ReturnID: &r.ID}
	if r.CancelledAt != nil {
		e.Kind, e.At, e.Charged = trade.LedgerReturnCancelled, *r.CancelledAt, r.Total
	}
	if o.Status == statusCompleted {
		s.enter(tx, o, e)
	}
}

// OfClient gives the orders of a client to the one that it is merged into.
func OfClient() document.Follow { return document.FollowIn("orders", "customer_id") }
