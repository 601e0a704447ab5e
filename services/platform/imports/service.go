// Package imports makes records of the rows of CSV and XLSX files, as jobs. A row becomes an item of the batch operation of its
// records, so that the rules of single requests hold; see docs/reference/jobs.md#imports. The columns are those that package
// exports writes. Files themselves are the matter of package spreadsheet.
package imports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/kit/turn"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
)

// bounds of a file; see docs/reference/limits.md#imports.
var bounds = spreadsheet.Limits{Rows: 50_000, Columns: 200, Cell: 256 << 10, Row: 1 << 20, Expand: 64 << 20}

const (
	maxColumn = 256 // bytes of the name of a column
	// maxParsing is how many files a process parses at a time, one of each company: one takes memory of several times its size.
	maxParsing = 2
	patience   = 10 * time.Second // how long a file waits for its turn
)

// Choices are how a file is to be understood.
type Choices struct {
	Resource         string `query:"resource" required:"true" enum:"products,services,clients,suppliers,stocks" doc:"the records, by the name of their list"`
	Key              string `query:"key" enum:"id,sku,externalId,none" doc:"columns that decide whether a row changes a record or creates one; default the first of them that the file has. externalId stands for source and externalId, none has each row create a record"`
	Columns          string `query:"columns" maxLength:"16384" doc:"fields of the columns of the file, comma-separated and in their order, instead of the names in its first row; empty for a column that is not imported, as in sku,,price"`
	Source           string `query:"source" maxLength:"50" doc:"of externalId, for a file without a column source"`
	DecimalSeparator string `query:"decimalSeparator" pattern:"^[.,]$" patternDescription:"a point or a comma" doc:"character before the decimal places of numbers; with it, numbers may have separators of thousands. Without it they have none, and a number with three decimal places such as 1.250 is an error of its row"`
}

// Input are the parameters of an import. The file is the body.
type Input struct {
	httpapi.Call
	Choices
	DryRun bool   `query:"dryRun" doc:"change nothing, and report what would happen"`
	Reason string `query:"reason" maxLength:"500" default:"Import" doc:"of stock movements"`
}

// previewInput are the parameters of a preview. The file is the body.
type previewInput struct {
	httpapi.Call
	Choices
}

// Config holds the dependencies of the service.
type Config struct {
	DB *db.DB
	// Warehouses returns the ids of the warehouses of a company by name; the nil UUID for a name that several have.
	Warehouses func(ctx context.Context, q db.Querier, company tenant.ID) (map[string]uuid.UUID, error)
	// Image downloads an image and stores it as a file of the company.
	Image func(ctx context.Context, by access.Caller, address string) (uuid.UUID, error)
}

// Service imports files of all companies.
type Service struct {
	cfg     Config
	api     *httpapi.API // see [Service.Register]
	parsing *semaphore.Weighted
	turns   turn.Turns
}

// New returns a service.
func New(cfg Config) *Service { return &Service{cfg: cfg, parsing: semaphore.NewWeighted(maxParsing)} }

// prepared is a file that was read.
type prepared struct {
	source  *httpapi.BatchSource
	order   order
	summary summary
	parts   [][]byte
	rows    int
}

// prepare reads the file and makes items of its rows.
func (s *Service) prepare(ctx context.Context, in *Input) (*prepared, error) {
	p := &prepared{source: s.api.Batches()[in.Resource], order: order{Resource: in.Resource, DryRun: in.DryRun}}
	if p.source == nil {
		return nil, fmt.Errorf("import: no batch of %s", in.Resource)
	}
	if err := p.source.Admits(in.Caller); err != nil {
		return nil, err
	}
	warehouses, err := s.warehouses(ctx, in)
	if err != nil {
		return nil, err
	}
	done, err := s.wait(ctx, in.Company)
	if err != nil {
		return nil, err
	}
	defer done()
	return p, readable(s.read(ctx, in, p, warehouses))
}

// readable is an error of a file as one that clients get.
func readable(err error) error {
	var file *spreadsheet.FileError
	if errors.As(err, &file) {
		return apierr.InvalidField("body", apierr.Format, "%s", file.Error())
	}
	return err
}

var errBusy = apierr.Unavailable(apierr.Overloaded, 2, "too many files are being read; send them one after the other, or repeat the request after the time in Retry-After; nothing was stored")

