package exports

import (
	"maps"
	"net/http"
	"slices"

	"github.com/tradegrid/tradegrid/pkg/httpapi"
)

// Register adds the operations on exports. All lists that were registered before can be exported.
func (s *Service) Register(api *httpapi.API) {
	s.lists = api.Lists
	r := group.On(api, s.cfg.DB)
	httpapi.Create(r, "/exports", "startExport", "Export a list", s.Start, httpapi.Answers(http.StatusAccepted))
	httpapi.OneOf[Input](api, "resource", slices.Sorted(maps.Keys(api.Lists())))
}
