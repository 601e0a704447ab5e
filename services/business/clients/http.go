package clients

import (
	"net/http"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
)

// RegisterAdmin adds the operations on directories that operators maintain.
func (s *Service) RegisterAdmin(api *httpapi.API) { s.registerDirectories(group.On(api, s.cfg.DB)) }

// registerDirectories adds the operations on groups and price lists, which both operators and integrations maintain.
func (s *Service) registerDirectories(r *httpapi.Routes) {
	httpapi.Read(r, "/clients/groups", "listClientGroups", "List client groups", s.Groups,
		httpapi.Doc("An array by name; the price list of a group applies to its clients that have none of their own."))
	httpapi.Create(r, "/clients/groups", "createClientGroup", "Create a client group", s.CreateGroup,
		httpapi.Doc("The price list of the group applies to its clients that have none of their own. "+
			"Fails with `PRICE_LIST_NOT_FOUND`."))
	httpapi.Get(r, "/clients/groups/{id}", "getClientGroup", "Read a client group", groups.GetFrom(s.cfg.DB),
		httpapi.Doc("The group with its price list; its clients are found by the filter `groupId` of the list of clients. "+
			"Fails with `CLIENT_GROUP_NOT_FOUND`."))
	httpapi.Update(r, "/clients/groups/{id}", "updateClientGroup", "Update a client group", s.UpdateGroup,
		httpapi.Doc("Fields that are not sent stay; another price list applies to orders from now on. "+
			"Fails with `CLIENT_GROUP_NOT_FOUND` or `PRICE_LIST_NOT_FOUND`."))
	httpapi.Delete(r, "/clients/groups/{id}", "deleteClientGroup", "Delete a client group", s.DeleteGroup,
		httpapi.Doc("Removes a group without clients, for good. "+
			"Fails with `CLIENT_GROUP_NOT_FOUND`, and with `CLIENT_GROUP_IN_USE`, whose `meta.clients` counts the clients that belong to it."))
	httpapi.Read(r, "/clients/price-lists", "listPriceLists", "List price lists", s.PriceLists,
		httpapi.Doc("An array by name; a client has its own price list, or else that of its group."))
	httpapi.Create(r, "/clients/price-lists", "createPriceList", "Create a price list", s.CreatePriceList,
		httpapi.Doc("Begins empty: its prices are set one by one, and what is not in it has its price in the catalog. "+
			"It has no errors of its own beside `VALIDATION_ERROR` for a name that is missing or too long."))
	httpapi.Get(r, "/clients/price-lists/{id}", "getPriceList", "Read a price list", priceLists.GetFrom(s.cfg.DB),
		httpapi.Doc("The list itself; its prices are in a list of their own. "+
			"Fails with `PRICE_LIST_NOT_FOUND`."))
	httpapi.Update(r, "/clients/price-lists/{id}", "updatePriceList", "Update a price list", s.UpdatePriceList,
		httpapi.Doc("Renames the list; clients, groups and prices stay with it. "+
			"Fails with `PRICE_LIST_NOT_FOUND`."))
	httpapi.Delete(r, "/clients/price-lists/{id}", "deletePriceList", "Delete a price list", s.DeletePriceList,
		httpapi.Doc("Removes a list that no client or group has, with its prices, for good. "+
			"Fails with `PRICE_LIST_NOT_FOUND`, and with `PRICE_LIST_IN_USE`, whose `meta` counts clients and groups."))
	httpapi.ListIn(r, "/clients/price-lists/{id}/prices", "listPrices", "List the prices of a price list", s.ListPrices,
		httpapi.Doc("Prices are whole minor units; each is of a product, a variant or a service. "+
			"Fails with `PRICE_LIST_NOT_FOUND`, and with `VALIDATION_ERROR` for a cursor that does not fit."))
	httpapi.CommandWith(r, "/clients/price-lists/{id}/prices", "setPrice", "Set the price of an item in a price list", s.SetPrice,
		httpapi.Doc("Sets the price of one item in minor units, whether or not it had one, so that a repeat changes nothing; a variant without a price has that of its product. "+
			"Fails with `PRICE_LIST_NOT_FOUND`, and with `PRODUCT_NOT_FOUND`, `PRODUCT_VARIANT_NOT_FOUND` or `SERVICE_NOT_FOUND` for the item."))
	httpapi.DeleteIn(r, "/clients/price-lists/{id}/prices/{priceId}", "deletePrice", "Remove a price from a price list", s.RemovePrice,
		httpapi.Doc("The item has its price in the catalog again for the clients of the list. "+
			"Fails with `PRICE_LIST_NOT_FOUND` or `PRICE_NOT_FOUND`."))
}

