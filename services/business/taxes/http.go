package taxes

import "github.com/tradegrid/tradegrid/pkg/api/httpapi"

// Register adds the operations on tax rates.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.db)
	register(s, r)
	httpapi.Upsert(r, "/catalog/tax-rates", "upsertTaxRate", "Create or update a tax rate by its external id",
		httpapi.Upserts[Fields, Fields, Rate]{Find: table.FindExternal, Create: s.Create, Update: s.Update},
		httpapi.Doc("Creates the rate (201), or changes the fields of the body that differ (200); if none differs, there is no new version. "+
			"Fails with `VALIDATION_ERROR` if the body names another external id than the path."))
}

// RegisterAdmin adds the operations that operators maintain the rates of a company with.
func (s *Service) RegisterAdmin(api *httpapi.API) { register(s, group.On(api, s.db)) }

func register(s *Service, r *httpapi.Routes) {
	httpapi.List(r, "/catalog/tax-rates", "listTaxRates", "List tax rates", s.List,
		httpapi.Doc("Newest first, inactive ones included unless `isActive=true`; `search` looks at the name."))
	httpapi.Create(r, "/catalog/tax-rates", "createTaxRate", "Create a tax rate", s.Create,
		httpapi.Doc("`percent` is of the price without the tax; products, services and lines name the rate as `taxRateId`. "+
			"Fails with `TAX_RATE_EXTERNAL_ID_TAKEN` if another rate of the source has the external id, and with `VALIDATION_ERROR` for a percentage of the kinds `zero` and `exempt`."))
	httpapi.Get(r, "/catalog/tax-rates/{id}", "getTaxRate", "Read a tax rate", table.GetFrom(s.db),
		httpapi.Doc("The rate as it is now; lines of documents have the percentage that it had when they were made. "+
			"Fails with `TAX_RATE_NOT_FOUND`."))
	httpapi.Update(r, "/catalog/tax-rates/{id}", "updateTaxRate", "Update a tax rate", s.Update,
		httpapi.Doc("Fields that are not sent stay, and documents stay as they are; a rate is not deleted, but `isActive: false` ends its use. "+
			"Fails with `TAX_RATE_NOT_FOUND` or `TAX_RATE_EXTERNAL_ID_TAKEN`."))
}
