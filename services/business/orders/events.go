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

	parcelChanged = event.With[Shipment, withOrder]("order.shipment.updated", "The carrier, the tracking number or the note of a shipment was changed.", nil).By(
		`PATCH /orders/$order/shipments/$shipment {"trackingNumber":"Trigger $run"}`,
	)
	paymentCreated = event.With[Payment, withOrder]("order.payment.created", "A payment of an order was recorded, also by creating the order or changing prepaidAmount.", nil).By(
		`POST /orders/$order/payments {"amount":100,"method":"card","reference":"Trigger $run"}`,
	)
	paymentRefunded = event.With[Payment, withOrder]("order.payment.refunded", "Money of an order went back; the data is the refund, also one by a change of prepaidAmount.", nil).By(
		`POST /orders/$order/payments/$payment/refund {"amount":50,"reason":"Trigger $run"}`,
	)
)

var (
	returnCreated = event.With[Return, withOrder]("order.return.created", "A return of goods of an order was posted.", nil).By(
		`POST /orders/$order/shipments`, `POST /orders/$order/returns {"reason":"Trigger $run"}`,
	)
	returnUndone = event.With[Return, withOrder]("order.return.cancelled", "A return of goods of an order was cancelled.", nil).By(
		`POST /orders/$order/shipments`, `POST /orders/$order/returns/$return/cancel`,
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

// withOrder holds the field that the events of a payment or a return add to it; the change sets it.
type withOrder struct {
	Order orderSummary `json:"order"`
}

// orderSummary is an order as it is after a payment, refund or return.
type orderSummary struct {
	ID            uuid.UUID    `json:"id" format:"uuid"`
	Number        int64        `json:"number"`
	Status        string       `json:"status"`
	CustomerID    *uuid.UUID   `json:"customerId" format:"uuid" nullable:"true"`
	PaymentStatus string       `json:"paymentStatus"`
	Payable       money.Amount `json:"payable"`
	PrepaidAmount money.Amount `json:"prepaidAmount"`
	AmountDue     money.Amount `json:"amountDue"`
}

func summaryOf(o *Order) orderSummary {
	return orderSummary{
		ID: o.ID, Number: o.Number, Status: o.Status, CustomerID: o.CustomerID, PaymentStatus: o.PaymentStatus, Payable: o.Payable, PrepaidAmount: o.PrepaidAmount, AmountDue: o.AmountDue,
	}
}
