package offerings

import "github.com/tradegrid/tradegrid/pkg/httpapi"

// Register adds the operations on services.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.List(r, "/catalog/services", "listServices", "List services", s.List)
	httpapi.Create(r, "/catalog/services", "createService", "Create a service", s.Create)
	httpapi.Upsert(r, "/catalog/services", "upsertService", "Create or update a service by its external id",
		httpapi.Upserts[Input, Input, Offering]{Find: table.FindExternal, Create: s.Create, Update: s.Update})
	httpapi.Batch(r, "/catalog/services/batch", "batchServices", "Create, update and hide up to 200 services",
		httpapi.Writes[Input, Offering]{Create: s.Create, Update: s.Update, Find: findBySKU, FindExternal: table.FindExternal, Delete: s.Hide})
	httpapi.Get(r, "/catalog/services/{id}", "getService", "Read a service", s.Get)
	httpapi.Update(r, "/catalog/services/{id}", "updateService", "Update a service", s.Update)
	httpapi.Command(r, "DELETE /catalog/services/{id}", "deleteService", "Hide a service", s.Hide)
}
