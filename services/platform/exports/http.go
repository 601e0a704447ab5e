package exports

import (
	"maps"
	"net/http"
	"slices"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
)

// Register adds the operations on exports. All lists that were registered before can be exported.
func (s *Service) Register(api *httpapi.API) {
	s.lists = api.Files
	r := group.On(api, s.cfg.DB)
	httpapi.Create(r, "/exports", "startExport", "Export a list", s.Start, httpapi.Answers(http.StatusAccepted),
		httpapi.Doc("Starts a job that writes a whole list, newest record first, to a file; poll the job and download its result within 24 hours after its end. "+
			"Fails with `VALIDATION_ERROR` for a filter that the list does not have, `AUTH_API_SCOPE_INSUFFICIENT` without the read scope of the list, and `JOB_LIMIT_REACHED`; a result above 1 GiB fails the job with `EXPORT_TOO_LARGE`."))
	httpapi.OneOf[Input](api, "resource", slices.Sorted(maps.Keys(api.Files())))
}
