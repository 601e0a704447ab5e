package clients

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

var group = httpapi.Group{Tag: "Clients", About: "Customers: people and companies with their addresses, assets, points and interactions.", Scope: "clients", Component: "clients"}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:   "clients",
		Events: event.Declare(group.Component, group.Scope, created, updated, archived, restored, merged, interacted),
		Errors: []apierr.Doc{
			{Status: 409, Code: "CLIENT_ARCHIVED", Advice: "An archived client cannot be used in a new record. Restore it first."},
			{Status: 409, Code: "CLIENT_EXISTS", Advice: "Other requests kept making and archiving the client with this phone number or e-mail address. Retry."},
			{Status: 409, Code: "CLIENT_BALANCE_OUT_OF_RANGE", Advice: "The client's balance would exceed the largest amount that can be stored. Check the amounts of the order."},
			{Status: 409, Code: "CLIENT_ANONYMIZED", Advice: "The personal data of the client was removed, which is final. Create another client."},
			{Status: 409, Code: "CLIENT_MERGED", Advice: "The client was merged into the one in meta.mergedIntoId. Use that from now on."},
			{Status: 409, Code: "CLIENT_MERGE_LIMIT_REACHED", Advice: "At most 1 000 clients can be merged into one, and both together can have 20 attachments; meta.limit says which bound it was. Remove attachments, or merge fewer clients."},
			{Status: 409, Code: "CLIENT_GROUP_IN_USE", Advice: "Clients belong to the group; meta.clients counts them. Assign them to another group first."},
			{Status: 409, Code: "PRICE_LIST_IN_USE", Advice: "Clients or groups have the price list; meta counts both. Assign them another one first."},
			{Status: 409, Code: "LOYALTY_POINTS_OUT_OF_RANGE", Advice: "The client would have more points than can be stored; meta.points is what there is. Add less."},
			{Status: 409, Code: "LOYALTY_POINTS_INSUFFICIENT", Advice: "The client has fewer points than are redeemed or taken. Read the client and take at most its points."},
		},
		Entities: []string{"CLIENT", "CLIENT_GROUP", "PRICE_LIST", "PRICE", "ADDRESS", "ASSET", "INTERACTION"},
		Tables:   []resource.Described{table, groups, priceLists, prices, addresses, assets, interactions},
		Lists:    []domain.Statements{items, files, priceItems, addressItems, assetItems, interactionItems, pointsItems},
		Samples: []domain.Sample{{
			Entity: "PRICE_LIST", Path: "/clients/price-lists", Create: `{"name":"Wholesale"}`, Change: `{"name":"Large orders"}`,
		}, {
			Entity: "CLIENT_GROUP", Path: "/clients/groups", Create: `{"name":"Dealers","priceListId":"PRICE_LIST"}`, Change: `{"name":"Shops","priceListId":null}`,
		}, {
			Entity: "CLIENT", Path: "/clients", Change: `{"marketingConsent":false,"birthday":null,"displayName":"Parcel Pigeon & Co"}`,
			Create: `{"kind":"legal","displayName":"Parcel Pigeon Couriers","companyName":"Parcel Pigeon GmbH","phone":"+49 30 1234567","email":"office@example.com",
				"tags":["wholesale"],"birthday":"1990-02-28","paymentTermsDays":14,"creditLimit":1000000,"slaHours":4,"marketingConsent":true}`,
		}},
		Scopes:     []access.Resource{{Name: "clients"}},
		Components: []access.Component{{Alias: "clients"}},
	}
}
