package deals

import (
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
)

// Register adds the operations on deals.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.List(r, "/deals", "listDeals", "List deals", s.List,
		httpapi.Doc("Newest first; `openOnly`, `noTask` and `overdue` select what needs attention, and `sort=boardOrder` is the order of a board."))
	httpapi.Rows(r, "/deals", resource.WithLines(s.cfg.DB, dealLines, s.List, lineRow))
	httpapi.Create(r, "/deals", "createDeal", "Create a deal", s.Create,
		httpapi.Doc("Begins in the initial stage of its type; amounts are whole minor units, and totals are calculated here from the lines. "+
			"Fails with `DEAL_TYPE_NOT_FOUND`, `DEAL_TYPE_INACTIVE`, `DEAL_EXTERNAL_ID_TAKEN`, `CATALOG_ITEM_HIDDEN`, `CLIENT_ARCHIVED`, `MODULE_ACCESS_INACTIVE` for a type of a disabled component, and `BOOKING_SLOT_TAKEN`, `RESOURCE_INACTIVE` or `VENUE_CAPACITY_EXCEEDED` for the venue."))
	httpapi.Upsert(r, "/deals", "upsertDeal", "Create or update a deal by its external id",
		httpapi.Upserts[Input, Fields, Deal]{Find: table.FindExternal, Create: s.Create, Update: s.Update},
		httpapi.Doc("Creates the deal (201), or changes the fields of the body that differ (200); if none differs, there is no new version and no event; its stage is changed by the operation for that. "+
			"Fails as creation and change do, for example with `DEAL_TYPE_INACTIVE`, `CATALOG_ITEM_HIDDEN` or `BOOKING_SLOT_TAKEN`."))
	// Fixed paths come before {id}, which would match them.
	httpapi.ReadWith(r, "/deals/types", "listDealTypes", "List deal types with their stages", s.Types,
		httpapi.Doc("An array of the types of enabled components with their active stages in order; `includeInactive=true` adds inactive ones."))
	httpapi.ReadWith(r, "/deals/sources", "listLeadSources", "List lead sources", s.LeadSources,
		httpapi.Doc("An array of where leads and deals come from; inactive ones only with `includeInactive=true`."))
	httpapi.ReadWith(r, "/deals/lost-reasons", "listDealLostReasons", "List lost reasons", s.LostReasons,
		httpapi.Doc("An array of the reasons that a move to a lost stage has to name; inactive ones only with `includeInactive=true`."))
	httpapi.Get(r, "/deals/{id}", "getDeal", "Read a deal", table.GetFrom(s.cfg.DB),
		httpapi.Doc("The whole deal with its lines, stage and outcome; amounts are whole minor units. "+
			"Fails with `DEAL_NOT_FOUND`."))
	httpapi.Update(r, "/deals/{id}", "updateDeal", "Update a deal", s.Update,
		httpapi.Doc("Fields that are not sent stay; `items` replaces all lines, and a new `headcount` calculates lines per guest anew. "+
			"Fails with `DEAL_NOT_FOUND`, `DEAL_EXTERNAL_ID_TAKEN`, `CATALOG_ITEM_HIDDEN`, `CLIENT_ARCHIVED`, and `BOOKING_SLOT_TAKEN`, `RESOURCE_INACTIVE` or `VENUE_CAPACITY_EXCEEDED` for the venue."))
	httpapi.Get(r, "/deals/{id}/history", "getDealHistory", "List the stage changes of a deal", s.History,
		httpapi.Doc("Moves from stage to stage, each with its time and the user who made it. "+
			"Fails with `DEAL_NOT_FOUND`."))
	httpapi.CommandWith(r, "PATCH /deals/{id}/stage", "moveDeal", "Move a deal to another stage", s.Move,
		httpapi.Doc("Moves to any active stage of the type, back and out of a terminal one as well; a lost stage needs `lostReasonId`, and the stage that the deal has changes nothing. "+
			"Fails with `DEAL_NOT_FOUND`, `DEAL_STAGE_NOT_FOUND`, `DEAL_STAGE_TYPE_MISMATCH`, `DEAL_STAGE_INACTIVE`, `DEAL_LOST_REASON_NOT_FOUND`, `VALIDATION_ERROR` without `lostReasonId` where it is needed, or `BOOKING_SLOT_TAKEN` if the venue is taken."))
	httpapi.CommandWith(r, "POST /deals/{id}/stage", "moveDealByPost", "Move a deal to another stage; the same as PATCH", s.Move,
		httpapi.Doc("For clients that cannot send PATCH; a lost stage needs `lostReasonId`, and the stage that the deal has changes nothing. "+
			"Fails with `DEAL_NOT_FOUND`, `DEAL_STAGE_NOT_FOUND`, `DEAL_STAGE_TYPE_MISMATCH`, `DEAL_STAGE_INACTIVE`, `DEAL_LOST_REASON_NOT_FOUND`, `VALIDATION_ERROR` without `lostReasonId` where it is needed, or `BOOKING_SLOT_TAKEN` if the venue is taken."))
}

