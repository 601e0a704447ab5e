package imports

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
)

const mediaCSV = "text/csv"

// maxFile bounds the body of an import, in bytes; see docs/reference/limits.md#request-size.
const maxFile = 10 << 20

func (s *Service) httpRefused(ctx context.Context, by access.Caller, id uuid.UUID) (httpapi.File, error) {
	return s.Refused(ctx, by, id, inWords)
}

// Register adds the operations on imports.
func (s *Service) Register(api *httpapi.API) {
	s.api = api
	r := group.On(api, s.cfg.DB)
	httpapi.Command(r, "/imports/{id}/run", "runImport", "Import what was checked", s.Run, httpapi.Answers(http.StatusAccepted), httpapi.NoURL,
		httpapi.Doc("Starts a job that imports the rows that a dry run has checked, without sending the file again. Rows of the last five dry runs of the company are kept for a day, and can be run once. "+
			"Fails with `JOB_NOT_FOUND`, `IMPORT_NOT_CHECKED` for what is no dry run that is done, `IMPORT_NOT_KEPT`, `AUTH_API_SCOPE_INSUFFICIENT` without the write scope of the records, and `JOB_LIMIT_REACHED`."))
	httpapi.Get(r, "/imports/{id}/refused", "getRefusedRows", "Download the refused rows of an import", s.httpRefused, httpapi.Files("text/csv"),
		httpapi.Doc("A CSV of the rows that were refused, or would be, as they were sent, with a column `importError`: correct them and import the file. "+
			"Fails with `JOB_NOT_FOUND`, `JOB_HAS_NO_RESULT` before the end, `IMPORT_HAS_NO_REFUSED_ROWS`, and `JOB_RESULT_EXPIRED` 24 hours after it."))
	httpapi.View(r, "POST /imports/preview", "previewImport", "Preview an import", s.preview, httpapi.Uploads(maxFile, mediaCSV, spreadsheet.MediaXLSX),
		httpapi.Doc("Reads a CSV or XLSX file as an import does, and stores nothing: guesses which field each column is by its name, in English, German and Russian, and shows the first rows as they would be understood. "+
			"`columns` of the request, or those that it answers, are the `columns` of the import. "+
			"Fails with `VALIDATION_ERROR` for a file that cannot be read, and `AUTH_API_SCOPE_INSUFFICIENT` without the write scope of the records; `errors` says what else an import would be refused for."))
	httpapi.ChangePrepared(r, "/imports", "startImport", "Import a file", s.prepare, s.start, httpapi.Answers(http.StatusAccepted), httpapi.NoURL,
		httpapi.Uploads(maxFile, mediaCSV, spreadsheet.MediaXLSX),
		httpapi.Doc("Starts a job that creates and changes a record for each row of a CSV or XLSX file, by the rules of a batch; with `dryRun` it only reports what would happen. "+
			"Fails with `VALIDATION_ERROR` for a file that cannot be read or lacks the columns of the key, `AUTH_API_SCOPE_INSUFFICIENT` without the write scope of the records, and `JOB_LIMIT_REACHED`; "+
			"a row that fails has its error in the result of the job."))
}
