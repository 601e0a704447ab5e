package imports

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
	"github.com/tradegrid/tradegrid/pkg/store/job"
)

// errorColumn is the column of the file of refused rows that says why. An import leaves it out.
const errorColumn = "importError"

// Say puts what is wrong with a row into words.
type Say func(Line) string

// Refused is the file of the rows of an import that were refused, as they were sent, with a column that says why.
func (s *Service) Refused(ctx context.Context, by access.Caller, id uuid.UUID, say Say) (httpapi.File, error) {
	f, of, err := s.reported(ctx, by, id)
	if err != nil {
		return httpapi.File{}, err
	}
	if of.Failed == 0 {
		return httpapi.File{}, apierr.StateConflict("IMPORT_HAS_NO_REFUSED_ROWS", "the import has refused no rows")
	}
	reading := context.WithoutCancel(ctx) // the file is sent after the request has returned
	size, err := io.Copy(io.Discard, s.refused(ctx, f, of, say))
	if err != nil {
		return httpapi.File{}, fmt.Errorf("measure refused rows: %w", err)
	}
	return httpapi.File{
		Media: "text/csv; charset=utf-8", Name: of.Resource + "-" + id.String() + ".csv", Size: size, Memory: job.ResultMemory + maxReportLine,
		Body: s.refused(reading, f, of, say),
	}, nil
}

// Faults are the first lines of the report of an import about rows that were refused.
func (s *Service) Faults(ctx context.Context, by access.Caller, id uuid.UUID, most int) ([]Line, error) {
	f, _, err := s.reported(ctx, by, id)
	if err != nil {
		return nil, err
	}
	lines := newReport(job.Result(ctx, s.cfg.DB, f))
	defer lines.close()
	var all []Line
	for len(all) < most {
		l, err := lines.refused()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// reported reads an import that has ended and whose report is still kept.
func (s *Service) reported(ctx context.Context, by access.Caller, id uuid.UUID) (job.Found, summary, error) {
	f, of, err := s.find(ctx, s.cfg.DB, by, id)
	switch {
	case err != nil:
		return f, of, err
	case f.Media == "":
		return f, of, apierr.StateConflict("JOB_HAS_NO_RESULT", "the job has no result; its status is %s", f.Status).With("status", f.Status)
	case !s.cfg.DB.Now().Before(f.ExpiresAt.Std()):
		return f, of, job.ErrResultGone
	}
	return f, of, nil
}

// maxReportLine bounds a line of a report: the cells of a row and what is wrong with them.
const maxReportLine = 4 << 20

// reportReader reads the lines of the report of an import.
type reportReader struct {
	from  io.ReadCloser
	lines *bufio.Scanner
}

func newReport(from io.ReadCloser) *reportReader {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxReportLine)
	return &reportReader{from, lines}
}

func (r *reportReader) close() { _ = r.from.Close() } // only read

// refusedMark is in each line about a row that was refused; in others it may be.
var refusedMark = []byte(`"outcome":"` + outcomeError + `"`)

// refused is the next line about a row that was refused; [io.EOF] after the last.
func (r *reportReader) refused() (l Line, err error) {
	for r.lines.Scan() {
		if !bytes.Contains(r.lines.Bytes(), refusedMark) {
			continue
		}
		if err := json.Unmarshal(r.lines.Bytes(), &l); err != nil {
			return l, fmt.Errorf("decode report of import: %w", err)
		}
		if l.Outcome == outcomeError {
			return l, nil
		}
		l = Line{}
	}
	if err := r.lines.Err(); err != nil {
		return l, fmt.Errorf("read report of import: %w", err)
	}
	return l, io.EOF
}

// refusedFile writes a CSV of refused rows while it is read.
type refusedFile struct {
	*reportReader
	csv *spreadsheet.CSV
	at  []int // columns of the file
	say Say
	err error
}

func (s *Service) refused(ctx context.Context, f job.Found, of summary, say Say) io.ReadCloser {
	r := &refusedFile{reportReader: newReport(job.Result(ctx, s.cfg.DB, f)), csv: spreadsheet.NewCSV(spreadsheet.CSVOptions{BOM: true, Delimiter: ';'}), say: say}
	head := make([]spreadsheet.Column, 0, len(of.Header)+1)
	for i, name := range of.Header {
		if name != errorColumn {
			head, r.at = append(head, spreadsheet.Column{Name: name}), append(r.at, i)
		}
	}
	r.csv.Header(append(head, spreadsheet.Column{Name: errorColumn}))
	return r
}

// Read implements [io.Reader].
func (r *refusedFile) Read(p []byte) (int, error) {
	for r.csv.Len() == 0 && r.err == nil {
		var l Line
		if l, r.err = r.refused(); r.err == nil {
			r.row(l)
		}
	}
	if r.csv.Len() == 0 {
		return 0, r.err
	}
	return r.csv.Read(p)
}

func (r *refusedFile) row(l Line) {
	cells := make([]spreadsheet.Cell, len(r.at)+1)
	for i, at := range r.at {
		if at < len(l.Cells) {
			cells[i] = spreadsheet.Cell{Kind: spreadsheet.Text, Text: l.Cells[at]}
		}
	}
	cells[len(r.at)] = spreadsheet.Cell{Kind: spreadsheet.Text, Text: r.say(l)}
	r.csv.Row(cells)
}

// Close implements [io.Closer].
func (r *refusedFile) Close() error { return r.from.Close() }

// inWords is what the report says of a row.
func inWords(l Line) string { return strings.TrimSpace(l.Message) }
