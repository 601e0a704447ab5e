package jobs

import (
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
	"github.com/tradegrid/tradegrid/pkg/store/job"
)

// Jobs returns the handler of the batches, which work on the operations of all domains.
func (s *Service) Jobs() []job.Handler {
	return []job.Handler{httpapi.BatchHandler(func() *httpapi.API { return s.api })}
}

// Register adds the operations on jobs.
func (s *Service) Register(api *httpapi.API) {
	s.api = api
	r := group.On(api, s.cfg.DB)
	httpapi.ReadWith(r, "/jobs", "listJobs", "List the jobs of the company", s.List,
		httpapi.Doc("The latest first, those whose data the token may read, kept for some days after their end; a page looks at 1 000 jobs, so that it may have few of them or none while `hasMore` is true. "+
			"Fails with `VALIDATION_ERROR` for a filter or cursor that does not fit."))
	httpapi.Get(r, "/jobs/{id}", "getJob", "Read a job", s.Get,
		httpapi.Doc("Poll it about once a second until `status` is `done`, `failed` or `canceled`; `resultUrl` is there once a job with a result is done. "+
			"Fails with `JOB_NOT_FOUND`, also for a job whose data the token may not read."))
	httpapi.Get(r, "/jobs/{id}/result", "getJobResult", "Download the result of a job", s.Result, httpapi.Files("application/x-ndjson", "text/csv", spreadsheet.MediaXLSX),
		httpapi.Doc("The file of an export, sent with `Content-Length`; a shorter body is a broken download, to be repeated. "+
			"Fails with `JOB_NOT_FOUND`, `JOB_HAS_NO_RESULT` before the end or without a result, and `JOB_RESULT_EXPIRED` 24 hours after it."))
	httpapi.Command(r, "/jobs/{id}/pause", "pauseJob", "Pause a job", job.Pause,
		httpapi.Doc("The step under way is undone, what earlier ones did stays, and the job still counts among the unfinished ones; a repeat changes nothing. "+
			"Fails with `JOB_NOT_FOUND`, `JOB_HAS_ENDED`, or `JOB_NOT_CONTROLLABLE` for a type that cannot be stopped halfway."))
	httpapi.Command(r, "/jobs/{id}/resume", "resumeJob", "Resume a job", job.Resume,
		httpapi.Doc("Goes on behind the last step that was stored; of a job that is not paused it changes nothing. "+
			"Fails with `JOB_NOT_FOUND`, `JOB_HAS_ENDED` or `JOB_NOT_CONTROLLABLE`."))
	httpapi.Command(r, "/jobs/{id}/cancel", "cancelJob", "Cancel a job", job.Cancel,
		httpapi.Doc("Ends the job for good; what its steps have stored stays. "+
			"Fails with `JOB_NOT_FOUND`, `JOB_HAS_ENDED`, or `JOB_NOT_CONTROLLABLE` for a type that cannot be stopped halfway."))
}
