package imports

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
)

// importing is the type of the jobs. Their scopes are those of the records.
var importing = job.Type{Name: "import", Partial: true}

const (
	maxStep   = 50        // rows of a step, which is one transaction
	maxCheck  = 200       // rows of a step of a dry run, which checks 50 at a time
	partBytes = 256 << 10 // of the items that a step reads at once; at most maxCheck of them
	maxBytes  = 64 << 20  // of all items
)

// order is what a job is given.
type order struct {
	Resource string `json:"resource"`
	DryRun   bool   `json:"dryRun"`
}

// planned is the item of a row. One with faults is not tried.
type planned struct {
	Row    int               `json:"row"`
	Item   httpapi.BatchItem `json:"item"`
	New    map[string]any    `json:"new,omitempty"`    // of a record that is created
	Cells  []string          `json:"cells"`            // as the file has them, for the report of a row that fails
	Images []string          `json:"images,omitempty"` // addresses
	Faults []apierr.Field    `json:"faults,omitempty"`
}

// parts encodes items in parts of about partBytes.
type parts struct {
	all  [][]byte
	open bytes.Buffer
	size int
	rows int
	held int // rows of the open part
}

func (p *parts) add(row planned) error {
	raw, err := json.Marshal(row)
	if err != nil {
		return fmt.Errorf("encode row %d: %w", row.Row, err)
	}
	if p.size += len(raw); p.size > maxBytes {
		return apierr.InvalidField("body", apierr.Max, "has more than %d MiB of data without compression; split it", maxBytes>>20)
	}
	p.open.WriteByte(map[bool]byte{true: '[', false: ','}[p.open.Len() == 0])
	p.open.Write(raw)
	p.rows++
	if p.held++; p.held == maxCheck || p.open.Len() >= partBytes {
		p.close()
	}
	return nil
}

func (p *parts) close() {
	p.open.WriteByte(']')
	part := job.PackPart(p.open.Bytes())
	if len(part) == p.open.Len() { // it may be the buffer itself
		part = bytes.Clone(part)
	}
	p.all = append(p.all, part)
	p.open.Reset()
	p.held = 0
}

var errNoRows = apierr.InvalidField("body", apierr.Required, "has no rows below the first, which names the columns")

// end returns all parts.
func (p *parts) end() ([][]byte, error) {
	if p.rows == 0 {
		return nil, errNoRows
	}
	if p.open.Len() > 0 {
		p.close()
	}
	return p.all, nil
}

// state is where a job goes on.
type state struct {
	Part    int     `json:"part"`
	Item    int     `json:"item"`             // in the part
	Size    int     `json:"size"`             // rows of the next step
	Photos  []photo `json:"photos,omitempty"` // those of the next row that were downloaded
	Summary summary `json:"summary"`
}

// summary is the summary of a job; see docs/reference/jobs.md#imports.
type summary struct {
	Resource       string          `json:"resource"`
	DryRun         bool            `json:"dryRun"`
	Key            string          `json:"key"`
	Created        int             `json:"created"`
	Updated        int             `json:"updated"`
	Unchanged      int             `json:"unchanged"`
	Failed         int             `json:"failed"`
	ImagesFailed   int             `json:"imagesFailed,omitempty"` // were not downloaded; their records are made
	RowsWithoutKey int             `json:"rowsWithoutKey"`         // each creates a record whenever the file is imported
	Header         []string        `json:"header"`                 // the first row of the file
	Fields         []string        `json:"fields"`                 // what its columns are imported as; "" = they are not
	Columns        []string        `json:"columns"`
	IgnoredColumns []string        `json:"ignoredColumns"`
	UnknownColumns []UnknownColumn `json:"unknownColumns"`
}

// Line is a line of the report: what has become of a row, or what would.
type Line struct {
	Row     int            `json:"row"`     // in the file; the header is row 1
	Outcome string         `json:"outcome"` // create, update, unchanged or error
	ID      *string        `json:"id"`      // of the record; null if there is none, or would be a new one
	Code    string         `json:"code,omitempty"`
	Message string         `json:"message,omitempty"`
	Errors  []apierr.Field `json:"errors,omitempty"` // field is the name of a column
	Meta    map[string]any `json:"meta,omitempty"`
	Cells   []string       `json:"cells,omitempty"` // of a row that fails, as the file has them
}

const outcomeError = "error"

// Jobs returns the handlers of the jobs of this domain.
func (s *Service) Jobs() []job.Handler {
	return []job.Handler{{Type: importing, Step: s.step, TxOf: func(t job.Task) []db.Option {
		var in order
		if t.Input(&in) != nil || s.api.Batches()[in.Resource] == nil || in.DryRun {
			return nil
		}
		return s.api.Batches()[in.Resource].TxOptions()
	}}}
}

