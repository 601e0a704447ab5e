package exports

import (
	"net/http"

	"github.com/tradegrid/tradegrid/pkg/httpapi"
)

// Register adds the operations on exports. All lists of the API can be exported, also those that are registered later.
func (s *Service) Register(api *httpapi.API) {
	s.lists = api.Lists
	r := group.On(api, s.db)
	httpapi.Create(r, "/exports", "startExport", "Export a list", s.Start, httpapi.Answers(http.StatusAccepted))
}
