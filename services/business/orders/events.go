package orders

import (
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

var (
	created       = event.New[Order]("order.created", "An order was created.").By(`$order`)
	updated       = event.WithChanges[Order]("order.updated", "An order was changed; changedFields lists the changed fields.").By(`PATCH /orders/$order {"note":"triggered"}`)
	statusChanged = event.With("order.status_changed", "The status of an order changed.", previousStatus).By(`POST /orders/$order/status/confirmed`)
	shipped       = event.With[Order, withShipment]("order.shipped", "A shipment of an order was posted; shipment holds it.", nil).By(`POST /orders/$order/shipments {"carrier":"Trigger $run"}`)
	cancelled     = event.With("order.cancelled", "An order was cancelled; order.status_changed is sent as well.", previousStatus).By(`POST /orders/$order/status/cancelled`)

	paymentCreated = event.With[Payment, withOrder]("order.payment.created", "A payment of an order was recorded, also by creating the order or changing prepaidAmount.", nil).By(
		`POST /orders/$order/payments {"amount":100,"method":"card","reference":"Trigger $run"}`,
	)
	paymentRefunded = event.With[Payment, withOrder]("order.payment.refunded", "Money of an order went back; the data is the refund, also one by a change of prepaidAmount.", nil).By(
		`POST /orders/$order/payments/$payment/refund {"amount":50,"reason":"Trigger $run"}`,
	)
)

// moved holds the fields that status events add to the order.
type moved struct {
	PreviousStatus string `json:"previousStatus"`
}

func previousStatus(before, _ *Order) moved { return moved{before.Status} }

// withShipment holds the field that a shipment adds to the order; [Service.Ship] sets it.
type withShipment struct {
	Shipment Shipment `json:"shipment"`
}

// withOrder holds the field that the events of a payment add to it; [insertPayment] sets it.
type withOrder struct {
	Order orderSummary `json:"order"`
}

// orderSummary is an order as it is after a payment or refund.
type orderSummary struct {
	ID            uuid.UUID    `json:"id" format:"uuid"`
	Number        int64        `json:"number"`
	Status        string       `json:"status"`
	CustomerID    *uuid.UUID   `json:"customerId" format:"uuid" nullable:"true"`
	PaymentStatus string       `json:"paymentStatus"`
	PrepaidAmount money.Amount `json:"prepaidAmount"`
	AmountDue     money.Amount `json:"amountDue"`
}

func summaryOf(o *Order) orderSummary {
	return orderSummary{
		ID: o.ID, Number: o.Number, Status: o.Status, CustomerID: o.CustomerID, PaymentStatus: o.PaymentStatus, PrepaidAmount: o.PrepaidAmount, AmountDue: o.AmountDue,
	}
}
