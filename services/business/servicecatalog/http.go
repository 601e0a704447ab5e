package servicecatalog

import "github.com/tradegrid/tradegrid/pkg/api/httpapi"

// Register adds the operations on services.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.List(r, "/catalog/services", "listServices", "List services", s.List,
		httpapi.Doc("Newest first and without hidden services unless `status` asks for them; prices are whole minor units, and `include=costItems` adds the costs."))
	httpapi.Create(r, "/catalog/services", "createService", "Create a service", s.Create,
		httpapi.Doc("`priceModel` says what `price`, in minor units, is for; `durationMinutes` is the length of a booking, and without `sku` the next free one is generated. "+
			"Fails with `SKU_TAKEN`, `SERVICE_EXTERNAL_ID_TAKEN`, `CATEGORY_NOT_FOUND`, and `PRODUCT_NOT_FOUND` for a cost item."))
	httpapi.Upsert(r, "/catalog/services", "upsertService", "Create or update a service by its external id",
		httpapi.Upserts[OfferingInput, OfferingInput, Offering]{Find: table.FindExternal, Create: s.Create, Update: s.Update},
		httpapi.Doc("Creates the service (201), or changes the fields of the body that differ (200); if none differs, there is no new version and no event. "+
			"Fails with `SKU_TAKEN`, `CATEGORY_NOT_FOUND` or `PRODUCT_NOT_FOUND`."))
	httpapi.Batch(r, "/catalog/services/batch", "batchServices", "Create, update and hide up to 1 000 services",
		httpapi.Writes[OfferingInput, Offering]{Create: s.Create, Update: s.Update, Find: findBySKU, FindExternal: table.FindExternal, Delete: s.Hide},
		httpapi.Doc("Items are carried out in their order, and one that fails does not affect the others; `upsert` names the service by `sku` or by `source` and `externalId`, and the answer is 200 with a result for each item, or for more than 200 items 202 with a job. "+
			"The whole request fails with `VALIDATION_ERROR` if the list itself is wrong, and with `JOB_LIMIT_REACHED`; items fail alone, for example with `SKU_TAKEN` or `EXTERNAL_ID_NOT_FOUND`."))
	httpapi.Get(r, "/catalog/services/{id}", "getService", "Read a service", table.GetFrom(s.cfg.DB),
		httpapi.Doc("Hidden services are found, too; `totalCost` is the sum of its cost items in minor units. "+
			"Fails with `SERVICE_NOT_FOUND`."))
	httpapi.Update(r, "/catalog/services/{id}", "updateService", "Update a service", s.Update,
		httpapi.Doc("Fields that are not sent stay; `costItems` replaces all of them, and bookings keep the price that they were made with. "+
			"Fails with `SERVICE_NOT_FOUND`, `SKU_TAKEN`, `SERVICE_EXTERNAL_ID_TAKEN`, `CATEGORY_NOT_FOUND` or `PRODUCT_NOT_FOUND`."))
	httpapi.Command(r, "DELETE /catalog/services/{id}", "deleteService", "Hide a service", s.Hide,
		httpapi.Doc("Sets the status to `hidden`, because documents refer to services; the SKU stays taken, and a repeat changes nothing. "+
			"Fails with `SERVICE_NOT_FOUND`."))
}