// step makes the next rows, or checks them.
func (s *Service) step(ctx context.Context, t job.Task) (job.Store, error) {
	var in order
	var at state
	if err := cmp.Or(t.Input(&in), t.State(&at)); err != nil {
		return nil, err
	}
	source := s.api.Batches()[in.Resource]
	if source == nil {
		return nil, fmt.Errorf("import: no batch of %s", in.Resource)
	}
	raw, err := t.Part(ctx, s.cfg.DB, at.Part)
	if err != nil {
		return nil, err
	}
	var part []planned
	if err := json.Unmarshal(raw, &part); err != nil {
		return nil, fmt.Errorf("decode rows of import: %w", err)
	}
	if t.Tries > 1 {
		at.Size = 1
	}
	rows := part[at.Item:min(at.Item+at.Size, len(part))]
	var photos [][]photo
	var pending []photo
	if !in.DryRun {
		if photos, pending, err = s.fetch(ctx, t.By, rows, at.Photos); err != nil {
			return nil, err
		}
		if rows, err = withPhotos(rows[:len(photos)], photos); err != nil {
			return nil, err
		}
	}
	done := func(made httpapi.BatchStep) (job.Progress, error) {
		lines := report(rows, made.Results, in.DryRun)
		next := at.after(lines, max(made.Next, 1), len(part))
		next.keep(lines, photos, pending)
		result, err := encode(lines)
		processed := t.Done + int64(len(lines))
		return job.Progress{
			State: next, Done: processed, Total: t.Total, End: processed >= t.Total, Summary: next.Summary, Media: "application/x-ndjson", Result: result,
			KeepParts: in.DryRun,
		}, err
	}
	items := itemsOf(rows)
	switch {
	case len(items) == 0:
		return func(context.Context, *db.Tx) (job.Progress, error) { return done(httpapi.BatchStep{Next: stepOf(in)}) }, nil
	case in.DryRun:
		results, err := source.Check(ctx, t.By.Unconditional(), items, 0)
		return func(context.Context, *db.Tx) (job.Progress, error) {
			return done(httpapi.BatchStep{Results: results, Next: stepOf(in)})
		}, err
	}
	return source.Store(ctx, t.By, items, 0, false, func(_ *db.Tx, made httpapi.BatchStep) (job.Progress, error) { return done(made) }), nil
}

// stepOf is how many rows a step of the job takes.
func stepOf(in order) int {
	if in.DryRun {
		return maxCheck
	}
	return maxStep
}

func itemsOf(rows []planned) []httpapi.BatchItem {
	var items []httpapi.BatchItem
	for _, r := range rows {
		if len(r.Faults) == 0 {
			r.Item.New = r.New
			items = append(items, r.Item)
		}
	}
	return items
}

// report makes the lines of the rows whose results are known: those before the first item without a result.
func report(rows []planned, results []httpapi.BatchResult, dryRun bool) []Line {
	var lines []Line
	for _, r := range rows {
		if len(r.Faults) > 0 {
			lines = append(lines, failedLine(r))
			continue
		}
		if len(results) == 0 {
			break
		}
		lines = append(lines, lineOf(r, results[0], dryRun))
		results = results[1:]
	}
	return lines
}

func failedLine(r planned) Line {
	l := Line{Row: r.Row, Outcome: outcomeError, Code: "VALIDATION_ERROR", Errors: r.Faults, Cells: r.Cells}
	var texts []string
	for _, f := range r.Faults {
		texts = append(texts, f.Message)
	}
	if l.Message = strings.Join(texts, "; "); r.Item.ID != nil {
		id := r.Item.ID.String()
		l.ID = &id
	}
	return l
}

func lineOf(r planned, result httpapi.BatchResult, dryRun bool) Line {
	l := Line{Row: r.Row, Outcome: string(result.Effect), ID: result.ID}
	if result.Status < http.StatusBadRequest {
		if dryRun && result.Effect == httpapi.Created {
			l.ID = nil // nobody will see it again
		}
		return l
	}
	l.Outcome, l.Code, l.Meta, l.Cells = outcomeError, result.Code, result.Meta, r.Cells
	l.Message = strings.ReplaceAll(result.Message, "body.", "")
	for _, f := range result.Errors {
		l.Errors = append(l.Errors, apierr.Field{Field: columnOf(f.Field), Code: f.Code, Message: strings.TrimPrefix(f.Message, "body.")})
	}
	return l
}

// columnOf is the column that a field of an item comes from.
func columnOf(field string) string {
	field = strings.TrimPrefix(field, "body.")
	if field == "targetQty" {
		return "qty"
	}
	return field
}

// after is where a job goes on after these lines; the part has so many rows.
func (at state) after(lines []Line, size, rows int) state {
	at.Item, at.Size = at.Item+len(lines), size
	if at.Item >= rows {
		at.Part, at.Item = at.Part+1, 0
	}
	for _, l := range lines {
		switch l.Outcome {
		case string(httpapi.Created):
			at.Summary.Created++
		case string(httpapi.Updated):
			at.Summary.Updated++
		case string(httpapi.Unchanged):
			at.Summary.Unchanged++
		default:
			at.Summary.Failed++
		}
	}
	return at
}

func encode(lines []Line) ([]byte, error) {
	var out bytes.Buffer
	for _, l := range lines {
		raw, err := jsontype.Marshal(l)
		if err != nil {
			return nil, fmt.Errorf("encode report of import: %w", err)
		}
		out.Write(raw)
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}
