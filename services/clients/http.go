package clients

import "github.com/tradegrid/tradegrid/pkg/httpapi"

// RegisterAdmin adds the operations on directories that operators maintain.
func (s *Service) RegisterAdmin(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.Read(r, "/clients/groups", "listClientGroups", "List client groups", s.Groups)
	httpapi.Create(r, "/clients/groups", "createClientGroup", "Create a client group", s.CreateGroup)
	httpapi.Get(r, "/clients/groups/{id}", "getClientGroup", "Read a client group", s.Group)
	httpapi.Update(r, "/clients/groups/{id}", "updateClientGroup", "Update a client group", s.UpdateGroup)
	httpapi.Delete(r, "/clients/groups/{id}", "deleteClientGroup", "Delete a client group", s.DeleteGroup)
	httpapi.Read(r, "/clients/price-lists", "listPriceLists", "List price lists", s.PriceLists)
	httpapi.Create(r, "/clients/price-lists", "createPriceList", "Create a price list", s.CreatePriceList)
	httpapi.Get(r, "/clients/price-lists/{id}", "getPriceList", "Read a price list", s.PriceList)
	httpapi.Update(r, "/clients/price-lists/{id}", "updatePriceList", "Update a price list", s.UpdatePriceList)
	httpapi.Delete(r, "/clients/price-lists/{id}", "deletePriceList", "Delete a price list", s.DeletePriceList)
	httpapi.ListIn(r, "/clients/price-lists/{id}/prices", "listPrices", "List the prices of a price list", s.ListPrices)
	httpapi.CommandWith(r, "/clients/price-lists/{id}/prices", "setPrice", "Set the price of an item in a price list", s.SetPrice)
	httpapi.DeleteIn(r, "/clients/price-lists/{id}/prices/{priceId}", "deletePrice", "Remove a price from a price list", s.RemovePrice)
}

// Register adds the operations on clients.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.List(r, "/clients", "listClients", "List clients", s.List)
	httpapi.Create(r, "/clients", "createClient", "Create a client", s.Create)
	httpapi.Upsert(r, "/clients", "upsertClient", "Create or update a client by its external id",
		httpapi.Upserts[Fields, Fields, Client]{Find: table.FindExternal, Create: s.Create, Update: s.Update})
	httpapi.Batch(r, "/clients/batch", "batchClients", "Create and update up to 200 clients", httpapi.Writes[Fields, Client]{Create: s.Create, Update: s.Update, FindExternal: table.FindExternal})
	// Fixed paths come before {id}, which would match them.
	httpapi.Read(r, "/clients/groups", "listClientGroups", "List client groups", s.Groups)
	httpapi.Read(r, "/clients/price-lists", "listPriceLists", "List price lists", s.PriceLists)
	httpapi.Get(r, "/clients/{id}", "getClient", "Read a client", s.Get)
	httpapi.Update(r, "/clients/{id}", "updateClient", "Update a client", s.Update)
	httpapi.Command(r, "/clients/{id}/archive", "archiveClient", "Archive a client", s.Archive)
	httpapi.Command(r, "/clients/{id}/restore", "restoreClient", "Restore an archived client", s.Restore)
	httpapi.Command(r, "/clients/{id}/anonymize", "anonymizeClient", "Anonymize a client", s.Anonymize)
	httpapi.ListIn(r, "/clients/{id}/interactions", "listClientInteractions", "List the interactions with a client", s.Interactions)
	httpapi.CreateIn(r, "/clients/{id}/interactions", "createClientInteraction", "Record an interaction with a client", s.CreateInteraction)
	httpapi.ListIn(r, "/clients/{id}/addresses", "listClientAddresses", "List the addresses of a client", s.Addresses)
	httpapi.CreateIn(r, "/clients/{id}/addresses", "createClientAddress", "Add an address to a client", s.CreateAddress)
	httpapi.GetIn(r, "/clients/{id}/addresses/{addressId}", "getClientAddress", "Read an address of a client", s.Address)
	httpapi.UpdateIn(r, "/clients/{id}/addresses/{addressId}", "updateClientAddress", "Update an address of a client", s.UpdateAddress)
	httpapi.DeleteIn(r, "/clients/{id}/addresses/{addressId}", "deleteClientAddress", "Delete an address of a client", s.DeleteAddress)
	httpapi.ListIn(r, "/clients/{id}/assets", "listClientAssets", "List the assets of a client", s.Assets)
	httpapi.CreateIn(r, "/clients/{id}/assets", "createClientAsset", "Add an asset to a client", s.CreateAsset)
	httpapi.GetIn(r, "/clients/{id}/assets/{assetId}", "getClientAsset", "Read an asset of a client", s.Asset)
	httpapi.UpdateIn(r, "/clients/{id}/assets/{assetId}", "updateClientAsset", "Update an asset of a client", s.UpdateAsset)
	httpapi.DeleteIn(r, "/clients/{id}/assets/{assetId}", "deleteClientAsset", "Delete an asset of a client", s.DeleteAsset)
	httpapi.ListIn(r, "/clients/{id}/points", "listClientPoints", "List the loyalty points of a client", s.Points)
}
