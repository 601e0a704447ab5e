package clients

import "github.com/tradegrid/tradegrid/pkg/httpapi"

// Register adds the operations on clients.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.db)
	httpapi.List(r, "/clients", "listClients", "List clients", s.List)
	httpapi.Create(r, "/clients", "createClient", "Create a client", s.Create)
	// Fixed paths come before {id}, which would match them.
	httpapi.Read(r, "/clients/groups", "listClientGroups", "List client groups", s.Groups)
	httpapi.Read(r, "/clients/price-lists", "listPriceLists", "List price lists", s.PriceLists)
	httpapi.Get(r, "/clients/{id}", "getClient", "Read a client", s.Get)
	httpapi.Update(r, "/clients/{id}", "updateClient", "Change a client", s.Update)
	httpapi.Command(r, "/clients/{id}/archive", "archiveClient", "Archive a client", s.Archive)
	httpapi.Command(r, "/clients/{id}/restore", "restoreClient", "Restore an archived client", s.Restore)
}
