// Package exports writes whole lists of the API to files, as jobs. An export reads the pages of the list as the REST
// operation does, with its filters, its rules and the rights of the caller; see docs/reference/jobs.md#exports.
package exports

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

const (
	minPage   = 20      // records, also while nothing is known of their size
	maxPage   = 1000    // records; one of large records has fewer, see [list.MaxPageBytes]
	pageBytes = 1 << 20 // that a page should become in the result
	stepPages = 8       // at most, in one step
	stepBytes = 4 << 20 // of the result, after which a step reads no further page
	maxBytes  = 1 << 30 // of a result
)

var export = job.Type{Name: "export", Resources: []string{"exports"}, Control: "exports"}

// Input says what to export.
type Input struct {
	Resource string  `json:"resource" required:"true" doc:"last segment of the path of a list, such as orders or suppliers, or report- and that of a report, such as report-sales"`
	Filters  Filters `json:"filters,omitempty" doc:"query parameters of the list, such as status or dateFrom; those of paging and sorting are not allowed"`
	Rows     string  `json:"rows,omitempty" enum:"records,lines" default:"records" doc:"lines: a row for each line of orders, sales and other documents, with the fields of its document and, behind line., its own"`
	Format   string  `json:"format,omitempty" enum:"ndjson,csv,xlsx" default:"ndjson" doc:"ndjson: one record per line, as the list returns it; csv and xlsx: one row per record, one column per top-level field"`
	Table
}

// Table is how csv and xlsx files are written.
type Table struct {
	Columns          []string `json:"columns,omitempty" minItems:"1" maxItems:"200" doc:"columns of csv and xlsx, in their order: names of top-level fields, and currency; all by default"`
	BOM              bool     `json:"bom,omitempty" doc:"csv: begin with a byte order mark, by which Excel recognizes UTF-8"`
	Delimiter        string   `json:"delimiter,omitempty" pattern:"^[,;]$" patternDescription:"a comma or a semicolon" default:"," doc:"csv: between cells"`
	DecimalSeparator string   `json:"decimalSeparator,omitempty" pattern:"^[.,]$" patternDescription:"a point or a comma" default:"." doc:"csv: in numbers; a comma needs the delimiter ;"`
}

// Filters are query parameters.
type Filters map[string]any

// TransformSchema implements [huma.SchemaTransformer].
func (Filters) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	// Generators make nothing that compiles of several types, one of them an array.
	s.AdditionalProperties = &huma.Schema{Description: "a string, a number, true, false, or an array of these"}
	return s
}

// Config holds the dependencies of the service.
type Config struct{ DB *db.DB }

// Service exports lists of all companies.
type Service struct {
	cfg   Config
	lists func() map[string]*httpapi.ListSource // see [Service.Register]
}

// New returns a service.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

// order is what a job of this package is given.
type order struct {
	Resource string            `json:"resource"`
	Params   map[string]string `json:"params"`
	Rows     string            `json:"rows,omitempty"`
	Format   string            `json:"format"`
	Currency string            `json:"currency,omitempty"` // of the amounts
	Zone     string            `json:"zone,omitempty"`     // of the times
	Table
}

// source returns the list of an export in a format: tables have all fields of a record, if the list has a form with them. It is nil
// where the records of the list have no lines.
func (s *Service) source(resource, rows, format string) *httpapi.ListSource {
	l := s.lists()[resource]
	switch {
	case l == nil:
		return nil
	case rows == lines:
		return l.Rows()
	case format != ndjson:
		return l.Whole()
	}
	return l
}

