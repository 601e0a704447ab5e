package leads

import (
	"net/http"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
)

// Register adds the operations on leads.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.List(r, "/leads", "listLeads", "List leads", s.List)
	// The unique external id alone protects a creation, so it needs no common snapshot.
	httpapi.Create(group.On(api, s.cfg.DB, db.ReadCommitted()), "/leads", "createLead", "Create a lead", s.Create)
	httpapi.Get(r, "/leads/{id}", "getLead", "Read a lead", s.Get)
	httpapi.Update(r, "/leads/{id}", "updateLead", "Update a lead", s.Update)
	httpapi.CommandWith(r, "PATCH /leads/{id}/status", "setLeadStatus", "Set the status of a lead", s.SetStatus)
	httpapi.CommandWith(r, "/leads/{id}/assign", "assignLead", "Assign a lead to a user", s.Assign)
	httpapi.Command(r, "/leads/{id}/convert", "convertLead", "Convert a lead to a client", s.Convert, httpapi.Answers(http.StatusCreated),
		httpapi.Records("/clients"))
	httpapi.CommandWith(r, "/leads/{id}/convert-deal", "convertLeadToDeal", "Convert a lead to a client and a deal", s.ConvertToDeal,
		httpapi.Answers(http.StatusCreated), httpapi.Records("/deals"), httpapi.AlsoNeeds("deals"))
}
