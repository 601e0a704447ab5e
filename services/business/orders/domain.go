package orders

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

var group = httpapi.Group{Tag: "Orders", About: "Orders with their payments, shipments and returns.", Scope: "orders", Component: "orders"}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:       "orders",
		Scopes:     []access.Resource{{Name: "orders"}},
		Components: []access.Component{{Alias: "orders"}},
		Events:     event.Declare(group.Component, group.Scope, created, updated, statusChanged, shipped, parcelChanged, cancelled, paymentCreated, paymentRefunded, returnCreated, returnUndone),
		Errors: []apierr.Doc{
			{Status: 409, Code: "PRODUCT_VARIANT_REQUIRED", Advice: "The product has variants. Set variantId."},
			{Status: 409, Code: "CATALOG_ITEM_HIDDEN", Advice: "A hidden product or service cannot be added to an order. Make it active, or choose another."},
			{Status: 409, Code: "CREDIT_LIMIT_EXCEEDED", Advice: "This order would take the client's open orders over the credit limit; meta has the amounts. Record a payment, or raise the limit."},
			{Status: 409, Code: "ORDER_STATUS_TRANSITION_INVALID", Advice: "The order cannot change to this status from its current one; meta.allowed lists the allowed statuses."},
			{Status: 409, Code: "ORDER_ITEMS_LOCKED", Advice: "Items can be replaced only while the order is new or confirmed. Omit items."},
			{Status: 409, Code: "ORDER_FINALIZED", Advice: "Only note, attachmentFileIds, assignedToId and prepaidAmount of a completed or cancelled order can be changed; meta.fields lists the other fields that were sent. Omit them."},
			{Status: 409, Code: "ORDER_OVERPAID", Advice: "The payments would exceed the amount payable; meta has both amounts. Record at most what is due."},
			{Status: 409, Code: "PAYMENT_REFUND_EXCEEDED", Advice: "The refund exceeds what is left of the payment, meta.left. Refund at most that."},
			{Status: 409, Code: "PAYMENT_ALREADY_REFUNDED", Advice: "Nothing of the payment is left: refunds of it, or a lower prepaidAmount of the order, have returned all."},
			{Status: 409, Code: "PAYMENT_IS_REFUND", Advice: "A refund cannot be refunded. Record a payment of the order."},
			{Status: 409, Code: "ORDER_HAS_SHIPMENTS", Advice: "Part of the order has been shipped. Cancel its shipments before replacing its items; before cancelling the order, cancel them or move its delivery to returned."},
			{Status: 409, Code: "ORDER_DELIVERY_TRANSITION_INVALID", Advice: "The delivery cannot change to this status from its current one; meta.allowed lists the allowed statuses. A delivery method can be cleared only before anything is shipped."},
			{Status: 409, Code: "ORDER_CANCELLED", Advice: "A cancelled order cannot be shipped, delivered or invoiced. Create a new order."},
			{Status: 409, Code: "SHIPMENT_NOTHING_TO_SHIP", Advice: "Everything of the order has been shipped, or left the stock when the order was completed."},
			{Status: 409, Code: "SHIPMENT_QTY_EXCEEDED", Advice: "More is to be shipped than is left of a line; meta.lines lists what is left. Reduce the quantities."},
			{Status: 409, Code: "ORDER_HAS_RETURNS", Advice: "Prices and shipments of the order cannot change while it has returns. Cancel its returns first."},
			{Status: 409, Code: "ORDER_WOULD_BE_EMPTY", Advice: "Nothing of the order would be left. Cancel the order instead."},
			{Status: 409, Code: "RETURN_NOTHING_TO_RETURN", Advice: "The client has nothing of the order: it was neither shipped nor completed, or all was returned."},
			{Status: 409, Code: "RETURN_QTY_EXCEEDED", Advice: "More is to be returned than the client has of a line; meta.lines lists what is left. Reduce the quantities."},
			{Status: 409, Code: "RETURN_AMOUNT_EXCEEDED", Advice: "More is to be credited than is left of a line or of the cost of delivery, or the fee is more than the credit; meta has what is left. Reduce the amount."},
			{Status: 409, Code: "RETURN_ALREADY_CANCELLED", Advice: "The return was cancelled before."},
			{Status: 409, Code: "MAIL_LIMIT_REACHED", Advice: "The company has sent as many documents by e-mail as may be in 24 hours. Send the others later."},
			{Status: 409, Code: "SHIPMENT_ALREADY_CANCELLED", Advice: "The shipment was cancelled before."},
		},
		Entities: []string{"ORDER", "ORDER_LINE", "SHIPMENT", "PAYMENT", "RETURN"},
		Tables:   []resource.Described{table, shipments, payments, returns},
		Lists:    []domain.Statements{items, paymentItems, returnItems, shipmentItems},
		Samples: []domain.Sample{{
			Entity: "ORDER", Path: "/orders", Change: `{"prepaidAmount":0,"note":null,"deliveryMethod":"post"}`,
			Create: `{"customerId":"CLIENT","items":[{"kind":"custom","name":"Workshop hour","unitPrice":7200,"qty":1.5,"discountPercent":5,"taxRateId":"TAX_RATE","note":"fit the child seat"}],"discountPercent":12.5,"fixedDiscount":100,"couponCode":"SPRING","prepaidAmount":2000,
				"deliveryMethod":"courier","deliveryCost":1500,"deliveryAddressText":"Lindenweg 4, 10115 Berlin","dueAt":"2026-12-01T10:00:00+01:00","source":"shop","externalId":"W-1042","note":"Ring at the side door"}`,
		}},
	}
}