// Register adds the operations on clients.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.List(r, "/clients", "listClients", "List clients", s.List,
		httpapi.Doc("Newest first, archived ones included; `search` looks at names, company, e-mail, tax number and the digits of phone numbers."))
	httpapi.Whole(r, "/clients", s.whole)
	httpapi.Create(r, "/clients", "createClient", "Create a client", s.Create,
		httpapi.Doc("Only `kind` and `displayName` are required; `creditLimit` is in minor units, 0 means none, and giving consent stamps its time. "+
			"Fails with `CLIENT_GROUP_NOT_FOUND`, `PRICE_LIST_NOT_FOUND`, `USER_NOT_FOUND` or `CLIENT_EXTERNAL_ID_TAKEN`; the same phone number or e-mail twice is not an error."))
	httpapi.Upsert(r, "/clients", "upsertClient", "Create or update a client by its external id",
		httpapi.Upserts[Fields, Fields, Client]{Find: findExternal, Create: s.Create, Update: s.Update},
		httpapi.Doc("Creates the client (201), or changes the fields of the body that differ (200); if none differs, there is no new version and no event, and any number of senders may send the same client at once. "+
			"Fails with `CLIENT_ANONYMIZED`, `CLIENT_GROUP_NOT_FOUND`, `PRICE_LIST_NOT_FOUND` or `USER_NOT_FOUND`."))
	httpapi.UpsertBy(r, "/clients", "/by-phone/{phone}", "upsertClientByPhone", "Create or update a client by its phone number", s.findByPhone,
		httpapi.Upserts[Fields, Fields, Client]{Create: s.createByPhone, Update: s.Update},
		httpapi.Doc("Changes the oldest active client with the number, in any spelling, by the fields of the body that differ (200), or creates one (201); two requests at once create one client. "+
			"Fails as the creation and the change do, with `VALIDATION_ERROR` for what is nobody's number or another `phone` in the body, and with `CLIENT_ANONYMIZED`."))
	httpapi.UpsertBy(r, "/clients", "/by-email/{email}", "upsertClientByEmail", "Create or update a client by its e-mail address", s.findByEmail,
		httpapi.Upserts[Fields, Fields, Client]{Create: s.createByEmail, Update: s.Update},
		httpapi.Doc("Changes the oldest active client with the address, ignoring case, by the fields of the body that differ (200), or creates one (201); two requests at once create one client. "+
			"Fails as the creation and the change do, with `VALIDATION_ERROR` for what is no address or another `email` in the body, and with `CLIENT_ANONYMIZED`."))
	httpapi.Batch(r, "/clients/batch", "batchClients", "Create and update up to 1 000 clients", httpapi.Writes[Fields, Client]{Create: s.Create, Update: s.Update, FindExternal: findExternal},
		httpapi.Doc("Items are carried out in their order, and one that fails does not affect the others; the answer is 200 with a result for each item, or for more than 200 items 202 with a job. "+
			"The whole request fails with `VALIDATION_ERROR` if the list itself is wrong, and with `JOB_LIMIT_REACHED`; items fail alone, for example with `CLIENT_NOT_FOUND`, `CLIENT_ANONYMIZED` or `EXTERNAL_ID_NOT_FOUND`."))
	httpapi.Batch(r, "/clients/changes/batch", "batchClientChanges", "Update tags and status of up to 1 000 clients", httpapi.Writes[BatchChange, Client]{Create: s.changeOne, Created: http.StatusOK, Resource: "client-changes"},
		httpapi.Doc("Each item adds tags to its client, removes some, archives or restores it, or several of these; unlike a change of `tags`, it leaves the other tags as they are. Items are carried out in their order, and one that fails does not affect the others; the answer is 200 with a result for each item, or for more than 200 items 202 with a job. "+
			"The whole request fails with `VALIDATION_ERROR` if the list itself is wrong, and with `JOB_LIMIT_REACHED`; items fail alone, for example with `CLIENT_NOT_FOUND`, `CLIENT_MERGED`, `CLIENT_ANONYMIZED`, or `VALIDATION_ERROR` for more than 50 tags."))
	// Fixed paths come before {id}, which would match them.
	s.registerDirectories(r)
	httpapi.CommandWith(r, "PUT /clients/price-lists/{id}/prices", "setPrices", "Set the prices of many items in a price list", s.SetPrices,
		httpapi.Doc("Sets up to 1 000 prices in minor units in one transaction, all or none, and counts those that differ; an item is named by `refId`, `sku`, `barcode` or `externalId`, and prices that are not sent stay. "+
			"Fails with `PRICE_LIST_NOT_FOUND`, with `PRODUCT_NOT_FOUND`, `PRODUCT_VARIANT_NOT_FOUND`, `SERVICE_NOT_FOUND` or `CATALOG_ITEM_AMBIGUOUS` for the item in `meta.field`."))
	httpapi.Get(r, "/clients/{id}", "getClient", "Read a client", table.GetFrom(s.cfg.DB),
		httpapi.Doc("`balance` is in minor units and negative if the client owes; `points` are loyalty points. "+
			"Fails with `CLIENT_NOT_FOUND`."))
	httpapi.Update(r, "/clients/{id}", "updateClient", "Update a client", s.Update,
		httpapi.Doc("Fields that are not sent stay, `null` clears one; documents keep the copies of names and phone numbers that they have. "+
			"Fails with `CLIENT_NOT_FOUND`, `CLIENT_ANONYMIZED`, `CLIENT_EXTERNAL_ID_TAKEN`, `CLIENT_GROUP_NOT_FOUND`, `PRICE_LIST_NOT_FOUND` or `USER_NOT_FOUND`."))
	httpapi.Command(r, "/clients/{id}/archive", "archiveClient", "Archive a client", s.Archive,
		httpapi.Doc("An archived client keeps its records and can be changed, but not used in a new order, sale or booking; a repeat changes nothing. "+
			"Fails with `CLIENT_NOT_FOUND`."))
	httpapi.Command(r, "/clients/{id}/restore", "restoreClient", "Restore an archived client", s.Restore,
		httpapi.Doc("Makes the client usable in new documents again; of an active client it changes nothing. "+
			"Fails with `CLIENT_NOT_FOUND`."))
	httpapi.CommandWith(r, "/clients/{id}/merge", "mergeClient", "Merge a client into another one", s.Merge, httpapi.Answers(http.StatusAccepted),
		httpapi.Doc("Makes the client in the path the same as `intoId`, for good: balance, points, and fields that the other one lacks go there at once, addresses, interactions and documents follow by a job. "+
			"Fails with `CLIENT_NOT_FOUND`, `CLIENT_MERGED`, `CLIENT_ANONYMIZED`, `CLIENT_ARCHIVED` for `intoId`, `CLIENT_MERGE_LIMIT_REACHED`, and `JOB_LIMIT_REACHED`."))
	httpapi.Command(r, "/clients/{id}/anonymize", "anonymizeClient", "Anonymize a client", s.Anonymize, httpapi.Discreet,
		httpapi.Doc("Removes names, contacts, addresses, assets, attachments, tags and texts for good, and keeps amounts and documents; a repeat changes nothing. "+
			"Fails with `CLIENT_NOT_FOUND`."))
	httpapi.ListIn(r, "/clients/{id}/interactions", "listClientInteractions", "List the interactions with a client", s.Interactions,
		httpapi.Doc("Calls, e-mails, messages, meetings and notes, the latest `occurredAt` first; `type` takes several kinds. "+
			"Fails with `CLIENT_NOT_FOUND`, and with `VALIDATION_ERROR` for a filter or cursor that does not fit."))
	httpapi.CreateIn(r, "/clients/{id}/interactions", "createClientInteraction", "Record an interaction with a client", s.CreateInteraction, httpapi.NoURL,
		httpapi.Doc("`occurredAt` defaults to now; an interaction is never changed and has no address of its own. "+
			"Fails with `CLIENT_NOT_FOUND` or `CLIENT_ANONYMIZED`."))
	httpapi.ListIn(r, "/clients/{id}/addresses", "listClientAddresses", "List the addresses of a client", s.Addresses,
		httpapi.Doc("At most one address of a client has `isDefault`; documents keep the label that an address had. "+
			"Fails with `CLIENT_NOT_FOUND`, and with `VALIDATION_ERROR` for a cursor that does not fit."))
	httpapi.CreateIn(r, "/clients/{id}/addresses", "createClientAddress", "Add an address to a client", s.CreateAddress,
		httpapi.Doc("With `isDefault` it becomes the default address, and the one before loses the mark; `lat` and `lng` are degrees. "+
			"Fails with `CLIENT_NOT_FOUND` or `CLIENT_ANONYMIZED`."))
	httpapi.GetIn(r, "/clients/{id}/addresses/{addressId}", "getClientAddress", "Read an address of a client", s.Address,
		httpapi.Doc("One address with its coordinates in degrees, if they were set. "+
			"Fails with `CLIENT_NOT_FOUND` or `ADDRESS_NOT_FOUND`."))
	httpapi.UpdateIn(r, "/clients/{id}/addresses/{addressId}", "updateClientAddress", "Update an address of a client", s.UpdateAddress,
		httpapi.Doc("Fields that are not sent stay; with `isDefault`, the default address before loses the mark. "+
			"Fails with `CLIENT_NOT_FOUND` or `ADDRESS_NOT_FOUND`."))
	httpapi.DeleteIn(r, "/clients/{id}/addresses/{addressId}", "deleteClientAddress", "Delete an address of a client", s.DeleteAddress,
		httpapi.Doc("Orders that name the address keep its id and the copy of its label. "+
			"Fails with `CLIENT_NOT_FOUND` or `ADDRESS_NOT_FOUND`."))
	httpapi.ListIn(r, "/clients/{id}/assets", "listClientAssets", "List the assets of a client", s.Assets,
		httpapi.Doc("What the client owns and the company works on, such as a vehicle or a device. "+
			"Fails with `CLIENT_NOT_FOUND`, and with `VALIDATION_ERROR` for a cursor that does not fit."))
	httpapi.CreateIn(r, "/clients/{id}/assets", "createClientAsset", "Add an asset to a client", s.CreateAsset,
		httpapi.Doc("Orders refer to it by `assetId`, for example to say which device is repaired. "+
			"Fails with `CLIENT_NOT_FOUND` or `CLIENT_ANONYMIZED`."))
	httpapi.GetIn(r, "/clients/{id}/assets/{assetId}", "getClientAsset", "Read an asset of a client", s.Asset,
		httpapi.Doc("One vehicle, device or other thing of the client, with its serial number if it has one. "+
			"Fails with `CLIENT_NOT_FOUND` or `ASSET_NOT_FOUND`."))
	httpapi.UpdateIn(r, "/clients/{id}/assets/{assetId}", "updateClientAsset", "Update an asset of a client", s.UpdateAsset,
		httpapi.Doc("Fields that are not sent stay, and `null` clears one. "+
			"Fails with `CLIENT_NOT_FOUND` or `ASSET_NOT_FOUND`."))
	httpapi.DeleteIn(r, "/clients/{id}/assets/{assetId}", "deleteClientAsset", "Delete an asset of a client", s.DeleteAsset,
		httpapi.Doc("Orders that name the asset keep its id. "+
			"Fails with `CLIENT_NOT_FOUND` or `ASSET_NOT_FOUND`."))
	httpapi.GetWith(r, "/clients/{id}/statement", "getClientStatement", "Read the statement of a client", s.Statement,
		httpapi.Doc("What documents have charged the client and what was paid for them, with the balance after each entry and those before and after the days from `from` to `to`; newest first, `order=asc` reads from the beginning. "+
			"Fails with `CLIENT_NOT_FOUND`, with `VALIDATION_ERROR` for days or a cursor that do not fit, and with `QUERY_TOO_EXPENSIVE` if too many entries would have to be summed."))
	httpapi.CreateIn(r, "/clients/{id}/points", "adjustClientPoints", "Add or take loyalty points of a client", s.AdjustPoints, httpapi.NoURL,
		httpapi.Doc("Adds `delta` to the points, for a gift, a correction or points of another system; a negative one takes them, and the entry of the ledger has the `reason` `adjusted` and the note. "+
			"Fails with `CLIENT_NOT_FOUND`, `CLIENT_ANONYMIZED`, `LOYALTY_POINTS_INSUFFICIENT` if more is taken than the client has, and `LOYALTY_POINTS_OUT_OF_RANGE` if more is added than can be stored."))
	httpapi.ListIn(r, "/clients/{id}/points", "listClientPoints", "List the loyalty points of a client", s.Points,
		httpapi.Doc("The ledger behind `points`, newest first: each entry has its `delta`, the `balance` after it, the sale and a `reason`. "+
			"Fails with `CLIENT_NOT_FOUND`, and with `VALIDATION_ERROR` for a cursor that does not fit."))
}