// withLines names the lists whose records have lines.
func (s *Service) withLines() (names []string) {
	for name, l := range s.lists() {
		if l.Rows() != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Start starts an export. It checks everything that the list would check, and counts the records if that is possible within
// the limits of the list.
func (s *Service) Start(ctx context.Context, tx *db.Tx, by access.Caller, in Input) (job.Record, error) {
	source := s.source(in.Resource, in.Rows, in.Format)
	if source == nil {
		return job.Record{}, apierr.InvalidField("rows", apierr.Conflict, "lines: records of %s have none; use one of %s, or leave rows out", in.Resource, strings.Join(s.withLines(), ", "))
	}
	if err := source.Admits(by); err != nil {
		return job.Record{}, err
	}
	params, err := paramsOf(in)
	if err == nil {
		err = in.check()
	}
	if err != nil {
		return job.Record{}, err
	}
	admission, err := job.Admit(ctx, tx, s.cfg.DB, by.Company)
	if err != nil {
		return job.Record{}, err
	}
	page, err := source.First(ctx, by, params)
	if err != nil && !apierr.Is(err, list.TooExpensive) {
		return job.Record{}, inFilters(err)
	}
	if in.Columns, err = chosen(source, in.Columns, params["fields"]); err != nil {
		return job.Record{}, err
	}
	return job.Start(ctx, tx, by, admission, export, job.Options{
		Input: order{in.Resource, params, in.Rows, in.Format, by.Currency, by.Settings.TimeZone, in.Table}, Total: page.Total, Resources: append(resourcesOf(source), page.Needs...),
	})
}

// check refuses what a format does not have.
func (in Input) check() error {
	var faults apierr.Fields
	if in.Format != csv {
		if in.BOM {
			faults.Add("bom", apierr.Conflict, "is only for csv; omit it")
		}
		if in.Delimiter == ";" {
			faults.Add("delimiter", apierr.Conflict, "is only for csv; omit it")
		}
	}
	if in.DecimalSeparator == "," && (in.Format != csv || in.Delimiter != ";") {
		faults.Add("decimalSeparator", apierr.Conflict, "needs the format csv and the delimiter ;")
	}
	if in.Format == ndjson && in.Columns != nil {
		faults.Add("columns", apierr.Conflict, "is only for csv and xlsx; use filters.fields")
	}
	return faults.Err()
}

func resourcesOf(source *httpapi.ListSource) []string {
	if source.Scope == "" {
		return nil
	}
	return []string{source.Scope}
}

// reserved are the parameters of a list that an export sets itself.
var reserved = []string{"page", "pageSize", "cursor", "withTotal", "sort", "order"}

// paramsOf writes filters as a query does: lists are separated by commas.
func paramsOf(in Input) (map[string]string, error) {
	params, filters := map[string]string{}, in.Filters
	var faults apierr.Fields
	for _, name := range slices.Sorted(maps.Keys(filters)) {
		if slices.Contains(reserved, name) {
			faults.Add("filters."+name, apierr.Conflict, "is set by the export; omit it")
			continue
		}
		text, ok := textOf(filters[name])
		if !ok {
			faults.Add("filters."+name, apierr.Type, "must be a string, a number, a boolean or an array of these")
		}
		if in.Rows == lines && name == "include" && slices.Contains(strings.Split(text, ","), lines) {
			faults.Add("filters.include", apierr.Conflict, "lines: lines are rows already; omit it")
		}
		params[name] = text
	}
	return params, faults.Err()
}

func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			if _, nested := v[i].([]any); nested {
				return "", false
			}
			text, ok := textOf(v[i])
			if !ok {
				return "", false
			}
			parts[i] = text
		}
		return strings.Join(parts, ","), true
	}
	return "", false
}

// inFilters names the fields of a fault of the list as the body of the export has them.
func inFilters(err error) error {
	var fault *apierr.Error
	if !errors.As(err, &fault) || fault.Status != http.StatusBadRequest {
		return err
	}
	fields := slices.Clone(fault.Fields)
	for i := range fields {
		fields[i].Field, fields[i].Message = "filters."+fields[i].Field, "filters."+fields[i].Message
	}
	return apierr.Invalid(fields...)
}