// wait waits for the turn of a file of the company.
func (s *Service) wait(ctx context.Context, company tenant.ID) (done func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	defer cputime.Wait()()
	leave, err := s.turns.Enter(waiting, company)
	if err == nil {
		if err = s.parsing.Acquire(waiting, 1); err != nil {
			leave()
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, errors.Join(ctx.Err(), err)
	case err != nil:
		return nil, errBusy
	}
	return func() { s.parsing.Release(1); leave() }, nil
}

// warehouses are the names of warehouses, for stock.
func (s *Service) warehouses(ctx context.Context, in *Input) (map[string]uuid.UUID, error) {
	if in.Resource != stocks {
		return nil, nil
	}
	return s.cfg.Warehouses(ctx, s.cfg.DB, in.Company)
}

// read parses the file of a request.
func (s *Service) read(ctx context.Context, in *Input, p *prepared, warehouses map[string]uuid.UUID) error {
	rows, err := open(ctx, in.Upload(), in.Charset())
	if err != nil {
		return err
	}
	header, err := headerOf(rows)
	if err != nil {
		return err
	}
	t := s.tableOf(in, warehouses, spreadsheet.Is1904(rows))
	if err := t.plan(header.Cells, in.Columns, in.Key); err != nil {
		return err
	}
	if err := t.checkImages(in.Caller); err != nil {
		return err
	}
	p.summary = t.summary(in)
	var out parts
	for {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			p.parts, err = out.end()
			p.rows, p.summary.RowsWithoutKey = out.rows, t.unkeyed
			return err
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = out.add(t.row(row))
		}
		if err != nil {
			return err
		}
	}
}

// tableOf makes items of the rows of a file.
func (s *Service) tableOf(in *Input, warehouses map[string]uuid.UUID, is1904 bool) *table {
	return &table{
		source: s.api.Batches()[in.Resource], list: s.api.Lists()[in.Resource].Whole(), numbers: numbers{in.DecimalSeparator, in.Currency},
		zone: zoneOf(in.Settings.TimeZone), is1904: is1904, warehouses: warehouses, reason: in.Reason, origin: strings.TrimSpace(in.Source),
	}
}

// headerOf is the first row of a file.
func headerOf(rows spreadsheet.Rows) (spreadsheet.Row, error) {
	header, err := rows.Next()
	if errors.Is(err, io.EOF) {
		return header, apierr.InvalidField("body", apierr.Required, "has no rows; the first row must name the columns")
	}
	if err != nil {
		return header, err
	}
	return header, checkHeader(header.Cells)
}

// checkHeader refuses names of columns that no report could show.
func checkHeader(names []spreadsheet.Value) error {
	for i, name := range names {
		if len(name.Text) > maxColumn {
			return apierr.InvalidField("body", apierr.Length, "has more than %d bytes in column %d of the first row, which must name the columns", maxColumn, i+1)
		}
	}
	return nil
}

func open(ctx context.Context, file *httpapi.Upload, charset string) (spreadsheet.Rows, error) {
	if file.Media == spreadsheet.MediaXLSX {
		return spreadsheet.ReadXLSX(ctx, file, file.Size, bounds)
	}
	raw := make([]byte, file.Size)
	if _, err := io.ReadFull(file.Reader(), raw); err != nil {
		return nil, fmt.Errorf("read upload: %w", err)
	}
	return spreadsheet.ReadCSV(ctx, raw, charset, bounds)
}

// start starts the job.
func (s *Service) start(ctx context.Context, tx *db.Tx, in *Input, p *prepared) (job.Record, error) {
	admission, err := job.Admit(ctx, tx, s.cfg.DB, in.Company)
	if err != nil {
		return job.Record{}, err
	}
	if err := job.DropParts(ctx, tx, s.cfg.DB, in.Caller, importing, keptChecks); err != nil {
		return job.Record{}, err
	}
	t := importing
	t.Control = p.source.Scope
	return job.Start(ctx, tx, in.Unconditional(), admission, t, job.Options{
		Input: p.order, State: state{Size: stepOf(p.order), Summary: p.summary}, Total: int64(p.rows), Resources: []string{p.source.Scope},
		Parts: job.Parts(p.parts),
	})
}
