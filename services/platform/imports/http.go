package imports

import (
	"net/http"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
)

const mediaCSV = "text/csv"

// maxFile bounds the body of an import, in bytes; see docs/reference/limits.md#request-size.
const maxFile = 10 << 20

// Register adds the operations on imports.
func (s *Service) Register(api *httpapi.API) {
	s.api = api
	r := group.On(api, s.cfg.DB)
	httpapi.ChangePrepared(r, "/imports", "startImport", "Import a file", s.prepare, s.start, httpapi.Answers(http.StatusAccepted), httpapi.NoURL,
		httpapi.Uploads(maxFile, mediaCSV, spreadsheet.MediaXLSX),
		httpapi.Doc("Starts a job that creates and changes a record for each row of a CSV or XLSX file, by the rules of a batch; with `dryRun` it only reports what would happen. "+
			"Fails with `VALIDATION_ERROR` for a file that cannot be read or lacks the columns of the key, `AUTH_API_SCOPE_INSUFFICIENT` without the write scope of the records, and `JOB_LIMIT_REACHED`; "+
			"a row that fails has its error in the result of the job."))
}