// RegisterAdmin adds the operations on the directories of deals that operators maintain.
func (s *Service) RegisterAdmin(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.ReadWith(r, "/deals/types", "listDealTypes", "List deal types with their stages", s.AllTypes,
		httpapi.Doc("An array of the types of enabled components with their active stages in order; `includeInactive=true` adds inactive ones."))
	httpapi.Create(r, "/deals/types", "createDealType", "Create a deal type with its stages", s.CreateType,
		httpapi.Doc("Begins with the stages in the body, or with those of a new company; marking it as default or for leads clears the mark of another type. "+
			"Fails with `DEAL_TYPE_ALIAS_TAKEN`, and with `DEAL_STAGES_INCOMPLETE`, whose `meta.missing` lists the stages that are not there."))
	httpapi.Get(r, "/deals/types/{id}", "getDealType", "Read a deal type with its stages", s.Type,
		httpapi.Doc("The type with all its stages in order, inactive ones included. "+
			"Fails with `DEAL_TYPE_NOT_FOUND`."))
	httpapi.Update(r, "/deals/types/{id}", "updateDealType", "Update a deal type", s.UpdateType,
		httpapi.Doc("Fields that are not sent stay; an inactive type accepts no new deals, and its stages are changed by operations of their own. "+
			"Fails with `DEAL_TYPE_NOT_FOUND` or `DEAL_TYPE_ALIAS_TAKEN`."))
	httpapi.Read(r, "/deals/stages", "listDealStages", "List the stages of all deal types", s.Stages,
		httpapi.Doc("An array of the stages of every type, inactive ones included."))
	httpapi.Create(r, "/deals/stages", "createDealStage", "Add a stage to a deal type", s.CreateStage,
		httpapi.Doc("Adds a stage to the type in `typeId`; a terminal one has an `outcome`, and marking it as initial clears the mark of another. "+
			"Fails with `DEAL_TYPE_NOT_FOUND` or `DEAL_STAGES_INCOMPLETE`."))
	httpapi.Get(r, "/deals/stages/{id}", "getDealStage", "Read a stage", stages.GetFrom(s.cfg.DB),
		httpapi.Doc("One stage with its checklist, probability in percent and `slaHours`. "+
			"Fails with `DEAL_STAGE_NOT_FOUND`."))
	httpapi.Update(r, "/deals/stages/{id}", "updateDealStage", "Update a stage", s.UpdateStage,
		httpapi.Doc("Fields that are not sent stay; deals that are in the stage stay there, also when it becomes inactive. "+
			"Fails with `DEAL_STAGE_NOT_FOUND`, and with `DEAL_STAGES_INCOMPLETE` if the type would lose its initial, won or lost stage."))
	httpapi.ReadWith(r, "/deals/lost-reasons", "listDealLostReasons", "List lost reasons", s.LostReasons,
		httpapi.Doc("An array of the reasons that a move to a lost stage has to name; inactive ones only with `includeInactive=true`."))
	httpapi.Create(r, "/deals/lost-reasons", "createDealLostReason", "Create a lost reason", s.CreateLostReason,
		httpapi.Doc("Can be chosen at once for moves to lost stages; `alias` is a stable name for programs. "+
			"Fails with `DEAL_LOST_REASON_ALIAS_TAKEN`."))
	httpapi.Get(r, "/deals/lost-reasons/{id}", "getDealLostReason", "Read a lost reason", lostReasons.GetFrom(s.cfg.DB),
		httpapi.Doc("One reason, also an inactive one. "+
			"Fails with `DEAL_LOST_REASON_NOT_FOUND`."))
	httpapi.Update(r, "/deals/lost-reasons/{id}", "updateDealLostReason", "Update a lost reason", s.UpdateLostReason,
		httpapi.Doc("Fields that are not sent stay; an inactive reason cannot be chosen, and deals keep it. "+
			"Fails with `DEAL_LOST_REASON_NOT_FOUND` or `DEAL_LOST_REASON_ALIAS_TAKEN`."))
	httpapi.ReadWith(r, "/deals/sources", "listLeadSources", "List lead sources", s.LeadSources,
		httpapi.Doc("An array of where leads and deals come from; inactive ones only with `includeInactive=true`."))
	httpapi.Create(r, "/deals/sources", "createLeadSource", "Create a source", s.CreateLeadSource,
		httpapi.Doc("A lead whose `source` is the `alias` gets this source in its deal. "+
			"Fails with `LEAD_SOURCE_ALIAS_TAKEN`."))
	httpapi.Get(r, "/deals/sources/{id}", "getLeadSource", "Read a source", leadSources.GetFrom(s.cfg.DB),
		httpapi.Doc("One source, also an inactive one. "+
			"Fails with `LEAD_SOURCE_NOT_FOUND`."))
	httpapi.Update(r, "/deals/sources/{id}", "updateLeadSource", "Update a source", s.UpdateLeadSource,
		httpapi.Doc("Fields that are not sent stay; an inactive source cannot be chosen, and deals keep it. "+
			"Fails with `LEAD_SOURCE_NOT_FOUND` or `LEAD_SOURCE_ALIAS_TAKEN`."))
	httpapi.OneOf[TypeFields](api, "component", s.cfg.Access.Components())
}
