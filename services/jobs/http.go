package jobs

import "github.com/tradegrid/tradegrid/pkg/httpapi"

// Register adds the operations on jobs.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.Get(r, "/jobs/{id}", "getJob", "Read a job", s.Get)
	httpapi.Get(r, "/jobs/{id}/result", "getJobResult", "Download the result of a job", s.Result)
}
