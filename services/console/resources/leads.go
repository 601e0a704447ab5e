package resources

import (
	"github.com/tradegrid/tradegrid/services/console/web"
)

func leads() Resource {
	return Resource{
		Name: "leads", Area: web.Leads, Scope: "leads", Component: "marketing",
		Address: "/leads/list", Page: "/leads", Title: "name", State: "status", About: aboutLead,
		List: "listLeads", Get: "getLead", Export: true,
		Find:   &Find{Also: []string{"phone", "email"}, Names: true, Contacts: true},
		Create: "createLead",
		Asks:   []string{"name", "phone", "email", "message"},
		Next:   []string{"lead_deal"},
		Views:  []View{{"new", "status=new"}},
		Columns: []Column{
			text("name").Faced(), state("status"), text("phone"), text("email"), text("source"), text("assignedToName"),
			moment("createdAt"), word("channel").Less(), text("message").Less(), moment("updatedAt").Less(),
		},
		Facts: []Column{code("clientId").Of("clients", "clientId"), code("dealId").Of("deals", "dealId")},
		Commands: []Command{
			{Name: "lead_deal", Op: "convertLeadToDeal", Form: true, When: open, To: "deals", IDOf: "dealId"},
			{Name: "lead_client", Op: "convertLead", When: open},
			{Name: "assign", Op: "assignLead", Form: true, Undo: "assign", Sets: "assignedToId"},
			{Name: "lead_status", Op: "setLeadStatus", Form: true, When: open, Undo: "lead_status", Sets: "status"},
			{Name: "edit", Op: "updateLead", Form: true},
		},
	}
}

func aboutLead(q *web.Request, r Record) *web.Note {
	if r.Text("status") != "new" {
		return nil
	}
	return &web.Note{Kind: web.Warn, Title: q.T("records.is.new_lead"), Text: q.T("records.is.new_lead.next")}
}

// open reports whether a lead has not become anything yet.
func open(r Record) bool { return r.Text("status") != "converted" }
