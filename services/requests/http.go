package requests

import "github.com/tradegrid/tradegrid/pkg/httpapi"

// Register adds the operations on the request log.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.ReadWith(r, "/requests", "listRequests", "List the requests of the company's tokens", s.List)
	httpapi.Get(r, "/requests/{id}", "getRequest", "Read a request with its error and the events that it caused", s.Get)
}
