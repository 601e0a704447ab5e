package requests

import "github.com/tradegrid/tradegrid/pkg/api/httpapi"

// Register adds the operations on the request log.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.ReadWith(r, "/requests", "listRequests", "List the requests of the company's tokens", s.List,
		httpapi.Doc("Newest first, kept for 7 days; a page looks at 5 000 requests, so that with rare matches it may be empty while `hasMore` is true. "+
			"Fails with `VALIDATION_ERROR` for a cursor of another list or `dateFrom` after `dateTo`."))
	httpapi.Get(r, "/requests/{id}", "getRequest", "Read a request with its error and the events that it caused", s.Get,
		httpapi.Doc("`body` and `error` are kept of refused requests only, without secrets, and are null for a token that may not read the resource. "+
			"Fails with `REQUEST_NOT_FOUND`, also 7 days after the request."))
}
