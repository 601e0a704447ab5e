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
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/pkg/store/list"
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
	return s.shown(f), err
}

// shown is a job with where its result is.
func (s *Service) shown(f job.Found) job.Record {
	if s.available(f) {
		url := s.cfg.Root + "/jobs/" + f.ID.String() + "/result"
		f.ResultURL = &url
	}
	return f.Record
}

// Query selects jobs.
type Query struct {
	Cursor string `query:"cursor" maxLength:"100" doc:"nextCursor of the page before"`
	list.PageLimit
	Status       []string       `query:"status" enum:"pending,processing,paused,done,failed,canceled" maxItems:"6" doc:"comma-separated"`
	Type         string         `query:"type" maxLength:"100" doc:"as jobs have it, or the part before /"`
	UpdatedSince *jsontype.Time `query:"updatedSince" doc:"jobs that have gone on, or ended, at or after this time"`
}

// Page is a part of the jobs of a company, the latest first.
type Page struct {
	Items      []job.Record `json:"items"`
	NextCursor *string      `json:"nextCursor" doc:"where to go on; null at the end"`
	HasMore    bool         `json:"hasMore"`
}

// List returns a page of the jobs that the caller may see.
func (s *Service) List(ctx context.Context, by access.Caller, q Query) (Page, error) {
	f := job.Filter{Statuses: q.Status, Type: q.Type, Limit: q.Records()}
	if q.UpdatedSince != nil {
		f.Since = q.UpdatedSince.Std()
	}
	if q.Cursor != "" {
		var err error
		if f.Before, err = uuid.Parse(q.Cursor); err != nil {
			return Page{}, apierr.InvalidField("cursor", apierr.Format, "is not one that this list gave out; start again without it")
		}
	}
	found, next, err := job.List(ctx, s.cfg.DB, by, f)
	if err != nil {
		return Page{}, err
	}
	page := Page{Items: make([]job.Record, len(found)), HasMore: next != nil}
	for i, f := range found {
		page.Items[i] = s.shown(f)
	}
	if next != nil {
		page.NextCursor = new(next.String())
	}
	return page, nil
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