// Jobs returns the handlers of the jobs of this domain.
func (s *Service) Jobs() []job.Handler {
	// A step only adds to the result: what it has read needs no common snapshot with that.
	tx := []db.Option{db.ReadCommitted()}
	return []job.Handler{{Type: export, Step: s.step, Tx: tx}}
}

// state is how far an export has come.
type state struct {
	Cursor string                `json:"cursor,omitempty"`
	Size   int64                 `json:"size,omitempty"` // bytes, before the compression that belongs to the format
	XLSX   spreadsheet.XLSXState `json:"xlsx,omitzero"`
}

// step reads the next pages and adds them to the result. It reads each page while it writes the one before, and judges the number
// of records on a page by the size of those before.
func (s *Service) step(ctx context.Context, t job.Task) (job.Store, error) {
	var in order
	var at state
	if err := errors.Join(t.Input(&in), t.State(&at)); err != nil {
		return nil, err
	}
	source := s.source(in.Resource, in.Rows, in.Format)
	if source == nil {
		return nil, fmt.Errorf("export: no list %s", in.Resource)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if in.Format == ndjson {
		at.Size = t.Bytes
	}
	read := &reader{ctx: ctx, source: source, by: t.By, params: in.Params, size: sizeOfPages(t.Done, at.Size)}
	out, err := open(in, source, at, t.Steps == 0)
	if err != nil {
		return nil, fmt.Errorf("open file of export: %w", err)
	}
	p := job.Progress{Done: t.Done, Total: t.Total, Media: media[in.Format]}
	next := read.begin(at.Cursor)
	for left := stepPages - 1; ; left-- {
		page, err := next()
		if err != nil {
			return nil, err
		}
		p.Done, at.Cursor, p.End = p.Done+int64(page.Read), page.Next, page.Next == ""
		more := !p.End && left > 0 && out.size() < stepBytes
		if more {
			next = read.begin(page.Next)
		}
		if err := out.add(page); err != nil {
			return nil, err
		}
		if !more {
			break
		}
		read.size = sizeOfPages(p.Done, at.Size+int64(out.size()))
	}
	at.Size += int64(out.size())
	if p.Result, err = out.close(p.End, &at); err != nil {
		return nil, fmt.Errorf("write file of export: %w", err)
	}
	if p.State = at; in.Format == xlsx {
		p.Summary = Sheets{at.XLSX.Sheet, at.XLSX.Cut}
	}
	if t.Bytes+int64(len(p.Result)) > maxBytes {
		return nil, apierr.StateConflict("EXPORT_TOO_LARGE", "the result would exceed 1 GiB; narrow the filters, and export in parts").With("limit", maxBytes)
	}
	return func(context.Context, *db.Tx) (job.Progress, error) { return p, nil }, nil
}

// Sheets is the summary of an export as XLSX.
type Sheets struct {
	Sheets   int   `json:"sheets"`   // of the file
	CutCells int64 `json:"cutCells"` // texts that were longer than a cell can be
}

// sizeOfPages is the number of records that fill a page, judged by those that were written.
func sizeOfPages(records, bytes int64) int {
	return int(min(max(pageBytes*records/max(bytes, 1), minPage), maxPage))
}

// reader reads pages of a list.
type reader struct {
	ctx    context.Context //nolint:containedctx // of one step
	source *httpapi.ListSource
	by     access.Caller
	params map[string]string
	size   int // of the next page
}

// begin starts to read the page behind a cursor. The function that it returns waits for the page.
func (r *reader) begin(cursor string) (wait func() (httpapi.ListPage, error)) {
	params := maps.Clone(r.params)
	if cursor != "" {
		params["cursor"] = cursor
	}
	var page httpapi.ListPage
	var err error
	size := r.size
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil { // the worker cannot catch it here
				err = fmt.Errorf("read page of export: panic: %v", p)
			}
		}()
		page, err = r.source.Page(r.ctx, r.by, params, size)
	}()
	return func() (httpapi.ListPage, error) { <-done; return page, err }
}
