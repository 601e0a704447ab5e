package deals

import "github.com/tradegrid/tradegrid/pkg/httpapi"

// Register adds the operations on deals.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.List(r, "/deals", "listDeals", "List deals", s.List)
	httpapi.Create(r, "/deals", "createDeal", "Create a deal", s.Create)
	httpapi.Upsert(r, "/deals", "upsertDeal", "Create or update a deal by its external id",
		httpapi.Upserts[Input, Fields, Deal]{Find: table.FindExternal, Create: s.Create, Update: s.Update})
	// Fixed paths come before {id}, which would match them.
	httpapi.ReadWith(r, "/deals/types", "listDealTypes", "List deal types with their stages", s.Types)
	httpapi.ReadWith(r, "/deals/sources", "listLeadSources", "List lead sources", s.LeadSources)
	httpapi.ReadWith(r, "/deals/lost-reasons", "listDealLostReasons", "List lost reasons", s.LostReasons)
	httpapi.Get(r, "/deals/{id}", "getDeal", "Read a deal", s.Get)
	httpapi.Update(r, "/deals/{id}", "updateDeal", "Update a deal", s.Update)
	httpapi.Get(r, "/deals/{id}/history", "getDealHistory", "List the stage changes of a deal", s.History)
	httpapi.CommandWith(r, "PATCH /deals/{id}/stage", "moveDeal", "Move a deal to another stage", s.Move)
	httpapi.CommandWith(r, "POST /deals/{id}/stage", "moveDealByPost", "Move a deal to another stage; the same as PATCH", s.Move)
}

// RegisterAdmin adds the operations on the directories of deals that operators maintain.
func (s *Service) RegisterAdmin(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.ReadWith(r, "/deals/types", "listDealTypes", "List deal types with their stages", s.AllTypes)
	httpapi.Create(r, "/deals/types", "createDealType", "Create a deal type with its stages", s.CreateType)
	httpapi.Get(r, "/deals/types/{id}", "getDealType", "Read a deal type with its stages", s.Type)
	httpapi.Update(r, "/deals/types/{id}", "updateDealType", "Update a deal type", s.UpdateType)
	httpapi.Read(r, "/deals/stages", "listDealStages", "List the stages of all deal types", s.Stages)
	httpapi.Create(r, "/deals/stages", "createDealStage", "Add a stage to a deal type", s.CreateStage)
	httpapi.Get(r, "/deals/stages/{id}", "getDealStage", "Read a stage", s.Stage)
	httpapi.Update(r, "/deals/stages/{id}", "updateDealStage", "Update a stage", s.UpdateStage)
	httpapi.ReadWith(r, "/deals/lost-reasons", "listDealLostReasons", "List lost reasons", s.LostReasons)
	httpapi.Create(r, "/deals/lost-reasons", "createDealLostReason", "Create a lost reason", s.CreateLostReason)
	httpapi.Get(r, "/deals/lost-reasons/{id}", "getDealLostReason", "Read a lost reason", s.LostReason)
	httpapi.Update(r, "/deals/lost-reasons/{id}", "updateDealLostReason", "Update a lost reason", s.UpdateLostReason)
	httpapi.ReadWith(r, "/deals/sources", "listLeadSources", "List lead sources", s.LeadSources)
	httpapi.Create(r, "/deals/sources", "createLeadSource", "Create a source", s.CreateLeadSource)
	httpapi.Get(r, "/deals/sources/{id}", "getLeadSource", "Read a source", s.LeadSource)
	httpapi.Update(r, "/deals/sources/{id}", "updateLeadSource", "Update a source", s.UpdateLeadSource)
	httpapi.OneOf[TypeFields](api, "component", s.cfg.Access.Components())
}
