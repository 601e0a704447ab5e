// Package jobs shows the jobs of a company and hands out their results; see docs/reference/jobs.md. What jobs do belongs to
// the domains that start them, running them to package job.
package jobs

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
)

// Config holds the dependencies of the service.
type Config struct {
	DB   *db.DB
	Root string // URL of the API, such as https://api.example.com/api/external/v1; links to results begin with it
}

// Service shows the jobs of all companies.
type Service struct {
	cfg Config
	api *httpapi.API // see [Service.Register]
}

// New returns a service.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

// Get reads a job.
func (s *Service) Get(ctx context.Context, by access.Caller, id uuid.UUID) (job.Record, error) {
	f, err := job.Get(ctx, s.cfg.DB, by, id)
	if err == nil && s.available(f) {
		url := s.cfg.Root + "/jobs/" + id.String() + "/result"
		f.ResultURL = &url
	}
	return f.Record, err
}

// available reports whether a job has a result that is still kept.
func (s *Service) available(f job.Found) bool {
	return f.Media != "" && s.cfg.DB.Now().Before(f.ExpiresAt.Std())
}

// extensions are the file extensions of results.
var extensions = map[string]string{"application/x-ndjson": "ndjson", "text/csv; charset=utf-8": "csv", spreadsheet.MediaXLSX: "xlsx"}

// Result hands out the result of a job.
func (s *Service) Result(ctx context.Context, by access.Caller, id uuid.UUID) (httpapi.File, error) {
	f, err := job.Get(ctx, s.cfg.DB, by, id)
	switch {
	case err != nil:
		return httpapi.File{}, err
	case f.Media == "":
		return httpapi.File{}, apierr.StateConflict("JOB_HAS_NO_RESULT", "the job has no result; its status is %s", f.Status).With("status", f.Status)
	case !s.available(f):
		return httpapi.File{}, job.ErrResultGone
	}
	name := f.Type + "-" + id.String() + "." + extensions[f.Media]
	// The file is sent after the request has returned.
	return httpapi.File{
		Media: f.Media, Size: f.Bytes, Name: strings.TrimSuffix(name, "."), Memory: job.ResultMemory, Body: job.Result(context.WithoutCancel(ctx), s.cfg.DB, f),
	}, nil
}
