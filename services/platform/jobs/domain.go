package jobs

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/job"
)

// Any valid token may ask for a job; which jobs it sees depends on the scopes of what they work on.
var group = httpapi.Group{Tag: "Jobs", About: "Work that takes longer than a request, and its results."}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name: "jobs",
		Errors: []apierr.Doc{
			{Status: 409, Code: "JOB_LIMIT_REACHED", Advice: "A company may have 20 unfinished jobs. Wait until one has ended."},
			{Status: 409, Code: "JOB_HAS_NO_RESULT", Advice: "The job has not ended yet, has failed, or is of a type without a result. meta.status tells which. Poll the job until it is done."},
			{Status: 410, Code: "JOB_RESULT_EXPIRED", Advice: "The result of a job is kept for 24 hours after its end. Start the job again."},
			{Status: 504, Code: "JOB_TIMEOUT", Advice: "The job did not end within the time that a job of its type may take. Start a smaller one."},
			{Status: 409, Code: "JOB_HAS_ENDED", Advice: "Only an unfinished job can be paused, resumed or canceled. meta.status tells how it ended."},
			{Status: 409, Code: "JOB_NOT_CONTROLLABLE", Advice: "Jobs of this type cannot be paused or canceled, because they would leave their work half done. Wait for the end."},
		},
		Entities: []string{"JOB"},
		Cleanup:  job.CleanupJobs(),
	}
}
