package audit

import "github.com/tradegrid/tradegrid/pkg/api/httpapi"

// RegisterAdmin adds the operations on the record of changes.
func (s *Service) RegisterAdmin(api *httpapi.API) {
	httpapi.List(group.On(api, s.cfg.DB), "/audit", "listAdminChanges", "List the changes by operators", s.Changes,
		httpapi.Doc("Who changed what over the admin API or the command line, newest first, with the company that it was about."))
}
