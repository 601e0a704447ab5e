package jobs

import (
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/job"
)

// Register adds the operations on jobs.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.Get(r, "/jobs/{id}", "getJob", "Read a job", s.Get)
	httpapi.Get(r, "/jobs/{id}/result", "getJobResult", "Download the result of a job", s.Result, httpapi.Files("application/x-ndjson", "text/csv"))
	httpapi.Command(r, "/jobs/{id}/pause", "pauseJob", "Pause a job", job.Pause)
	httpapi.Command(r, "/jobs/{id}/resume", "resumeJob", "Resume a job", job.Resume)
	httpapi.Command(r, "/jobs/{id}/cancel", "cancelJob", "Cancel a job", job.Cancel)
}
