package orders

import (
	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/domain"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/resource"
)

var group = httpapi.Group{Tag: "Orders", Scope: "orders", Component: "orders"}

// Domain is what the domain declares of itself.
func Domain() domain.Domain {
	return domain.Domain{
		Name:       "orders",
		Scopes:     []access.Resource{{Name: "orders"}},
		Components: []access.Component{{Alias: "orders"}},
		Events:     event.Declare(group.Component, group.Scope, created, updated, statusChanged, cancelled),
		Errors: []fault.Doc{
			{Status: 409, Code: "PRODUCT_VARIANT_REQUIRED", Advice: "The product has variants. Name one in variantId."},
			{Status: 409, Code: "CATALOG_ITEM_HIDDEN", Advice: "A hidden product or service cannot enter an order. Make it active, or choose another."},
			{Status: 409, Code: "CREDIT_LIMIT_EXCEEDED", Advice: "The client's open orders with this one exceed the credit limit; meta has the amounts. Take a payment, or raise the limit."},
			{Status: 409, Code: "ORDER_STATUS_TRANSITION_INVALID", Advice: "The order cannot move there from its status; meta.allowed lists where it can go."},
			{Status: 409, Code: "ORDER_ITEMS_LOCKED", Advice: "Items can be replaced only while the order is new or confirmed."},
			{Status: 409, Code: "ORDER_FINALIZED", Advice: "A completed or cancelled order takes only note, assignedToId and prepaidAmount; meta.fields names the others that were sent."},
			{Status: 409, Code: "ORDER_OVERPAID", Advice: "prepaidAmount exceeds what is payable; meta has both amounts."},
			{Status: 409, Code: "ORDER_EXTERNAL_ID_TAKEN", Advice: "Another order of this source has the externalId; meta.orderId names it."},
			{Status: 409, Code: "ORDER_HAS_SHIPMENTS", Advice: "Part of the order has been shipped. Cancel its shipments before the order."},
			{Status: 409, Code: "ORDER_DELIVERY_TRANSITION_INVALID", Advice: "The delivery cannot move there from its status; a method can be cleared only before anything was shipped."},
		},
		Entities: []string{"ORDER", "ASSET", "ADDRESS", "DEAL"},
		Tables:   []resource.Described{table},
		Lists:    []domain.Statements{items},
		Samples: []domain.Sample{{
			Entity: "ORDER", Path: "/orders", Change: `{"prepaidAmount":0,"note":null,"deliveryMethod":"post"}`,
			Create: `{"customerId":"CLIENT","items":[{"kind":"custom","name":"Gift wrap","unitPrice":333,"qty":1.5,"note":"red"}],"discountPercent":12.5,"prepaidAmount":100,
				"deliveryMethod":"courier","deliveryCost":500,"deliveryAddressText":"Street 1","dueAt":"2026-12-01T10:00:00+01:00","source":"shop","externalId":"sample","note":"x"}`,
		}},
	}
}
