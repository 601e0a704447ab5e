package imports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
)

// keptChecks is how many of its dry runs a company can still run.
const keptChecks = 5

// find reads an import of the company with its summary.
func (s *Service) find(ctx context.Context, q db.Querier, by access.Caller, id uuid.UUID) (f job.Found, of summary, err error) {
	f, err = job.Get(ctx, q, by, id)
	if err == nil && f.Type != importing.Name {
		err = apierr.NotFound("JOB", id.String())
	}
	if err != nil || f.Summary == nil { // it has not begun
		return f, of, err
	}
	raw, err := json.Marshal(f.Summary)
	if err == nil {
		err = json.Unmarshal(raw, &of)
	}
	if err != nil {
		err = fmt.Errorf("decode summary of import %s: %w", id, err)
	}
	return f, of, err
}

// Run imports the rows that a dry run has checked, once.
func (s *Service) Run(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (job.Record, error) {
	admission, err := job.Admit(ctx, tx, s.cfg.DB, by.Company)
	if err != nil {
		return job.Record{}, err
	}
	f, of, err := s.find(ctx, s.cfg.DB, by, id) // what is done does not change
	if err != nil {
		return job.Record{}, err
	}
	source := s.api.Batches()[of.Resource]
	switch {
	case !of.DryRun || f.Status != job.Done:
		return job.Record{}, apierr.StateConflict("IMPORT_NOT_CHECKED", "only a dry run that is done can be run; its status is %s", f.Status).With("status", f.Status)
	case source == nil:
		return job.Record{}, fmt.Errorf("import: no batch of %s", of.Resource)
	}
	if err := source.Admits(by); err != nil {
		return job.Record{}, err
	}
	if of.Resource == products && slices.Contains(of.Columns, imagesColumn) {
		if err := admitImages(by); err != nil {
			return job.Record{}, err
		}
	}
	t, in := importing, order{Resource: of.Resource}
	t.Control = source.Scope
	of.DryRun, of.Created, of.Updated, of.Unchanged, of.Failed = false, 0, 0, 0, 0
	r, err := job.Start(ctx, tx, by.Unconditional(), admission, t, job.Options{
		Input: in, State: state{Size: stepOf(in), Summary: of}, Total: f.Processed, Resources: []string{source.Scope}, PartsOf: id,
	})
	if errors.Is(err, job.ErrNoParts) {
		err = apierr.StateConflict("IMPORT_NOT_KEPT", "the rows of the dry run are not kept any more, or have been imported; send the file again")
	}
	return r, err
}
