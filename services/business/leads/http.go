package leads

import (
	"net/http"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Register adds the operations on leads.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.List(r, "/leads", "listLeads", "List leads", s.List,
		httpapi.Doc("Newest first; `assignedToId=unassigned` selects those that nobody has."))
	// The unique external id alone protects a creation, so it needs no common snapshot.
	httpapi.Create(group.On(api, s.cfg.DB, db.ReadCommitted()), "/leads", "createLead", "Create a lead", s.Create,
		httpapi.Header(headerDeduplicated, "`true` if a lead with this `source` and `externalId` was stored before: it is returned as it is"),
		httpapi.Doc("All fields are optional; a lead with the `source` and `externalId` of a stored one is answered with that lead and `X-Deduplicated: true`, so that a form may be sent twice. "+
			"Fails with `VALIDATION_ERROR` only."))
	httpapi.Get(r, "/leads/{id}", "getLead", "Read a lead", s.Get,
		httpapi.Doc("Once it is converted, `clientId` and `dealId` name what was made of it. "+
			"Fails with `LEAD_NOT_FOUND`."))
	httpapi.Update(r, "/leads/{id}", "updateLead", "Update a lead", s.Update,
		httpapi.Doc("Fields that are not sent stay; status and assignment have operations of their own. "+
			"Fails with `LEAD_NOT_FOUND`."))
	httpapi.CommandWith(r, "PATCH /leads/{id}/status", "setLeadStatus", "Set the status of a lead", s.SetStatus,
		httpapi.Doc("Any status can follow any other; `converted` by hand converts nothing, and the current status changes nothing. "+
			"Fails with `LEAD_NOT_FOUND`."))
	httpapi.CommandWith(r, "/leads/{id}/assign", "assignLead", "Assign a lead to a user", s.Assign,
		httpapi.Doc("`null` takes the assignment away; `lead.assigned` is raised only if it differs. "+
			"Fails with `LEAD_NOT_FOUND`, and with `USER_NOT_FOUND` for the assignee."))
	httpapi.Command(r, "/leads/{id}/convert", "convertLead", "Convert a lead to a client", s.Convert, httpapi.Answers(http.StatusCreated),
		httpapi.Records("/clients"),
		httpapi.Doc("Links the client with the same phone number or e-mail, or creates one; a repeat is answered 201 with the same client. "+
			"Fails with `LEAD_NOT_FOUND`."))
	httpapi.CommandWith(r, "/leads/{id}/convert-deal", "convertLeadToDeal", "Convert a lead to a client and a deal", s.ConvertToDeal,
		httpapi.Answers(http.StatusCreated), httpapi.Records("/deals"), httpapi.AlsoNeeds("deals"),
		httpapi.Doc("Makes a deal of the lead, and a client unless it has one; a repeat is answered 201 with the same ids. "+
			"Fails with `LEAD_NOT_FOUND`, `DEAL_TYPE_NOT_FOUND`, `DEAL_TYPE_INACTIVE`, `DEAL_LEAD_TYPE_MISSING` without a type for leads, or `CLIENT_ARCHIVED`."))
}
