package deals

import "github.com/tradegrid/tradegrid/pkg/httpapi"

// Register adds the operations on deals.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.db)
	httpapi.List(r, "/deals", "listDeals", "List deals", s.List)
	httpapi.Create(r, "/deals", "createDeal", "Create a deal", s.Create)
	// Fixed paths come before {id}, which would match them.
	httpapi.ReadWith(r, "/deals/types", "listDealTypes", "List deal types with their stages", s.Types)
	httpapi.ReadWith(r, "/deals/sources", "listLeadSources", "List sources of leads and deals", s.LeadSources)
	httpapi.ReadWith(r, "/deals/lost-reasons", "listDealLostReasons", "List reasons for which deals are lost", s.LostReasons)
	httpapi.Get(r, "/deals/{id}", "getDeal", "Read a deal", s.Get)
	httpapi.Update(r, "/deals/{id}", "updateDeal", "Change a deal", s.Update)
	httpapi.Get(r, "/deals/{id}/history", "getDealHistory", "List the moves of a deal between stages", s.History)
	httpapi.CommandWith(r, "PATCH /deals/{id}/stage", "moveDeal", "Move a deal to another stage", s.Move)
	httpapi.CommandWith(r, "POST /deals/{id}/stage", "moveDealByPost", "Move a deal to another stage; the same as PATCH", s.Move)
}
